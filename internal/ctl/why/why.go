// Package why explains a call: the decision, the evidence, and a way to change it.
//
// It never decides: the facts were recorded at the call. Invariant: an advice is given only if it
// can be typed and keeps the promise of the sentence.
package why

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/rule"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"

	"github.com/spf13/cobra"
)

// Command returns `shimctl why`.
func Command(a *app.App) *cobra.Command {
	var asJSON, all bool
	c := &cobra.Command{
		Use:   "why [CALL|REASON|-- TOOL ARGUMENT...]",
		Short: "explain the last decision, or another one",
		Long: `Explains a call in three lines: the decision, the reason, and advice if any. With --all, and in a pipe: the evidence
too. REASON stands for the last call that has it, also for calls that were passed through.

After -- stands a call that is not made: why shows the decision, the rule that matches, and the command line that
the shim would run. The call gets shimctl's stdin. Its output is assumed to go where shimctl's goes; if that makes a
difference, both are shown.`,
		Args: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() == 0 {
				return cobra.MinimumNArgs(1)(c, args)
			}
			return cobra.MaximumNArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() == 0 {
				return explainPlan(a, args, asJSON)
			}
			return a.WithLedger(func(l *ledger.Ledger, r view.Reporter) error {
				return explain(a, l, r, strings.Join(args, ""), all, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "print all of it")
	app.JSONFlag(c, &asJSON, "shimctl.why/1, after -- shimctl.plan/1")
	c.ValidArgsFunction = cobra.FixedCompletions(app.ReasonCompletions(),
		cobra.ShellCompDirectiveNoFileComp)
	return c
}

// A Report is the JSON of why.
type Report struct {
	Schema   string             `json:"schema" doc:"name of this schema"`
	Call     *view.CallReport   `json:"call" doc:"the call, or null"`
	Passed   *PassthroughReport `json:"passed_through" doc:"the calls that were passed through for it, or null"`
	Reason   reason.Code        `json:"reason" doc:"the reason that is explained"`
	Evidence []string           `json:"evidence" doc:"the ledger's facts about the decision, in sentences"`
	Text     string             `json:"text" doc:"all of this as a paragraph"`
	view.AdviceReport
	decision string
	main     []string // the evidence without which the reason is not understood
	rule     string   // "rule NAME of " if the rule has a separate policy
}

func explain(a *app.App, l *ledger.Ledger, r view.Reporter, name string, all, asJSON bool) error {
	report, err := Find(a, l, r, name)
	switch {
	case err != nil:
		return err
	case asJSON:
		return a.Stdout.PrintJSON(report)
	case report.Text == "":
		a.Stderr.Notice(cmp.Or(a.PassedHere(), "no call has been made yet"))
		return nil
	}
	lines := report.lines()
	if all || !a.Stdout.Terminal {
		lines = []string{report.Text}
		if report.Command != "" {
			lines = append(lines, report.Command)
		}
	}
	a.Stdout.Notice(lines...)
	if passed := a.PassedHere(); passed != "" && name == "" {
		a.Stdout.Notice(view.Sentence("now " + passed))
	}
	return nil
}

// Find explains the call that a number or a reason leads to, "" to the last one. If there is none,
// the report is empty.
func Find(a *app.App, l *ledger.Ledger, r view.Reporter, name string) (*Report, error) {
	if _, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 64); err == nil {
		i, err := app.FindCall(l, name)
		if err != nil {
			return nil, err
		}
		return Call(a, l, r, i)
	}
	code := reason.Code(name)
	if err := app.CheckReason(code); err != nil {
		return nil, err
	}
	calls, err := history.LatestCalls(l,
		history.Query{Limit: 1, Filter: history.Filter{Reason: code}})
	if err != nil {
		return nil, err
	}
	rows, err := history.PassthroughRows(l, history.Filter{})
	if err != nil {
		return nil, err
	}
	for _, p := range PassthroughReports(rows) {
		if (code == "" || p.Reason == code) &&
			(len(calls) == 0 || p.Last.After(calls[0].Started.Time())) {
			return Passed(a, p), nil
		}
	}
	switch {
	case len(calls) > 0:
		return Call(a, l, r, calls[0])
	case code == "":
		return &Report{Schema: "shimctl.why/1", Evidence: []string{}}, nil
	}
	w := newWhy(a.Configured(), Case{Reason: code})
	w.Text = w.paragraph("No call in the ledger has this reason.")
	return w, nil
}

// newWhy returns a report with the facts of all calls that have this reason.
func newWhy(cfg config.Config, d Case) *Report {
	return &Report{Schema: "shimctl.why/1", Reason: d.Reason, Evidence: []string{},
		AdviceReport: advise(cfg, d)}
}

// paragraph returns the whole explanation; the decision comes first.
func (w *Report) paragraph(decided string) string {
	w.decision = decided
	sentences := append([]string{decided, w.because()}, w.Evidence...)
	if w.Advice != "" {
		sentences = append(sentences, w.Advice+".")
	}
	if setting := w.settingWords(); setting != "" {
		sentences = append(sentences, setting)
	}
	return strings.Join(sentences, " ")
}

func (w *Report) because() string { return fmt.Sprintf("Reason %s: %s.", w.Reason, w.Meaning) }

func (w *Report) settingWords() string {
	switch {
	case w.Setting == "":
		return ""
	case w.Command == reason.NameTask, strings.HasPrefix(w.Command, "shimctl rule add "):
		return fmt.Sprintf("Another way, for all such calls: %s in %sthe configuration file.",
			w.Setting, w.rule)
	}
	return fmt.Sprintf("In %sthe configuration file, %s does this.", w.rule, w.Setting)
}

// lines returns the explanation in short: the decision, the reason, and the advice if there is any.
func (w *Report) lines() []string {
	lines := []string{w.decision, strings.Join(append([]string{w.because()}, w.main...), " ")}
	switch advice := w.Advice; {
	case w.Command != "":
		lines = append(lines, advice+": "+w.Command)
	case w.Setting != "":
		lines = append(lines, strings.TrimSpace(advice+". "+w.settingWords()))
	case advice != "":
		lines = append(lines, advice+".")
	}
	return lines
}

// Passed explains calls that were passed through: only the number is known.
func Passed(a *app.App, p PassthroughReport) *Report {
	w := newWhy(a.Configured(), Case{Reason: p.Reason, Made: true})
	w.Passed = &p
	if _, err := a.Config(); p.Reason == reason.ConfigMistake && err == nil {
		w.Advice, w.Command = "Nothing needs to be done: the configuration has no mistake now", ""
	}
	if p.Detail != "" {
		w.stress("The last time: %s.", a.TildeIn(p.Detail))
	}
	w.say("%s, the last %s in %s.", view.Count(p.Calls, "such call"), a.WhenWords(p.Last),
		a.Tilde(p.Directories[0]))
	w.Text = w.paragraph(fmt.Sprintf("The last call of %s was passed through: the real binary "+
		"replaced the shim.", strings.Join(p.Tools, " and ")))
	return w
}

// Call explains a call in the ledger.
func Call(a *app.App, l *ledger.Ledger, r view.Reporter, i ledger.Record) (*Report, error) {
	facts, err := readWhyFacts(l, i)
	if err != nil {
		return nil, err
	}
	cfg := a.Configured()
	policy := rulePolicy(cfg, i.Rule)
	d := facts.made(i)
	if d.HeldOut, err = heldOut(l, i, 1-policy.Rollout); err != nil {
		return nil, err
	}
	w := newWhy(cfg, d)
	// the detail names the end of the session
	if d.Reason == reason.SessionDead && i.FellBack == "" && i.Detail != "" {
		d.Reason = i.Detail
		w.AdviceReport = advise(cfg, d)
		w.Meaning = view.MeaningOf(i.Reason)
	}
	w.Call = new(r.Call(i))
	w.evidence(a, i, facts, d)
	if _, wrong := a.Configuration(); wrong != "" {
		w.stress("%s", view.Sentence("now "+wrong))
	}
	if key, _, _ := strings.Cut(w.Setting, " = "); config.IsRuled(key) && policy != cfg.Policy {
		w.rule = fmt.Sprintf("rule %s of ", i.Rule)
	}
	w.adviseRule(a, l, i, d)
	w.Text = w.paragraph(decided(a, i, facts))
	return w, nil
}

func (f whyFacts) made(i ledger.Record) Case {
	d := Case{Reason: cmp.Or(i.FellBack, i.Reason), Made: true, Rule: i.Rule, Task: f.chain.Task,
		Chain: i.Chain, Bytes: f.session.BaseBytes, End: endOf(i),
		Continues: i.FellBack == "" && i.Mode.Continues()}
	switch {
	case f.ended != nil:
		d.Before = f.ended.ID
	case d.End != "":
		d.Before = i.ID
	}
	if s := f.before; i.FellBack == "" && s != nil {
		since := func(m decide.Millis) time.Duration { return i.Started.Time().Sub(m.Time()) }
		d.HasSession, d.Idle, d.Age = true, since(s.LastUsed), since(s.Created)
		d.Context, d.Model = s.Context, SessionModel(*s)
	}
	return d
}

// adviseRule proposes a rule that names the task, where that would help and one can be made.
func (w *Report) adviseRule(a *app.App, l *ledger.Ledger, i ledger.Record, d Case) {
	changed := d.Reason == reason.BaseChanged && d.Task == ""
	if w.Command != reason.NameTask && !changed {
		return
	}
	p, err := rule.Propose(a, l, i, "")
	named := rule.NamedBy("")
	switch {
	// each run is a job, which does not continue a changed base
	case err == nil && changed && !p.CapturesTask():
	case err == nil:
		w.Command = fmt.Sprintf("shimctl rule add --from %d", i.ID)
		w.say("Calls like it can be named by a rule, which the command shows first.")
	case errors.As(err, &named):
		w.Set("")
		w.Advice = "Nothing needs to be done: " + named.Error()
	}
}

// heldOut reports whether a call's chain is held out, if such a share of them is.
func heldOut(l *ledger.Ledger, i ledger.Record, holdOut float64) (bool, error) {
	share, known, err := l.Share(i.Chain)
	if !known {
		return holdOut > 0 && i.Arm == ledger.Control, err
	}
	return share < holdOut, err
}

func decided(a *app.App, i ledger.Record, f whyFacts) string {
	call := fmt.Sprintf("Call %d (%s in %s, %s)", i.ID, i.Tool, a.Tilde(i.Cwd),
		a.WhenWords(i.Started.Time()))
	session := view.SessionCell(i.ResumedFrom).Human
	chain := fmt.Sprintf("chain c%d", i.Chain)
	if f.chain.Task != "" {
		chain += fmt.Sprintf(", task %s", f.chain.Task)
	}
	if role := f.chain.Role; role != "" && !strings.HasPrefix(role, prompt.RoleTextMark) {
		chain += ", role " + role
	}
	switch {
	case i.FellBack != "":
		return fmt.Sprintf("%s ran again, fresh: the tool refused session %s of %s.", call,
			session, chain)
	case i.Mode == rewrite.Resume:
		return fmt.Sprintf("%s resumed session %s of %s.", call, session, chain)
	case i.Mode == rewrite.Fork:
		return fmt.Sprintf("%s resumed a copy of session %s of %s.", call, session, chain)
	case i.Mode == rewrite.Observe:
		return call + " was passed through, and only observed."
	case i.Chain == 0:
		return call + " was fresh, in no chain."
	}
	return fmt.Sprintf("%s was fresh, in %s.", call, chain)
}

// A PassthroughReport is about the headless calls that were passed through for one reason.
type PassthroughReport struct {
	Reason      reason.Code `json:"reason" doc:"the reason"`
	Calls       int64       `json:"calls" doc:"number of calls"`
	Last        time.Time   `json:"last" doc:"when the latest was made"`
	Tools       []string    `json:"tools" doc:"the tools that were called"`
	Directories []string    `json:"directories" doc:"where, the latest first"`
	Detail      string      `json:"detail,omitempty" doc:"of the latest: where the configuration had a mistake, or what failed"`
	Advice      string      `json:"advice" doc:"what to do"`
}

// PassthroughReports adds up rows, the last passed first, by their reasons.
func PassthroughReports(rows []history.PassthroughRow) []PassthroughReport {
	list := []PassthroughReport{}
	for _, row := range rows {
		at := slices.IndexFunc(list, func(p PassthroughReport) bool {
			return p.Reason == row.Reason
		})
		if at < 0 {
			at = len(list)
			advice := view.AdviceFor(row.Reason, 0, 0).Advice
			// which is not recorded
			if row.Reason == reason.UnknownOption || row.Reason == reason.UnmanagedOption {
				advice += ". shimctl why --, typed before the call, names it"
			}
			list = append(list, PassthroughReport{Reason: row.Reason, Last: row.When.Time(),
				Detail: row.Detail, Advice: advice})
		}
		p := &list[at]
		p.Calls += row.Calls
		if !slices.Contains(p.Tools, row.Tool) {
			p.Tools = append(p.Tools, row.Tool)
		}
		if !slices.Contains(p.Directories, row.Cwd) {
			p.Directories = append(p.Directories, row.Cwd)
		}
	}
	return list
}

// Words names the missed calls, the time of the last one, and the remedy, as in "4 calls of claude
// passed through, last 3m ago: stdin is open. Add </dev/null".
func (p PassthroughReport) Words(last string) string {
	text := fmt.Sprintf("%s of %s passed through, last %s: %s", view.Count(p.Calls, "call"),
		strings.Join(p.Tools, " and "), last, view.MeaningOf(p.Reason))
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	if p.Advice != "" {
		text += ". " + p.Advice
	}
	return text
}
