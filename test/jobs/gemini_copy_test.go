package jobs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
	"reprise/test/markers"
	"reprise/test/realcli"
)

var secret = regexp.MustCompile(`heron-\d+`)

// readsOnce is a model that reads a file in the first round and runs another command in each later
// one. It then tells the file's content, which only the first round's result has.
func readsOnce(r standin.Request) (standin.Reply, bool) {
	prompt := standin.LastUser(r)
	switch {
	case strings.Contains(prompt, "HANG"):
		return standin.Reply{}, false
	case !standin.StartsTurn(r):
		return standin.Reply{Text: "It said " + secret.FindString(standin.AllText(r)) + "."}, true
	case strings.Contains(prompt, "## Rejection"):
		return standin.Reply{Command: "echo looked again"}, true
	}
	return standin.Reply{Command: "cat secret"}, true
}

// sentCalls returns the IDs of the calls with results in a request, in order.
func sentCalls(t *testing.T, r standin.Request) (ids []string) {
	t.Helper()
	text, err := json.Marshal(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		Contents []struct {
			Parts []struct{ FunctionResponse *struct{ ID string } }
		}
	}
	decode(t, string(text), &body)
	for _, content := range body.Contents {
		for _, part := range content.Parts {
			if part.FunctionResponse != nil {
				ids = append(ids, part.FunctionResponse.ID)
			}
		}
	}
	return ids
}

func (w *world) sessions() map[string]string {
	files := map[string]string{}
	for _, path := range w.transcripts() {
		text, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		files[path] = string(text)
	}
	return files
}

// Each round goes on in a copy: the model is sent every result of a tool once, and knows the first
// round's; and no session changes after its own call, not even if a resume is killed.
func TestGeminiCopiesAreSentEachResultOnce(t *testing.T) {
	each(t, geminiFormats, func(t *testing.T, format string, answer reader) {
		w := newWorldWith(t, realcli.Gemini, true, markers.Options{Reply: readsOnce})
		put(t, filepath.Join(w.Project, "secret"), "heron-4711\n")
		before := map[string]string{}
		unchanged := func() {
			t.Helper()
			now := w.sessions()
			for path, text := range before {
				if now[path] != text {
					t.Errorf("%s has changed", path)
				}
			}
			if len(now) != len(before)+1 {
				t.Errorf("%d sessions become %d", len(before), len(now))
			}
			for path := range now {
				if info, err := os.Stat(path); before[path] == "" && len(before) > 0 &&
					(err != nil || info.Mode().Perm() != 0o600) {
					t.Errorf("%s: %v, %v", path, info, err)
				}
			}
			before = now
		}
		play := func(c harness.Call, notes ...string) result {
			c.Args = append([]string{"--yolo"}, geminiArgs(format, round(notes...))...)
			c.Env = []string{"REPRISE_TASK=t", "REPRISE_ROLE=coder"}
			return w.run("gemini", c)
		}
		var notes []string
		for turn := 1; turn <= 4; turn++ {
			if turn == 4 {
				play(harness.Call{Signal: 9, At: harness.Middle},
					append(slices.Clone(notes), "HANG")...)
				unchanged()
			}
			if turn > 1 {
				notes = append(notes, "Look again.", "What did the file say?")
			}
			r := play(harness.Call{}, notes...)
			if got := answer(t, r.Stdout); !strings.Contains(got, "It said heron-4711.") ||
				r.Exit != 0 {
				t.Fatalf("round %d: %q, exit %d, stderr %q", turn, got, r.Exit, r.Stderr)
			}
			if len(r.Asked) != 2 {
				t.Fatalf("round %d: %d requests", turn, len(r.Asked))
			}
			for i, asked := range r.Asked {
				ids := sentCalls(t, asked)
				slices.Sort(ids)
				if want := turn - 1 + i; len(ids) != want || len(slices.Compact(ids)) != want {
					t.Errorf("round %d, request %d: results of the calls %q, want %d", turn, i+1,
						ids, want)
				}
			}
			if strings.Contains(standin.AllText(r.last(t)), "HANG") {
				t.Errorf("round %d: the model is sent what a killed call was asked", turn)
			}
			unchanged()
		}
		w.statusSays(`"resumed": 4`)
	})
}
