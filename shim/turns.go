package shim

import (
	"strings"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim/supervise"
)

// A conversation is recorded when its turns are over: the caller has closed its end, and each of its
// messages has a result. The tool can still be winding down, and the caller's next call must not
// wait for that: it continues in a copy, cut at the last message that was recorded. As long as the
// caller can send more, the session is leased.

// An early is the record made while the tool still ran.
type early struct {
	done  chan struct{}
	turns int // how many were recorded
}

// finishEarly records a conversation with turns that are over, in a goroutine, so that the ledger does
// not delay the tool's output.
func (c *call) finishEarly(turns []supervise.Turn, plan rewrite.Plan) {
	if !c.parsed.Copies || c.ticket == nil || c.ticket.Session == 0 || !c.book().isEarly() {
		return // another call would write to the session that the tool still has, or there is nothing to record
	}
	c.early = &early{done: make(chan struct{})}
	turns = supervise.OwnUsage(turns)
	go func() {
		defer close(c.early.done)
		c.runSteps(func() reason.Code { c.recordEarly(turns, plan); return "" })
	}()
}

// recordEarly records turns, if a copy of the session made now would have all of them.
func (c *call) recordEarly(turns []supervise.Turn, plan rewrite.Plan) {
	last := &turns[len(turns)-1]
	message := last.Prompts[0].Text
	if len(turns) == 1 && plan.Resume != "" && !plan.Whole {
		message = plan.Prompt
	}
	file, stamp := c.sessionFile(last.Seen.ID)
	if !last.Seen.OwnFigures || !c.storesTurn(file, stamp, message, last.Seen.Message) {
		return
	}
	o, later := c.outcomes(turns, supervise.Status{}, plan)
	end := lastOf(&o, later)
	if end.File, end.Stamp, end.Place = file, stamp, c.place(c.record.Cwd); !end.Good() {
		return
	}
	end.Left = c.leftFiles(end, filesOf(turns))
	own := c.record.Prompt
	defer func() {
		if c.early.turns == 0 {
			c.record.Prompt = own // the end of the run is recorded anyhow
		}
	}()
	c.record.Prompt = c.sentIn(turns)
	if c.ledger.FinishEarly(c.ticket, &o, later...) == nil {
		c.early.turns = len(turns)
	}
}

// lastOf returns the outcome of the latest turn.
func lastOf(own *ledger.Outcome, later []ledger.Turn) *ledger.Outcome {
	if n := len(later); n > 0 {
		return &later[n-1].Outcome
	}
	return own
}

// filesOf returns the files that the turns' tools were given, in the order of the turns.
func filesOf(turns []supervise.Turn) (files []string) {
	for _, t := range turns {
		files = append(files, t.Seen.Files...)
	}
	return files
}

// finishTurns records the rest of a conversation after the tool has ended, and returns
// the outcome of the call's own turn.
func (c *call) finishTurns(a *supervise.Attempt, st supervise.Status, seen rewrite.StreamState) (ledger.Outcome, error) {
	recorded := 0
	if c.early != nil {
		<-c.early.done
		recorded = c.early.turns
	}
	turns := supervise.OwnUsage(a.Input.Talk.Took(seen, c.env.Now()))
	if a.Broken || a.Undelivered() != nil {
		for i := range turns {
			turns[i].Seen.Failed = true
		}
	}
	o, later := c.outcomes(turns, st, a.Plan)
	end := lastOf(&o, later)
	if a.Input.Talk.Unlike {
		end.Seen.Refusal = reason.ControlRequest
	}
	end.File, end.Stamp = c.sessionFile(seen.ID)
	end.Place, end.Left = c.place(c.record.Cwd), c.leftFiles(end, filesOf(turns))
	switch {
	case recorded == 0:
		c.record.Prompt = c.sentIn(turns)
		return o, c.book().finish(&o, later...)
	case recorded < len(turns):
		return o, c.book().finish(&o, later[recorded-1:]...)
	case st == supervise.Status{}:
		return o, c.book().finish(end)
	}
	return o, nil // it was ended after the last turn; a copy is cut where that ended
}

// outcomes returns the outcome of the call's own turn, which was sent the plan's prompt, and the later
// turns. All but the last ended while the tool ran.
func (c *call) outcomes(turns []supervise.Turn, end supervise.Status, plan rewrite.Plan) (own ledger.Outcome, later []ledger.Turn) {
	for i, t := range turns {
		bytes := 0
		for _, p := range t.Prompts {
			bytes += len(p.Text)
		}
		st := supervise.Status{}
		if i == len(turns)-1 {
			st = end
		}
		if i == 0 {
			own = c.outcome(t.Seen, st, plan)
			own.Now = decide.MillisOf(t.Ended)
			continue
		}
		o := c.outcome(t.Seen, st, rewrite.Plan{})
		o.Sent = bytes
		o.Now = decide.MillisOf(t.Ended)
		later = append(later, ledger.Turn{Started: decide.MillisOf(t.Began()), Bytes: bytes, Outcome: o})
	}
	return own, later
}

// sentIn returns everything that the session was sent by the end of the turns.
func (c *call) sentIn(turns []supervise.Turn) *prompt.Prompt {
	texts := []string{c.record.Prompt.Text}
	for i, t := range turns {
		for n, p := range t.Prompts {
			if i > 0 || n > 0 { // the call's own prompt is there
				texts = append(texts, p.Text)
			}
		}
	}
	if len(texts) == 1 {
		return c.record.Prompt
	}
	return prompt.New(strings.Join(texts, "\n\n"), c.book().key())
}
