// Package doctor checks that the shims can work, and mends the faults that keep them from it.
//
// It never mends without --fix and a yes, and runs a tool only to ask the version. Invariant: it
// reports the state of this moment; a fact that it cannot find out is reported as unknown, never as
// ok.
package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/shim"
	"reprise/shim/binary"

	"github.com/spf13/cobra"
)

// Command returns `shimctl doctor`.
func Command(a *app.App) *cobra.Command {
	var asJSON, all bool
	var fixes fixing
	c := &cobra.Command{
		Use: "doctor", Short: "check that the shims can work, and fix the ledger",
		Long: `Checks PATH, aliases and functions that shadow the shims, the real binaries and their versions, CLIs that SDKs in
the working directory or npx bundle, permissions, the ledger, the configuration. It prints a fix for each problem.
The exit status is 3 if there is a problem; notes do not count.

--fix moves a ledger that is damaged, foreign or of a newer reprise aside and begins a new one: the next call of every
job is fresh. It also takes reprise's own files out of others' reach.`,
		Args: func(c *cobra.Command, args []string) error {
			if !fixes.wanted && fixes != (fixing{}) {
				return app.Usage("--dry-run and --yes go with --fix", "usage: "+c.UseLine())
			}
			return app.NoArguments(c, args)
		},
		RunE: func(*cobra.Command, []string) error {
			return runDoctor(a, fixes, asJSON, all)
		},
	}
	c.Flags().BoolVar(&fixes.wanted, "fix", false, "fix the ledger and the permissions first")
	fixes.consent.AddFlags(c)
	c.Flags().BoolVar(&all, "all", false, "print every check")
	app.JSONFlag(c, &asJSON, "shimctl.doctor/1")
	return c
}

// A Report is the JSON of doctor.
type Report struct {
	Schema string        `json:"schema" doc:"name of this schema"`
	Checks []setup.Check `json:"checks" doc:"in order"`
}

func runDoctor(a *app.App, f fixing, asJSON, all bool) error {
	f.consent.JSON = asJSON
	fixed, err := fix(a, f)
	m := look(a)
	checks := slices.Concat(fixed, checkTools(a, &m), checkShells(a, &m), checkBundled(a),
		checkFixedPlaces(a, &m), checkNpx(a), checkCalls(a), []setup.Check{checkPermissions(a)},
		m.configured, checkPrices(a),
		[]setup.Check{checkLedger(a), setup.OK("build", app.Version())}, checkStore(a, m.config))
	switch {
	case asJSON:
		err = cmp.Or(err, a.Stdout.PrintJSON(Report{"shimctl.doctor/1", checks}))
	case all || !a.Stdout.Terminal:
		setup.PrintChecks(a, checks)
	default:
		setup.PrintChecks(a, brief(checks))
	}
	if err == nil && slices.ContainsFunc(checks, isProblem) {
		return app.ErrFindings
	}
	return err
}

func isProblem(c setup.Check) bool { return c.Result == "problem" }

// brief returns the findings, problems first, then a check for each tool, and the names of the
// other checks, which found nothing.
func brief(checks []setup.Check) []setup.Check {
	var findings, tools []setup.Check
	var others []string
	for _, c := range checks {
		about, _, _ := strings.Cut(c.Name, " ")
		switch {
		case c.Result != "ok":
			findings = append(findings, c)
		case slices.Contains(rewrite.Names, c.Name):
			tools = append(tools, c)
		case !slices.Contains(rewrite.Names, about):
			others = append(others, c.Name)
		}
	}
	slices.SortStableFunc(findings, func(a, b setup.Check) int {
		return -strings.Compare(a.Result, b.Result)
	})
	return slices.Concat(findings, tools,
		[]setup.Check{setup.OK("others", strings.Join(others,
			", ")+"; shimctl doctor --all shows each")})
}

// A machine has the facts that most checks look at.
type machine struct {
	config     config.Config
	configured []setup.Check  // the mistakes, or that there are none
	shims      string         // their directory
	places     []binary.Place // of each tool, in the order of rewrite.Names
	versions   []string       // as the tools say them
}

// look finds the tools, and asks them for their versions at the same time.
func look(a *app.App) (m machine) {
	m.config, m.configured = checkConfig(a)
	m.shims = setup.ShimDirectory(a)
	m.places, m.versions = make([]binary.Place, len(rewrite.Names)),
		make([]string, len(rewrite.Names))
	var asking sync.WaitGroup
	for i, name := range rewrite.Names {
		if m.places[i] = binary.Locate(a.Environ, a.Own, name,
			m.config.Tools[name].Path); m.places[i].Real != "" {
			asking.Go(func() { m.versions[i] = binary.Version(m.places[i].Real, a.Environ) })
		}
	}
	asking.Wait()
	return m
}

// checkShells looks for aliases and functions that hide the shims.
func checkShells(a *app.App, m *machine) (checks []setup.Check) {
	for _, p := range m.places {
		if !setup.LacksShim(m.shims, p.Name) {
			checks = append(checks, setup.HidingChecks(a, m.shims, p)...)
		}
	}
	if checks == nil {
		checks = []setup.Check{setup.OK("shells", "no alias or function hides a shim")}
	}
	if here := a.PassedHere(); here != "" {
		checks = append(checks, setup.Note("this shell", here,
			"unset that variable, or make the calls from another shell"))
	}
	return checks
}

// checkTools looks at each name as a caller would find it. Missing tools are named once.
func checkTools(a *app.App, m *machine) []setup.Check {
	if _, err := config.BinDir(a.Own); err != nil {
		return []setup.Check{setup.Problem("PATH", err.Error(),
			"set HOME, and REPRISE_BIN_DIR to an absolute path if at all")}
	}
	var checks []setup.Check
	missing := 0
	var idle []string // shims of tools that are missing
	for i, name := range rewrite.Names {
		p := m.places[i]
		if path := m.config.Tools[name].Path; path != "" && !setup.Runnable(path) {
			checks = append(checks, setup.Problem(name+" binary",
				fmt.Sprintf("%s, which path names under [tool.%s], is no program", a.Tilde(path),
					name), "correct path, or take it out"))
		}
		switch {
		case p.Real == "":
			missing++
			if p.Ours {
				idle = append(idle, name)
			}
		case !p.Ours && setup.LacksShim(m.shims, name) && m.config.Tools[name].Path == "":
			checks = append(checks, setup.Note(name+" shim",
				a.Tilde(p.Real)+" has no shim: its calls are not managed",
				"run shimctl setup --tools "+name))
		default:
			checks = append(append(checks, checkTool(a, p, m.versions[i])), checkOrder(a, p)...)
			checks = append(checks, checkVersion(a, name, m.versions[i], p.Real)...)
		}
	}
	if missing == len(rewrite.Names) && !slices.ContainsFunc(checks, isProblem) {
		checks = append(checks, setup.Problem("tools",
			"none of "+strings.Join(rewrite.Names, ", ")+" is on PATH",
			"install one"))
	}
	if len(idle) > 0 {
		checks = append(checks, setup.OK("not installed",
			strings.Join(idle, ", ")+": their shims exit with 127"))
	}
	return checks
}

func checkTool(a *app.App, p binary.Place, said string) setup.Check {
	if !p.Ours {
		finds := "the shim is not on PATH"
		if p.First != "" {
			finds = fmt.Sprintf("%s comes before the shim on PATH", a.Tilde(p.First))
		}
		return setup.Problem(p.Name, finds,
			fmt.Sprintf("put %s first on PATH, then run hash -r; shimctl setup does it for new "+
				"shells", a.Tilde(setup.ShimDirectory(a))))
	}
	finds := a.Tilde(p.Real)
	if said != "" {
		finds = said + ", " + finds
	}
	return setup.OK(p.Name, finds)
}

// checkConfig reads the configuration. Each mistake in it is a problem.
func checkConfig(a *app.App) (config.Config, []setup.Check) {
	const name = "configuration"
	path, err := config.ConfigFile(a.Own)
	if err != nil {
		return config.Config{}, []setup.Check{setup.Problem(name, a.TildeIn(err.Error()),
			"set HOME, or REPRISE_CONFIG to an absolute path")}
	}
	cfg, err := config.Load(path)
	_, missing := os.Stat(path)
	switch {
	case err != nil:
		return cfg, checkMistakes(a, name, err)
	case !cfg.Enabled:
		return cfg, []setup.Check{setup.Note(name, a.Tilde(path)+" switches reprise off",
			"take enabled = false out of it")}
	case errors.Is(missing, fs.ErrNotExist):
		return cfg, []setup.Check{setup.OK(name, "none, the defaults hold")}
	}
	return cfg, []setup.Check{setup.OK(name, a.Tilde(path))}
}

func checkMistakes(a *app.App, name string, err error) (checks []setup.Check) {
	all := []error{err}
	var mistakes config.Mistakes
	if errors.As(err, &mistakes) {
		all = mistakes.Unwrap()
	}
	for _, mistake := range all {
		checks = append(checks, setup.Problem(name,
			a.TildeIn(mistake.Error())+"; every call is passed through",
			cmp.Or(app.HintFor(mistake), "correct the file, or move it away")))
	}
	return checks
}

// checkPrices reads the user's own list of prices, if there is one.
func checkPrices(a *app.App) (checks []setup.Check) {
	if _, err := a.LoadPrices(); err != nil {
		for wrong := range strings.SplitSeq(err.Error(), "\n") { // those that were joined
			checks = append(checks, setup.Problem("prices", a.TildeIn(wrong),
				"a price is "+app.PriceForm))
		}
	}
	return checks
}

// checkStore names the store that machines share, if one is configured, and how a call failed to
// use it. The store is not asked.
func checkStore(a *app.App, cfg config.Config) []setup.Check {
	const name = "store"
	s, err := config.ResolveStore(a.Getenv, cfg)
	switch {
	case err != nil:
		return []setup.Check{setup.Problem(name, err.Error(), "correct the variable, or unset it")}
	case s.URL == "":
		return nil
	case !setup.Runnable(shim.StoreHelper()):
		return []setup.Check{setup.Problem(name,
			"nothing is shared: there is no "+a.Tilde(shim.StoreHelper()),
			"./install.sh --store installs it")}
	}
	if f, err := shim.LastStoreFailure(a.Own); err == nil && f.Store == s.Shown() {
		return []setup.Check{setup.Note(name,
			fmt.Sprintf("%s is configured; a call could not use it %s: %s", f.Store,
				a.WhenWords(f.When), f.Why), "reprise-store check tries it")}
	}
	return []setup.Check{setup.OK(name, s.Shown()+" is configured; reprise-store check tries it")}
}

func checkLedger(a *app.App) setup.Check {
	const name = "ledger"
	path, err := config.LedgerFile(a.Own)
	passed := "every call"
	if err == nil {
		err = tryLedger(path)
		if in := (inPart{}); errors.As(err, &in) {
			passed = "a call that reads what is damaged"
		}
	}
	if err != nil {
		return setup.Problem(name, a.TildeIn(err.Error())+"; "+passed+" is passed through",
			cmp.Or(app.FixFor(err), "make its directory and the disk writable, or run shimctl "+
				"doctor --fix"))
	}
	if info, err := os.Stat(filepath.Dir(path)); err == nil {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Getuid() {
			return setup.Problem(name, fmt.Sprintf(
				"%s is in a directory of another user, number %d", a.Tilde(path), owner.Uid),
				"set HOME or XDG_STATE_HOME to a directory of your own")
		}
	}
	return setup.OK(name, a.Tilde(path))
}

// inPart is the damage of a ledger that can be opened: its other parts can be used.
type inPart struct{ error }

func (e inPart) Unwrap() error { return e.error }

// tryLedger opens or creates the ledger, checks it and writes to it. It leaves the permissions.
func tryLedger(path string) error {
	l, err := ledger.OpenExisting(path)
	if errors.Is(err, fs.ErrNotExist) {
		l, err = ledger.Open(path)
	}
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.Check(); err != nil {
		if errors.Is(err, ledger.ErrDamaged) {
			err = inPart{err}
		}
		return err
	}
	return errors.Join(l.CheckWritable(), l.Settle())
}

type fixing struct {
	wanted  bool
	consent app.Consent
}

type repair struct {
	name, does string
	do         func() ([]setup.Check, error)
}

// fix makes all possible repairs, and returns a check for each thing that it did or, with
// --dry-run, would do.
func fix(a *app.App, f fixing) (done []setup.Check, err error) {
	list := repairs(a, f)
	if f.consent.Dry {
		return view.Mapped(list, func(r repair) setup.Check {
			return setup.Note(r.name, "would "+r.does, "")
		}), nil
	}
	if len(list) == 0 {
		return nil, nil
	}
	words := view.Mapped(list, func(r repair) string { return r.does })
	if ok, err := a.Agreed(strings.Join(words, "; "), f.consent); !ok {
		return nil, err
	}
	for _, r := range list {
		checks, err := r.do()
		done = append(done, checks...)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// repairs returns the possible ones of the repairs that were asked for.
func repairs(a *app.App, f fixing) (list []repair) {
	if !f.wanted {
		return nil
	}
	for _, o := range openFiles(a) {
		is := fmt.Sprintf("%s %04o", a.Tilde(o.path), o.mode&^o.wrong)
		list = append(list, repair{"permissions", "make " + is, func() ([]setup.Check, error) {
			return []setup.Check{setup.Fixed("permissions", "made "+is)},
				os.Chmod(o.path, o.mode&^o.wrong)
		}})
	}
	path, err := config.LedgerFile(a.Own)
	if err != nil {
		return list // the checks say so
	}
	err = tryLedger(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ledger.ErrLocked) ||
		errors.Is(err, config.ErrNotOurs) {
		return list
	}
	aside := path + a.Now.UTC().Format(".20060102T150405Z")
	does := "move the ledger to " + a.Tilde(aside) + ", and start a new one at " + a.Tilde(path)
	return append(list, repair{"ledger", does, func() (done []setup.Check, err error) {
		moved, err := ledger.Reset(path, strings.TrimPrefix(aside, path))
		if moved != "" {
			done = append(done, setup.Fixed("ledger", "moved the ledger to "+a.Tilde(moved)))
		}
		if err == nil {
			done = append(done, setup.Fixed("ledger", "started a new one at "+a.Tilde(path)))
		}
		return done, err
	}})
}

// An openFile is a file or directory that others can reach, though they must not.
type openFile struct {
	path        string
	mode, wrong fs.FileMode
}

// openFiles returns reprise's own files that others can read, and settings that they can write,
// which name the programs that the shims run.
func openFiles(a *app.App) (open []openFile) {
	add := func(path string, wrong fs.FileMode) {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&wrong != 0 {
			open = append(open, openFile{path, info.Mode().Perm(), wrong})
		}
	}
	state, _ := config.StateDir(a.Own)
	add(state, 0o077)
	entries, _ := os.ReadDir(state)
	for _, e := range entries {
		if e.Type().IsRegular() {
			add(filepath.Join(state, e.Name()), 0o077)
		}
	}
	settings, _ := config.ConfigFile(a.Own)
	add(filepath.Dir(settings), 0o022)
	add(settings, 0o022)
	return open
}

func checkPermissions(a *app.App) setup.Check {
	const name = "permissions"
	open := openFiles(a)
	if len(open) == 0 {
		return setup.OK(name, "ledger, log and configuration are out of others' reach")
	}
	o := open[0]
	if o.wrong == 0o022 {
		return setup.Problem(name, fmt.Sprintf(
			"other users can write %s (%04o), and so change the programs that the shims run",
			a.Tilde(o.path), o.mode),
			"chmod go-w "+a.Tilde(o.path))
	}
	state, _ := config.StateDir(a.Own)
	return setup.Problem(name, fmt.Sprintf("%s is open to others (%04o)", a.Tilde(o.path), o.mode),
		"chmod -R go= "+a.Tilde(state))
}
