package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
)

func whyCommand(a *app) *cobra.Command {
	var asJSON, store bool
	c := &cobra.Command{
		Use: "why [CALL|REASON]", Short: "explain the last decision, or another one",
		Long: `Explains in a paragraph what was decided on a call, on what evidence, and what would have changed it, with a
command that does so or shows more. REASON stands for the last call that has it, also for calls that were passed through.`,
		Args: atMostOneCall,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withCalls(a.callsOf(store, nil), func(l *ledger.Ledger, r reporter) error { return a.why(l, r, strings.Join(args, ""), asJSON) })
		},
	}
	jsonFlag(c, &asJSON, "shimctl.why/1")
	storeFlag(c, &store)
	c.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		calls, directive := a.completeCall(c, args, begun)
		if len(args) == 0 {
			calls = append(calls, reasonCompletions()...)
		}
		return calls, directive
	}
	return c
}

type whyReport struct {
	Schema   string        `json:"schema" doc:"name of this schema"`
	Call     *callReport   `json:"call" doc:"the call, or null"`
	Passed   *passedReport `json:"passed_through" doc:"the calls that were passed through for it, or null"`
	Reason   reason.Code   `json:"reason" doc:"the reason that is explained"`
	Evidence []string      `json:"evidence" doc:"what the ledger knows about the decision, in sentences"`
	Text     string        `json:"text" doc:"all of this as a paragraph"`
	adviceReport
	rule string // "rule NAME of " if the rule has a policy of its own
}

// An adviceReport says what a reason means and what would change the decision.
type adviceReport struct {
	Class   reason.Class `json:"class,omitempty" doc:"class of the reason"`
	Meaning string       `json:"meaning" doc:"the reason's meaning"`
	Advice  string       `json:"advice,omitempty" doc:"what would have the call resumed, or fresh if it is resumed"`
	Setting string       `json:"setting,omitempty" doc:"a line of the configuration file that does so"`
	Command string       `json:"command,omitempty" doc:"a command that does so or shows more"`
}

// adviceFor returns what is said about a reason; chain is 0 if there is none.
func adviceFor(r reason.Code, tool string, chain int64) adviceReport {
	text, ok := r.Lookup()
	if !ok {
		text = &reason.Row{}
	}
	return adviceReport{text.Class, meaning(r), text.Advice, text.Setting, commandFor(text.Command, tool, chain)}
}

func (a *app) why(l *ledger.Ledger, r reporter, name string, asJSON bool) error {
	report, err := a.findWhy(l, r, name)
	switch {
	case err != nil:
		return err
	case asJSON:
		return a.stdout.PrintJSON(report)
	case report.Text == "":
		a.stderr.Notice("no call has been made yet")
		return nil
	}
	a.stdout.Sentences("WHY", "", report.Text)
	if a.stdout.Terminal {
		fmt.Fprintln(a.stdout)
	}
	a.stdout.Sentences("COMMAND", ui.Strong, report.Command)
	return nil
}

// findWhy explains the call that a number or a reason leads to, "" to the last one. If there is none, the report is empty.
func (a *app) findWhy(l *ledger.Ledger, r reporter, name string) (*whyReport, error) {
	if _, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 64); err == nil {
		i, err := findInvocation(l, name)
		if err != nil {
			return nil, err
		}
		return a.whyCall(l, r, i)
	}
	reason := reason.Code(name)
	if err := checkReason(reason); err != nil {
		return nil, err
	}
	last := ledger.Wanted{Limit: 1}
	last.Reason = reason
	calls, err := l.LatestInvocations(last)
	if err != nil {
		return nil, err
	}
	rows, err := l.PassedRows(ledger.Filter{})
	if err != nil {
		return nil, err
	}
	for _, p := range passedReports(rows) {
		if (reason == "" || p.Reason == reason) && (len(calls) == 0 || p.Last.After(calls[0].Started.Time())) {
			return a.whyPassed(p), nil
		}
	}
	switch {
	case len(calls) > 0:
		return a.whyCall(l, r, calls[0])
	case reason == "":
		return &whyReport{Schema: "shimctl.why/1", Evidence: []string{}}, nil
	}
	w := newWhy(reason, rewrite.Names[0], 0)
	w.Text = w.paragraph("No call in the ledger has this reason.")
	return w, nil
}

// newWhy returns a report with what is true for all calls that have this reason.
func newWhy(reason reason.Code, tool string, chain int64) *whyReport {
	return &whyReport{Schema: "shimctl.why/1", Reason: reason, Evidence: []string{}, adviceReport: adviceFor(reason, tool, chain)}
}

// commandFor returns a reason's command for a tool's call in a chain, 0 for none.
func commandFor(command, tool string, chain int64) string {
	which := "CHAIN"
	if chain != 0 {
		which = fmt.Sprint(chain)
	}
	headless := []string{tool}
	if known, ok := rewrite.Lookup(tool); ok {
		headless = known.Descriptor().Headless
	}
	return strings.NewReplacer("{call}", strings.Join(headless, " ")+" <prompt.md", "{chain}", which).
		Replace(cmp.Or(command, "shimctl config path"))
}

// paragraph returns the whole explanation; what was decided comes first.
func (w *whyReport) paragraph(decided string) string {
	sentences := append([]string{decided, fmt.Sprintf("Reason %s: %s.", w.Reason, w.Meaning)}, w.Evidence...)
	if w.Advice != "" {
		sentences = append(sentences, w.Advice+".")
	}
	if w.Setting != "" {
		sentences = append(sentences, fmt.Sprintf("In %sthe configuration file, %s does this.", w.rule, w.Setting))
	}
	return strings.Join(sentences, " ")
}

// whyPassed explains calls that were passed through, of which only the number is known.
func (a *app) whyPassed(p passedReport) *whyReport {
	w := newWhy(p.Reason, p.Tools[0], 0)
	w.Passed = &p
	last := ago(a.now, decide.Millis(p.Last.UnixMilli()))
	if !a.stdout.Terminal {
		last = p.Last.Format(time.RFC3339)
	}
	w.Evidence = append(w.Evidence, fmt.Sprintf("There were %s, the last %s in %s.", ui.Count(p.Calls, "such call"), last, a.tilde(p.Directories[0])))
	w.Text = w.paragraph(fmt.Sprintf("The last call of %s was passed through: the real binary replaced the shim.", strings.Join(p.Tools, " and ")))
	return w
}

// whyCall explains a call in the ledger.
func (a *app) whyCall(l *ledger.Ledger, r reporter, i ledger.Invocation) (*whyReport, error) {
	facts, err := readWhyFacts(l, i)
	if err != nil {
		return nil, err
	}
	w := newWhy(cmp.Or(i.FellBack, i.Reason), i.Tool, i.Chain)
	if i.FellBack == "" && i.Reason == reason.SessionDead && i.Detail != "" { // the detail says what killed it
		w.adviceReport = adviceFor(i.Detail, i.Tool, i.Chain)
		w.Meaning = meaning(i.Reason)
	}
	call := r.call(i)
	w.Call, w.Evidence = &call, a.evidence(i, facts)
	if setting := a.settingFor(i, facts); setting != "" && i.FellBack == "" {
		w.Setting = setting
	}
	if cfg := a.configured(); rulePolicy(cfg, i.Rule) != cfg.Policy {
		w.rule = fmt.Sprintf("rule %s of ", i.Rule)
	}
	if strings.HasPrefix(w.Command, nameVariable) {
		if _, err := a.proposeRuleFor(l, i); err == nil {
			w.Command = fmt.Sprintf("shimctl rule add --from %d", i.ID)
			w.Evidence = append(w.Evidence, "Calls like it can be named by a rule, which the command shows first.")
		}
	}
	w.Text = w.paragraph(a.decided(i, facts))
	return w, nil
}

// nameVariable is the start of a command that names the task.
const nameVariable = "REPRISE_TASK="

// decided says what was decided on a call.
func (a *app) decided(i ledger.Invocation, f whyFacts) string {
	call := fmt.Sprintf("Call %d (%s in %s, %s)", i.ID, i.Tool, a.tilde(i.Cwd), a.whenWords(i.Started))
	session := ui.SessionCell(i.ResumedFrom).Human
	chain := fmt.Sprintf("chain %d", i.Chain)
	if f.chain.Task != "" {
		chain += fmt.Sprintf(", task %s", f.chain.Task)
	}
	if f.chain.Role != "" {
		chain += fmt.Sprintf(", role %s", f.chain.Role)
	}
	switch {
	case i.FellBack != "":
		return fmt.Sprintf("%s was to resume session %s of %s, but the tool refused: it ran again in a new session.", call, session, chain)
	case i.Mode == rewrite.Resume:
		return fmt.Sprintf("%s resumed session %s of %s.", call, session, chain)
	case i.Mode == rewrite.Fork:
		return fmt.Sprintf("%s continued a copy of session %s of %s, which ends where our last run ended.", call, session, chain)
	case i.Mode == rewrite.Observe:
		return call + " was passed through, and only observed."
	case i.Mode == rewrite.Stopped:
		return call + " was stopped: the tool did not run."
	case i.Chain == 0:
		return call + " got a new session, in no chain."
	}
	return fmt.Sprintf("%s got a new session, in %s.", call, chain)
}

// whenWords says when a call was made: people read how long ago that was.
func (a *app) whenWords(m decide.Millis) string {
	c := a.whenCell(m)
	if a.stdout.Terminal {
		return c.Human
	}
	return c.Raw
}
