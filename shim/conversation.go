package shim

import (
	"bytes"
	"os"
	"slices"
	"time"

	"reprise/rewrite"
)

// How long the caller is waited for. One that sends its first message without waiting for an
// answer does so at once; another wants the tool to be there.
const (
	waitOpening = time.Second           // for its first frame
	waitFrame   = 30 * time.Millisecond // for the next one
)

// A conversation is the caller's side of a call whose stdin is a line of frames. It lasts longer
// than a run of the tool: what the caller has sent and has been asked is kept until it is certain
// that no other run will have to be given it. The event loop alone uses it, once the tool runs.
type conversation struct {
	from  *os.File
	data  []byte // read, and in no frame yet
	ended bool   // the caller has closed its end
	waits bool   // the caller waits for an answer before its first message

	frames  []rewrite.Frame // sent by the caller, while keeping
	kept    int             // their length
	first   int             // where its first message is among them, -1 while there is none
	keeping bool

	input    chan []byte // frames that the reader has read, closed at the end
	run      int         // counts the runs
	asks     []*request
	answered map[string]bool // requests of the caller whose answers it was shown
}

// A request is one of the tool's that the caller was shown.
type request struct {
	run     int // that it came from
	id, key string
	answer  *rewrite.Frame // of the caller
	now     string         // the request of run nowIn that it stands for, "" for none
	nowIn   int
}

func newConversation(from *os.File) *conversation {
	return &conversation{from: from, first: -1, keeping: true, answered: map[string]bool{}}
}

// open reads up to the first message. A reason says that there is none, or that it is not known.
func (t *conversation) open() (rewrite.Reason, error) {
	fd := int(t.from.Fd())
	for t.cut(); t.first < 0; t.cut() {
		wait := waitOpening
		if len(t.frames) > 0 {
			wait = waitFrame
		}
		ready, err := readable(fd, wait)
		switch {
		case err != nil:
			return "", err
		case !ready:
			t.waits = true
			return rewrite.StdinOpen, nil
		case t.kept+len(t.data) > maxStdin:
			return rewrite.StdinTooBig, nil
		}
		if err := t.more(fd); err != nil {
			return "", err
		}
		if t.ended {
			return rewrite.NoMessage, nil
		}
	}
	return "", nil
}

// more reads a piece.
func (t *conversation) more(fd int) error {
	t.data = slices.Grow(t.data, pieceSize)
	n, err := readSome(fd, t.data[len(t.data):cap(t.data)])
	t.ended = err != nil || n == 0
	t.data = t.data[:len(t.data)+n]
	return err
}

// cut takes the whole frames out of what was read, up to the first message.
func (t *conversation) cut() {
	for t.first < 0 {
		line := t.line()
		if line == nil {
			return
		}
		t.keep(rewrite.ReadInput(line))
	}
}

// line returns the next whole line of what was read, nil if there is none. At the end the last
// may lack its newline.
func (t *conversation) line() []byte {
	n := bytes.IndexByte(t.data, '\n') + 1
	if n == 0 && t.ended {
		n = len(t.data)
	}
	if n == 0 {
		return nil
	}
	line := bytes.Clone(t.data[:n])
	t.data = t.data[n:]
	return line
}

// keep notes a frame of the caller's.
func (t *conversation) keep(f rewrite.Frame) {
	if t.first < 0 && f.Kind == rewrite.UserFrame {
		t.first = len(t.frames)
	}
	if t.keeping {
		t.frames = append(t.frames, f)
		t.kept += len(f.Line)
	}
}

// read hands the caller's frames to the event loop, once the first run has begun.
func (t *conversation) read() {
	defer close(t.input)
	fd := int(t.from.Fd())
	for {
		for line := t.line(); line != nil; line = t.line() {
			t.input <- line
		}
		if t.ended {
			return
		}
		_ = t.more(fd) // what cannot be read has ended
	}
}

// opening is what the conversation begins with, up to the first message.
func (t *conversation) opening() []rewrite.Frame { return t.frames[:t.first+1] }

// staged is all that was read before a run has begun.
func (t *conversation) staged() staged {
	var all []byte
	for _, f := range t.frames {
		all = append(all, f.Line...)
	}
	all = append(all, t.data...)
	return staged{data: string(all), used: len(all) > 0}
}

// begin returns what a run has to be given at first: all that the caller has sent, the prompt as
// planned. Answers are left out: they are for requests of another run.
func (t *conversation) begin(plan rewrite.Plan) (input []byte) {
	t.run++
	for i, f := range t.frames {
		switch {
		case f.Kind == rewrite.ResponseFrame:
		case i == t.first && plan.Resume != "" && !plan.Whole:
			input = append(input, f.WithPrompt(plan.Prompt)...)
		default:
			input = append(input, f.Line...)
		}
	}
	if t.input == nil {
		t.input = make(chan []byte)
		go t.read()
	}
	return input
}

// settle forgets what only another run would have needed.
func (t *conversation) settle() {
	t.keeping, t.frames, t.kept = false, nil, 0
}

// answer returns what the tool is to be told of a caller's answer, nil for nothing: it may be
// for a request that a run which was given up has made.
func (t *conversation) answer(f rewrite.Frame) []byte {
	for _, k := range t.asks {
		switch {
		case k.id != f.RequestID:
			continue
		case k.run == t.run:
			k.answer = &f
			return f.Line
		}
		k.answer = &f
		if k.nowIn == t.run {
			return f.Answering(k.now)
		}
		return nil
	}
	return f.Line
}

// show returns what the caller is to be shown of a line of the tool's that is no event, and what
// the tool is to be told at once: the caller is neither asked nor answered twice.
func (t *conversation) show(f rewrite.Frame) (shown, told []byte) {
	switch f.Kind {
	case rewrite.ResponseFrame:
		if t.answered[f.RequestID] {
			return nil, nil
		}
		if t.keeping {
			t.answered[f.RequestID] = true
		}
	case rewrite.RequestFrame:
		if k := t.askedBefore(f); k != nil {
			k.now, k.nowIn = f.RequestID, t.run
			if k.answer == nil {
				return nil, nil
			}
			return nil, k.answer.Answering(k.now)
		}
		if t.keeping {
			t.asks = append(t.asks, &request{run: t.run, id: f.RequestID, key: f.Key()})
		}
	case rewrite.CancelFrame:
		for _, k := range t.asks {
			if k.nowIn == t.run && k.now == f.RequestID {
				return f.Answering(k.id), nil
			}
		}
	}
	return f.Line, nil
}

// askedBefore finds the request of an earlier run that asked the same, and stands for none of this
// run yet.
func (t *conversation) askedBefore(f rewrite.Frame) *request {
	if t.run == 1 {
		return nil
	}
	key := f.Key()
	for _, k := range t.asks {
		if k.run < t.run && k.nowIn < t.run && k.key == key {
			return k
		}
	}
	return nil
}
