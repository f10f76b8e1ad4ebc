package supervise

import (
	"slices"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// scoutPatience is how long a scout can take to end once the stdin has been closed.
var scoutPatience = 2 * time.Second // shorter in this package's tests

// A Dialogue is one run's part of a conversation.
type Dialogue struct {
	*Conversation

	// Scout decides on a run that was started before the first message: it is called with that
	// message's arrival and reports whether the run continues. nil for other runs.
	Scout   func() (stays bool)
	Retired bool // the scout was ended

	Unlike  bool   // the caller has changed the session by more than messages
	merged  bool   // some result answers no message, or several
	over    bool   // the turns are over
	passing []byte // frames of the present piece that pass the gate
	turns   []Turn
	prompts []userMessage // messages without a result yet
}

// A userMessage is a prompt of a conversation.
type userMessage struct {
	Text string
	at   time.Time
}

// A Turn is a part of a conversation that ends with a result.
type Turn struct {
	Prompts []userMessage
	Ended   time.Time
	Seen    rewrite.StreamState
}

// Began returns when the first prompt of the turn came, or its end if it has none.
func (t Turn) Began() time.Time {
	if len(t.Prompts) == 0 {
		return t.Ended
	}
	return t.Prompts[0].at
}

// converse starts feeding the tool, which has started.
func (a *Attempt) converse() {
	if a.Input.Talk == nil {
		return
	}
	a.Input.Talk.begin()
	a.Input.File.Close()
	for _, f := range a.Input.Talk.frames {
		a.Input.Talk.note(f)
	}
	if a.state == stateShowing {
		a.Input.Talk.settle()
	}
}

// takeFrame handles a frame of the caller.
func (a *Attempt) takeFrame(line []byte) {
	f := rewrite.Frame{Line: line}
	a.Unbroken(func() { f = rewrite.ReadInput(line) })
	a.Input.Talk.keep(f)
	if a.Input.Talk.kept > maxStdin && a.Input.Talk.Scout == nil {
		a.letOut() // early is better than lost
	}
	if f.Kind == rewrite.ResponseFrame {
		line = a.Input.Talk.answer(f)
	}
	if f.Kind == rewrite.UserFrame && a.Input.Talk.Scout != nil {
		if !a.Input.Talk.Scout() {
			a.retire()
			return
		}
		a.Input.Talk.Scout = nil
		a.letOut()
	}
	a.Input.Talk.note(f)
	a.Input.writer.add(line)
}

// retire ends the scout of a resumed call. It was sent no message, so it leaves no session. The
// held output is dropped.
func (a *Attempt) retire() {
	a.Input.Talk.Retired, a.state = true, stateRefusing
	a.Input.writer.end()
	a.later(scoutPatience, a.process.end)
}

// note records the message in a frame of the caller, or that the frame changes the session.
func (d *Dialogue) note(f rewrite.Frame) {
	if f.Kind != rewrite.UserFrame {
		d.Unlike = d.Unlike || f.ChangesSession()
		return
	}
	text, why := "", reason.MessageContent
	if len(f.Line) <= maxStdin { // a longer one is not parsed, which takes several times the length
		text, why = f.Prompt()
	}
	if text == "" { // the session gets it all the same
		text = string(f.Line[:min(len(f.Line), pieceSize)])
	}
	d.Unlike = d.Unlike || why == reason.SlashCommand
	d.prompts = append(d.prompts, userMessage{text, time.Now()})
}

// takeLine renders a line of the tool. A frame that is no event is never held: the tool can wait
// for the caller's answer.
func (a *Attempt) takeLine(line []byte) []byte {
	seen := a.Stream.Seen()
	results := seen.Results
	shown := a.Stream.Line(line)
	if a.Input.Talk == nil {
		return shown
	}
	if seen.Results > results {
		a.Input.Talk.endTurn(seen.EndTurn())
	}
	if a.state == stateHolding {
		a.updateGate()
	}
	f := rewrite.ReadOutput(line)
	if f.Kind == rewrite.OtherFrame || a.state == stateRefusing {
		return shown
	}
	shown = line
	if f.Kind != rewrite.IdleFrame {
		var told []byte
		shown, told = a.Input.Talk.show(f)
		a.Input.writer.add(told)
	}
	if a.state != stateHolding {
		return shown
	}
	a.Input.Talk.passing = append(a.Input.Talk.passing, shown...)
	return nil
}

// Took returns the turns of a run that has ended. Everything before the first result belongs to the
// first turn.
func (d *Dialogue) Took(seen rewrite.StreamState, ended time.Time) []Turn {
	turns := d.turns
	if len(d.prompts) > 0 || len(turns) == 0 {
		seen.Final = seen.Final && len(turns) == 0
		turns = append(turns, Turn{Prompts: d.prompts, Ended: ended, Seen: seen})
	}
	return turns
}

// OwnUsage returns turns with each one's own usage in the place of the usage up to the end.
func OwnUsage(turns []Turn) []Turn {
	turns = slices.Clone(turns)
	for i := len(turns) - 1; i > 0; i-- {
		turns[i].Seen.Usage = turns[i].Seen.Usage.Since(turns[i-1].Seen.Usage)
	}
	return turns
}

// endTurn records a turn that a result ends. A result without a new message belongs to the previous
// turn, unless that can be in the ledger already.
func (d *Dialogue) endTurn(seen rewrite.StreamState) {
	d.merged = d.merged || len(d.prompts) != 1
	if len(d.prompts) == 0 && len(d.turns) > 0 && !d.over {
		last := &d.turns[len(d.turns)-1]
		last.Seen.Continue(seen)
		last.Ended = time.Now()
		return
	}
	d.turns = append(d.turns, Turn{Prompts: d.prompts, Ended: time.Now(), Seen: seen})
	d.prompts = nil
}

// checkOver reports the turns once they are over and the caller has their output: nothing can be
// sent any more, and each message has a separate result.
func (a *Attempt) checkOver() {
	d := a.Input.Talk
	if d == nil || d.over || !a.Input.writer.over || d.merged || d.Unlike || a.Broken {
		return
	}
	if a.state != stateShowing || len(d.prompts) > 0 || len(d.turns) == 0 {
		return
	}
	d.over = true
	turns := d.turns
	a.stdout.whenWritten(func() { a.post(func() { a.FinishEarly(turns, a.Plan) }) })
}
