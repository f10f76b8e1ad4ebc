package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"reprise/internal/shells"
	"reprise/internal/ui"
	"reprise/rewrite"

	"github.com/spf13/cobra"
)

// setupFlags are what setup is asked for.
type setupFlags struct {
	consent
	tools        []string
	undo, asJSON bool
}

func setupCommand(a *app) *cobra.Command {
	var flags setupFlags
	c := &cobra.Command{
		Use: "setup", Short: "put the shims first in your shells",
		Long: `Asks fresh shells (bash, zsh, fish, sh) what they run for the tools' names, and shows the block that it would
add to their start-up files. It adds the shims that installed tools lack. The block puts the shims first on PATH
and removes an alias or function that only starts a tool by its path. Your own lines never change.

It asks before it writes. Without a terminal, and with --json, it writes only with --yes. Then it asks fresh
shells again. The exit status is 3 if something is left to do. docs/how-to/shells.md says more.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.setup(flags) },
	}
	c.Flags().StringSliceVar(&flags.tools, "tools", nil, "the `TOOLS`, with commas between (default: those installed)")
	flags.addFlags(c)
	c.Flags().BoolVar(&flags.undo, "undo", false, "remove what setup wrote")
	c.MarkFlagsMutuallyExclusive("undo", "tools")
	jsonFlag(c, &flags.asJSON, "shimctl.setup/1")
	completeFlag(c, "tools", rewrite.Names)
	return c
}

type setupReport struct {
	Schema     string         `json:"schema" doc:"name of this schema"`
	Shims      string         `json:"shims" doc:"directory of the shims"`
	Tools      []string       `json:"tools" doc:"the checked tools"`
	NewShims   []string       `json:"new_shims" doc:"tools that have no shim yet and get one"`
	Changes    []changeReport `json:"changes" doc:"changes of files, in order"`
	Written    bool           `json:"written" doc:"whether they were written"`
	Checks     []check        `json:"checks" doc:"what fresh shells run, after any writing"`
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

func (a *app) setup(flags setupFlags) error {
	for _, tool := range flags.tools {
		if !slices.Contains(rewrite.Names, tool) {
			return usageError{fmt.Sprintf("%q is not a tool", tool), "one of " + strings.Join(rewrite.Names, ", ")}
		}
	}
	if !filepath.IsAbs(a.getenv("HOME")) {
		return hinted{errors.New("find the start-up files: HOME is not an absolute path"), "set HOME"}
	}
	cfg, err := a.config()
	if err != nil && !flags.undo {
		return err
	}
	facts, _ := ui.WithProgress(a.stderr, "asking fresh shells", func() (shellFacts, error) { return a.askShells(cfg), nil })
	r := setupReport{Schema: "shimctl.setup/1", Shims: facts.world.Shims, Tools: rewrite.Names, NotCovered: notCovered}
	var edits []shells.Edit
	if flags.undo {
		edits, err = a.planUndo(facts)
	} else {
		if len(shimsIn(facts.world.Shims)) == 0 {
			return hinted{fmt.Errorf("find the shims: there are none in %s", facts.world.Shims), "install them first, with ./install.sh"}
		}
		if tools := cmp.Or(strings.Join(flags.tools, " "), strings.Join(a.installed(facts), " ")); tools != "" {
			r.Tools = strings.Fields(tools)
			r.NewShims = slices.DeleteFunc(slices.Clone(r.Tools), func(tool string) bool { return hasShim(facts.world.Shims, tool) })
		} else {
			r.Tools = shimsIn(facts.world.Shims)
		}
		edits, err = a.planSetup(facts, r.Tools)
		r.Checks = ignore(a.shellChecks(facts, r.shimmed()), cfg.Doctor.Ignore)
	}
	if err != nil {
		return err
	}
	for _, e := range edits {
		c := changeReport{File: e.File, Created: !e.Existed, Removed: e.Remove, Diff: e.Diff(a.tilde(e.File))}
		if !flags.undo {
			c.Behind = shells.Managers(facts.lines, e.File)
		}
		r.Changes = append(r.Changes, c)
	}
	return a.carryOut(flags, r, edits)
}

// carryOut shows the changes, asks, writes them and looks at what came of it.
func (a *app) carryOut(flags setupFlags, r setupReport, edits []shells.Edit) error {
	if !flags.asJSON {
		a.showSetup(r)
	}
	var err error
	changes := len(edits)+len(r.NewShims) > 0
	if changes && !flags.dry && (flags.yes || !flags.asJSON) {
		if err = a.ask("write this?", flags.consent); err == nil && len(r.NewShims) > 0 {
			err = addShims(r.Shims, r.NewShims)
		}
		if err == nil {
			err = a.writeEdits(edits, !flags.asJSON)
		}
		if err != nil {
			return err
		}
		r.Written = true
	}
	if r.Written && !flags.undo {
		if r.Checks, err = a.verify(r.Tools); err != nil {
			return err
		}
		if !flags.asJSON {
			a.printChecks(shown(r.Checks))
			a.stdout.Sentences("NOT COVERED", ui.Plain, r.NotCovered)
		}
	}
	if flags.asJSON {
		r.fill()
		err = a.stdout.PrintJSON(r)
	}
	left := changes && !r.Written || !flags.undo && slices.ContainsFunc(r.Checks, func(c check) bool { return c.Result == "note" || c.Result == "problem" })
	if left && !flags.dry {
		err = errors.Join(err, errFindings)
	}
	return err
}

// shimmed returns the checked tools that have a shim.
func (r *setupReport) shimmed() []string {
	return slices.DeleteFunc(slices.Clone(r.Tools), func(tool string) bool { return slices.Contains(r.NewShims, tool) })
}

// fill makes lists of what is empty.
func (r *setupReport) fill() {
	if r.NewShims == nil {
		r.NewShims = []string{}
	}
	if r.Changes == nil {
		r.Changes = []changeReport{}
	}
	if r.Checks == nil {
		r.Checks = []check{}
	}
}

// verify asks fresh shells again.
func (a *app) verify(tools []string) ([]check, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	return ui.WithProgress(a.stderr, "asking fresh shells", func() ([]check, error) {
		return ignore(a.shellChecks(a.askShells(cfg), tools), cfg.Doctor.Ignore), nil
	})
}

// showSetup prints what fresh shells run, and the changes.
func (a *app) showSetup(r setupReport) {
	if r.Checks != nil {
		a.printChecks(shown(r.Checks))
	}
	for _, tool := range r.NewShims {
		fmt.Fprintln(a.stdout, a.stdout.Paint(ui.Good, "+ "+ui.Printable(a.tilde(filepath.Join(r.Shims, tool)))))
	}
	for _, c := range r.Changes {
		if c.Behind != nil {
			fmt.Fprintf(a.stdout, "# %s: after %s\n", ui.Printable(a.tilde(c.File)), strings.Join(c.Behind, ", "))
		}
		for line := range strings.Lines(c.Diff) {
			meaning := map[byte]ui.Meaning{'+': ui.Good, '-': ui.Bad, '@': ui.Dim}[line[0]]
			fmt.Fprintln(a.stdout, a.stdout.Paint(meaning, ui.Printable(strings.TrimSuffix(line, "\n"))))
		}
	}
	if len(r.Changes)+len(r.NewShims) == 0 {
		a.stderr.Notice("there is nothing to change")
	}
}
