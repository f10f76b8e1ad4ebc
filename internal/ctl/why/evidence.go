package why

import (
	"cmp"
	"fmt"
	"strings"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite/reason"
)

// whyFacts are the ledger's facts about a call's chain when the call was made.
type whyFacts struct {
	chain   history.ChainRow
	session history.SessionRow  // the call's own
	before  *history.SessionRow // the chain's newest before that, nil if there is none
	last    *ledger.Record      // the chain's call before this one
	ended   *ledger.Record      // the latest of these that ended as the call's reason says
	running *ledger.Record      // a call of the chain that was running
	hour    []history.HourRow   // of the chain
}

func readWhyFacts(l *ledger.Ledger, i ledger.Record) (f whyFacts, err error) {
	if i.Chain == 0 {
		return f, nil
	}
	its := history.Query{Filter: history.Filter{Chain: i.Chain}}
	chains, err := history.Chains(l, its)
	if err != nil || len(chains) == 0 {
		return f, err
	}
	f.chain = chains[0]
	for n := range f.chain.Sessions {
		switch s := &f.chain.Sessions[n]; {
		case s.ID == i.Session:
			f.session = *s
		case s.ID < i.Session && f.before == nil:
			f.before = s
		}
	}
	calls, err := history.LatestCalls(l, its)
	for n := range calls {
		if calls[n].ID < i.ID {
			f.addEarlier(&calls[n], i)
		}
	}
	if err == nil {
		f.hour, err = history.HourRows(l, its.Filter)
	}
	return f, err
}

// addEarlier adds a call c that the chain had before call i. Later calls are added first.
func (f *whyFacts) addEarlier(c *ledger.Record, i ledger.Record) {
	f.last = cmp.Or(f.last, c)
	if endedSo(i.Reason, *c) {
		f.ended = cmp.Or(f.ended, c)
	}
	if c.Outcome == "" || c.Started+decide.Millis(c.Duration.Int64) > i.Started {
		f.running = cmp.Or(f.running, c)
	}
}

// say adds a sentence to the ledger's facts behind the decision.
func (w *Report) say(format string, values ...any) {
	w.Evidence = append(w.Evidence, fmt.Sprintf(format, values...))
}

// stress adds one without which the reason is not understood.
func (w *Report) stress(format string, values ...any) {
	w.say(format, values...)
	w.main = append(w.main, w.Evidence[len(w.Evidence)-1])
}

func (w *Report) evidence(a *app.App, i ledger.Record, f whyFacts, d Case) {
	w.proof(i, f.chain.Task)
	if i.Unshared != "" {
		w.say("Other machines cannot go on with it: %s.", i.Unshared)
	}
	if i.Detail != "" {
		w.stress("More exactly: %s (%s).", view.MeaningOf(i.Detail), i.Detail)
	}
	if changed := i.Changed; len(changed) > 0 {
		w.stress("Changed: %s.", strings.Join(changed, ", "))
	}
	if i.FellBack == "" && f.before != nil {
		w.limits(a, i, f, d)
	}
	w.earlierCalls(i, f)
	if i.Rule != "" {
		w.say("Rule %s matched.", i.Rule)
	}
	for _, r := range f.hour {
		if missed := MissedWords(r); missed != "" {
			w.say("%s", view.Sentence(missed))
		}
	}
	if i.Mode.Continues() {
		w.say("The session was sent %s.", view.SentWords(i.PromptBytes, i.SentBytes, i.WholeReason))
	}
}

// proof states the facts that show, or fail to show, that the call continues the session's work.
func (w *Report) proof(i ledger.Record, task string) {
	proof, sentences := i.Evidence, i.Evidence.Sentences()
	proof.Caller = "" // that one program made both calls is alone no proof
	switch {
	case i.FellBack != "":
		w.say("It was to be resumed because %s (%s).", view.MeaningOf(i.Reason), i.Reason)
	case i.Reason == reason.NoEvidence && len(sentences) > 0:
		w.say("This is known, and does not suffice:")
	case !i.Mode.Continues() || task != "":
	case proof != decide.Evidence{}:
		w.say("Its task has no name, but this shows that it continues the session's work:")
	case i.Reason == reason.Extends:
		w.say("Its task has no name, but it repeats the session's prompt, and unnamed was " +
			"\"extends\".")
	}
	for _, fact := range sentences {
		w.say("%s", view.Sentence(fact))
	}
	switch {
	case i.Reason != reason.NoEvidence:
	case proof != decide.Evidence{} && i.Evidence.Caller == "":
		w.stress("The calls were typed, or made by two runs: one run of a script counts as one " +
			"job.")
	case i.Evidence.Caller != "":
		w.stress("No file that it changed is known to stand, and the prompt shows no answer or " +
			"log of it.")
	}
}

// earlierCalls states how the chain's calls before it ended that the decision depends on.
func (w *Report) earlierCalls(i ledger.Record, f whyFacts) {
	switch {
	case i.Reason == reason.Leased && f.running != nil:
		w.stress("Call %d was running.", f.running.ID)
	case f.ended != nil && i.Reason == reason.Unread:
		w.stress("Call %d before it is no failed one: %s.", f.ended.ID, endWords(*f.ended))
	case f.ended != nil:
		w.stress("Call %d before it ended badly: %s.", f.ended.ID, endWords(*f.ended))
	}
	last := f.last
	if last == nil || !i.Mode.Continues() || last.ResumedFrom != i.ResumedFrom ||
		last.Outcome == "ok" {
		return
	}
	how := "ended thus: " + view.OutcomeCell(*last).Human
	if last.Outcome == "" {
		how = "is still running"
	}
	w.say("Call %d before it continued the same session, and %s. Nothing of that call is in "+
		"this one.", last.ID, how)
}

// endOf returns the reason that a call's end is for a later call of the session to be fresh, "" if
// it is none.
func endOf(i ledger.Record) reason.Code {
	switch {
	case i.Outcome == "failed" && i.SessionWhy != reason.TurnLimit:
		return reason.PreviousFailed
	case i.Outcome == "unread":
		return reason.Unread
	case i.Outcome == "killed":
		return reason.PreviousKilled
	}
	return ""
}

// endedSo reports whether a call's end is behind a reason.
func endedSo(why reason.Code, i ledger.Record) bool {
	end := endOf(i)
	return end != "" && (end == why || end == reason.PreviousFailed && why == reason.SessionDead)
}

// endWords say how a call ended that did not end well, and why, if that is known; "" for any other.
func endWords(i ledger.Record) string {
	words := ""
	switch {
	case i.Outcome == "", i.Outcome == "ok":
		return ""
	case i.Signal.Valid:
		words = fmt.Sprintf("signal %d ended it", i.Signal.Int64)
	case i.Outcome == "killed":
		words = "the shim was killed before it could record how it ended"
	case i.Outcome == "unread":
		return "it ended with exit status 0, but the shim could not read the output"
	case i.Exit.Int64 != 0:
		words = fmt.Sprintf("it failed with exit status %d", i.Exit.Int64)
	default:
		words = "it failed with exit status 0: it reported an error, or printed nothing"
	}
	if i.SessionWhy != "" {
		words += fmt.Sprintf("; %s (%s)", view.MeaningOf(i.SessionWhy), i.SessionWhy)
	}
	return words
}

// limits compares a call with the session that it would have resumed, by the present limits.
func (w *Report) limits(a *app.App, i ledger.Record, f whyFacts, d Case) {
	cfg := a.Configured()
	policy := rulePolicy(cfg, i.Rule)
	switch i.Reason {
	case reason.Idle:
		if d.Idle >= 0 { // it has not been used since
			w.stress("The session had been idle for %s; ttl is %s now.", view.Duration(d.Idle),
				view.Duration(policy.TTL))
		}
	case reason.TooOld:
		w.stress("The session had been started %s before; max_age is %s now.", view.Duration(d.Age),
			view.Duration(policy.MaxAge))
	case reason.ContextFull:
		window, why := contextWindow(d.Context, d.Model)
		w.stress("The session had used %s of %s tokens of context%s; context_limit is %g now.",
			view.Thousands(d.Context.Used), view.Thousands(window), why, cfg.ContextLimit)
	case reason.ModelChanged:
		w.stress("The session was asked for %s, the call asked for %s.", modelWords(f.before.Model),
			modelWords(f.session.Model))
	case reason.RuntimeChanged:
		if was, is := f.before.Version, f.session.Version; was != "" && is != "" && was != is {
			w.stress("The version was %s, and %s afterwards.", was, is)
		}
	}
}
