// Package setup puts the shims first in the shells, and checks what fresh shells run.
//
// It never touches a file that it has not shown before. Its invariant: what it wrote, and nothing else, is what an uninstall takes
// out again.
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
	"reprise/shim"

	"github.com/spf13/cobra"
)

// setupFlags are what setup is asked for.
type setupFlags struct {
	app.Consent
	tools     []string
	npx, undo bool
}

func Command(a *app.App) *cobra.Command {
	var flags setupFlags
	c := &cobra.Command{
		Use: "setup", Short: "put the shims first in your shells",
		Long: `Asks fresh shells (bash, zsh, fish, sh) what they run for the tools' names, before and after it adds a block to
their start-up files, and the shims that installed tools lack. The block puts the shims first on PATH and removes
an alias or function that only starts a tool by its path. Your own lines never change.`,
		Args: app.NoArguments,
		RunE: func(*cobra.Command, []string) error { return runSetup(a, flags) },
	}
	c.Flags().StringSliceVar(&flags.tools, "tools", nil, "the `TOOLS`, with commas between (default: those installed)")
	c.Flags().BoolVar(&flags.npx, "npx", false, "add a shim of npx, which leads its calls of tools to their shims")
	flags.AddFlags(c)
	c.Flags().BoolVar(&flags.undo, "undo", false, "remove what setup wrote")
	c.MarkFlagsMutuallyExclusive("undo", "tools")
	c.MarkFlagsMutuallyExclusive("undo", "npx")
	app.JSONFlag(c, &flags.JSON, "shimctl.setup/1")
	app.CompleteFlag(c, "tools", rewrite.Names)
	return c
}

type Report struct {
	Schema     string         `json:"schema" doc:"name of this schema"`
	Shims      string         `json:"shims" doc:"directory of the shims"`
	Tools      []string       `json:"tools" doc:"the checked tools"`
	NewShims   []string       `json:"new_shims" doc:"tools, and npx, that have no shim yet and get one"`
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
	r := Report{Schema: "shimctl.setup/1", Shims: facts.World.Shims, Tools: rewrite.Names, NotCovered: notCovered,
		NewShims: []string{}, Changes: []changeReport{}, Checks: []Check{}}
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
		if flags.npx && !hasShim(facts.World.Shims, shim.Npx) {
			r.NewShims = append(r.NewShims, shim.Npx)
		}
		edits, err = planSetup(a, facts, r.Tools)
		shimmed := slices.DeleteFunc(slices.Clone(r.Tools), func(tool string) bool { return !hasShim(facts.World.Shims, tool) })
		r.Checks = ShellChecks(a, facts, shimmed)
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
	if !flags.JSON {
		showSetup(a, r)
	}
	changes := len(edits)+len(r.NewShims) > 0
	var err error
	if changes && !(flags.JSON && flags.Dry) {
		if r.Written, err = a.Agreed(r.question(), flags.Consent); r.Written && len(r.NewShims) > 0 {
			err = addShims(r.Shims, r.NewShims)
		}
		if err == nil && r.Written {
			err = writeEdits(a, edits, !flags.JSON)
		}
		if err != nil && (r.Written || !flags.JSON) {
			return err
		}
	}
	if r.Written && !flags.undo {
		if r.Checks, err = verify(a, r.Tools); err != nil {
			return err
		}
		if !flags.JSON {
			PrintChecks(a, r.Checks)
			a.Stdout.Sentences("NOT COVERED", view.Plain, r.NotCovered)
		}
	}
	if flags.JSON {
		err = cmp.Or(err, a.Stdout.PrintJSON(r))
	}
	left := changes && !r.Written || !flags.undo && slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Result == "note" || c.Result == "problem" })
	if err == nil && left && !flags.Dry {
		err = app.ErrFindings
	}
	return err
}

// question says in short what is to be done.
func (r *Report) question() string {
	var parts []string
	if n := len(r.NewShims); n > 0 {
		parts = append(parts, "add "+view.Count(int64(n), "shim"))
	}
	if n := len(r.Changes); n > 0 {
		parts = append(parts, "change "+view.Count(int64(n), "file"))
	}
	return strings.Join(parts, " and ")
}

// verify asks fresh shells again.
func verify(a *app.App, tools []string) ([]Check, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	return view.WithProgress(a.Stderr, "asking fresh shells", func() ([]Check, error) {
		return ShellChecks(a, AskShells(a, cfg), tools), nil
	})
}

// showSetup prints the changes, and what fresh shells run: what is left for the user stands above the question.
func showSetup(a *app.App, r Report) {
	for _, tool := range r.NewShims {
		fmt.Fprintln(a.Stdout, a.Stdout.Paint(view.Good, "+"+view.Printable(a.Tilde(filepath.Join(r.Shims, tool)))))
	}
	var shown []string // the lines of the last change that was printed in full
	for _, c := range r.Changes {
		name, lines := c.title(a), shells.Changed(c.Diff)
		with, without := lacking(lines, shown), lacking(shown, lines)
		switch {
		case len(lines) == 0:
			a.Stdout.Notice("to the end of " + name + ": the block that it has")
		case shown == nil || len(with)+len(without) > len(lines)/2:
			a.Stdout.Notice(name + ":")
			for _, line := range lines {
				meaning := map[byte]view.Meaning{'+': view.Good, '-': view.Bad}[line[0]]
				fmt.Fprintln(a.Stdout, a.Stdout.Paint(meaning, view.Printable(line)))
			}
			shown = lines
		default:
			a.Stdout.Notice("the same in " + name)
			printEach(a, "    without ", without)
			printEach(a, "    with    ", with)
		}
	}
	if len(r.Changes)+len(r.NewShims) == 0 {
		a.Stderr.Notice("there is nothing to change")
	}
	if len(r.Checks) > 0 {
		PrintChecks(a, r.Checks)
	}
}

// title names the file of a change, and what is special about it.
func (c changeReport) title(a *app.App) string {
	name := a.Tilde(c.File)
	switch {
	case c.Removed:
		return name + ", which setup created and is removed"
	case c.Created:
		return name + ", which is created"
	case c.Behind != nil:
		return name + ", after " + strings.Join(c.Behind, ", ")
	}
	return name
}

// lacking returns the lines that are not among others.
func lacking(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}

// printEach prints the text of each changed line.
func printEach(a *app.App, word string, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(a.Stdout, a.Stdout.Paint(view.Dim, word+view.Printable(strings.TrimSpace(line[1:]))))
	}
}
