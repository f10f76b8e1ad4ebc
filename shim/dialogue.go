package shim

import (
	"bytes"
	"os"
	"slices"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// scoutPatience is how long a scout may take to end once its stdin has been closed.
const scoutPatience = 2 * time.Second

// A dialogue is one run's part of a conversation.
type dialogue struct {
	*conversation
	feed  *feed
	tool  *os.File // the tool's end of its stdin, closed once the tool has started
	input []byte   // the first input

	// scout decides on a run that was started before the first message: it is called with that
	// message's arrival and reports whether the run continues. nil for other runs.
	scout   func() (stays bool)
	retired bool             // the scout was ended
	overdue <-chan time.Time // fires when a retired scout has not ended in time
	closed  bool             // the caller has closed its end, and the tool's stdin is closed

	unlike  bool   // the caller has changed the session by more than messages
	merged  bool   // some result was not that of exactly one message
	over    bool   // the turns are over
	passing []byte // frames of the present piece that pass the gate
	turns   []turn
	prompts []userMessage // messages without a result yet
}

// A userMessage is a prompt of a conversation.
type userMessage struct {
	text string
	at   time.Time
}

// A turn is a part of a conversation that ends with a result.
type turn struct {
	prompts []userMessage
	ended   time.Time
	seen    rewrite.StreamState
}

func (t turn) began() time.Time {
	if len(t.prompts) == 0 {
		return t.ended
	}
	return t.prompts[0].at
}

// converse starts feeding the tool, which has started.
func (a *attempt) converse() {
	if a.talk == nil {
		return
	}
	a.talk.begin()
	a.talk.tool.Close()
	a.talk.feed.add(a.talk.input)
	for _, f := range a.talk.frames {
		a.talk.note(f)
	}
	go a.talk.feed.run()
	if a.state == stateShowing {
		a.talk.settle()
	}
}

// frames returns the channel of the caller's frames. It is nil while the tool does not read what it
// was sent, or must not be sent more.
func (a *attempt) frames() <-chan []byte {
	if a.talk == nil || a.talk.closed || a.ended != nil || a.state == stateRefusing || a.talk.feed.full() {
		return nil
	}
	return a.talk.conversation.input
}

func (a *attempt) fed() <-chan struct{} {
	if a.talk == nil {
		return nil
	}
	return a.talk.feed.room
}

func (a *attempt) overdue() <-chan time.Time {
	if a.talk == nil {
		return nil
	}
	return a.talk.overdue
}

// takeFrame handles a frame of the caller, or its end if open is false.
func (a *attempt) takeFrame(line []byte, open bool) {
	if !open {
		a.talk.closed = true
		a.talk.feed.end()
		a.checkOver()
		return
	}
	f := rewrite.Frame{Line: line}
	a.unbroken(func() { f = rewrite.ReadInput(line) })
	a.talk.keep(f)
	if a.talk.kept > maxStdin && a.talk.scout == nil {
		a.letOut() // early is better than lost
	}
	if f.Kind == rewrite.ResponseFrame {
		line = a.talk.answer(f)
	}
	if f.Kind == rewrite.UserFrame && a.talk.scout != nil {
		if !a.talk.scout() {
			a.retire()
			return
		}
		a.talk.scout = nil
		a.letOut()
	}
	a.talk.note(f)
	a.talk.feed.add(line)
}

// retire ends a scout whose call is resumed. It was sent no message, so it leaves no session. Its
// held output is dropped.
func (a *attempt) retire() {
	a.talk.retired, a.state = true, stateRefusing
	a.talk.feed.end()
	a.talk.overdue = time.After(scoutPatience)
}

// note records the message in a frame of the caller, or that the frame changes the session.
func (d *dialogue) note(f rewrite.Frame) {
	if f.Kind != rewrite.UserFrame {
		d.unlike = d.unlike || f.ChangesSession()
		return
	}
	text, why := "", reason.MessageContent
	if len(f.Line) <= maxStdin { // a longer one is not parsed, which takes several times its length
		text, why = f.Prompt()
	}
	if why != "" { // the session gets it all the same
		text = string(f.Line[:min(len(f.Line), pieceSize)])
	}
	d.unlike = d.unlike || why == reason.SlashCommand
	d.prompts = append(d.prompts, userMessage{text, time.Now()})
}

// takeLine renders a line of the tool. A frame that is no event is never held: the tool may wait for
// the caller's answer.
func (a *attempt) takeLine(line []byte) []byte {
	seen := a.stream.Seen()
	results := seen.Results
	shown := a.stream.Line(line)
	if a.talk == nil {
		return shown
	}
	if seen.Results > results {
		a.talk.endTurn(seen.EndTurn())
	}
	if a.state == stateHolding {
		a.updateGate()
	}
	if seen.Results > results {
		a.checkOver()
	}
	f := rewrite.ReadOutput(line)
	if f.Kind == rewrite.OtherFrame || a.state == stateRefusing {
		return shown
	}
	shown = line
	if f.Kind != rewrite.IdleFrame {
		var told []byte
		shown, told = a.talk.show(f)
		a.talk.feed.add(told)
	}
	if a.state != stateHolding {
		return shown
	}
	a.talk.passing = append(a.talk.passing, shown...)
	return nil
}

// pass writes the frames of a piece that pass the gate.
func (a *attempt) pass(from *buffer) {
	if a.talk != nil && len(a.talk.passing) > 0 {
		a.stdout.pass(bytes.Clone(a.talk.passing), from)
		a.talk.passing = a.talk.passing[:0]
	}
}

// took returns the turns of a run that has ended. Everything before the first result belongs to the
// first turn.
func (d *dialogue) took(seen rewrite.StreamState, ended time.Time) []turn {
	turns := d.turns
	if len(d.prompts) > 0 || len(turns) == 0 {
		seen.Final = seen.Final && len(turns) == 0
		turns = append(turns, turn{prompts: d.prompts, ended: ended, seen: seen})
	}
	return turns
}

// ownUsage returns turns with each one's own usage in the place of the usage up to its end.
func ownUsage(turns []turn) []turn {
	turns = slices.Clone(turns)
	for i := len(turns) - 1; i > 0; i-- {
		turns[i].seen.Usage = turns[i].seen.Usage.Since(turns[i-1].seen.Usage)
	}
	return turns
}

// endTurn records a turn that a result ends. A result without a new message belongs to the previous
// turn, unless that may be in the ledger already.
func (d *dialogue) endTurn(seen rewrite.StreamState) {
	d.merged = d.merged || len(d.prompts) != 1
	if len(d.prompts) == 0 && len(d.turns) > 0 && !d.over {
		last := &d.turns[len(d.turns)-1]
		last.seen.Continue(seen)
		last.ended = time.Now()
		return
	}
	d.turns = append(d.turns, turn{prompts: d.prompts, ended: time.Now(), seen: seen})
	d.prompts = nil
}

// checkOver reports the turns once they are over: nothing can be sent any more, and each message has
// a result of its own.
func (a *attempt) checkOver() {
	d := a.talk
	if d.over || !d.closed || d.merged || d.unlike || a.broken || a.state != stateShowing {
		return
	}
	if len(d.prompts) > 0 || len(d.turns) == 0 {
		return
	}
	d.over = true
	a.finishEarly(d.turns, a.plan)
}
