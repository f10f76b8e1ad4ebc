// Package rule adds rules to the configuration, and makes one from a call.
//
// It never applies a rule to a running call. Invariant: a rule that it makes from a call captures
// the task from the prompt, and the statements on past calls were found by the shim's own matching.
package rule

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
)

// Command returns shimctl's command rule.
func Command(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "rule COMMAND", Short: "add rules to the configuration",
		Long:                  "Adds rules to the configuration.",
		DisableFlagsInUseLine: true,
	}
	app.MakeGroup(c)
	c.AddCommand(addCommand(a))
	return c
}

// readRules reads a file of rules; "-" is stdin. It returns the text as well.
func readRules(a *app.App, name string) (text string, rules []config.Rule, err error) {
	var data []byte
	if name == "-" {
		name = "stdin"
		data, err = io.ReadAll(a.Stdin)
	} else {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return "", nil, fmt.Errorf("read rules: %w", err)
	}
	rules, err = config.ParseRules(name, string(data), a.Getenv("HOME"))
	return string(data), rules, err
}

func addCommand(a *app.App) *cobra.Command {
	var agreed app.Consent
	var from string
	c := &cobra.Command{
		Use: "add FILE|--from CALL", Short: "add rules to the configuration",
		Long: `Adds the rules in FILE, - for stdin, to the end of the configuration file. It writes nothing if either has a mistake, or if
there is a rule of that name.

--from makes a rule from a fresh call. The task is captured where a line of the prompts tells two runs of the calling
program apart; elsewhere each run of the program is a job. It shows the past calls that the rule matches.`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case from != "" && len(args) > 0:
				return app.Usage("--from takes no file of rules", "usage: "+c.UseLine())
			case from != "":
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
	return c
}

type AddReport struct {
	Schema string     `json:"schema" doc:"name of this schema"`
	File   string     `json:"file" doc:"the configuration file"`
	Rules  []string   `json:"rules" doc:"names of the added rules"`
	Text   string     `json:"text" doc:"the text at its end"`
	DryRun bool       `json:"dry_run" doc:"whether nothing was changed"`
	Past   []PastCall `json:"past_calls,omitempty" doc:"with --from: past calls that the rule matches"`
}

// runAddFrom adds the rule that a call and those like it suggest.
func runAddFrom(a *app.App, call string, agreed app.Consent) error {
	l, err := a.OpenOrEmpty()
	if err != nil {
		return err
	}
	defer l.Close()
	i, err := app.FindCall(l, call)
	if err != nil {
		return err
	}
	p, err := Propose(a, l, i)
	if err != nil {
		if err = fmt.Errorf("make a rule from call %d: %w", i.ID, err); i.Task == "" &&
			i.Rule == "" {
			err = app.WithHint(err, "without a rule: "+reason.NameTask)
		}
		return err
	}
	return add(a, p.Text, p.rules, p.past, agreed)
}

// runAdd adds the rules of a file.
func runAdd(a *app.App, name string, agreed app.Consent) error {
	text, rules, err := readRules(a, name)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if !r.NamesTask() && !r.Never {
			a.Stderr.Notice(fmt.Sprintf(
				"rule %s names no task: the prompts alone decide, as before", r.Name))
		}
	}
	return add(a, text, rules, nil, agreed)
}

// add shows the rules and the past calls that they match, and adds them to the configuration file.
func add(a *app.App, text string, rules []config.Rule, past []PastCall, agreed app.Consent) error {
	edit, err := withRules(a, text, rules)
	if err != nil {
		return err
	}
	report := AddReport{Schema: "shimctl.rule.add/1", File: edit.File,
		Text: strings.TrimPrefix(edit.New, edit.Old), DryRun: agreed.Dry || !agreed.Yes,
		Rules: view.Mapped(rules, func(r config.Rule) string { return r.Name }), Past: past}
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

// withRules returns the configuration file with a text of rules at the end. It refuses to change a
// file with mistakes, or to make one.
func withRules(a *app.App, text string, rules []config.Rule) (edit textfile.Edit, err error) {
	if edit, err = textfile.Config(a); err != nil {
		return edit, err
	}
	before, err := config.Load(edit.File)
	if err != nil {
		return edit, err
	}
	for _, r := range rules {
		if slices.ContainsFunc(before.Rules, func(o config.Rule) bool { return o.Name == r.Name }) {
			return edit, app.WithHint(fmt.Errorf("%s already has a rule %q", a.Tilde(edit.File),
				r.Name), "give the new one another name: rules of one name share their tasks")
		}
	}
	between := "\n\n"
	switch {
	case edit.Old == "":
		between = ""
	case strings.HasSuffix(edit.Old, "\n"):
		between = "\n"
	}
	edit.New = edit.Old + between + strings.Trim(text, "\n") + "\n"
	if _, err := config.Parse(edit.File, edit.New, a.Getenv("HOME")); err != nil {
		return edit, app.WithHint(fmt.Errorf("add the rules to %s: %w", a.Tilde(edit.File), err),
			"write your own rules as [[rule]] tables at the end of the file")
	}
	return edit, nil
}

// showAdded shows the rules, and the past calls that a rule made from a call matches.
func showAdded(a *app.App, r AddReport) {
	a.Stdout.Changed("+", view.Good, strings.Split(strings.TrimSuffix(r.Text, "\n"), "\n")...)
	if r.Past == nil {
		return
	}
	fmt.Fprintln(a.Stdout)
	t := view.NewTable("CALL", "TASK", "ROLE", "SAME JOB")
	for _, c := range r.Past {
		t.Add(view.IDCell(c.Call), view.TextCell(c.Task), view.TextCell(c.Role),
			view.TextCell(map[bool]string{true: "yes", false: "no"}[c.Same]))
	}
	t.Print(a.Stdout)
}
