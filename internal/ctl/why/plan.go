package why

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim"
)

func explainPlan(a *app.App, call []string, asJSON bool) error {
	if err := app.CheckTools(call[0]); err != nil {
		return err
	}
	env := a.ShimEnv()
	env.Name, env.Args, env.Stdin = call[0], call, a.Stdin
	if a.Stdout.Terminal {
		env.Stdout = os.Stdout
	}
	e := shim.Explain(env)
	r := planJSON(a, call, e)
	if asJSON {
		return a.Stdout.PrintJSON(r)
	}
	printPlan(a, r, e)
	return nil
}

func printPlan(a *app.App, r PlanReport, e shim.Explanation) {
	f := app.NewFactTable()
	f.Text("decision", fmt.Sprintf("%s: %s", e.Mode, e.Reason))
	f.Text("meaning", r.Meaning)
	f.Text("detail", string(e.Detail))
	f.Text("changed", strings.Join(e.Changed, ", "))
	f.Text("rule", e.Call.Rule)
	f.Text("task", e.Call.Task)
	f.Text("role", view.RoleName(e.Call.Role))
	if e.Call.Attempt != rewrite.NoAttempt {
		f.Text("attempt", fmt.Sprint(e.Call.Attempt))
	}
	f.Text("unknown option", e.Line.Unknown)
	f.Text("unmanaged option", e.Line.Unmanaged)
	f.Text("fault", a.TildeIn(r.Fault))
	f.Text(otherOutput(e))
	f.Text("real binary", a.Tilde(cmp.Or(e.Real, "not found")))
	f.Cell("chain", view.ChainCell(e.Chain))
	f.Text("session", e.NativeID)
	f.Text("shared as", sharedWords(e.SharedAs))
	f.Text("not shared", e.Call.Unshared)
	f.Text("prices", r.Prices)
	f.Text("warning", r.Warning)
	if n := e.Nearest; n != nil {
		f.Text("compared with", fmt.Sprintf("the session of chain c%d: %s", n.Chain, n.Relation))
	}
	f.Text("shown by", strings.Join(e.Evidence.Sentences(), "; "))
	f.Text("against it", findings(e.Against))
	f.Text("what to do", r.Advice) // none for a resume
	f.Text("setting", r.Setting)
	f.Text("command", r.Command)
	f.Cell("runs", view.Cell{Human: commandLine(e, shorten), Raw: commandLine(e, strings.Clone)})
	if len(e.Call.Prompt.Text) > 0 {
		f.Text("sends", view.SentWords(int64(len(e.Call.Prompt.Text)), int64(len(e.Plan.Prompt)),
			e.Plan.WholeReason))
	}
	f.Print(a.Stdout)
}

// otherOutput returns the other place of the output, and the decision on the call with it there,
// "" if that makes no difference.
func otherOutput(e shim.Explanation) (place, decision string) {
	switch {
	case e.Other == nil:
		return "", ""
	case e.Terminal:
		place = "to a program"
	default:
		place = "to a terminal"
	}
	if e.Other.Managed {
		return place, "managed"
	}
	return place, fmt.Sprintf("%s: %s", rewrite.Passthrough, e.Other.Reason)
}

func sharedWords(s *ledger.Identity) string {
	if s == nil {
		return ""
	}
	words := fmt.Sprintf("%s: project %s, directory %s, home %s", s.Name, s.Project, s.Directory,
		s.Home)
	if s.Scope != "" {
		words += ", rule " + s.Scope
	}
	return words
}

// pricesWords returns the costs of a resume and of a fresh run of a chain.
func pricesWords(now time.Time, p decide.Prices) string {
	unit, words, whose, cache := "nano_usd", "", "the chain's", ""
	if !p.Money {
		unit, words = "tokens", " weighted tokens"
	}
	if p.Start {
		whose = "another chain's"
	}
	if p.Missed {
		cache = " without the cache"
	}
	return fmt.Sprintf("%s last two resumes%s cost at least %s%s, its last fresh run %s; tried "+
		"again in %s", whose, cache, view.Amount(unit, view.Number(p.Resumed)), words,
		view.Amount(unit, view.Number(p.Fresh)),
		strings.TrimSuffix(p.Until().Time().Sub(now).Round(time.Minute).String(), "0s"))
}

// findings returns the evidence with the prompt's words that show it.
func findings(list []prompt.Finding) string {
	var out []string
	for _, f := range list {
		text := f.Kind
		if f.Words != "" {
			text += " " + view.ShellQuote(shorten(f.Words))
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// commandLine shows the real call as a shell would take it; show makes a long prompt short.
func commandLine(e shim.Explanation, show func(string) string) string {
	words := []string{e.Call.Tool}
	for _, arg := range e.Plan.Args {
		words = append(words, view.ShellQuote(show(arg)))
	}
	if e.Plan.HasStdin {
		words = append(words, fmt.Sprintf("< (%s)", view.Size(int64(len(e.Plan.Stdin)))))
	}
	return strings.Join(words, " ")
}

func shorten(text string) string {
	const most = 100
	if len(text) <= most && !strings.Contains(text, "\n") {
		return text
	}
	line, _, _ := strings.Cut(text, "\n")
	runes := []rune(line)
	return string(runes[:min(len(runes), most)]) + "..."
}

// A PlanReport is the plan of the shim for a call.
type PlanReport struct {
	Schema      string           `json:"schema" doc:"name of this schema"`
	Call        []string         `json:"call" doc:"the call"`
	Mode        rewrite.Mode     `json:"mode" doc:"passthrough, observe, fresh, resume or fork"`
	Reason      reason.Code      `json:"reason" doc:"the reason"`
	Detail      reason.Code      `json:"detail,omitempty" doc:"detail of the reason"`
	Changed     []string         `json:"changed,omitempty" doc:"settings, variables or files that changed"`
	Unknown     string           `json:"unknown_option,omitempty" doc:"the unknown option"`
	Unmanaged   string           `json:"unmanaged_option,omitempty" doc:"the option that makes the call unmanaged"`
	Fault       string           `json:"fault,omitempty" doc:"the error inside reprise"`
	Binary      string           `json:"binary,omitempty" doc:"the real binary"`
	Rule        string           `json:"rule,omitempty" doc:"the rule that matches"`
	Task        string           `json:"task,omitempty" doc:"name of the job"`
	Role        string           `json:"role,omitempty" doc:"part in the job"`
	Attempt     *int             `json:"attempt,omitempty" doc:"the attempt that the rule captured"`
	Chain       int64            `json:"chain,omitempty" doc:"its chain"`
	Session     string           `json:"session,omitempty" doc:"the session that would be resumed or copied"`
	Shared      *ledger.Identity `json:"shared,omitempty" doc:"what must be equal on two machines for them to share its sessions"`
	Unshared    string           `json:"unshared,omitempty" doc:"why its session is not shared, although there is a store"`
	Prices      string           `json:"prices,omitempty" doc:"cost of the runs, if the reason is dearer"`
	Warning     string           `json:"warning,omitempty" doc:"what will keep the next calls fresh"`
	For         []string         `json:"evidence_for,omitempty" doc:"evidence that the call continues the session's own work"`
	Against     []prompt.Finding `json:"evidence_against,omitempty" doc:"evidence against it"`
	Compared    *shim.Nearest    `json:"compared" doc:"the session that the prompt was compared with"`
	Terminal    bool             `json:"terminal" doc:"whether the output is assumed to go to a terminal"`
	Other       *shim.Other      `json:"other_output,omitempty" doc:"set if the call would be handled differently with its output at a program instead of a terminal, or the reverse"`
	Args        []string         `json:"args" doc:"arguments of the real binary, without its name"`
	Stdin       *string          `json:"stdin,omitempty" doc:"the stdin that replaces the caller's"`
	Prompt      string           `json:"prompt,omitempty" doc:"the prompt for the model"`
	Whole       bool             `json:"whole_prompt" doc:"whether it is the whole prompt"`
	WholeReason reason.Code      `json:"whole_reason,omitempty" doc:"why a resume sends the whole prompt"`
	PromptBytes int              `json:"prompt_bytes" doc:"length of the caller's prompt"`
	view.AdviceReport
}

// planDecided returns the facts that advice on the call depends on.
func planDecided(a *app.App, e shim.Explanation) Case {
	since := func(m decide.Millis) time.Duration { return a.Now.Sub(m.Time()) }
	d := Case{Reason: e.Reason, Rule: e.Call.Rule, Task: e.Call.Task, Chain: e.Chain,
		Bytes: e.Call.Prompt.Footprint().Bytes, Continues: e.Mode.Continues(),
		HasSession: e.Chain != 0, Idle: since(e.Of.LastUsed), Age: since(e.Of.Created),
		Context: e.Of.Context(), Model: e.Of.CurrentModel()}
	if e.Chain == 0 {
		return d
	}
	if l, err := a.OpenLedger(); err == nil {
		defer l.Close()
		earlier, _ := readWhyFacts(l, ledger.Record{ID: math.MaxInt64, Chain: e.Chain,
			Reason: e.Reason})
		if earlier.ended != nil { // without it there is no command
			d.Before = earlier.ended.ID
		}
	}
	return d
}

func planJSON(a *app.App, call []string, e shim.Explanation) PlanReport {
	r := PlanReport{Schema: "shimctl.plan/1", Call: call, Mode: e.Mode, Reason: e.Reason,
		Detail: e.Detail, Changed: e.Changed,
		Unknown: e.Line.Unknown, Unmanaged: e.Line.Unmanaged, Binary: e.Real,
		Rule: e.Call.Rule, Task: e.Call.Task,
		Role: view.RoleName(e.Call.Role), Chain: e.Chain, Session: e.NativeID, Args: e.Plan.Args,
		Prompt: e.Plan.Prompt, Whole: e.Plan.Whole, WholeReason: e.Plan.WholeReason,
		PromptBytes: len(e.Call.Prompt.Text),
		Shared:      e.SharedAs, Unshared: e.Call.Unshared, Terminal: e.Terminal, Other: e.Other,
		Compared: e.Nearest, For: e.Evidence.Sentences(), Against: e.Against}
	r.AdviceReport = advise(a.Configured(), planDecided(a, e))
	if e.Fault != nil {
		r.Fault = e.Fault.Error()
	}
	if e.Reason == reason.Dearer {
		r.Prices = pricesWords(a.Now, e.Prices)
	}
	context, model := e.Of.Context(), e.Of.CurrentModel()
	if e.Call.Limits.NearlyFull(context, model) {
		r.Warning = NearlyFull(context, model, a.Configured().ContextLimit)
	}
	if e.Call.Attempt != rewrite.NoAttempt {
		r.Attempt = &e.Call.Attempt
	}
	if e.Plan.HasStdin {
		r.Stdin = &e.Plan.Stdin
	}
	return r
}

// Facts returns everything known about a call as a table.
func Facts(a *app.App, r view.Reporter, i ledger.Record) *view.Table {
	f := app.CallFacts(a, r, i)
	f.Text("changed", strings.Join(i.Changed, ", "))
	if i.Mode == rewrite.Fork {
		f.Text("forked from", i.ResumedFrom)
	} else {
		f.Text("resumed from", i.ResumedFrom)
	}
	f.Text("format", string(i.Format))
	f.Text("model", i.Model)
	f.Text("how it ended", endWords(i))
	if i.Signal.Valid {
		f.Text("signal", fmt.Sprint(i.Signal.Int64))
	} else if i.Exit.Valid {
		f.Text("exit status", fmt.Sprint(i.Exit.Int64))
	}
	f.Cell("prompt", view.Cell{Human: view.Size(i.PromptBytes), Raw: fmt.Sprint(i.PromptBytes)})
	f.Cell("sent", view.Cell{Human: view.Size(i.SentBytes), Raw: fmt.Sprint(i.SentBytes)})
	f.Text("sent whole because", view.WholeWords(i.WholeReason))
	if !view.CallCost(r.Prices, i).Known && i.Input.Valid && i.Model != "" {
		f.Text("price", a.MissingPrice(i.Model))
	}
	return f.Table
}
