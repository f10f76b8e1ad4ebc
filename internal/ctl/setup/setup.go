// Package setup puts the shims first in the shells, and checks what fresh shells run.
package setup

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup/shells"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"
	"reprise/rewrite"

	"github.com/spf13/cobra"
)

// setupFlags are what setup is asked for.
type setupFlags struct {
	app.Consent
	tools        []string
	undo, asJSON bool
}

func Command(a *app.App) *cobra.Command {
	var flags setupFlags
	c := &cobra.Command{
		Use: "setup", Short: "put the shims first in your shells",
		Long: `Asks fresh shells (bash, zsh, fish, sh) what they run for the tools' names, and shows the block that it would
add to their start-up files. It adds the shims that installed tools lack. The block puts the shims first on PATH
and removes an alias or function that only starts a tool by its path. Your own lines never change.

It asks before it writes. Without a terminal, and with --json, it writes only with --yes. Then it asks fresh
shells again. The exit status is 3 if something is left to do.`,
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error { return runSetup(a, flags) },
	}
	c.Flags().StringSliceVar(&flags.tools, "tools", nil, "the `TOOLS`, with commas between (default: those installed)")
	flags.AddFlags(c)
	c.Flags().BoolVar(&flags.undo, "undo", false, "remove what setup wrote")
	c.MarkFlagsMutuallyExclusive("undo", "tools")
	app.JSONFlag(c, &flags.asJSON, "shimctl.setup/1")
	app.CompleteFlag(c, "tools", rewrite.Names)
	return c
}

type Report struct {
	Schema     string         `json:"schema" doc:"name of this schema"`
	Shims      string         `json:"shims" doc:"directory of the shims"`
	Tools      []string       `json:"tools" doc:"the checked tools"`
	NewShims   []string       `json:"new_shims" doc:"tools that have no shim yet and get one"`
	Changes    []changeReport `json:"changes" doc:"changes of files, in order"`
	Written    bool           `json:"written" doc:"whether they were written"`
	Checks     []Check        `json:"checks" doc:"what fresh shells run, after any writing"`
	NotCovered string         `json:"not_covered" doc:"programs that read none of these files"`
}

type changeReport struct {
	File    string   `json:"file" doc:"the file"`
	Created bool     `json:"created" doc:"whether it did not exist"`
	Behind  []string `json:"behind,omitempty" doc:"version managers in the file, above the block"`
	Removed bool     `json:"removed" doc:"whether it is removed, because setup created it and nothing else is in it"`
	Diff    string   `json:"diff" doc:"the change as a unified diff without context"`
}

// notCovered is true of all shells.
const notCovered = "cron, systemd, CI and ssh HOST COMMAND do not read these files: put the directory first on PATH there. " +
	"Open a new terminal, and start editors again."

func runSetup(a *app.App, flags setupFlags) error {
	for _, tool := range flags.tools {
		if !slices.Contains(rewrite.Names, tool) {
			return app.Usage(fmt.Sprintf("%q is not a tool", tool), "one of "+strings.Join(rewrite.Names, ", "))
		}
	}
	if !filepath.IsAbs(a.Getenv("HOME")) {
		return app.WithHint(errors.New("find the start-up files: HOME is not an absolute path"), "set HOME")
	}
	cfg, err := a.Config()
	if err != nil && !flags.undo {
		return err
	}
	facts, _ := view.WithProgress(a.Stderr, "asking fresh shells", func() (ShellFacts, error) { return AskShells(a, cfg), nil })
	r := Report{Schema: "shimctl.setup/1", Shims: facts.World.Shims, Tools: rewrite.Names, NotCovered: notCovered}
	var edits []textfile.Edit
	if flags.undo {
		edits, err = planUndo(a, facts)
	} else {
		if len(ShimsIn(facts.World.Shims)) == 0 {
			return app.WithHint(fmt.Errorf("find the shims: there are none in %s", facts.World.Shims), "install them first, with ./install.sh")
		}
		if tools := cmp.Or(strings.Join(flags.tools, " "), strings.Join(installed(a, facts), " ")); tools != "" {
			r.Tools = strings.Fields(tools)
			r.NewShims = slices.DeleteFunc(slices.Clone(r.Tools), func(tool string) bool { return hasShim(facts.World.Shims, tool) })
		} else {
			r.Tools = ShimsIn(facts.World.Shims)
		}
		edits, err = planSetup(a, facts, r.Tools)
		r.Checks = Ignore(ShellChecks(a, facts, r.shimmed()), cfg.Doctor.Ignore)
	}
	if err != nil {
		return err
	}
	for _, e := range edits {
		c := changeReport{File: e.File, Created: !e.Existed, Removed: e.Remove, Diff: shells.Diff(e, a.Tilde(e.File))}
		if !flags.undo {
			c.Behind = shells.Managers(facts.lines, e.File)
		}
		r.Changes = append(r.Changes, c)
	}
	return carryOut(a, flags, r, edits)
}

// carryOut shows the changes, asks, writes them and looks at what came of it.
func carryOut(a *app.App, flags setupFlags, r Report, edits []textfile.Edit) error {
	if !flags.asJSON {
		showSetup(a, r)
	}
	var err error
	changes := len(edits)+len(r.NewShims) > 0
	if changes && !flags.Dry && (flags.Yes || !flags.asJSON) {
		if err = a.Ask("write this?", flags.Consent); err == nil && len(r.NewShims) > 0 {
			err = addShims(r.Shims, r.NewShims)
		}
		if err == nil {
			err = writeEdits(a, edits, !flags.asJSON)
		}
		if err != nil {
			return err
		}
		r.Written = true
	}
	if r.Written && !flags.undo {
		if r.Checks, err = verify(a, r.Tools); err != nil {
			return err
		}
		if !flags.asJSON {
			PrintChecks(a, Shown(r.Checks))
			a.Stdout.Sentences("NOT COVERED", view.Plain, r.NotCovered)
		}
	}
	if flags.asJSON {
		r.fill()
		err = a.Stdout.PrintJSON(r)
	}
	left := changes && !r.Written || !flags.undo && slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Result == "note" || c.Result == "problem" })
	if left && !flags.Dry {
		err = errors.Join(err, app.ErrFindings)
	}
	return err
}

// shimmed returns the checked tools that have a shim.
func (r *Report) shimmed() []string {
	return slices.DeleteFunc(slices.Clone(r.Tools), func(tool string) bool { return slices.Contains(r.NewShims, tool) })
}

// fill makes lists of what is empty.
func (r *Report) fill() {
	if r.NewShims == nil {
		r.NewShims = []string{}
	}
	if r.Changes == nil {
		r.Changes = []changeReport{}
	}
	if r.Checks == nil {
		r.Checks = []Check{}
	}
}

// verify asks fresh shells again.
func verify(a *app.App, tools []string) ([]Check, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	return view.WithProgress(a.Stderr, "asking fresh shells", func() ([]Check, error) {
		return Ignore(ShellChecks(a, AskShells(a, cfg), tools), cfg.Doctor.Ignore), nil
	})
}

// showSetup prints what fresh shells run, and the changes.
func showSetup(a *app.App, r Report) {
	if r.Checks != nil {
		PrintChecks(a, Shown(r.Checks))
	}
	for _, tool := range r.NewShims {
		fmt.Fprintln(a.Stdout, a.Stdout.Paint(view.Good, "+ "+view.Printable(a.Tilde(filepath.Join(r.Shims, tool)))))
	}
	for _, c := range r.Changes {
		if c.Behind != nil {
			fmt.Fprintf(a.Stdout, "# %s: after %s\n", view.Printable(a.Tilde(c.File)), strings.Join(c.Behind, ", "))
		}
		for line := range strings.Lines(c.Diff) {
			meaning := map[byte]view.Meaning{'+': view.Good, '-': view.Bad, '@': view.Dim}[line[0]]
			fmt.Fprintln(a.Stdout, a.Stdout.Paint(meaning, view.Printable(strings.TrimSuffix(line, "\n"))))
		}
	}
	if len(r.Changes)+len(r.NewShims) == 0 {
		a.Stderr.Notice("there is nothing to change")
	}
}
