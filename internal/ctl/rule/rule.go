// Package rule makes a rule from a call, and adds it to the configuration.
//
// It never applies a rule to a running call. Invariant: a rule that it makes from a call captures
// the task from the prompt or makes each run of the caller a job; past calls are matched as the
// shim matches them.
package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
)

// Command returns `shimctl rule`.
func Command(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use: "rule COMMAND", Short: "add a rule to the configuration",
		Long:                  "Adds a rule to the configuration.",
		DisableFlagsInUseLine: true,
		Args:                  cobra.NoArgs,
		RunE:                  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(addCommand(a))
	return c
}

func addCommand(a *app.App) *cobra.Command {
	var agreed app.Consent
	var from, and string
	c := &cobra.Command{
		Use: "add --from CALL", Short: "add a rule to the configuration",
		Long: `Makes a rule from a fresh call, shows it with the past calls that it matches, asks, and adds it to the end of the
configuration file. The task is captured where a line of the prompts tells two runs of the calling program apart;
elsewhere each run of the program is a job. --and makes a rule of the same name from a call with another template. It
writes nothing if the file has a mistake.`,
		DisableFlagsInUseLine: true,
		Args:                  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return runAdd(a, []string{from, and}, agreed)
		},
	}
	app.JSONFlag(c, &agreed.JSON, "shimctl.rule.add/1")
	agreed.AddFlags(c)
	c.Flags().StringVar(&from, "from", "", "make a rule from `CALL`, a number")
	_ = c.MarkFlagRequired("from") // there is such a flag
	c.Flags().StringVar(&and, "and", "", "make one more from `CALL`, of the same name")
	return c
}

// An AddReport is the JSON of `shimctl rule add`.
type AddReport struct {
	Schema string     `json:"schema" doc:"name of this schema"`
	File   string     `json:"file" doc:"the configuration file"`
	Rules  []string   `json:"rules" doc:"name of the added rule"`
	Text   string     `json:"text" doc:"the text at its end"`
	DryRun bool       `json:"dry_run" doc:"whether nothing was changed"`
	Past   []PastCall `json:"past_calls" doc:"past calls that the rule matches"`
}

// runAdd adds the rules that calls and those like them suggest. An empty text is no call.
func runAdd(a *app.App, from []string, agreed app.Consent) error {
	l, err := a.OpenOrEmpty()
	if err != nil {
		return err
	}
	defer l.Close()
	var all Proposal
	for _, call := range from {
		if call == "" {
			continue
		}
		i, err := app.FindCall(l, call)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(all.past, func(c PastCall) bool { return c.Call == i.ID }) {
			continue // the rule matches it already
		}
		p, err := Propose(a, l, i, all.rule.Name)
		if err != nil {
			if err = fmt.Errorf("make a rule from call %d: %w", i.ID, err); i.Task == "" &&
				i.Rule == "" {
				err = app.WithHint(err, "without a rule: "+reason.NameTask)
			}
			return err
		}
		all = Proposal{strings.TrimPrefix(all.Text+"\n"+p.Text, "\n"), p.rule,
			append(all.past, p.past...)}
	}
	return add(a, all, agreed)
}

// add shows the rule and the past calls that it matches, and adds it to the configuration file.
func add(a *app.App, p Proposal, agreed app.Consent) error {
	edit, err := withRule(a, p.Text)
	if err != nil {
		return err
	}
	report := AddReport{Schema: "shimctl.rule.add/1", File: edit.File, Rules: []string{p.rule.Name},
		Text: strings.TrimPrefix(edit.New, edit.Old), DryRun: agreed.Dry || !agreed.Yes,
		Past: p.past}
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

// withRule returns the configuration file with the text of a rule at the end. It refuses to change
// a file with mistakes.
func withRule(a *app.App, text string) (edit textfile.Edit, err error) {
	if edit, err = textfile.Config(a); err != nil {
		return edit, err
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
		return edit, app.WithHint(fmt.Errorf("add the rule to %s: %w", a.Tilde(edit.File), err),
			"write your own rules as [[rule]] tables at the end of the file")
	}
	return edit, nil
}

func showAdded(a *app.App, r AddReport) {
	a.Stdout.Changed("+", strings.Split(strings.TrimSuffix(r.Text, "\n"), "\n")...)
	fmt.Fprintln(a.Stdout)
	t := view.NewTable("CALL", "TASK", "ROLE", "SAME JOB")
	for _, c := range r.Past {
		t.Add(view.IDCell(c.Call), view.TextCell(c.Task), view.TextCell(c.Role),
			view.TextCell(map[bool]string{true: "yes", false: "no"}[c.Same]))
	}
	t.Print(a.Stdout)
}
