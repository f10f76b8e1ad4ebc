package jobs

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
)

// geminiFormats are the output formats, and how an answer is read from each.
var geminiFormats = map[string]reader{
	"":        func(_ *testing.T, out string) string { return strings.TrimSuffix(out, "\n") },
	"-o|json": func(t *testing.T, out string) string { return parseResponse(t, out) },
	"-o|stream-json": func(t *testing.T, out string) string {
		var answer strings.Builder
		for line := range strings.Lines(out) {
			var e struct{ Role, Content string }
			decode(t, line, &e)
			if e.Role == "assistant" {
				answer.WriteString(e.Content)
			}
		}
		return answer.String()
	},
}

func parseResponse(t *testing.T, out string) string {
	t.Helper()
	var r struct{ Response string }
	decode(t, out, &r)
	return r.Response
}

// promptShown is the prompt that stream-json repeats.
func promptShown(t *testing.T, out string) string {
	t.Helper()
	for line := range strings.Lines(out) {
		var e struct{ Role, Content string }
		if strings.Contains(line, `"role":"user"`) {
			decode(t, line, &e)
			return e.Content
		}
	}
	return ""
}

func geminiArgs(format, prompt string) []string {
	args := []string{"-p", prompt}
	if format != "" {
		args = append(list(format), args...)
	}
	return args
}

func TestGeminiRemembersANumberOverFiveTurns(t *testing.T) {
	each(t, geminiFormats, func(t *testing.T, format string, answer reader) {
		w := newWorld(t, "gemini", true)
		first := w.call(geminiArgs(format, round())...)
		if got := answer(t, first.Stdout); got != "Got it: 4711." {
			t.Fatalf("first answer %q, stderr %q", got, first.Stderr)
		}
		var notes []string
		for turn := 2; turn <= 5; turn++ {
			notes = append(notes, fmt.Sprintf("Round %d: what number was it?", turn))
			r := w.call(geminiArgs(format, round(notes...))...)
			if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 {
				t.Fatalf("turn %d: %q, exit %d, stderr %q", turn, got, r.Exit, r.Stderr)
			}
			w.sentOnlyNews(r, turn, notes)
			if shown := promptShown(t, r.Stdout); format == "-o|stream-json" &&
				shown != round(notes...) {
				t.Errorf("turn %d: the prompt is shown as %q", turn, shown)
			}
		}
		w.statusSays(`"resume"`, `"extends"`, `"turns": 5`, `"calls": 5`)
	})
}

// A prompt on stdin is resumed, data on stdin are put before the prompt, and a prompt that is too
// long for argv goes to stdin.
func TestGeminiPromptOnStdin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "gemini", true)
	w.run("gemini", harness.Call{Stdin: round()})
	r := w.run("gemini", harness.Call{Stdin: round("what number was it?")})
	if r.Stdout != "4711\n" {
		t.Errorf("answer %q, stderr %q", r.Stdout, r.Stderr)
	}
	w.sentOnlyNews(r, 2, []string{"what number was it?"})

	long := strings.Repeat("All work and no play makes Jack a dull boy.\n", 3000)
	r = w.run("gemini", harness.Call{Stdin: round("what number was it?", long+"what number now?")})
	if r.Stdout != "4711\n" || !strings.Contains(standin.LastUser(r.last(t)), long) {
		t.Errorf("a long prompt: answer %q, stderr %q", r.Stdout, r.Stderr)
	}
	w.statusSays(`"turns": 3`)
}

func TestGeminiDataAndPromptAreOnePrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "gemini", true)
	w.run("gemini", harness.Call{Args: []string{"-p", "what number was it?"}, Stdin: round()})
	r := w.run("gemini", harness.Call{Args: []string{"-p", "what number was it?"},
		Stdin: round("what number?")})
	if prompt := standin.LastUser(r.last(t)); r.Stdout != "4711\n" ||
		strings.Contains(prompt, "Rule 7:") ||
		!strings.HasSuffix(prompt, "what number was it?\n") {
		t.Errorf("answer %q, sent %q, stderr %q", r.Stdout, prompt, r.Stderr)
	}
}

// The file is there and has its size, but it cannot be copied: the caller must see one clean fresh
// run.
func TestGeminiRefusedResumeRunsFresh(t *testing.T) {
	each(t, geminiFormats, func(t *testing.T, format string, answer reader) {
		w := newWorld(t, "gemini", true)
		w.call(geminiArgs(format, round())...)
		for _, f := range w.transcripts() {
			blank(t, f)
		}
		r := w.call(geminiArgs(format, round("remember number 12"))...)
		if got := answer(t, r.Stdout); got != "Got it: 12." || r.Exit != 0 ||
			strings.Contains(r.Stderr, "resuming") {
			t.Errorf("answer %q, stderr %q, exit %d", got, r.Stderr, r.Exit)
		}
		if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt, "Rule 7:") {
			t.Errorf("the fresh session was sent a delta: %q", prompt)
		}
		w.statusSays(`"fell_back": "refused_broken_transcript"`, `"state": "dead"`)
	})
}

func TestGeminiOverflowRunsFresh(t *testing.T) {
	each(t, map[string]bool{"": true, "-o|json": true}, func(t *testing.T, format string, _ bool) {
		w, direct := newWorld(t, "gemini", true), newWorld(t, "gemini", false)
		w.call(geminiArgs(format, round())...)
		r, d := w.call(geminiArgs(format, round("TOOBIG"))...),
			direct.call(geminiArgs(format, round("TOOBIG"))...)
		if r.Exit != d.Exit || r.Stdout != d.Stdout {
			t.Errorf("stdout %q, exit %d; direct %q, %d", r.Stdout, r.Exit, d.Stdout, d.Exit)
		}
		same(t, "stderr", direct.Mask(d.Stderr), w.Mask(r.Stderr))
		w.statusSays(`"fell_back": "refused_context_exceeded"`)
	})
}

// twoMinutesAgo is a node module that sets the clock back by two minutes.
const twoMinutesAgo = `const now = Date.now
Date.now = () => now() - 120000
globalThis.Date = new Proxy(Date, {construct: (date, args, self) => Reflect.construct(date, args.length ? args : [Date.now()], self)})
`

// A resume in another minute than the session's file names leaves a file that makes the next
// start of gemini in the project delete the session (docs/internals/gemini.md). A copy is named
// after the minute in which it is made; here gemini's clock is behind.
func TestGeminiSessionSurvivesOtherRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "gemini", true)
	clock := filepath.Join(w.Root, "clock.cjs")
	put(t, clock, twoMinutesAgo)
	w.call("-p", round())
	notes := []string{"Round 1: what number was it?"}
	r := w.run("gemini", harness.Call{Args: []string{"-p", round(notes...)},
		Env: []string{"NODE_OPTIONS=--require=" + clock}})
	if r.Stdout != "4711\n" {
		t.Fatalf("the resume: %q, stderr %q", r.Stdout, r.Stderr)
	}
	if left := len(w.transcripts()); left != 2 {
		t.Fatalf("after the resume there are %d session files", left)
	}
	w.call("-p", "Something else.")
	notes = append(notes, "At last: what number was it?")
	r = w.call("-p", round(notes...))
	if r.Stdout != "4711\n" {
		t.Fatalf("at last: %q, stderr %q", r.Stdout, r.Stderr)
	}
	w.sentOnlyNews(r, 3, notes)
	w.statusSays(`"turns": 3`)
}
