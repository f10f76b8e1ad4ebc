package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"reprise/config"
	"reprise/internal/shells"
	"reprise/internal/ui"
)

func ruleAddCommand(a *app) *cobra.Command {
	var asJSON, dry bool
	c := &cobra.Command{
		Use: "add FILE", Short: "add rules to the configuration",
		Long: `Adds the rules in FILE, - for stdin, to the end of the configuration file, and shows what it added. It writes
nothing if either has a mistake, or if there is a rule of that name, whose tasks the new one would share.`,
		Args: oneArgument("a file of rules"),
		RunE: func(_ *cobra.Command, args []string) error { return a.ruleAdd(args[0], dry, asJSON) },
	}
	jsonFlag(c, &asJSON, "shimctl.rule.add/1")
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "change nothing, say what would be done")
	return c
}

type ruleAddReport struct {
	Schema string   `json:"schema" doc:"name of this schema"`
	File   string   `json:"file" doc:"the configuration file"`
	Rules  []string `json:"rules" doc:"names of the added rules"`
	Text   string   `json:"text" doc:"the text at its end"`
	DryRun bool     `json:"dry_run" doc:"whether nothing was changed"`
}

func (a *app) ruleAdd(name string, dry, asJSON bool) error {
	text, rules, err := a.readRules(name)
	if err != nil {
		return err
	}
	edit, err := a.withRules(text, rules)
	if err != nil {
		return err
	}
	if !dry {
		if err := writeEdit(edit); err != nil {
			return fmt.Errorf("write %s: %w", edit.File, err)
		}
	}
	report := ruleAddReport{Schema: "shimctl.rule.add/1", File: edit.File, Text: strings.TrimPrefix(edit.New, edit.Old), DryRun: dry,
		Rules: mapped(rules, func(r config.Rule) string { return r.Name })}
	for _, r := range rules {
		if !r.NamesTask() && !r.Never {
			a.stderr.Notice(fmt.Sprintf("rule %s names no task: the prompts alone decide, as before", r.Name))
		}
	}
	if asJSON {
		return a.stdout.PrintJSON(report)
	}
	a.printAdded(report)
	return nil
}

// withRules returns the configuration file with a text of rules at its end. It refuses to change a file with mistakes, or
// to make one.
func (a *app) withRules(text string, rules []config.Rule) (edit shells.Edit, err error) {
	if edit.File, err = config.ConfigFile(a.own); err != nil {
		return edit, err
	}
	before, err := config.Load(edit.File)
	if err != nil {
		return edit, err
	}
	for _, r := range rules {
		if slices.ContainsFunc(before.Rules, func(o config.Rule) bool { return o.Name == r.Name }) {
			return edit, hinted{fmt.Errorf("%s already has a rule %q", a.tilde(edit.File), r.Name), "give the new one another name: rules of one name share their tasks"}
		}
	}
	if edit.Old, edit.Existed, err = readStartFile(edit.File); err != nil {
		return edit, err
	}
	between := ""
	switch {
	case edit.Old == "":
	case strings.HasSuffix(edit.Old, "\n"):
		between = "\n"
	default:
		between = "\n\n"
	}
	edit.New = edit.Old + between + strings.Trim(text, "\n") + "\n"
	if _, err := config.Parse(edit.File, edit.New, a.getenv("HOME")); err != nil {
		return edit, hinted{fmt.Errorf("add the rules to %s: %w", a.tilde(edit.File), err), "write your own rules as [[rule]] tables at the end of the file"}
	}
	return edit, nil
}

func (a *app) printAdded(r ruleAddReport) {
	verb := "added to"
	if r.DryRun {
		verb = "would be added to"
	}
	fmt.Fprintf(a.stdout, "%s %s:\n", verb, ui.Printable(a.tilde(r.File)))
	for line := range strings.Lines(r.Text) {
		fmt.Fprintln(a.stdout, a.stdout.Paint(ui.Good, "+"+ui.Printable(strings.TrimSuffix(line, "\n"))))
	}
}
