package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/scripts/twin"
	"reprise/standin"
)

// forking is a job whose session is held by a call in the midst of its turn.
type forking struct {
	*world
	args   []string // of all calls
	file   string   // the session's transcript
	held   []byte   // what stands there
	holder chan result
}

// holdSession makes the first call of a job and a second one, which runs a command
// that waits.
func holdSession(t *testing.T, format string) *forking {
	w := newWorld(t, "claude", true)
	put(t, filepath.Join(w.Root, "home", ".config", "reprise", "config.toml"), "busy = 'fork'\n")
	f := &forking{world: w, args: list("-p|--allowedTools=Bash"), holder: make(chan result, 1)}
	if format != "" {
		f.args = append(f.args, list(format)...)
	}
	w.call(append(f.args, round())...)
	f.file = w.transcripts()[0]
	go func() {
		r, err := w.RunAs("claude", twin.Call{Args: append(f.args[:len(f.args):len(f.args)],
			round("On the left: RUN<<touch started; until [ -e go ]; do sleep 0.05; done>>"))})
		if err != nil {
			t.Error(err)
		}
		f.holder <- result{r}
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		f.held = f.read()
		_, err := os.Stat(filepath.Join(w.Project, "started"))
		if err == nil && bytes.Contains(f.held, []byte(`"tool_use"`)) {
			return f
		}
		if time.Now().After(deadline) {
			t.Fatal("the holder does not come to its command")
		}
	}
}

func (f *forking) read() []byte {
	f.t.Helper()
	text, err := os.ReadFile(f.file)
	if err != nil {
		f.t.Fatal(err)
	}
	return text
}

// isUntouched checks that nobody but the holder has written to the session.
func (f *forking) isUntouched(by ...string) {
	f.t.Helper()
	text := f.read()
	if !bytes.HasPrefix(text, f.held) {
		f.t.Error("what the holder had written is not there any more")
	}
	for _, words := range by {
		if bytes.Contains(text, []byte(words)) {
			f.t.Errorf("a fork has written %q to the session that it is a copy of", words)
		}
	}
}

// release lets the holder end.
func (f *forking) release() result {
	put(f.t, filepath.Join(f.Project, "go"), "")
	return <-f.holder
}

// A call beside a turn that is under way goes on in a copy of the session, which has
// nothing of that turn, and whoever is in that turn does not notice.
func TestBusySessionIsForked(t *testing.T) {
	t.Parallel()
	for format, answer := range formats {
		t.Run(orText(format), func(t *testing.T) {
			f := holdSession(t, format)
			notes := []string{"On the right: what number was it?"}
			r := f.call(append(f.args, round(notes...))...)
			if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 || r.Stderr != "" {
				t.Errorf("fork: %q, exit %d, stderr %q", got, r.Exit, r.Stderr)
			}
			f.sentOnlyNews(r, 2, notes)
			f.knowsNothingOf(r, "On the left")
			f.isUntouched("On the right")

			notes = append(notes, "And what number now?")
			r = f.call(append(f.args, round(notes...))...)
			if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 || r.Stderr != "" {
				t.Errorf("the fork's next call: %q, exit %d, stderr %q", got, r.Exit, r.Stderr)
			}
			f.sentOnlyNews(r, 3, notes)
			f.knowsNothingOf(r, "On the left")
			if n := len(f.transcripts()); n != 2 {
				t.Errorf("there are %d sessions", n)
			}

			r = f.release()
			if got := answer(t, r.Stdout); got == "" || r.Exit != 0 || r.Stderr != "" {
				t.Errorf("holder: %q, exit %d, stderr %q", got, r.Exit, r.Stderr)
			}
			f.isUntouched("On the right")
			id := strings.TrimSuffix(filepath.Base(f.file), ".jsonl")
			r = f.call("-p", "What number, once more?", "--resume", id)
			if r.Stdout != "4711\n" || r.Exit != 0 || !strings.Contains(standin.AllText(r.last(t)), "On the left") {
				t.Errorf("the holder's session, resumed: %q, exit %d, stderr %q", r.Stdout, r.Exit, r.Stderr)
			}
			f.knowsNothingOf(r, "On the right")
			f.statusSays(`"mode": "fork"`, `"forked": 1`, `"resumed": 3`)
		})
	}
}

func (f *forking) knowsNothingOf(r result, text string) {
	f.t.Helper()
	if strings.Contains(standin.AllText(r.last(f.t)), text) {
		f.t.Errorf("the model was sent %q", text)
	}
}

// Several copies of one session can be made at once.
func TestBusySessionIsForkedTwiceAtOnce(t *testing.T) {
	t.Parallel()
	f := holdSession(t, "")
	answers := make(chan result, 2)
	for _, note := range []string{"On the right: remember number 12.", "In the middle: remember number 13."} {
		go func() {
			r, err := f.RunAs("claude", twin.Call{Args: append(f.args[:len(f.args):len(f.args)], round(note))})
			if err != nil {
				t.Error(err)
			}
			answers <- result{r}
		}()
	}
	for range cap(answers) {
		if r := <-answers; !strings.HasPrefix(r.Stdout, "Got it: 1") || r.Exit != 0 || r.Stderr != "" {
			t.Errorf("%q, exit %d, stderr %q", r.Stdout, r.Exit, r.Stderr)
		}
	}
	f.isUntouched("On the right", "In the middle")
	for _, asked := range f.Model.Asked() {
		text := standin.AllText(asked)
		if n := strings.Count(text, "Rule 7:"); n > 1 {
			t.Errorf("the rules are sent %d times", n)
		}
		beside := 0
		for _, place := range []string{"On the left", "On the right", "In the middle"} {
			beside += min(strings.Count(text, place), 1)
		}
		if beside > 1 {
			t.Errorf("the model was sent what belongs to several calls: %q", text)
		}
	}
	f.release()
	f.statusSays(`"forked": 2`)
}
