package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/shells"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
)

func ruleAddCommand(a *app) *cobra.Command {
	var asJSON bool
	var agreed consent
	var from string
	c := &cobra.Command{
		Use: "add FILE|--from CALL", Short: "add rules to the configuration",
		Long: `Adds the rules in FILE, - for stdin, to the end of the configuration file, and shows what it added. At a terminal it
asks first. It writes nothing if either has a mistake, or if there is a rule of that name.

--from makes a rule from a fresh call and those like it, shows what it would have resumed, and asks; with --json, or
without a terminal, it needs --yes.`,
		Args: func(c *cobra.Command, args []string) error {
			if from != "" && len(args) > 0 {
				return usageError{"--from takes no file of rules", "usage: " + c.UseLine()}
			}
			if from != "" {
				return nil
			}
			return oneArgument("a file of rules, or --from CALL")(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if from != "" {
				return a.ruleAddFrom(from, agreed, asJSON)
			}
			return a.ruleAdd(args[0], agreed, asJSON)
		},
	}
	jsonFlag(c, &asJSON, "shimctl.rule.add/1")
	agreed.addFlags(c)
	c.Flags().StringVar(&from, "from", "", "make a rule from `CALL`, a number")
	_ = c.RegisterFlagCompletionFunc("from", func(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return a.completeCall(c, nil, begun)
	})
	return c
}

type ruleAddReport struct {
	Schema string     `json:"schema" doc:"name of this schema"`
	File   string     `json:"file" doc:"the configuration file"`
	Rules  []string   `json:"rules" doc:"names of the added rules"`
	Text   string     `json:"text" doc:"the text at its end"`
	DryRun bool       `json:"dry_run" doc:"whether nothing was changed"`
	Tried  *triedRule `json:"tried,omitempty" doc:"with --from: what the rule would have made of past calls"`
}

// proposedPeriod is how long before a call those like it are searched for.
const proposedPeriod = 7 * 24 * time.Hour

// ruleAddFrom adds the rule that a call and those like it suggest.
func (a *app) ruleAddFrom(call string, agreed consent, asJSON bool) error {
	l, err := a.openOrEmpty()
	if err != nil {
		return err
	}
	defer l.Close()
	i, err := findInvocation(l, call)
	if err != nil {
		return err
	}
	p, err := a.proposeRuleFor(l, i)
	if err != nil {
		return hinted{fmt.Errorf("make a rule from call %d: %w", i.ID, err), "without a rule: " + namedCall(i.Tool)}
	}
	edit, err := a.withRules(p.Text, p.rules)
	if err != nil {
		return err
	}
	report := ruleAddReport{Schema: "shimctl.rule.add/1", File: edit.File, Text: strings.TrimPrefix(edit.New, edit.Old),
		DryRun: agreed.dry || asJSON && !agreed.yes, Rules: []string{p.rules[0].Name}, Tried: &p.tried}
	if asJSON {
		if !report.DryRun {
			err = writeEdit(edit)
		}
		return errors.Join(err, a.stdout.PrintJSON(report))
	}
	a.printAdded("would be added to", report)
	fmt.Fprintln(a.stdout)
	a.stdout.Sentences("RESULT", "", p.tried.Text, "It is right only if the calls of a role are rounds of one job: two jobs of one caller look the same.")
	if agreed.dry {
		return nil
	}
	if err := a.ask("add it?", agreed); err != nil {
		return err
	}
	if err := writeEdit(edit); err != nil {
		return fmt.Errorf("write %s: %w", edit.File, err)
	}
	a.stderr.Notice("added to " + a.tilde(edit.File))
	return nil
}

// proposeRuleFor returns the rule for a call's job, or why there is none.
func (a *app) proposeRuleFor(l *ledger.Ledger, i ledger.Invocation) (proposal, error) {
	switch {
	case i.Rule != "":
		return proposal{}, fmt.Errorf("rule %s matched it", i.Rule)
	case i.Mode != rewrite.Fresh || i.FellBack != "":
		return proposal{}, fmt.Errorf("it was not fresh for want of a name (%s)", decision(i))
	}
	facts, err := readWhyFacts(l, i)
	if err != nil {
		return proposal{}, err
	}
	if facts.chain.Task != "" {
		return proposal{}, fmt.Errorf("its caller named the task %s", facts.chain.Task)
	}
	since := i.Started.Time().Add(-proposedPeriod)
	return a.proposeRule(l, i.ID, i.Tool, i.Cwd, decide.Millis(since.UnixMilli()))
}

// namedCall is a call of a tool with a name.
func namedCall(tool string) string {
	return adviceFor(reason.NoEvidence, tool, 0).Command
}

// ruleAdd adds the rules of a file. Whoever names the file to a program has decided: only a person is asked.
func (a *app) ruleAdd(name string, agreed consent, asJSON bool) error {
	text, rules, err := a.readRules(name)
	if err != nil {
		return err
	}
	edit, err := a.withRules(text, rules)
	if err != nil {
		return err
	}
	report := ruleAddReport{Schema: "shimctl.rule.add/1", File: edit.File, Text: strings.TrimPrefix(edit.New, edit.Old), DryRun: agreed.dry,
		Rules: mapped(rules, func(r config.Rule) string { return r.Name })}
	asks := !agreed.dry && !agreed.yes && !asJSON && name != "-" && a.canAsk()
	if asks {
		a.printAdded("would be added to", report)
		if err := a.ask("add them?", agreed); err != nil {
			return err
		}
	}
	if !agreed.dry {
		if err := writeEdit(edit); err != nil {
			return fmt.Errorf("write %s: %w", edit.File, err)
		}
	}
	for _, r := range rules {
		if !r.NamesTask() && !r.Never {
			a.stderr.Notice(fmt.Sprintf("rule %s names no task: the prompts alone decide, as before", r.Name))
		}
	}
	switch {
	case asJSON:
		return a.stdout.PrintJSON(report)
	case asks:
		a.stderr.Notice("added to " + a.tilde(edit.File))
	case agreed.dry:
		a.printAdded("would be added to", report)
	default:
		a.printAdded("added to", report)
	}
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

// printAdded shows the rules; verb is what becomes of them.
func (a *app) printAdded(verb string, r ruleAddReport) {
	fmt.Fprintf(a.stdout, "%s %s:\n", verb, ui.Printable(a.tilde(r.File)))
	for line := range strings.Lines(r.Text) {
		fmt.Fprintln(a.stdout, a.stdout.Paint(ui.Good, "+"+ui.Printable(strings.TrimSuffix(line, "\n"))))
	}
}
