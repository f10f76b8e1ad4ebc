package shim

import (
	"slices"
	"strings"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim/supervise"
)

// A conversation is recorded when all turns are over: the caller has closed stdin, and has been
// given a result for each message. The tool can still be winding down, and the caller's next call
// must not wait for that: it continues in a copy, cut at the last message that was recorded. As
// long as the caller can send more, the session is leased.

// finishEarly records a conversation with turns that are over, in a goroutine, so that the ledger
// does not delay the tool's output.
func (r *ran) finishEarly(turns []supervise.Turn, plan rewrite.Plan) {
	if !r.line.Copies || r.ticket == nil || r.ticket.Session == 0 || r.book.decides() {
		// another call would write to the session that the tool still has, there is nothing to
		// record, or another machine would need a bundle of files that still change
		return
	}
	turns = supervise.OwnUsage(turns)
	r.recording.Go(func() {
		_ = r.safely(func() error { r.recordEarly(turns, plan); return nil }) // it is logged
	})
}

// recordEarly records turns, if a copy of the session made now would have all of them.
func (r *ran) recordEarly(turns []supervise.Turn, plan rewrite.Plan) {
	last := &turns[len(turns)-1]
	message := last.Prompts[0].Text
	if len(turns) == 1 && plan.Resume != "" && !plan.Whole {
		message = plan.Prompt
	}
	file, stamp, err := r.sessions().Find(last.Seen.ID)
	if err != nil || !last.Seen.OwnFigures ||
		!r.sessions().StoresTurn(file, stamp, message, last.Seen.Message) {
		return
	}
	outcomes := r.outcomes(turns, supervise.Status{}, plan)
	end := outcomes[len(outcomes)-1]
	if end.File, end.Stamp, end.Revision = file, stamp, r.revision(); !end.Good() {
		return
	}
	end.Left = r.leftFiles(end, filesOf(turns))
	own := r.record.Prompt
	defer func() {
		if r.ticket.Recorded == 0 {
			r.record.Prompt = own // the end of the run is recorded anyhow
		}
	}()
	r.record.Prompt = r.sentIn(turns)
	_ = r.ledger.FinishEarly(r.ticket, outcomes...)
}

// filesOf returns the files that the turns' tools were given, in the order of the turns.
func filesOf(turns []supervise.Turn) (files []string) {
	for _, t := range turns {
		files = append(files, t.Seen.Files...)
	}
	return files
}

// turns returns the turns of a run that has ended: of a conversation with a session of ours each
// one, of any other call one for all of the run.
func (r *ran) turns() []supervise.Turn {
	seen, now := r.seen(), r.env.Now()
	if r.Input.Talk == nil || r.ticket.Session == 0 {
		return []supervise.Turn{{Ended: now, Seen: seen}}
	}
	turns := supervise.OwnUsage(r.Input.Talk.Took(seen, now))
	if r.Broken || r.Undelivered() != nil {
		for i := range turns {
			turns[i].Seen.Failed = true
		}
	}
	if r.Input.Talk.Unlike {
		turns[len(turns)-1].Seen.Refusal = reason.ControlRequest
	}
	return turns
}

// outcomes returns the outcomes of the turns, without the state of the session. The first was sent
// the plan's prompt. All but the last ended while the tool ran.
func (r *ran) outcomes(turns []supervise.Turn,
	end supervise.Status, plan rewrite.Plan) (outcomes []*ledger.Outcome) {
	for i, t := range turns {
		o := ledger.Outcome{Now: decide.MillisOf(t.Ended), Seen: t.Seen, Printed: r.Spoke,
			Plain: r.record.Format == rewrite.Text && r.line.Format != rewrite.Text}
		if i == 0 {
			o.Sent, o.WholeReason = len(plan.Prompt), plan.WholeReason
		} else {
			o.Started = decide.MillisOf(t.Began())
			for _, p := range t.Prompts {
				o.Sent += len(p.Text)
			}
		}
		if i == len(turns)-1 {
			o.Exit, o.Signal = end.Exit, int(end.Signal)
		}
		if r.rule.Rule != nil {
			o.Resets = r.rule.ResetBy(t.Seen.Answer)
		}
		outcomes = append(outcomes, &o)
	}
	return outcomes
}

// sentIn returns everything that the session was sent by the end of the turns.
func (r *ran) sentIn(turns []supervise.Turn) *prompt.Prompt {
	var later []string
	for i, t := range turns {
		for n, p := range t.Prompts {
			if i > 0 || n > 0 { // the call's own prompt is there
				later = append(later, p.Text)
			}
		}
	}
	if later == nil {
		return r.record.Prompt
	}
	return prompt.New(strings.Join(slices.Insert(later, 0, r.record.Prompt.Text), "\n\n"),
		r.book.key())
}
