package supervise

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

const (
	initFrame = `{"type":"control_request","request_id":"init","request":{"subtype":"initialize"}}` + "\n"
	userFrame = `{"type":"user","message":{"role":"user","content":"hi"}}` + "\n"
)

// pipeWith returns a pipe with text in it; open reports whether its end stays open.
func pipeWith(t *testing.T, text string, open bool) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if !open {
		w.Close()
	}
	return r, w
}

// A file is left to claude as it is.
func TestOpenLeavesAFile(t *testing.T) {
	f := outputFile(t)
	if _, err := f.WriteAt([]byte(userFrame), 0); err != nil {
		t.Fatal(err)
	}
	c := NewConversation(f)
	err := c.Open()
	if at, _ := f.Seek(0, io.SeekCurrent); err != reason.MessageContent || at != 0 {
		t.Errorf("%v, and the offset is %d", err, at)
	}
	if own, err := c.HandOn(); own != nil || err != nil {
		t.Errorf("claude gets %v in the place of the file, %v", own, err)
	}
}

func TestOpenConversation(t *testing.T) {
	tests := []struct {
		text   string
		open   bool
		reason error
		waits  bool
		frames int
	}{
		{initFrame + userFrame, true, nil, false, 2},
		{userFrame + userFrame, true, nil, false, 1}, // the rest is for later
		{strings.TrimSuffix(userFrame, "\n"), false, reason.NotManaged, false, 0},
		{initFrame, false, reason.NotManaged, false, 1},
		{"", false, reason.NotManaged, false, 0},
		{initFrame, true, reason.StdinOpen, true, 1},
		{initFrame + userFrame[:9], true, reason.StdinOpen, true, 1},
		{"", true, reason.StdinOpen, true, 0},
	}
	for _, tt := range tests {
		r, _ := pipeWith(t, tt.text, tt.open)
		c := NewConversation(r)
		began := time.Now()
		err := c.Open()
		if spent := time.Since(began); (spent >= waitOpening) != (tt.waits && tt.frames == 0) {
			t.Errorf("%q, open %v: it takes %v", tt.text, tt.open, spent)
		}
		if err != tt.reason || c.Waits != tt.waits || len(c.frames) != tt.frames {
			t.Errorf("%q, open %v: %v, waits %v, %d frames", tt.text, tt.open, err, c.Waits,
				len(c.frames))
		}
		if got := c.consumed(); got != tt.text {
			t.Errorf("%q: kept %q", tt.text, got)
		}
	}
}

func TestLongOpening(t *testing.T) {
	defer func(wait time.Duration) { waitFrame = wait }(waitFrame)
	waitFrame = time.Minute // a busy machine can take long to write a frame
	half := strings.Repeat("x", pieceSize)
	for name, piece := range map[string]string{"one frame": half, "many frames": half[1:] + "\n"} {
		r, w := pipeWith(t, "", true)
		go func() {
			for range maxStdin/pieceSize + 4 {
				_, _ = io.WriteString(w, piece)
			}
		}()
		c := NewConversation(r)
		if err := c.Open(); err != reason.StdinTooBig {
			t.Errorf("%s: %v", name, err)
		}
		if n := len(c.consumed()); n <= maxStdin || n > maxStdin+2*pieceSize {
			t.Errorf("%s: %d bytes are read", name, n)
		}
	}
}

// Until a run has started, all that was read can be handed on, with the rest. A run that was only
// prepared takes nothing.
func TestConversationIsHandedOn(t *testing.T) {
	for _, open := range []bool{true, false} {
		text := initFrame + userFrame + "{" // not a whole line
		r, w := pipeWith(t, text, open)
		c := NewConversation(r)
		if err := c.Open(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ForRun(rewrite.Plan{}); err != nil {
			t.Fatal(err)
		}
		f, err := c.HandOn()
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if open {
			_, _ = io.WriteString(w, "}\n")
			w.Close()
			text += "}\n"
		}
		if got, err := io.ReadAll(f); err != nil || string(got) != text {
			t.Errorf("open %v: %q, %v", open, got, err)
		}
		c.begin()
		if _, err := c.HandOn(); err == nil {
			t.Error("it is handed on although a run has consumed of it")
		}
		if got := string(<-c.input); !open && got != "{" {
			t.Errorf("the event loop gets %q", got)
		}
		for range c.input { // until its reader has ended
		}
	}
}

// Lines that a relay held are handed on, with the rest.
func TestLateStdinIsHandedOn(t *testing.T) {
	r, _ := pipeWith(t, " and more", false)
	s := &Staged{From: r, Silent: true, more: true}
	if f, err := s.HandOn(); f != nil || err != nil {
		t.Errorf("%v, %v", f, err)
	}
	s.relay = &relay{taken: []byte("late")}
	in, err := s.ForRun(rewrite.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	in.Close(r)
	f, err := s.HandOn()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || string(got) != "late and more" {
		t.Errorf("%q, %v", got, err)
	}
}

func output(line string) rewrite.Frame { return rewrite.ReadOutput([]byte(line)) }
func sent(line string) rewrite.Frame   { return rewrite.ReadInput([]byte(line)) }

// A question of a run that was given up is not asked again, and the caller's answer reaches the run
// that goes on, whenever it comes.
func TestAskedOnce(t *testing.T) {
	ask := func(id, session string) rewrite.Frame {
		return output(fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"hook_callback","input":{"session_id":%q}}}`, id, session))
	}
	answer := func(id string) rewrite.Frame {
		return sent(fmt.Sprintf(`{"type":"control_response","response":{"request_id":%q,"response":{"by":"caller"}}}`, id))
	}
	c := NewConversation(nil)
	c.run = 1
	for _, id := range []string{"a1", "a2"} { // the same is asked twice
		if shown, told := c.show(ask(id, "s1")); shown == nil || told != nil {
			t.Fatalf("%s: shown %s, told %s", id, shown, told)
		}
	}
	if told := c.answer(answer("a1")); string(told) != string(answer("a1").Line) {
		t.Errorf("the first run was told %s", told)
	}

	c.run = 2
	if shown, told := c.show(ask("b1", "s2")); shown != nil ||
		string(told) != string(answer("b1").Line) {
		t.Errorf("shown %s, told %s", shown, told)
	}
	if shown, told := c.show(ask("b2", "s2")); shown != nil || told != nil {
		t.Errorf("an answer that has not come: shown %s, told %s", shown, told)
	}
	if shown,
		_ := c.show(output(`{"type":"control_cancel_request","request_id":"b2"}`)); string(shown) != `{"type":"control_cancel_request","request_id":"a2"}` {
		t.Errorf("cancelled: %s", shown)
	}
	if told := c.answer(answer("a2")); string(told) != string(answer("b2").Line) {
		t.Errorf("the late answer is %s", told)
	}
	if shown, _ := c.show(ask("b3", "s2")); shown == nil {
		t.Error("a third request of the kind was not shown")
	}

	c.run = 3
	if shown, told := c.show(ask("c1", "s3")); shown != nil ||
		string(told) != string(answer("c1").Line) {
		t.Errorf("the third run: shown %s, told %s", shown, told)
	}
}

// A run repeats the answers of the run before, and the caller is shown none of them again. It is
// shown each answer of its own run, even if several requests have one ID.
func TestAnsweredOnce(t *testing.T) {
	answer := output(`{"type":"control_response","response":{"request_id":"init","response":{"pid":1}}}`)
	c := NewConversation(nil)
	c.input = make(chan []byte) // there is no reader to be started
	for run, want := range [][]bool{{true, true}, {false, false, true}, {false, false, false}} {
		c.begin()
		for i, want := range want {
			if shown, _ := c.show(answer); (shown != nil) != want {
				t.Errorf("run %d, answer %d is shown: %v, want %v", run+1, i+1, !want, want)
			}
		}
	}
	if told := c.answer(sent(`{"type":"control_response","response":{"request_id":"x"}}`)); told == nil {
		t.Error("an answer to nothing that is known is kept back")
	}
}

// A run that takes another's place is given all but answers, with its own prompt.
func TestGivenAgain(t *testing.T) {
	two := NewConversation(nil)
	two.keep(sent(userFrame))
	if two.keep(sent(userFrame)); two.first != 0 {
		t.Errorf("frame %d is the first message", two.first)
	}
	c := NewConversation(nil)
	for _, line := range []string{initFrame,
		`{"type":"control_response","response":{"request_id":"x"}}` + "\n", userFrame, userFrame} {
		c.keep(sent(line))
	}
	if got := string(c.compose(rewrite.Plan{Whole: true})); got != initFrame+userFrame+userFrame {
		t.Errorf("fresh: %s", got)
	}
	if got := string(c.compose(rewrite.Plan{Resume: "id",
		Prompt: "new"})); got != initFrame+strings.Replace(userFrame, "hi", "new", 1)+userFrame {
		t.Errorf("resumed: %s", got)
	}
	c.settle()
	c.keep(sent(userFrame))
	if len(c.frames) > 0 {
		t.Error("kept for nobody")
	}
}

// A tool that does not read holds up the caller, not the shim; and all of it arrives, in order.
func TestFeed(t *testing.T) {
	r, w := pipeWith(t, "", true)
	f := &stdinWriter{file: w, next: make(chan []byte)}
	go f.write(f.next)
	a := New(Options{Input: Input{Talk: &Dialogue{Conversation: NewConversation(nil)}, writer: f}})
	want := ""
	for i := range 20 {
		line := fmt.Sprintf("%d %s\n", i, strings.Repeat("x", 50_000))
		f.add([]byte(line))
		want += line
	}
	f.add(nil)
	if len(f.waiting) != 20 || a.stdin() != nil {
		t.Errorf("%d frames are waiting, or more are taken", len(f.waiting))
	}
	f.end()
	arrived := make(chan string)
	go func() {
		got, err := io.ReadAll(r)
		if err != nil {
			t.Error(err)
		}
		arrived <- string(got)
	}()
	for to, frame := a.Input.writer.nextPiece(); to != nil; to, frame = a.Input.writer.nextPiece() {
		to <- frame
		f.sent()
	}
	if got := <-arrived; got != want || len(f.waiting) > 0 {
		t.Errorf("%d bytes arrived, %d frames are still waiting", len(got), len(f.waiting))
	}
}

func TestFeedClosed(t *testing.T) {
	_, w := pipeWith(t, "", true)
	f := &stdinWriter{file: w, next: make(chan []byte)}
	ended := make(chan struct{})
	go func(frames <-chan []byte) { f.write(frames); close(ended) }(f.next)
	f.next <- make([]byte, 1<<20) // nobody reads
	time.Sleep(10 * time.Millisecond)
	f.close()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the writer of frames goes on")
	}
}

// A long frame is neither copied nor searched many times.
func TestLongFrameTakesLittleMemory(t *testing.T) {
	const size = 32 << 20
	r, w := pipeWith(t, "", true)
	go func() {
		_, _ = io.WriteString(w,
			strings.Replace(userFrame, "hi", strings.Repeat("x", size), 1)+userFrame)
		w.Close()
	}()
	c := NewConversation(r)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var got []int
	d := &Dialogue{Conversation: c}
	for !c.ended {
		if err := c.more(int(r.Fd())); err != nil {
			t.Fatal(err)
		}
		for line := c.line(); line != nil; line = c.line() {
			d.note(rewrite.ReadInput(line))
			got = append(got, len(line))
		}
	}
	runtime.ReadMemStats(&after)
	if rest := len(userFrame) - len("hi"); len(got) != 2 || got[0] != rest+size ||
		got[1] != len(userFrame) {
		t.Errorf("frames of %d bytes", got)
	}
	if taken := int(after.TotalAlloc - before.TotalAlloc); taken > 10*size {
		t.Errorf("%d MB are allocated for %d", taken>>20, size>>20)
	}
}
