package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"reprise/config"
	"reprise/internal/shells"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/shim"

	"github.com/spf13/cobra"
)

func doctorCommand(a *app) *cobra.Command {
	var asJSON, measure bool
	var fixes fixing
	c := &cobra.Command{
		Use: "doctor", Short: "check that the shims can work, and fix the ledger",
		Long: `Checks PATH, aliases and functions that shadow the shims, the real binaries and whether their versions were
tested, CLIs that SDKs in the working directory bundle, permissions, the ledger, the configuration, the
build, and the store that machines share if one is configured. It prints a fix for each problem. Fresh shells
are asked what they run, so their start-up files are read. The exit status is 3 if there is a problem; notes
do not count. ignore = ["NAME"] under [doctor] in the configuration silences a check.

--fix copies the readable part of a damaged ledger into a new one. The last events of its sessions may be lost, so none
of them is resumed again: the next call of every job is fresh. What is no ledger, or one of a newer reprise, is moved
aside for a new, empty one; it asks first, and without a terminal it needs --yes. Nothing is deleted. It also takes
reprise's own files out of others' reach.`,
		Args: func(c *cobra.Command, args []string) error {
			if !fixes.wanted && fixes != (fixing{}) {
				return usageError{"--new-ledger, --dry-run and --yes go with --fix", "usage: " + c.UseLine()}
			}
			return noArguments(c, args)
		},
		RunE: func(*cobra.Command, []string) error { return a.doctor(fixes, asJSON, measure) },
	}
	c.Flags().BoolVar(&fixes.wanted, "fix", false, "fix the ledger and the permissions first")
	c.Flags().BoolVar(&fixes.newLedger, "new-ledger", false, "with --fix, start a new ledger even if this one is sound")
	fixes.consent.addFlags(c)
	c.Flags().BoolVar(&measure, "measure", false, "measure the time that the shim adds to a call that is passed through")
	jsonFlag(c, &asJSON, "shimctl.doctor/1")
	return c
}

// A check is the result of one check.
type check struct {
	Name   string `json:"name" doc:"what was checked"`
	Result string `json:"result" doc:"ok, note, problem, fixed, or ignored as the configuration asks"`
	Finds  string `json:"finds" doc:"what was found"`
	Fix    string `json:"fix,omitempty" doc:"how to fix it"`
}

type doctorReport struct {
	Schema string  `json:"schema" doc:"name of this schema"`
	Checks []check `json:"checks" doc:"in order"`
}

func (a *app) doctor(f fixing, asJSON, measure bool) error {
	fixed, err := a.fix(f)
	checks, _ := ui.WithProgress(a.stderr, "checking", func() ([]check, error) { return append(fixed, a.checks(measure)...), nil })
	if asJSON {
		err = cmp.Or(err, a.stdout.PrintJSON(doctorReport{"shimctl.doctor/1", checks}))
	} else {
		a.printChecks(shown(checks))
	}
	if err == nil && slices.ContainsFunc(checks, func(c check) bool { return c.Result == "problem" }) {
		return errFindings
	}
	return err
}

func (a *app) checks(measure bool) []check {
	cfg, configured := a.checkConfig()
	facts := a.askShells(cfg)
	checks := append(a.checkTools(facts), a.checkShells(facts)...)
	checks = append(checks, a.checkKeys(cfg)...)
	checks = append(checks, a.checkBundled()...)
	checks = append(checks, a.checkRestated()...)
	checks = append(checks, a.checkPermissions(), configured, a.checkLedger(), checkBuild())
	checks = append(checks, a.checkQuality()...)
	checks = append(checks, a.checkStore(cfg)...)
	if measure {
		checks = append(checks, a.measure())
	}
	return ignore(checks, cfg.Doctor.Ignore)
}

// ignore silences the checks of those names. It adds one if some of them silence nothing, as a misspelt one does.
func ignore(checks []check, names []string) []check {
	needless := slices.Clone(names)
	for i, c := range checks {
		if c.Result != "ok" && slices.Contains(names, c.Name) {
			checks[i].Result = "ignored"
			needless = slices.DeleteFunc(needless, func(name string) bool { return name == c.Name })
		}
	}
	if len(needless) > 0 {
		checks = append(checks, check{"doctor.ignore", "ok", "silences nothing here: " + strings.Join(needless, ", "), ""})
	}
	return checks
}

// shown returns the checks without those that are ignored, and one that names these.
func shown(checks []check) (list []check) {
	var ignored []string
	for _, c := range checks {
		if c.Result != "ignored" {
			list = append(list, c)
		} else if !slices.Contains(ignored, c.Name) {
			ignored = append(ignored, c.Name)
		}
	}
	if ignored != nil {
		list = append(list, check{"ignored", "ok", strings.Join(ignored, ", "), ""})
	}
	return list
}

func (a *app) checkShells(f shellFacts) []check {
	tools := rewrite.Names
	if shims := shimsIn(f.world.Shims); len(shims) > 0 {
		tools = shims
	}
	checks := a.shellChecks(f, tools)
	if checks == nil {
		checks = []check{{"shells", "ok", "none has a start-up file", ""}}
	}
	return checks
}

func (a *app) printChecks(checks []check) {
	if !a.stdout.Terminal {
		t := ui.NewTable("RESULT", "CHECK", "FINDS", "FIX")
		for _, c := range checks {
			t.Add(c.resultCell(), ui.TextCell(c.Name), ui.TextCell(c.Finds), ui.TextCell(c.Fix))
		}
		t.Print(a.stdout)
		return
	}
	t := ui.NewFoldedTable("RESULT", "CHECK", "FINDS") // the finding and its fix do not fit side by side
	for _, c := range checks {
		t.Add(c.resultCell(), ui.TextCell(c.Name), ui.TextCell(c.Finds))
		if c.Fix != "" {
			t.Add(ui.Cell{}, ui.Cell{}, ui.TextCell("fix: "+c.Fix).As(ui.Strong))
		}
	}
	t.Print(a.stdout)
}

func (c check) resultCell() ui.Cell {
	return ui.TextCell(c.Result).As(map[string]ui.Meaning{"ok": ui.Good, "fixed": ui.Good, "note": ui.Warn, "problem": ui.Bad}[c.Result])
}

// checkTools looks at each name as a caller would find it.
func (a *app) checkTools(f shellFacts) []check {
	if _, err := config.BinDir(a.own); err != nil {
		return []check{{"PATH", "problem", err.Error(), "set HOME, and REPRISE_BIN_DIR to an absolute path if at all"}}
	}
	var checks []check
	missing := 0
	for _, name := range rewrite.Names {
		p := shim.Locate(a.shimEnv(), name, f.config.Tools[name].Path)
		if !p.Ours && lacksShim(f.world.Shims, name) && f.config.Tools[name].Path == "" {
			if binary := a.binary(f, name); binary != "" {
				checks = append(checks, noShimCheck(name, a.tilde(binary)))
			} else {
				missing++
			}
			continue
		}
		if p.Real == "" {
			missing++
			checks = append(checks, a.checkMissing(f, p))
			continue
		}
		said := shim.Version(p.Real, a.environ)
		checks = append(append(checks, a.checkTool(p, said)), a.checkOrder(p)...)
		checks = append(checks, checkVersion(name, said)...)
		if name == "gemini" {
			checks = append(checks, a.checkRetention())
		}
	}
	if missing == len(rewrite.Names) && !slices.ContainsFunc(checks, func(c check) bool { return c.Result == "problem" }) {
		checks = append(checks, check{"tools", "problem", "none of " + strings.Join(rewrite.Names, ", ") + " is on PATH",
			"install one"})
	}
	return checks
}

// checkMissing says what a call of a tool comes to that is not found.
func (a *app) checkMissing(f shellFacts, p shim.Place) check {
	c := check{Name: p.Name + " binary", Result: "note", Finds: "no " + p.Name + " is on PATH"}
	if p.Ours {
		c.Finds += " after the shim, which exits with 127"
	}
	c.Fix = fmt.Sprintf("install %s, or write ignore = [%q] under [doctor]", p.Name, c.Name)
	if path := f.config.Tools[p.Name].Path; path != "" {
		c.Result, c.Finds = "problem", fmt.Sprintf("%s, which path names under [tool.%s], is no program", a.tilde(path), p.Name)
		c.Fix = "correct path, or take it out"
		return c
	}
	for _, answer := range f.answers {
		for _, finding := range answer.Findings {
			hidden := finding.Kind == shells.Alias || finding.Kind == shells.Function
			if finding.Tool == p.Name && hidden && shells.Runnable(finding.Path) {
				c.Result = "problem"
				c.Finds += fmt.Sprintf("; %s runs %s", answer.Shell.Name(), a.tilde(finding.Path))
				c.Fix = "run shimctl setup"
				if !a.remedyFor(f, answer, finding).remove {
					c.Fix = fmt.Sprintf("write path = %q under [tool.%s]", a.tilde(finding.Path), p.Name)
				}
				return c
			}
		}
	}
	return c
}

func (a *app) checkTool(p shim.Place, said string) check {
	c := check{Name: p.Name, Result: "ok"}
	if !p.Ours {
		c.Result, c.Finds = "problem", "the shim is not on PATH"
		if p.First != "" {
			c.Finds = fmt.Sprintf("%s comes before the shim on PATH", a.tilde(p.First))
		}
		c.Fix = fmt.Sprintf("put %s first on PATH, then run hash -r; shimctl setup does it for new shells", a.tilde(a.shimDirectory()))
		return c
	}
	c.Finds = fmt.Sprintf("%s in front of %s", a.tilde(p.First), a.tilde(p.Real))
	if said != "" {
		c.Finds += ", " + said
	}
	return c
}

// checkKeys looks for provider keys that the tools would find in the environment.
func (a *app) checkKeys(cfg config.Config) []check {
	var checks []check
	for _, name := range rewrite.Names {
		var found []string
		tool, _ := rewrite.Lookup(name)
		for _, key := range tool.Descriptor().LoginKeys {
			if a.getenv(key) != "" && !slices.Contains(cfg.Tools[name].UnsetEnv, key) {
				found = append(found, key)
			}
		}
		if len(found) > 0 {
			checks = append(checks, check{name + " login", "note",
				strings.Join(found, " and ") + " is set: the tool may use and bill that account, not its own login",
				fmt.Sprintf(`unset it, or write unset_env = ["%s"] under [tool.%s]; if it is the login, ignore = ["%[2]s login"] under [doctor]`,
					strings.Join(found, `", "`), name)})
		}
	}
	return checks
}

func (a *app) checkConfig() (config.Config, check) {
	c := check{Name: "configuration", Result: "ok"}
	path, err := config.ConfigFile(a.own)
	if err != nil {
		c.Result, c.Finds, c.Fix = "problem", a.tildeIn(err.Error()), "set HOME, or REPRISE_CONFIG to an absolute path"
		return config.Config{}, c
	}
	cfg, err := config.Load(path)
	switch {
	case err != nil:
		c.Result, c.Finds = "problem", a.tildeIn(err.Error())+"; every call is passed through"
		c.Fix = cmp.Or(hintFor(err), "correct the file, or move it away")
	case !cfg.Enabled:
		c.Result, c.Finds = "note", a.tilde(path)+" switches reprise off"
		c.Fix = "take enabled = false out of it"
	default:
		c.Finds = a.tilde(path)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			c.Finds = "none, the defaults hold"
		}
	}
	return cfg, c
}

func (a *app) checkLedger() check {
	c := check{Name: "ledger", Result: "ok"}
	path, err := config.LedgerFile(a.own)
	if err == nil {
		err = tryLedger(path)
	}
	if err != nil {
		c.Result, c.Finds = "problem", a.tildeIn(err.Error())+"; every call is passed through"
		c.Fix = cmp.Or(fixFor(err), "make its directory and the disk writable, or run shimctl doctor --fix")
		return c
	}
	c.Finds = a.tilde(path)
	if info, err := os.Stat(filepath.Dir(path)); err == nil {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) != os.Getuid() {
			c.Result, c.Finds = "problem", fmt.Sprintf("%s is in a directory of another user, number %d", c.Finds, owner.Uid)
			c.Fix = "set HOME or XDG_STATE_HOME to a directory of your own"
		}
	}
	return c
}

// tryLedger opens or creates the ledger, checks it and writes to it.
func tryLedger(path string) error {
	l, err := ledger.Open(path)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := l.Check(); err != nil {
		return err
	}
	return errors.Join(l.CheckWritable(), l.Settle())
}

// checkBuild checks that the program was built with cgo, without which the SQLite driver does nothing.
func checkBuild() check {
	c := check{Name: "build", Result: "ok", Finds: version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return c
	}
	for _, s := range info.Settings {
		if s.Key == "CGO_ENABLED" && s.Value != "1" {
			c.Result, c.Finds, c.Fix = "problem", "built without cgo", "build with CGO_ENABLED=1 and a C compiler"
		}
	}
	return c
}
