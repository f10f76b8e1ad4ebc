package jobs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/internal/standin"
	"reprise/test/harness"
)

// copying is a job with one call in the midst of its turn.
type copying struct {
	*world
	args   []string    // of all calls
	file   string      // the first session's transcript
	first  string      // the content
	holder chan result // the result of the call in the midst of its turn
}

// holdTurn makes the first call of a job and a second one, which runs a command that waits.
func holdTurn(t *testing.T, format string) *copying {
	w := newWorld(t, "claude", true)
	// also where a session stood before
	put(t, filepath.Join(w.Root, "home", ".config", "reprise", "config.toml"),
		"unnamed = 'extends'\n")
	c := &copying{world: w, args: list("-p|--allowedTools=Bash"), holder: make(chan result, 1)}
	if format != "" {
		c.args = append(c.args, list(format)...)
	}
	w.call(append(c.args, round())...)
	c.file = w.transcripts()[0]
	c.first = c.read()
	go func() {
		r, err := w.RunAs("claude", harness.Call{Args: append(c.args[:len(c.args):len(c.args)],
			round("On the left: RUN<<touch started; until [ -e go ]; do sleep 0.05; done>>"))})
		if err != nil {
			t.Error(err)
		}
		c.holder <- result{r}
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(w.Project, "started")); err == nil {
			return c
		}
		if time.Now().After(deadline) {
			t.Fatal("the call does not come to its command")
		}
	}
}

func (c *copying) read() string {
	c.t.Helper()
	text, err := os.ReadFile(c.file)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// release lets the call in the midst of its turn end.
func (c *copying) release() result {
	put(c.t, filepath.Join(c.Project, "go"), "")
	return <-c.holder
}

func (c *copying) mustNotKnow(r result, texts ...string) {
	c.t.Helper()
	for _, text := range texts {
		if strings.Contains(standin.AllText(r.last(c.t)), text) {
			c.t.Errorf("the model was sent %q", text)
		}
	}
}

// Calls at once go on from one session, each in a copy that has nothing of the others, and
// the session stays as it was.
func TestEachCallHasItsOwnSession(t *testing.T) {
	each(t, formats, func(t *testing.T, format string, answer reader) {
		c := holdTurn(t, format)
		notes := []string{"On the right: what number was it?"}
		r := c.call(append(c.args, round(notes...))...)
		if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 || r.Stderr != "" {
			t.Errorf("second call: %q, exit %d, stderr %q", got, r.Exit, r.Stderr)
		}
		c.sentOnlyNews(r, 2, notes)
		c.mustNotKnow(r, "On the left")

		notes = append(notes, "And what number now?")
		r = c.call(append(c.args, round(notes...))...)
		if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 || r.Stderr != "" {
			t.Errorf("its next call: %q, exit %d, stderr %q", got, r.Exit, r.Stderr)
		}
		c.sentOnlyNews(r, 3, notes)
		c.mustNotKnow(r, "On the left")

		r = c.release()
		if got := answer(t, r.Stdout); got == "" || r.Exit != 0 || r.Stderr != "" {
			t.Errorf("first call: %q, exit %d, stderr %q", got, r.Exit, r.Stderr)
		}
		if c.read() != c.first {
			t.Error("the session that was gone on from is not as it was")
		}
		if n := len(c.transcripts()); n != 4 {
			t.Errorf("there are %d sessions", n)
		}
		c.statusSays(`"forked": 0`, `"resumed": 3`)

		// The caller's own resume shows that call's conversation, and nothing else.
		id := strings.TrimSuffix(filepath.Base(c.file), ".jsonl")
		r = c.call("-p", "What number, once more?", "--resume", id)
		if r.Stdout != "4711\n" || r.Exit != 0 {
			t.Errorf("the caller's resume: %q, exit %d, stderr %q", r.Stdout, r.Exit, r.Stderr)
		}
		c.mustNotKnow(r, "On the left", "On the right")

		// Its additions there are not in the next copy.
		r = c.call(append(c.args, round("In the middle: what number was it?"))...)
		if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 || r.Stderr != "" {
			t.Errorf("a copy of what the caller has gone on with: %q, exit %d, stderr %q", got,
				r.Exit, r.Stderr)
		}
		c.mustNotKnow(r, "once more", "On the left", "On the right")
		c.statusSays(`"forked": 1`, `"resumed": 4`)
	})
}

// A caller that chooses the ID of each new session finds it where it would without the shim, and
// goes on in it by itself. It can also speak stream-json, at once or after the answer to
// initialize.
func TestCallersOwnIDs(t *testing.T) {
	ids := []string{"11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"}
	events := "--output-format|stream-json|--verbose"
	forms := maps.Clone(formats)
	forms["--input-format|stream-json|"+events] = formats[events]
	forms["--input-format|stream-json|--replay-user-messages|"+events] = formats[events]
	each(t, forms, func(t *testing.T, format string, answer reader) {
		var shown [2][]string
		for i, shim := range []bool{false, true} {
			w := newWorld(t, "claude", shim)
			of := func(id, prompt string) result {
				c := harness.Call{Args: []string{"-p", "--session-id", id}}
				if format != "" {
					c.Args = append(c.Args, list(format)...)
				}
				switch {
				case strings.Contains(format, "--replay"):
					c.Talk = func(in io.WriteCloser, out io.Reader) {
						io.WriteString(in, `{"type":"control_request","request_id":"r1",`+
							`"request":{"subtype":"initialize"}}`+"\n")
						lines := bufio.NewReader(out)
						_, err := lines.ReadString('\n')
						if err == nil {
							io.WriteString(in, userFrame(prompt))
						}
						in.Close()
						io.Copy(io.Discard, lines)
					}
				case strings.Contains(format, "--input"):
					c.Stdin = userFrame(prompt)
				default:
					c.Args = append(c.Args, prompt)
				}
				return w.run(w.Tool, c)
			}
			of(ids[0], round())
			if shim {
				put(t, filepath.Join(w.Root, "home", ".config", "reprise", "config.toml"),
					"unnamed = 'extends'\ngate_timeout = '5m'\n")
			}
			r := of(ids[1], round("what number was it?"))
			if shim {
				if !strings.Contains(format, "--replay") { // which shows the caller the prompt
					w.sentOnlyNews(r, 2, []string{"what number was it?"})
				}
				if got := answer(t, r.Stdout); got != "4711" {
					t.Errorf("answer %q", got)
				}
				w.statusSays(`"resumed": 1`)
			}
			inUse := of(ids[0], round("once more"))
			own := w.call("-p", "What number, once more?", "--resume", ids[1])
			if shim && own.Stdout != "4711\n" {
				t.Errorf("the caller's resume: %q, stderr %q", own.Stdout, own.Stderr)
			}
			shown[i] = []string{fmt.Sprint(r.Exit, r.Stderr, strings.Count(r.Stdout, ids[1])),
				fmt.Sprint(inUse.Exit, inUse.Stdout, inUse.Stderr),
				fmt.Sprint(own.Exit, own.Stderr)}
			for _, file := range w.transcripts() {
				shown[i] = append(shown[i], filepath.Base(file))
			}
		}
		if !slices.Equal(shown[0], shown[1]) {
			t.Errorf("without the shim:\n%q\nwith it:\n%q", shown[0], shown[1])
		}
	})
}

// userFrame is a user's message as a line of stream-json.
func userFrame(text string) string {
	raw, _ := json.Marshal(text)
	return `{"type":"user","session_id":"","parent_tool_use_id":null,` +
		`"message":{"role":"user","content":` + string(raw) + "}}\n"
}

// A run that is ended leaves its source to go on from.
func TestKilledCopyLeavesItsSource(t *testing.T) {
	t.Parallel()
	c := holdTurn(t, "")
	c.release()
	for range 2 {
		w := c.run("claude", harness.Call{Args: append(c.args[:len(c.args):len(c.args)],
			round("On the right: HANG")), Signal: 9, At: harness.Middle})
		c.mustNotKnow(w, "On the left")
	}
	r := c.call(append(c.args, round("On the right: what number was it?"))...)
	if r.Stdout != "4711\n" || r.Exit != 0 || r.Stderr != "" {
		t.Errorf("%q, exit %d, stderr %q", r.Stdout, r.Exit, r.Stderr)
	}
	c.sentOnlyNews(r, 2, []string{"On the right: what number was it?"})
	c.mustNotKnow(r, "HANG", "On the left")
}

// The answer to the caller's own resume of each ID that it was shown, with the shim and without:
// the second prompt has another number. Where a tool makes no copies both calls have one session,
// and the number is the second one's.
func TestCallersOwnResume(t *testing.T) {
	type test struct {
		call   []string
		resume func(id string) []string
		first  string // the answer of the first ID's resume with the shim
	}
	tools := map[string]test{
		"claude": {list("-p"), func(id string) []string {
			return []string{"-p", "what number was it?", "--resume", id}
		}, "4711"},
		"codex": {list("exec"), func(id string) []string {
			return []string{"exec", "resume", id, "what number was it?"}
		}, "12"},
		"copilot": {list("-p"), func(id string) []string {
			return []string{"-s", "--resume", id, "-p", "what number was it?"}
		}, "12"},
		"gemini": {list("-p"), func(id string) []string {
			return []string{"--resume", id, "-p", "what number was it?"}
		}, "4711"},
		"qwen": {list("-p"), func(id string) []string {
			return []string{"--resume", id, "-p", "what number was it?"}
		}, "4711"},
		"vibe": {list("-p"), func(id string) []string {
			return []string{"--resume", id, "-p", "what number was it?"}
		}, "12"},
	}
	each(t, tools, func(t *testing.T, tool string, does test) {
		for _, shim := range []bool{false, true} {
			name := "directly"
			if shim {
				name = "with the shim"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, tool, shim)
				var ids []string
				for _, prompt := range []string{round(), round("remember number 12")} {
					if r := w.call(append(does.call[:1:1], prompt)...); r.Exit != 0 {
						t.Fatalf("exit %d, stderr %q", r.Exit, r.Stderr)
					}
					id, err := w.NewestID()
					if err != nil {
						t.Fatal(err)
					}
					ids = append(ids, id)
				}
				want := []string{"4711", "12"}
				if shim {
					want[0] = does.first
				}
				if shared := ids[0] == ids[1]; shared != (want[0] == want[1]) {
					t.Errorf("ids %v", ids)
				}
				for n, id := range ids {
					if r := w.call(does.resume(id)...); r.Exit != 0 ||
						strings.TrimSpace(r.Stdout) != want[n] {
						t.Errorf("call %d, resumed: %q, exit %d, stderr %q; want %s", n+1, r.Stdout,
							r.Exit, r.Stderr, want[n])
					}
				}
			})
		}
	})
}

// A prompt with a NUL in it reaches the model whole.
func TestNulOnStdin(t *testing.T) {
	tools := map[string][]string{"claude": list("-p"), "gemini": {}, "qwen": {}, "vibe": list("-p"),
		"codex": list("exec"), "copilot": list("-s")}
	each(t, tools, func(t *testing.T, tool string, args []string) {
		w := newWorld(t, tool, true)
		w.run(tool, harness.Call{Args: args, Stdin: round() + "\n\nThe first \x00 part.\n"})
		r := w.run(tool, harness.Call{Args: args,
			Stdin: round() + "\n\nThe first \x00 part.\n\n## Rejection 1\n\nBehind \x00 it: " +
				"what number was it?\n"})
		if strings.TrimSpace(r.Stdout) != "4711" || r.Exit != 0 {
			t.Errorf("%q, exit %d, stderr %q", r.Stdout, r.Exit, r.Stderr)
		}
		if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt,
			"it: what number was it?") {
			t.Errorf("sent %q", prompt)
		}
		w.statusSays(`"resumed": 1`)
	})
}
