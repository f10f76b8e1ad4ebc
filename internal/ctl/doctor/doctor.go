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
			return cobra.NoArgs(c, args)
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
	Schema string       `json:"schema" doc:"name of this schema"`
	Checks setup.Checks `json:"checks" doc:"in order"`
}

func runDoctor(a *app.App, f fixing, asJSON, all bool) error {
	f.consent.JSON = asJSON
	d := checkup{App: a}
	err := d.fix(f)
	d.look()
	d.tools()
	d.shells()
	d.bundled()
	d.npx()
	d.calls()
	d.permissions()
	d.configuration()
	d.prices()
	d.ledger()
	d.OK("build", app.Version())
	d.store()
	switch {
	case asJSON:
		err = cmp.Or(err, a.Stdout.PrintJSON(Report{"shimctl.doctor/1", d.Checks}))
	case all || !a.Stdout.Terminal:
		d.Print(a)
	default:
		brief(d.Checks).Print(a)
	}
	if err == nil && slices.ContainsFunc(d.Checks, isProblem) {
		return app.ErrFindings
	}
	return err
}

func isProblem(c setup.Check) bool { return c.Result == "problem" }

// brief returns the findings and a check for each tool, and names the other checks.
func brief(checks setup.Checks) (shown setup.Checks) {
	var others []string
	for _, c := range checks {
		if c.Result != "ok" || slices.Contains(rewrite.Names, c.Name) {
			shown = append(shown, c)
		} else if about, _, _ := strings.Cut(c.Name, " "); !slices.Contains(rewrite.Names, about) {
			others = append(others, c.Name)
		}
	}
	shown.OK("others", strings.Join(others, ", ")+"; shimctl doctor --all shows each")
	return shown
}

// A checkup is the checks of a machine, and the facts that most of them look at.
type checkup struct {
	*app.App
	setup.Checks
	config   config.Config
	mistakes error          // in the configuration
	shims    string         // their directory
	places   []binary.Place // of each tool, in the order of rewrite.Names
	versions []string       // as the tools say them
}

// look finds the tools, and asks them for their versions at the same time.
func (d *checkup) look() {
	d.config, d.mistakes = d.Config()
	d.shims = setup.ShimDirectory(d.App)
	d.places, d.versions = make([]binary.Place, len(rewrite.Names)),
		make([]string, len(rewrite.Names))
	var asking sync.WaitGroup
	for i, name := range rewrite.Names {
		if d.places[i] = binary.Locate(d.Environ, d.Own, name,
			d.config.Tools[name].Path); d.places[i].Real != "" {
			asking.Go(func() { d.versions[i] = binary.Version(d.places[i].Real, d.Environ) })
		}
	}
	asking.Wait()
}

// shells looks for aliases and functions that hide the shims.
func (d *checkup) shells() {
	before := len(d.Checks)
	for _, p := range d.places {
		if !setup.LacksShim(d.shims, p.Name) {
			d.Hiding(d.App, d.shims, p)
		}
	}
	if len(d.Checks) == before {
		d.OK("shells", "no alias or function hides a shim")
	}
	if here := d.PassedHere(); here != "" {
		d.Note("this shell", here, "unset that variable, or make the calls from another shell")
	}
}

// tools looks at each name as a caller would find it. Missing tools are named once.
func (d *checkup) tools() {
	if _, err := config.BinDir(d.Own); err != nil {
		d.Problem("PATH", err.Error(),
			"set HOME, and REPRISE_BIN_DIR to an absolute path if at all")
		return
	}
	missing := 0
	var idle []string // shims of tools that are missing
	for i, name := range rewrite.Names {
		p := d.places[i]
		path := d.config.Tools[name].Path
		if path != "" && !setup.Runnable(path) {
			d.Problem(name+" binary", fmt.Sprintf("%s, which path names under [tool.%s], is no "+
				"program", d.Tilde(path), name), "correct path, or take it out")
		}
		switch {
		case p.Real == "":
			missing++
			if p.Ours {
				idle = append(idle, name)
			}
		case !p.Ours && setup.LacksShim(d.shims, name) && path == "":
			d.Note(name+" shim", d.Tilde(p.Real)+" has no shim: its calls are not managed",
				"run shimctl setup --tools "+name)
		default:
			d.tool(p, d.versions[i])
			d.wrapper(p)
			d.version(name, d.versions[i])
		}
	}
	if missing == len(rewrite.Names) && !slices.ContainsFunc(d.Checks, isProblem) {
		d.Problem("tools", "none of "+strings.Join(rewrite.Names, ", ")+" is on PATH",
			"install one")
	}
	if len(idle) > 0 {
		d.OK("not installed", strings.Join(idle, ", ")+": their shims exit with 127")
	}
}

func (d *checkup) tool(p binary.Place, said string) {
	switch {
	case p.Ours && said != "":
		d.OK(p.Name, said+", "+d.Tilde(p.Real))
	case p.Ours:
		d.OK(p.Name, d.Tilde(p.Real))
	default:
		finds := "the shim is not on PATH"
		if p.First != "" {
			finds = d.Tilde(p.First) + " comes before the shim on PATH"
		}
		d.Problem(p.Name, finds, fmt.Sprintf("put %s first on PATH, then run hash -r; shimctl "+
			"setup does it for new shells", d.Tilde(d.shims)))
	}
}

// configuration names each mistake in the configuration as a problem.
func (d *checkup) configuration() {
	const name = "configuration"
	path, err := config.ConfigFile(d.Own)
	_, missing := os.Stat(path)
	switch {
	case err != nil:
		d.Problem(name, d.TildeIn(err.Error()), "set HOME, or REPRISE_CONFIG to an absolute path")
	case d.mistakes != nil:
		all := []error{d.mistakes}
		if mistakes, is := errors.AsType[config.Mistakes](d.mistakes); is {
			all = nil
			for one := range slices.Chunk(mistakes, 1) {
				all = append(all, one)
			}
		}
		for _, mistake := range all {
			d.Problem(name, d.TildeIn(mistake.Error())+"; every call is passed through",
				cmp.Or(app.HintFor(mistake), "correct the file, or move it away"))
		}
	case !d.config.Enabled:
		d.Note(name, d.Tilde(path)+" switches reprise off", "take enabled = false out of it")
	case errors.Is(missing, fs.ErrNotExist):
		d.OK(name, "none, the defaults hold")
	default:
		d.OK(name, d.Tilde(path))
	}
}

// prices reads the user's own list of prices, if there is one.
func (d *checkup) prices() {
	if _, err := d.LoadPrices(); err != nil {
		for wrong := range strings.SplitSeq(err.Error(), "\n") { // those that were joined
			d.Problem("prices", d.TildeIn(wrong), "a price is "+app.PriceForm)
		}
	}
}

// store names the store that machines share, if one is configured, and how a call failed to use it.
// The store is not asked.
func (d *checkup) store() {
	const name = "store"
	s, err := config.ResolveStore(d.Getenv, d.config)
	f, failed := shim.LastStoreFailure(d.Own)
	switch {
	case err != nil:
		d.Problem(name, err.Error(), "correct the variable, or unset it")
	case s.URL == "":
	case !setup.Runnable(shim.StoreHelper()):
		d.Problem(name, "nothing is shared: there is no "+d.Tilde(shim.StoreHelper()),
			"./install.sh --store installs it")
	case failed == nil && f.Store == s.URL:
		d.Note(name, fmt.Sprintf("%s is configured; a call could not use it %s: %s", f.Store,
			d.WhenWords(f.When), f.Why), "reprise-store check tries it")
	default:
		d.OK(name, s.URL+" is configured; reprise-store check tries it")
	}
}

func (d *checkup) ledger() {
	const name = "ledger"
	path, err := config.LedgerFile(d.Own)
	passed := "every call"
	if err == nil {
		var partly bool
		if partly, err = tryLedger(path); partly {
			passed = "a call that reads what is damaged"
		}
	}
	if err != nil {
		d.Problem(name, d.TildeIn(err.Error())+"; "+passed+" is passed through",
			cmp.Or(app.FixFor(err), "make its directory and the disk writable, or run shimctl "+
				"doctor --fix"))
		return
	}
	if info, err := os.Stat(filepath.Dir(path)); err == nil {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Getuid() {
			d.Problem(name, fmt.Sprintf("%s is in a directory of another user, number %d",
				d.Tilde(path), owner.Uid), "set HOME or XDG_STATE_HOME to a directory of your own")
			return
		}
	}
	d.OK(name, d.Tilde(path))
}

// tryLedger opens or creates the ledger, checks it and writes to it. It leaves the permissions. A
// ledger that can be opened can be damaged partly: its other parts can be used.
func tryLedger(path string) (partly bool, err error) {
	l, err := ledger.OpenExisting(path)
	if errors.Is(err, fs.ErrNotExist) {
		l, err = ledger.Open(path)
	}
	if err != nil {
		return false, err
	}
	defer l.Close()
	if err := l.Check(); err != nil {
		return errors.Is(err, ledger.ErrDamaged), err
	}
	return false, errors.Join(l.CheckWritable(), l.RecordSpooled())
}

type fixing struct {
	wanted  bool
	consent app.Consent
}

type repair struct {
	name, does string
	do         func() error // which adds a check for each thing that it did
}

// fix makes all possible repairs. With --dry-run it adds a check for each that it would make.
func (d *checkup) fix(f fixing) error {
	if !f.wanted {
		return nil
	}
	list := d.repairs()
	if f.consent.Dry {
		for _, r := range list {
			d.Note(r.name, "would "+r.does, "")
		}
		return nil
	}
	if len(list) == 0 {
		return nil
	}
	words := view.Mapped(list, func(r repair) string { return r.does })
	if ok, err := d.Agreed(strings.Join(words, "; "), f.consent); !ok {
		return err
	}
	for _, r := range list {
		if err := r.do(); err != nil {
			return err
		}
	}
	return nil
}

// repairs returns the possible repairs.
func (d *checkup) repairs() (list []repair) {
	for _, o := range d.openFiles() {
		is := fmt.Sprintf("%s %04o", d.Tilde(o.path), o.mode&^o.wrong)
		list = append(list, repair{"permissions", "make " + is, func() error {
			d.Fixed("permissions", "made "+is)
			return os.Chmod(o.path, o.mode&^o.wrong)
		}})
	}
	path, err := config.LedgerFile(d.Own)
	if err != nil {
		return list // the checks say so
	}
	_, err = tryLedger(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ledger.ErrLocked) ||
		errors.Is(err, config.ErrNotOurs) {
		return list
	}
	suffix := d.Now.UTC().Format(".20060102T150405Z")
	does := "move the ledger to " + d.Tilde(path+suffix) + ", and start a new one at " +
		d.Tilde(path)
	return append(list, repair{"ledger", does, func() error {
		moved, err := ledger.Reset(path, suffix)
		if moved != "" {
			d.Fixed("ledger", "moved the ledger to "+d.Tilde(moved))
		}
		if err == nil {
			d.Fixed("ledger", "started a new one at "+d.Tilde(path))
		}
		return err
	}})
}

// An openFile is a file or directory that others can reach, though they must not.
type openFile struct {
	path        string
	mode, wrong fs.FileMode
}

// openFiles returns reprise's own files that others can read, and settings that they can write,
// which name the programs that the shims run.
func (d *checkup) openFiles() (open []openFile) {
	add := func(path string, wrong fs.FileMode) {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&wrong != 0 {
			open = append(open, openFile{path, info.Mode().Perm(), wrong})
		}
	}
	state, _ := config.StateDir(d.Own)
	add(state, 0o077)
	entries, _ := os.ReadDir(state)
	for _, e := range entries {
		if e.Type().IsRegular() {
			add(filepath.Join(state, e.Name()), 0o077)
		}
	}
	settings, _ := config.ConfigFile(d.Own)
	add(filepath.Dir(settings), 0o022)
	add(settings, 0o022)
	return open
}

func (d *checkup) permissions() {
	const name = "permissions"
	open := d.openFiles()
	if len(open) == 0 {
		d.OK(name, "ledger, log and configuration are out of others' reach")
		return
	}
	o := open[0]
	if o.wrong == 0o022 {
		d.Problem(name, fmt.Sprintf("other users can write %s (%04o), and so change the programs "+
			"that the shims run", d.Tilde(o.path), o.mode), "chmod go-w "+d.Tilde(o.path))
		return
	}
	state, _ := config.StateDir(d.Own)
	d.Problem(name, fmt.Sprintf("%s is open to others (%04o)", d.Tilde(o.path), o.mode),
		"chmod -R go= "+d.Tilde(state))
}
