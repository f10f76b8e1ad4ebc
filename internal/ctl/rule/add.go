package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
)

func addCommand(a *app.App) *cobra.Command {
	var agreed app.Consent
	var from string
	c := &cobra.Command{
		Use: "add FILE|--from CALL", Short: "add rules to the configuration",
		Long: `Adds the rules in FILE, - for stdin, to the end of the configuration file. It writes nothing if either has a mistake, or if
there is a rule of that name.

--from makes a rule from a fresh call and those like it, and shows what it would have resumed.`,
		Args: func(c *cobra.Command, args []string) error {
			if from != "" && len(args) > 0 {
				return app.Usage("--from takes no file of rules", "usage: "+c.UseLine())
			}
			if from != "" {
				return nil
			}
			return app.OneArgument("a file of rules, or --from CALL")(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if from != "" {
				return runAddFrom(a, from, agreed)
			}
			return runAdd(a, args[0], agreed)
		},
	}
	app.JSONFlag(c, &agreed.JSON, "shimctl.rule.add/1")
	agreed.AddFlags(c)
	c.Flags().StringVar(&from, "from", "", "make a rule from `CALL`, a number")
	app.CompleteCallFlag(a, c, "from")
	return c
}

type AddReport struct {
	Schema string     `json:"schema" doc:"name of this schema"`
	File   string     `json:"file" doc:"the configuration file"`
	Rules  []string   `json:"rules" doc:"names of the added rules"`
	Text   string     `json:"text" doc:"the text at its end"`
	DryRun bool       `json:"dry_run" doc:"whether nothing was changed"`
	Tried  *TriedRule `json:"tried,omitempty" doc:"with --from: what the rule would have made of past calls"`
}

// ProposedPeriod is how long before a call those like it are searched for.
const ProposedPeriod = 7 * 24 * time.Hour

// runAddFrom adds the rule that a call and those like it suggest.
func runAddFrom(a *app.App, call string, agreed app.Consent) error {
	l, err := a.OpenOrEmpty()
	if err != nil {
		return err
	}
	defer l.Close()
	i, err := app.FindInvocation(l, call)
	if err != nil {
		return err
	}
	p, err := ProposeFor(a, l, i)
	if err != nil {
		if err = fmt.Errorf("make a rule from call %d: %w", i.ID, err); i.Task == "" && i.Rule == "" {
			err = app.WithHint(err, "without a rule: "+reason.NameTask)
		}
		return err
	}
	return add(a, p.Text, p.rules, &p.tried, agreed)
}

// ProposeFor returns the rule for a call's job, or why there is none.
func ProposeFor(a *app.App, l *ledger.Ledger, i history.Invocation) (proposal, error) {
	switch {
	case i.Rule != "":
		return proposal{}, fmt.Errorf("rule %s matched it", i.Rule)
	case i.Mode != rewrite.Fresh || i.FellBack != "":
		return proposal{}, fmt.Errorf("it was not fresh for want of a name (%s)", view.Decision(i))
	case i.Task != "":
		return proposal{}, fmt.Errorf("its caller named the task %s", i.Task)
	}
	since := i.Started.Time().Add(-ProposedPeriod)
	past, err := ReadPast(a, l, decide.MillisOf(since))
	if err != nil {
		return proposal{}, err
	}
	return past.proposeRule(i.ID, i.Tool, i.Cwd)
}

// runAdd adds the rules of a file.
func runAdd(a *app.App, name string, agreed app.Consent) error {
	text, rules, err := readRules(a, name)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if !r.NamesTask() && !r.Never {
			a.Stderr.Notice(fmt.Sprintf("rule %s names no task: the prompts alone decide, as before", r.Name))
		}
	}
	return add(a, text, rules, nil, agreed)
}

// add shows the rules and, if it was tried, what they would have resumed, and adds them to the configuration file.
func add(a *app.App, text string, rules []config.Rule, tried *TriedRule, agreed app.Consent) error {
	edit, err := withRules(a, text, rules)
	if err != nil {
		return err
	}
	report := AddReport{Schema: "shimctl.rule.add/1", File: edit.File, Text: strings.TrimPrefix(edit.New, edit.Old), DryRun: agreed.Dry || !agreed.Yes,
		Rules: view.Mapped(rules, func(r config.Rule) string { return r.Name }), Tried: tried}
	if agreed.JSON {
		err = a.Stdout.PrintJSON(report)
	} else {
		showAdded(a, report)
	}
	ok, asked := a.Agreed("add this to "+a.Tilde(edit.File), agreed)
	if err = cmp.Or(err, asked); !ok || err != nil {
		return err
	}
	if err := edit.Write(); err != nil {
		return fmt.Errorf("write %s: %w", edit.File, err)
	}
	a.Stderr.Notice("added to " + a.Tilde(edit.File))
	return nil
}

// withRules returns the configuration file with a text of rules at its end. It refuses to change a file with mistakes, or
// to make one.
func withRules(a *app.App, text string, rules []config.Rule) (edit textfile.Edit, err error) {
	if edit.File, err = config.ConfigFile(a.Own); err != nil {
		return edit, err
	}
	before, err := config.Load(edit.File)
	if err != nil {
		return edit, err
	}
	for _, r := range rules {
		if slices.ContainsFunc(before.Rules, func(o config.Rule) bool { return o.Name == r.Name }) {
			return edit, app.WithHint(fmt.Errorf("%s already has a rule %q", a.Tilde(edit.File), r.Name), "give the new one another name: rules of one name share their tasks")
		}
	}
	if edit.Old, edit.Existed, err = textfile.Read(edit.File); err != nil {
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
	if _, err := config.Parse(edit.File, edit.New, a.Getenv("HOME")); err != nil {
		return edit, app.WithHint(fmt.Errorf("add the rules to %s: %w", a.Tilde(edit.File), err), "write your own rules as [[rule]] tables at the end of the file")
	}
	return edit, nil
}

// showAdded shows the rules, and what they would have resumed.
func showAdded(a *app.App, r AddReport) {
	a.Stdout.Changed("+", view.Good, strings.Split(strings.TrimSuffix(r.Text, "\n"), "\n")...)
	if r.Tried != nil {
		fmt.Fprintln(a.Stdout)
		a.Stdout.Sentences("RESULT", "", r.Tried.Text, "It is right only if the calls of a role are rounds of one job: two jobs of one caller look the same.")
	}
}
