package supervise

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// How long to wait for the caller's next frame. A caller that sends the first message without an
// answer sends it at once; another needs the tool's answer first.
const waitOpening = time.Second // for the first frame

// waitFrame is the time for each later frame, up to the first message. Only a test changes it.
var waitFrame = 30 * time.Millisecond

// A Conversation is the caller's side of a call with a sequence of frames on stdin. It can span
// several runs of the tool, so it keeps the caller's messages and questions until no other run
// can need it. Once the tool runs, only the event loop uses it.
type Conversation struct {
	unframed
	Waits bool // the caller waits for an answer before the first message

	frames  []rewrite.Frame // sent by the caller; dropped by settle
	kept    int             // bytes of frames
	first   int             // index of the first message in frames, -1 if there is none yet
	keeping bool            // until settle

	input    chan []byte // frames from the reader; closed at the end
	run      int         // number of the present run, from 1
	asks     []*request
	answered map[string]int // by the IDs of the caller's requests: answers that it was shown
	repeats  map[string]int // answers among these that the present run has yet to repeat
}

// unframed is the caller's stream behind the frames.
type unframed struct {
	from   *os.File
	data   []byte // read, but not in a frame yet
	looked int    // bytes of data that have no newline
	ended  bool   // the caller has closed the other end
}

// A request is a request of the tool that the caller was shown.
type request struct {
	id, key string         // the ID that the caller knows
	answer  *rewrite.Frame // the caller's, nil if there is none yet
	run     int            // the last run that it came from
	now     string         // the ID in that run
}

// NewConversation returns the conversation that comes from a caller's stdin.
func NewConversation(from *os.File) *Conversation {
	return &Conversation{unframed: unframed{from: from}, first: -1, keeping: true,
		answered: map[string]int{}}
}

// Open reads up to the first message. It fails with a reason.Code if there is none, or none yet. A
// file is not read: claude leaves its offset alone (2.1.332), or reads nothing of it (2.1.197).
func (t *Conversation) Open() error {
	if info, err := t.from.Stat(); err == nil && info.Mode().IsRegular() {
		return reason.MessageContent
	}
	fd := int(t.from.Fd())
	for t.first < 0 {
		if line := t.line(); line != nil {
			t.keep(rewrite.ReadInput(line))
			continue
		}
		wait := waitOpening
		if len(t.frames) > 0 {
			wait = waitFrame
		}
		ready, err := readable(fd, wait)
		switch {
		case err != nil:
			return err
		case !ready:
			t.Waits = true
			return reason.StdinOpen
		case t.kept+len(t.data) > maxStdin:
			return reason.StdinTooBig
		}
		if err := t.more(fd); err != nil {
			return err
		}
		if t.ended {
			return reason.NotManaged
		}
	}
	return nil
}

// more reads once into data. That doubles for a long frame, to leave little garbage of growing
// sizes.
func (t *Conversation) more(fd int) error {
	if cap(t.data)-len(t.data) < pieceSize {
		t.data = append(make([]byte, 0, 2*max(len(t.data), pieceSize)), t.data...)
	}
	n, err := readSome(fd, t.data[len(t.data):cap(t.data)])
	t.ended = err != nil || n == 0
	t.data = t.data[:len(t.data)+n]
	return err
}

// line removes and returns the next whole line of data, nil if there is none. The last line of the
// input can lack the newline.
func (t *Conversation) line() []byte {
	n := t.looked + bytes.IndexByte(t.data[t.looked:], '\n') + 1
	if n == t.looked && t.ended {
		n = len(t.data)
	} else if n == t.looked {
		t.looked = len(t.data)
		return nil
	}
	if t.looked = 0; n == 0 {
		return nil
	}
	line := bytes.Clone(t.data[:n])
	t.data = t.data[n:]
	return line
}

func (t *Conversation) keep(f rewrite.Frame) {
	if t.first < 0 && f.Kind == rewrite.UserFrame {
		t.first = len(t.frames)
	}
	if t.keeping {
		t.frames = append(t.frames, f)
		t.kept += len(f.Line)
	}
}

// read sends the caller's frames to the event loop.
func (t *Conversation) read() {
	defer close(t.input)
	fd := int(t.from.Fd())
	for {
		for line := t.line(); line != nil; line = t.line() {
			t.input <- line
		}
		if t.ended {
			return
		}
		_ = t.more(fd) // an error sets ended
	}
}

// Opening returns the frames up to the first message.
func (t *Conversation) Opening() []rewrite.Frame { return t.frames[:t.first+1] }

// ForRun implements Source.
func (t *Conversation) ForRun(plan rewrite.Plan) (Input, error) {
	in, err := newPiped(t.compose(plan))
	in.Talk = &Dialogue{Conversation: t}
	return in, err
}

// HandOn implements Source.
func (t *Conversation) HandOn() (*os.File, error) {
	if t.run > 0 {
		return nil, errors.New("a run has consumed of stdin")
	}
	text := t.consumed()
	return (&Staged{From: t.from, Data: text, used: text != "", more: !t.ended}).HandOn()
}

// consumed returns everything that was read before the first run.
func (t *Conversation) consumed() string {
	var all []byte
	for _, f := range t.frames {
		all = append(all, f.Line...)
	}
	return string(append(all, t.data...))
}

// compose returns the first input of a run: everything the caller has sent, with the prompt as
// planned. It leaves out answers, which belong to requests of an earlier run.
func (t *Conversation) compose(plan rewrite.Plan) (input []byte) {
	for i, f := range t.frames {
		switch {
		case f.Kind == rewrite.ResponseFrame:
		case i == t.first && plan.Resume != "" && !plan.Whole:
			line, _ := f.WithPrompt(plan.Prompt) // see Opened
			input = append(input, line...)
		default:
			input = append(input, f.Line...)
		}
	}
	return input
}

// begin counts a run that has started. With the first, the reader starts.
func (t *Conversation) begin() {
	t.run++
	t.repeats = maps.Clone(t.answered)
	if t.input == nil {
		t.input = make(chan []byte)
		go t.read()
	}
}

// settle drops the frames that are kept for another run: there will be none.
func (t *Conversation) settle() {
	t.keeping, t.frames, t.kept = false, nil, 0
}

// answer returns the frame for the tool that has a caller's answer, nil if the answer belongs to a
// request of an earlier run only.
func (t *Conversation) answer(f rewrite.Frame) []byte {
	for _, k := range t.asks {
		if k.id != f.RequestID {
			continue
		}
		k.answer = &f
		if k.run != t.run {
			return nil
		}
		return f.Answering(k.now)
	}
	return f.Line
}

// show handles a line of the tool that is no event. shown is passed to the caller, told is sent
// back to the tool. The caller is neither asked nor answered twice.
func (t *Conversation) show(f rewrite.Frame) (shown, told []byte) {
	switch f.Kind {
	case rewrite.ResponseFrame:
		if t.repeats[f.RequestID] > 0 {
			t.repeats[f.RequestID]--
			return nil, nil
		}
		if t.keeping {
			t.answered[f.RequestID]++
		}
	case rewrite.RequestFrame:
		if k := t.askedBefore(f); k != nil {
			k.now, k.run = f.RequestID, t.run
			if k.answer == nil {
				return nil, nil
			}
			return nil, k.answer.Answering(k.now)
		}
		if t.keeping {
			t.asks = append(t.asks, &request{id: f.RequestID, key: f.Key(), run: t.run,
				now: f.RequestID})
		}
	case rewrite.CancelFrame:
		for _, k := range t.asks {
			if k.run == t.run && k.now == f.RequestID {
				return f.Answering(k.id), nil
			}
		}
	}
	return f.Line, nil
}

// askedBefore returns the same request of an earlier run, unless it has been matched in this run
// already; nil if there is none.
func (t *Conversation) askedBefore(f rewrite.Frame) *request {
	key := f.Key()
	for _, k := range t.asks {
		if k.run < t.run && k.key == key {
			return k
		}
	}
	return nil
}
