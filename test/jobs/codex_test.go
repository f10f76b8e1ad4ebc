package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
)

// The content of files that codex is given.
const (
	anyObject = `{"type":"object","properties":{},"additionalProperties":false}`
	pixel     = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
		"\x00\x00\x00\rIDATx\x9cc`\x00\x00\x00\x02\x00\x01\xe2!\xbc3\x00\x00\x00\x00IEND\xaeB`\x82"
)

// codexFormats are the formats, and how the final answer is read from each.
var codexFormats = map[string]reader{
	"":       func(_ *testing.T, out string) string { return strings.TrimSuffix(out, "\n") },
	"--json": codexAnswer,
}

type codexEvent struct {
	Type  string
	Item  struct{ Type, Text string }
	Usage struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	}
}

func codexEvents(t *testing.T, out string) (events []codexEvent) {
	t.Helper()
	for line := range strings.Lines(out) {
		var e codexEvent
		decode(t, line, &e)
		events = append(events, e)
	}
	return events
}

func codexAnswer(t *testing.T, out string) (text string) {
	t.Helper()
	for _, e := range codexEvents(t, out) {
		if e.Item.Type == "agent_message" {
			text = e.Item.Text
		}
	}
	return text
}

// codexArgs is a call in a format, with the prompt at its end.
func codexArgs(format, prompt string) []string {
	if format == "" {
		return []string{"exec", prompt}
	}
	return []string{"exec", format, prompt}
}

func TestCodexRemembersANumberOverFiveTurns(t *testing.T) {
	each(t, codexFormats, func(t *testing.T, format string, answer reader) {
		w := newWorld(t, "codex", true)
		if got := answer(t, w.call(codexArgs(format, round())...).Stdout); got != "Got it: 4711." {
			t.Fatalf("first answer %q", got)
		}
		var notes []string
		for turn := 2; turn <= 5; turn++ {
			notes = append(notes, fmt.Sprintf("Round %d: what number was it?", turn))
			r := w.call(codexArgs(format, round(notes...))...)
			if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 {
				t.Fatalf("turn %d: %q, exit %d, stderr %q", turn, got, r.Exit, r.Stderr)
			}
			w.sentOnlyNews(r, turn, notes)
		}
		w.statusSays(`"resume"`, `"extends"`, `"turns": 5`, `"calls": 5`)
	})
}

// A resumed call shows the same as a direct one, but for the model's own words, which here are the
// same.
func TestCodexResumedCallLooksLikeADirectOne(t *testing.T) {
	calls := map[string]func(prompt string) harness.Call{
		"text": func(p string) harness.Call {
			return harness.Call{Args: []string{"exec", p}}
		},
		"json": func(p string) harness.Call {
			return harness.Call{Args: []string{"exec", "--json", p}}
		},
		"colours": func(p string) harness.Call {
			return harness.Call{Args: []string{"exec", p, "--color", "always"}}
		},
		"stdin": func(p string) harness.Call {
			return harness.Call{Args: list("exec"), Stdin: p}
		},
		"stdin, json": func(p string) harness.Call {
			return harness.Call{Args: list("exec|--json"), Stdin: p}
		},
		"dash": func(p string) harness.Call {
			return harness.Call{Args: list("exec|-"), Stdin: p}
		},
		"argument and stdin": func(p string) harness.Call {
			return harness.Call{Args: []string{"exec", "Look here."}, Stdin: p}
		},
		"one stream": func(p string) harness.Call {
			return harness.Call{Args: []string{"exec", p}, Mixed: true}
		},
		"options": func(p string) harness.Call {
			return harness.Call{Args: []string{"-a", "never", "exec", "-s", "read-only", "-C", ".",
				"--", p}}
		},
		"files": func(p string) harness.Call {
			return harness.Call{Args: []string{"exec", "-i", "a.png", "--output-schema",
				"schema.json", "-o", "LAST", p}}
		},
		"tool use": func(p string) harness.Call {
			return harness.Call{Args: []string{"exec", "--yolo",
				strings.Replace(p, "ECHO<<yes>>", "RUNTOOL", 1)}}
		},
		"tool use, json": func(p string) harness.Call {
			return harness.Call{Args: []string{"exec", strings.Replace(p, "ECHO<<yes>>", "RUNTOOL",
				1), "--json", "--yolo"}}
		},
		"several lines": func(p string) harness.Call {
			return harness.Call{Args: []string{"exec", strings.Replace(p, "ECHO<<yes>>", "MULTI",
				1)}}
		},
		"nothing": func(p string) harness.Call {
			return harness.Call{Args: []string{"exec", strings.Replace(p, "ECHO<<yes>>", "EMPTY",
				1)}}
		},
		"a long line": func(p string) harness.Call {
			return harness.Call{Args: []string{"exec", "-"},
				Stdin: p + "\n" + strings.Repeat("long ", 30000) + "\n"}
		},
	}
	each(t, calls, func(t *testing.T, name string, make func(prompt string) harness.Call) {
		direct, w := newWorld(t, "codex", false), newWorld(t, "codex", true)
		for _, world := range []*world{direct, w} {
			put(t, filepath.Join(world.Project, "schema.json"), anyObject)
			put(t, filepath.Join(world.Project, "a.png"), pixel)
		}
		first, second := make(round()), make(round("ECHO<<yes>>"))
		w.run("codex", first)
		a, b := direct.run("codex", second), w.run("codex", second)
		if a.Exit != b.Exit {
			t.Errorf("exit %d, with the shim %d", a.Exit, b.Exit)
		}
		same(t, "stdout", maskFigures(direct.Mask(a.Stdout)), maskFigures(w.Mask(b.Stdout)))
		same(t, "stderr", maskFigures(direct.Mask(a.Stderr)), maskFigures(w.Mask(b.Stderr)))
		if n := messages(b.last(t)); n < 2+messages(a.last(t)) {
			t.Errorf("the resumed call sent %d messages", n)
		}
		w.statusSays(`"extends"`)
	})
}

// maskFigures masks a call's figures.
func maskFigures(text string) string {
	for _, cut := range []string{"tokens used\x1b[0m\n", "tokens used\n", `"usage":{`} {
		if at := strings.Index(text, cut); at >= 0 {
			end := at + len(cut) + strings.IndexAny(text[at+len(cut):], "\n}")
			text = text[:at+len(cut)] + text[end:]
		}
	}
	return text
}

// The number of tokens at the end of a resumed transcript and in the last event is
// the call's own: near the number that the model's API counted for it, not the thread's sum.
func TestCodexFiguresAreThisCallsOwn(t *testing.T) {
	each(t, codexFormats, func(t *testing.T, format string, _ reader) {
		w := newWorld(t, "codex", true)
		var first int64
		for turn, notes := range [][]string{nil, {"what number?"},
			{"what number?", "what number again?"}} {
			took := w.tokens(format, notes)
			if turn == 0 {
				first = took
			}
			if took <= 0 || took > first*3/2 {
				t.Errorf("turn %d: took %d, the first one %d", turn+1, took, first)
			}
		}
	})
}

// tokens makes a round's call and reads how many tokens it is said to have taken.
func (w *world) tokens(format string, notes []string) (took int64) {
	w.t.Helper()
	r := w.call(codexArgs(format, round(notes...))...)
	if format != "" {
		events := codexEvents(w.t, r.Stdout)
		return events[len(events)-1].Usage.Input
	}
	_, after, _ := strings.Cut(r.Stderr, "\ntokens used\n")
	if err := json.Unmarshal([]byte(strings.ReplaceAll(strings.TrimSpace(after), ",", "")),
		&took); err != nil {
		w.t.Fatalf("%v: %q", err, r.Stderr)
	}
	return took
}

func TestCodexPromptAndFileAreOnePrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", true)
	// The end of the file is in one block with the text that codex puts behind it, so that
	// a file that has grown is a prompt revised.
	task := []string{"REPRISE_TASK=one", "REPRISE_ROLE=coder"}
	w.run("codex", harness.Call{Args: []string{"exec", round()}, Stdin: "## Data\n\none\n",
		Env: task})
	r := w.run("codex", harness.Call{Args: []string{"exec", round()},
		Stdin: "## Data\n\none\n\n## More\n\nwhat number was it?\n", Env: task})
	if r.Stdout != "4711\n" {
		t.Errorf("answer %q, stderr %q", r.Stdout, r.Stderr)
	}
	prompt := standin.LastUser(r.last(t))
	if strings.Contains(prompt, "Rule 7:") ||
		!strings.Contains(prompt, "what number was it?\n</stdin>") {
		t.Errorf("sent %q", prompt)
	}
}

func TestCodexSessionFileGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", true)
	w.call("exec", round())
	for _, f := range w.transcripts() {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	w.runsFresh("", codexFormats[""])
	w.statusSays(`"session_file_gone"`)
}

// runsFresh makes the next call of a job, which must show one clean fresh run.
func (w *world) runsFresh(format string, answer func(*testing.T, string) string) {
	w.t.Helper()
	r := w.call(codexArgs(format, round("remember number 12"))...)
	if got := answer(w.t, r.Stdout); got != "Got it: 12." || r.Exit != 0 || len(r.Asked) != 1 {
		w.t.Errorf("answer %q, stderr %q, exit %d, asked %d times", got, r.Stderr, r.Exit,
			len(r.Asked))
	}
	if strings.Contains(r.Stderr, "Error") ||
		strings.Count(r.Stderr, "Reading additional input") != 1 {
		w.t.Errorf("stderr %q", r.Stderr)
	}
	if prompt := standin.LastUser(r.last(w.t)); !strings.Contains(prompt, "Rule 7:") {
		w.t.Errorf("the fresh session was sent a delta: %q", prompt)
	}
}

func TestCodexRefusedResumeRunsFresh(t *testing.T) {
	each(t, codexFormats, func(t *testing.T, format string, answer reader) {
		w := newWorld(t, "codex", true)
		w.call(codexArgs(format, round())...)
		for _, f := range w.transcripts() {
			blank(t, f)
		}
		w.runsFresh(format, answer)
		w.statusSays(`"state": "dead"`)
	})
}

// A thread that another codex has open is not dead.
func TestCodexBusyThreadRunsFresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", true)
	w.call("exec", round())
	w.lockThread()
	w.runsFresh("", codexFormats[""])
	w.statusSays(`"fell_back": "refused_busy"`)
}

func TestCodexOverflowRunsFresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", true)
	w.call("exec", round())
	r := w.call("exec", round("TOOBIG"))
	direct := newWorld(t, "codex", false)
	d := direct.call("exec", round("TOOBIG"))
	if r.Exit != d.Exit || r.Stdout != d.Stdout {
		t.Errorf("stdout %q, exit %d; direct %q, %d", r.Stdout, r.Exit, d.Stdout, d.Exit)
	}
	same(t, "stderr", direct.Mask(d.Stderr), w.Mask(r.Stderr))
	w.statusSays(`"refused_context_exceeded"`)
	if r := w.call("exec", round("remember number 5")); r.Exit != 0 || r.Stdout != "Got it: 5.\n" {
		t.Errorf("afterwards: stdout %q, exit %d", r.Stdout, r.Exit)
	}
}

// Output that is not about the session is passed on as it is, once.
func TestCodexFailureOfTheModelIsPassedOn(t *testing.T) {
	each(t, codexFormats, func(t *testing.T, format string, _ reader) {
		direct, w := newWorld(t, "codex", false), newWorld(t, "codex", true)
		w.call(codexArgs(format, round())...)
		args := codexArgs(format, round("HTTP401"))
		a, b := direct.call(args...), w.call(args...)
		if a.Exit != b.Exit || len(b.Asked) != len(a.Asked) {
			t.Errorf("exit %d, asked %d times; direct %d, %d", b.Exit, len(b.Asked), a.Exit,
				len(a.Asked))
		}
		same(t, "stdout", direct.Mask(a.Stdout), w.Mask(b.Stdout))
		same(t, "stderr", direct.Mask(a.Stderr), w.Mask(b.Stderr))
	})
}

func TestCodexOtherSettingsRunFresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "codex", true)
	w.call("exec", "-s", "read-only", round())
	r := w.call("exec", "-s", "workspace-write", round("what number?"))
	if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt, "Rule 7:") {
		t.Errorf("sent %q", prompt)
	}
	w.statusSays(`"settings_changed"`)
}
