package supervise

import (
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"reprise/rewrite"

	"golang.org/x/sys/unix"
)

// A talk is an attempt with a conversation, and the lines that the caller has seen and the tool was
// sent.
type talk struct {
	*Attempt
	tool, caller *os.File
	early        [][]Turn
}

// newTalk returns a talk with a started tool, and nothing sent.
func newTalk(t *testing.T, state runState) *talk {
	t.Helper()
	from, callers := pipeWith(t, "", true)
	in, err := NewConversation(from).ForRun(rewrite.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Dup(int(in.File.Fd())) // converse closes the tool's end
	if err != nil {
		t.Fatal(err)
	}
	tools := os.NewFile(uintptr(fd), "stdin")
	out := outputFile(t)
	k := &talk{tool: tools, caller: out}
	k.Attempt = &Attempt{gate: gate{
		Options: Options{
			Stream:      &scriptedStream{},
			Input:       in,
			Fault:       func(string, error) {},
			FinishEarly: func(turns []Turn, _ rewrite.Plan) { k.early = append(k.early, turns) },
		},
		state: state}, steps: make(chan func(), 1)}
	w := newWriter()
	k.stdout, k.stderr, k.writers = newSink(out, w), newSink(out, w), []*writer{w}
	t.Cleanup(func() { in.Close(nil); tools.Close() })
	k.converse()
	t.Cleanup(func() { // the reader ends before its file is closed
		callers.Close()
		for range in.Talk.Conversation.input {
		}
	})
	return k
}

// sent returns the lines that the tool was sent, and ends its stdin.
func (k *talk) sent(t *testing.T) string {
	t.Helper()
	f := k.Input.writer
	for to, frame := k.Input.writer.nextPiece(); to != nil; to, frame = k.Input.writer.nextPiece() {
		to <- frame
		f.sent()
	}
	f.end()
	got, err := io.ReadAll(k.tool)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// written writes all output to the caller, and does the steps that this causes.
func (k *talk) written(t *testing.T) {
	t.Helper()
	for w := k.stdout.writer; len(w.queue) > 0; {
		c := <-w.queue
		for _, p := range c.parts {
			if err := p.to.write(p.data); err != nil {
				t.Fatal(err)
			}
		}
		if c.then != nil {
			c.then()
		}
	}
	for len(k.steps) > 0 {
		(<-k.steps)()
	}
}

const modelFrame = `{"type":"control_request","request_id":"m","request":{"subtype":"set_model"}}` +
	"\n"

// The turns of a conversation, by the messages and results in their order: m is a message, r a
// result, c a request that changes the session, s a slash command, b a panic of ours, e the
// caller's end.
func TestTurns(t *testing.T) {
	for _, test := range []struct {
		events string
		turns  string // messages in each
		early  bool
	}{
		{"mre", "1", true},
		{"mrmre", "11", true},
		{"mer", "1", true},
		{"mmre", "2", false},   // which message is answered is not known
		{"mmmre", "3", false},  //
		{"mrre", "1", false},   // a result without a message continues the turn
		{"re", "0", false},     //
		{"rmre", "01", false},  //
		{"mrm", "11", false},   // one without a result
		{"mrme", "11", false},  //
		{"mr", "1", false},     // the caller can send more
		{"e", "0", false},      //
		{"cmre", "1", false},   //
		{"smre", "2", false},   //
		{"srmre", "11", false}, //
		{"mbre", "1", false},   // the output could not be read
		{"mrer", "10", true},   // a record that can be in the ledger already is not changed
	} {
		k := newTalk(t, stateShowing)
		for _, event := range test.events {
			switch event {
			case 'm':
				k.takeFrame([]byte(userFrame))
			case 's':
				k.takeFrame([]byte(strings.Replace(userFrame, "hi", "/compact", 1)))
			case 'c':
				k.takeFrame([]byte(modelFrame))
			case 'b':
				k.Broken = true
			case 'r':
				k.Input.Talk.endTurn(rewrite.StreamState{Final: true})
				k.checkOver()
			case 'e':
				k.takeStdin(nil, false)
			}
		}
		if len(k.early) > 0 {
			t.Errorf("%s: recorded before the caller has the answer", test.events)
		}
		k.written(t)
		got := ""
		for _, turn := range k.Input.Talk.Took(rewrite.StreamState{}, time.Now()) {
			got += strconv.Itoa(len(turn.Prompts))
		}
		if early := len(k.early) == 1; got != test.turns || early != test.early ||
			len(k.early) > 1 {
			t.Errorf("%s: turns %s, recorded early %d times", test.events, got, len(k.early))
		}
	}
}

// The caller's messages reach the tool; a held answer is let out before its frames fill the memory.
func TestTakeFrame(t *testing.T) {
	k := newTalk(t, stateHolding)
	k.takeFrame([]byte(userFrame))
	if k.state != stateHolding || len(k.Input.Talk.Conversation.frames) != 1 {
		t.Errorf("state %d, %d frames", k.state, len(k.Input.Talk.Conversation.frames))
	}
	k.Input.Talk.kept = maxStdin - len(modelFrame)
	k.takeFrame([]byte(modelFrame))
	if k.state != stateHolding {
		t.Error("it is let out too early")
	}
	k.takeFrame([]byte(initFrame))
	if k.state != stateShowing || k.Input.Talk.kept != 0 ||
		k.Input.Talk.Conversation.frames != nil {
		t.Errorf("state %d, %d bytes kept", k.state, k.Input.Talk.kept)
	}
	if got := k.sent(t); got != userFrame+modelFrame+initFrame {
		t.Errorf("the tool is sent %q", got)
	}

	k = newTalk(t, stateHolding)
	k.Input.Talk.Scout, k.Input.Talk.kept = func() bool { return true }, maxStdin
	k.takeFrame([]byte(initFrame))
	if k.state != stateHolding {
		t.Error("a scout's output is let out, although it may be ended")
	}
}

// A message's text is noted even if the message must not be the first: SDKs can name the session in
// later ones.
func TestNotedText(t *testing.T) {
	const image = `{"type":"user","message":{"role":"user","content":[]}}` + "\n"
	for line, want := range map[string]string{
		userFrame: "hi",
		strings.Replace(userFrame, `"message"`, `"session_id":"S","message"`, 1): "hi",
		strings.Replace(userFrame, "hi", "/compact", 1):                          "/compact",
		image: image,
	} {
		k := newTalk(t, stateShowing)
		k.takeFrame([]byte(line))
		if got := k.Input.Talk.prompts[0].Text; got != want {
			t.Errorf("%s: noted as %q", line, got)
		}
	}
}

// The first message decides on a scout.
func TestScoutDecides(t *testing.T) {
	for _, stays := range []bool{true, false} {
		k := newTalk(t, stateHolding)
		asked := 0
		k.process = &process{over: true}
		k.Input.Talk.Scout = func() bool { asked++; return stays }
		k.takeFrame([]byte(initFrame))
		if asked > 0 {
			t.Error("it is decided before the first message")
		}
		k.takeFrame([]byte(userFrame))
		want, state := initFrame, stateRefusing
		if stays {
			want, state = initFrame+userFrame, stateShowing
			k.takeFrame([]byte(userFrame))
			want += userFrame
		} else {
			select {
			case step := <-k.steps:
				step()
			case <-time.After(10 * time.Second):
				t.Error("a scout may take for ever to end")
			}
			if k.stdin() != nil {
				t.Error("a scout is sent more")
			}
		}
		if got := k.sent(t); asked != 1 || got != want || k.state != state ||
			k.Input.Talk.Retired == stays {
			t.Errorf("stays %v: asked %d times, state %d, the tool is sent %q", stays, asked,
				k.state, got)
		}
	}
}

// When frames are taken from the caller.
func TestFramesTaken(t *testing.T) {
	k := newTalk(t, stateShowing)
	if to, _ := k.Input.writer.nextPiece(); to != nil || k.stdin() == nil {
		t.Error("nothing is taken")
	}
	for name, change := range map[string]func(*talk){
		"closed":   func(k *talk) { k.Input.writer.over = true },
		"ended":    func(k *talk) { k.ended = &Status{} },
		"refusing": func(k *talk) { k.state = stateRefusing },
		"waiting":  func(k *talk) { k.Input.writer.add([]byte("frame\n")) },
	} {
		k := newTalk(t, stateShowing)
		if change(k); k.stdin() != nil {
			t.Errorf("%s: frames are taken", name)
		}
	}
	none := &Attempt{}
	if to, _ := none.Input.writer.nextPiece(); to != nil || none.stdin() != nil {
		t.Error("a call without a conversation has frames")
	}
	none.converse()
}

// A tool's line: control frames pass the gate, events are held with the rest.
func TestTakeLine(t *testing.T) {
	const event, idle = "content of the model\n", `{"type":"keep_alive"}` + "\n"
	const ask = `{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool"}}` +
		"\n"
	k := newTalk(t, stateHolding)
	for _, line := range []string{idle, ask} {
		if shown := k.takeLine([]byte(line)); shown != nil {
			t.Errorf("%s is held: %q", line, shown)
		}
	}
	if got := string(k.Input.Talk.passing); got != idle+ask {
		t.Errorf("%q passes", got)
	}
	k.pass(nil)
	if len(k.Input.Talk.passing) > 0 {
		t.Error("it passes twice")
	}
	k.state = stateShowing
	if shown := k.takeLine([]byte(ask)); string(shown) != ask || len(k.Input.Talk.passing) > 0 {
		t.Errorf("%q, and %q passes", shown, k.Input.Talk.passing)
	}
	if shown := k.takeLine([]byte(event)); string(shown) != event {
		t.Errorf("an event becomes %q", shown)
	}
	k.state = stateRefusing
	if k.takeLine([]byte(strings.Replace(ask, `"q"`, `"r"`, 1))); len(k.Input.Talk.asks) != 2 {
		t.Errorf("%d requests of a refused run are kept", len(k.Input.Talk.asks))
	}
}

// A tool's request that an earlier run has made is answered with the caller's answer, and a result
// opens the gate.
func TestTakeLineOfAnotherRun(t *testing.T) {
	const ask = `{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool"}}` + "\n"
	const answer = `{"type":"control_response","response":{"request_id":"q1"}}` + "\n"
	k := newTalk(t, stateHolding)
	k.Input.Talk.asks = []*request{{run: 1, id: "q1", key: output(ask).Key()}}
	k.Input.Talk.run = 2
	k.takeFrame([]byte(answer))
	k.takeLine([]byte(strings.Replace(ask, "q1", "q2", 1)))
	if got := k.sent(t); len(k.Input.Talk.passing) > 0 ||
		got != strings.Replace(answer, "q1", "q2", 1) {
		t.Errorf("%q passes, the tool is sent %q", k.Input.Talk.passing, got)
	}

	k = newTalk(t, stateHolding)
	k.Stream = resultStream{&scriptedStream{}, &rewrite.StreamState{}}
	k.takeFrame([]byte(userFrame))
	k.takeStdin(nil, false)
	k.takeLine([]byte("result\n"))
	k.checkOver()
	if k.written(t); k.state != stateShowing || len(k.early) != 1 {
		t.Errorf("state %d, recorded early %d times", k.state, len(k.early))
	}
}

// A resultStream reads every line as a result.
type resultStream struct {
	*scriptedStream
	seen *rewrite.StreamState
}

func (s resultStream) Line(line []byte) []byte {
	s.seen.Results, s.seen.Final = s.seen.Results+1, true
	return line
}

func (s resultStream) Seen() *rewrite.StreamState { return s.seen }

// The last turn is final only if it has a result of its own.
func TestTurnsThatAreCutOff(t *testing.T) {
	k := newTalk(t, stateShowing)
	k.takeFrame([]byte(userFrame))
	if got := k.Input.Talk.Took(rewrite.StreamState{Final: true}, time.Now()); len(got) != 1 ||
		!got[0].Seen.Final {
		t.Errorf("%+v", got)
	}
	k.Input.Talk.endTurn(rewrite.StreamState{Final: true})
	k.takeFrame([]byte(userFrame))
	if got := k.Input.Talk.Took(rewrite.StreamState{Final: true}, time.Now()); len(got) != 2 ||
		got[1].Seen.Final {
		t.Errorf("%+v", got)
	}
}

func TestOwnUsage(t *testing.T) {
	with := func(input int64) Turn {
		return Turn{Seen: rewrite.StreamState{Usage: rewrite.Usage{Known: true, Input: input}}}
	}
	given := []Turn{with(10), with(30), with(35)}
	got := OwnUsage(given)
	if got[0].Seen.Usage.Input != 10 || got[1].Seen.Usage.Input != 20 ||
		got[2].Seen.Usage.Input != 5 || given[2].Seen.Usage.Input != 35 {
		t.Errorf("%+v of %+v", got, given)
	}
}

func TestTurnBegan(t *testing.T) {
	sent, ended := time.Unix(1, 0), time.Unix(2, 0)
	if got := (Turn{Ended: ended}).Began(); got != ended {
		t.Error(got)
	}
	if got := (Turn{Ended: ended,
		Prompts: []userMessage{{"hi", sent}, {"ho", ended}}}).Began(); got != sent {
		t.Error(got)
	}
}
