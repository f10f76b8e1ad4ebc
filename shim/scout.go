package shim

import (
	"slices"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// scouted returns the scout for a caller that needs the tool's answer before it sends a prompt.
func (f *found) scouted() next {
	if f.line.NoScout != "" {
		return next{err: f.line.NoScout}
	}
	unset := f.config.Tools[f.name].UnsetEnv
	d := &decided{found: f, line: f.line, record: f.newRecord(f.started), unset: unset}
	return next{do: scout, decided: d}
}

// scout starts the tool for a caller that needs the answer before it sends a prompt. The tool
// starts fresh, and makes no session before the first message. If the decision on that message is
// fresh, the run continues. If it is to resume, the scout is ended, and the resumed run gets
// everything that the scout was sent.
func (d *decided) scout() (*ran, error) {
	d.signals.Catch()
	d.record.Fingerprints = d.fingerprints(d.line, d.unset, false)
	r, err := d.runTool(d.tool.Plan(d.line, rewrite.ToFresh("")))
	if err == nil && r.Input.Talk.Retired && r.Stopped == 0 {
		r.Close()
		return r.run()
	}
	return r, err
}

// decideOnOpening decides on a conversation with a tool that runs already, and reports whether the
// run continues. It reads all facts anew, since the caller might have waited for long.
func (r *ran) decideOnOpening() (stays bool) {
	before := r.decided
	err := r.safely(r.decideAgain)
	if err == nil && r.decision.Mode != rewrite.Observe {
		r.Plan.Prompt, r.Pinned = r.record.Prompt.Text, r.pin
		plan := r.plan() // a rule can take variables away, and ask for others and for options
		stays = !r.decision.Mode.Continues() && slices.Equal(before.unset, r.unset) &&
			slices.Equal(plan.Env, r.Plan.Env) && slices.Equal(plan.Args, r.Plan.Args)
		if stays {
			r.printVerbose(r.decision.Mode, r.decision.Reason)
		}
		return stays
	}
	why := r.decision.Reason
	if err != nil {
		why = passOf(err).why
	}
	r.log.passthrough(why)
	r.printVerbose(rewrite.Observe, why)
	r.decision = decide.Decision{Mode: rewrite.Observe, Reason: why}
	if r.ticket != nil || r.ledger.slow {
		return true
	}
	if r.ticket, err = r.ledger.Observe(r.record, why, "", 0); err != nil {
		r.log.fault("record call", err)
	}
	return true
}

// decideAgain replaces the decision by one on the first message, on facts of now. It fails with a
// pass if there is none.
func (r *ran) decideAgain() error {
	before := r.record.Fingerprints
	r.record.Fingerprints = decide.Fingerprints{}
	f := newFound(r.asked)
	if err := find(f, r.book); err != nil {
		return err
	}
	r.record = f.newRecord(f.env.Now())
	switch {
	case f.fingerprints(f.line, r.unset, false) != before:
		return reason.SettingsChanged
	case f.line.Mode == rewrite.Observe:
		return f.line.Reason
	}
	line, text, err := f.readPrompt()
	if err != nil {
		return err
	}
	d, err := decideOn(f, line, text, f.env.Now())
	if d != nil {
		r.decided = d
	}
	return err
}
