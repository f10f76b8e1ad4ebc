// Package setup puts the shims first on PATH in the login shell, and finds the aliases and
// functions that hide them.
//
// It reads start files and runs no shell. Invariant: it changes no line but its own, and --undo
// restores each byte.
package setup

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"
	"reprise/rewrite"
	"reprise/shim/binary"

	"github.com/spf13/cobra"
)

type setupFlags struct {
	app.Consent
	tools     []string
	npx, undo bool
}

// Command returns `shimctl setup`.
func Command(a *app.App) *cobra.Command {
	var flags setupFlags
	c := &cobra.Command{
		Use: "setup", Short: "put the shims first in your shell",
		Long: `Adds one line to the start file of your login shell, and of fish if it has one, that puts the shims first on
PATH, and the shims that installed tools lack. It shows both and asks. It names aliases and functions that hide
a shim, and leaves them to you.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return runSetup(a, flags) },
	}
	c.Flags().StringSliceVar(&flags.tools, "tools", nil,
		"the `TOOLS` to add shims of, with commas between (default: those installed)")
	c.Flags().BoolVar(&flags.npx, "npx", false,
		"add a shim of npx, which leads its calls of tools to their shims")
	flags.AddFlags(c)
	c.Flags().BoolVar(&flags.undo, "undo", false, "remove the lines that setup added")
	c.MarkFlagsMutuallyExclusive("undo", "tools")
	c.MarkFlagsMutuallyExclusive("undo", "npx")
	app.JSONFlag(c, &flags.JSON, "shimctl.setup/1")
	app.CompleteFlag(c, "tools", rewrite.Names)
	return c
}

// A Report is the JSON of setup.
type Report struct {
	Schema   string   `json:"schema" doc:"name of this schema"`
	Shims    string   `json:"shims" doc:"directory of the shims"`
	NewShims []string `json:"new_shims" doc:"tools, and npx, that have no shim yet and get one"`
	Changes  []Change `json:"changes" doc:"changes of files, in order"`
	Written  bool     `json:"written" doc:"whether they were written"`
	Checks   Checks   `json:"checks" doc:"aliases and functions that hide a shim"`
}

// A Change is the change of one start file.
type Change struct {
	File    string `json:"file" doc:"the file"`
	Line    string `json:"line" doc:"the line that is added, or taken out with --undo"`
	Created bool   `json:"created" doc:"whether the file did not exist"`
	Removed bool   `json:"removed" doc:"whether the file is removed: setup created it, and nothing else is in it"`
	edit    textfile.Edit
}

const notCovered = "cron, systemd, CI and ssh HOST COMMAND do not read these files: put the " +
	"directory first on PATH there. " +
	"Open a new terminal, and start editors again."

func runSetup(a *app.App, flags setupFlags) error {
	if err := app.CheckTools(flags.tools...); err != nil {
		return err
	}
	if !filepath.IsAbs(a.Getenv("HOME")) {
		return app.WithHint(errors.New("find the start files: HOME is not an absolute path"),
			"set HOME")
	}
	r := Report{Schema: "shimctl.setup/1", Shims: ShimDirectory(a), NewShims: []string{},
		Changes: []Change{}, Checks: Checks{}}
	files := StartFiles(a)
	if !flags.undo {
		if len(shimsIn(r.Shims)) == 0 {
			return app.WithHint(fmt.Errorf("find the shims: there are none in %s", r.Shims),
				"install them first, with ./install.sh")
		}
		cfg, err := a.Config()
		if err != nil {
			return err
		}
		lacking := flags.tools
		for _, tool := range rewrite.Names {
			found := binary.Locate(a.Environ, a.Own, tool, cfg.Tools[tool].Path)
			if flags.tools == nil && found.Real != "" {
				lacking = append(lacking, tool)
			}
			r.Checks.Hiding(a, r.Shims, found)
		}
		if flags.npx {
			lacking = append(lacking, binary.Npx)
		}
		r.NewShims = slices.DeleteFunc(append(r.NewShims, lacking...), func(name string) bool {
			return hasShim(r.Shims, name)
		})
		files = chosenFiles(a)
	}
	for _, file := range files {
		c, err := planChange(a, file, r.Shims, flags.undo)
		if err != nil {
			return err
		}
		if c.edit.Changes() {
			r.Changes = append(r.Changes, c)
		}
	}
	return carryOut(a, flags, r)
}

// carryOut shows the changes, asks, and writes them.
func carryOut(a *app.App, flags setupFlags, r Report) (err error) {
	if !flags.JSON {
		show(a, r, flags.undo)
	}
	if r.isNeeded() && !(flags.JSON && flags.Dry) {
		if r.Written, err = a.Agreed("make these changes", flags.Consent); r.Written {
			err = r.write(a, !flags.JSON)
		}
		if err != nil && (r.Written || !flags.JSON) {
			return err
		}
	}
	if flags.JSON {
		err = cmp.Or(err, a.Stdout.PrintJSON(r))
	} else if r.Written && !flags.undo {
		a.Stdout.Notice(notCovered)
	}
	// a change is left, or a shim is hidden
	if err == nil && !flags.Dry && (r.isNeeded() && !r.Written || len(r.Checks) > 0) {
		err = app.ErrFindings
	}
	return err
}

func (r *Report) isNeeded() bool { return len(r.Changes)+len(r.NewShims) > 0 }

// write adds the shims and writes the files, in order. It stops at the first that cannot be
// written.
func (r *Report) write(a *app.App, say bool) error {
	if len(r.NewShims) > 0 {
		if err := addShims(r.Shims, r.NewShims); err != nil {
			return err
		}
	}
	for _, c := range r.Changes {
		if err := c.edit.Write(); err != nil {
			return app.WithHint(fmt.Errorf("write %s: %w", c.File, err),
				"change the line shown above by hand")
		}
		verb := "wrote "
		if c.Removed {
			verb = "removed "
		}
		if say {
			a.Stdout.Notice(verb + a.Tilde(c.File))
		}
	}
	return nil
}

// show prints the changes, and the steps that are left to the user.
func show(a *app.App, r Report, undo bool) {
	for _, name := range r.NewShims {
		a.Stdout.Changed("+", a.Tilde(filepath.Join(r.Shims, name)))
	}
	for _, c := range r.Changes {
		a.Stdout.Notice(a.Tilde(c.File) + ":")
		if undo {
			a.Stdout.Changed("-", c.Line)
		} else {
			a.Stdout.Changed("+", c.Line)
		}
	}
	if !r.isNeeded() {
		a.Stderr.Notice("there is nothing to change")
	}
	if len(r.Checks) > 0 {
		r.Checks.Print(a)
	}
}

// A Check is the result of one check.
type Check struct {
	Name   string `json:"name" doc:"the subject of the check"`
	Result string `json:"result" doc:"ok, note, problem or fixed"`
	Finds  string `json:"finding" doc:"the finding"`
	Fix    string `json:"fix,omitempty" doc:"how to fix it"`
}

// Checks are the results of checks, in order.
type Checks []Check

func (c *Checks) add(name, result, finds, fix string) {
	*c = append(*c, Check{name, result, finds, fix})
}

// OK adds the result that the subject is in order.
func (c *Checks) OK(name, finds string) { c.add(name, "ok", finds, "") }

// Note adds a finding that keeps no call from being resumed.
func (c *Checks) Note(name, finds, fix string) { c.add(name, "note", finds, fix) }

// Problem adds a finding that must be fixed.
func (c *Checks) Problem(name, finds, fix string) { c.add(name, "problem", finds, fix) }

// Fixed adds a problem that this run has fixed.
func (c *Checks) Fixed(name, finds string) { c.add(name, "fixed", finds, "") }

// Print prints the results as a table. At a terminal the fix is below the finding.
func (c Checks) Print(a *app.App) {
	t := view.NewTable("RESULT", "CHECK", "FINDS", "FIX")
	if a.Stdout.Terminal {
		t = view.NewFoldedTable("RESULT", "CHECK", "FINDS")
	}
	for _, each := range c {
		row := view.Mapped([]string{each.Result, each.Name, each.Finds}, view.TextCell)
		switch {
		case !a.Stdout.Terminal:
			t.Add(append(row, view.TextCell(each.Fix))...)
		case each.Fix != "":
			t.Add(row...)
			t.Add(view.Cell{}, view.Cell{}, view.TextCell("fix: "+each.Fix))
		default:
			t.Add(row...)
		}
	}
	t.Print(a.Stdout)
}
