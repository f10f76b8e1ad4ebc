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

	"github.com/spf13/cobra"
	"reprise/config"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/shim"
)

func doctorCommand(a *app) *cobra.Command {
	var asJSON, measure bool
	c := &cobra.Command{
		Use: "doctor", Short: "check that the shims can work",
		Long: `Checks the order of PATH, aliases and functions that shadow the shims, the real binaries and whether their
versions were tested, CLIs that SDKs in the working directory bundle, permissions, the ledger, the configuration and the build, and prints a fix for each
problem. The exit status is 3 if there is a problem; notes do not count.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.doctor(asJSON, measure) },
	}
	c.Flags().BoolVar(&measure, "measure", false, "measure the time that the shim adds to a call that is passed through")
	jsonFlag(c, &asJSON, "shimctl.doctor/1")
	return c
}

// A check is one thing that was looked at.
type check struct {
	Name   string `json:"name" doc:"what was checked"`
	Result string `json:"result" doc:"ok, note or problem"`
	Finds  string `json:"finds" doc:"what was found"`
	Fix    string `json:"fix,omitempty" doc:"how to fix it"`
}

type doctorReport struct {
	Schema string  `json:"schema" doc:"name of this schema"`
	Checks []check `json:"checks" doc:"the checks, in order"`
}

func (a *app) doctor(asJSON, measure bool) (err error) {
	checks, _ := ui.WithProgress(a.stderr, "checking", func() ([]check, error) { return a.checks(measure), nil })
	if asJSON {
		err = a.stdout.PrintJSON(doctorReport{"shimctl.doctor/1", checks})
	} else {
		a.printChecks(checks)
	}
	for _, c := range checks {
		if c.Result == "problem" {
			return errors.Join(err, errFindings)
		}
	}
	return err
}

func (a *app) checks(measure bool) []check {
	cfg, configured := a.checkConfig()
	checks := append(a.checkTools(cfg), a.checkShells()...)
	checks = append(checks, a.checkKeys(cfg)...)
	checks = append(checks, a.checkBundled()...)
	checks = append(checks, a.checkPermissions(), configured, a.checkLedger(), checkBuild())
	if measure {
		checks = append(checks, a.measure())
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
	t := ui.NewFoldedTable("RESULT", "CHECK", "FINDS") // what is found and its fix do not fit side by side
	for _, c := range checks {
		t.Add(c.resultCell(), ui.TextCell(c.Name), ui.TextCell(c.Finds))
		if c.Fix != "" {
			t.Add(ui.Cell{}, ui.Cell{}, ui.TextCell("fix: "+c.Fix).As(ui.Strong))
		}
	}
	t.Print(a.stdout)
}

func (c check) resultCell() ui.Cell {
	return ui.TextCell(c.Result).As(map[string]ui.Meaning{"ok": ui.Good, "note": ui.Warn, "problem": ui.Bad}[c.Result])
}

// checkTools looks at each name as a caller would find it. A tool that is not
// installed at all is no problem of ours.
func (a *app) checkTools(cfg config.Config) []check {
	if _, err := config.BinDir(a.own); err != nil {
		return []check{{"PATH", "problem", err.Error(), "set HOME, and REPRISE_BIN_DIR to an absolute path if at all"}}
	}
	var checks []check
	for _, name := range rewrite.Names {
		p := shim.Locate(a.shimEnv(), name, cfg.Tools[name].Path)
		said := ""
		if p.Real != "" {
			said = shim.Version(p.Real, a.environ)
		}
		checks = append(checks, a.checkTool(p, said))
		if p.Real == "" {
			continue
		}
		checks = append(append(checks, a.checkOrder(p)), checkVersion(name, said)...)
		if name == "gemini" {
			checks = append(checks, a.checkRetention())
		}
	}
	return checks
}

func (a *app) checkTool(p shim.Place, said string) check {
	c := check{Name: p.Name, Result: "ok"}
	switch {
	case p.Real == "" && !p.Ours:
		c.Finds = "is not installed"
	case p.Real == "":
		c.Finds = "the shim is first on PATH, no real binary is behind it"
	case !p.Ours:
		c.Result = "problem"
		c.Finds = fmt.Sprintf("%s comes before the shim on PATH", a.tilde(p.First))
		c.Fix = fmt.Sprintf("put %s first on PATH, then run hash -r", a.tilde(a.shimFolder()))
	default:
		c.Finds = fmt.Sprintf("%s in front of %s", a.tilde(p.First), a.tilde(p.Real))
		if said != "" {
			c.Finds += ", " + said
		}
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
				fmt.Sprintf("unset it, or write unset_env = [\"%s\"] under [tool.%s]", strings.Join(found, `", "`), name)})
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
		c.Fix = cmp.Or(fixFor(err), "make its directory and the disk writable, or run shimctl ledger reset")
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

// tryLedger opens the ledger, or makes it, looks through it and writes to it.
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

// checkBuild: without cgo the SQLite driver is an empty shell.
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
