package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
)

// qwenFormats are the output formats, and how an answer is read from each.
var qwenFormats = map[string]reader{
	"": func(_ *testing.T, out string) string { return strings.TrimSuffix(out, "\n") },
	"-o|json": func(t *testing.T, out string) string {
		var events []struct{ Result string }
		decode(t, out, &events)
		return events[len(events)-1].Result
	},
	"-o|stream-json": func(t *testing.T, out string) string {
		lines := strings.Split(strings.TrimSpace(out), "\n")
		var event struct{ Result string }
		decode(t, lines[len(lines)-1], &event)
		return event.Result
	},
}

func TestQwenRemembersANumberOverThreeRounds(t *testing.T) {
	each(t, qwenFormats, func(t *testing.T, format string, answer reader) {
		w := newWorld(t, "qwen", true)
		if got := answer(t, w.call(geminiArgs(format, round())...).Stdout); got != "Got it: 4711." {
			t.Fatalf("first answer %q", got)
		}
		var notes []string
		for turn := 2; turn <= 4; turn++ {
			notes = append(notes, fmt.Sprintf("Round %d: what number was it?", turn))
			r := w.call(geminiArgs(format, round(notes...))...)
			if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 {
				t.Fatalf("turn %d: %q, exit %d, stderr %q", turn, got, r.Exit, r.Stderr)
			}
			w.sentOnlyNews(r, turn, notes)
		}
		w.statusSays(`"resume"`, `"extends"`, `"turns": 4`, `"calls": 4`, `"resumed": 3`)
	})
}

// A resumed call shows the output of a direct one, except for the figures.
func TestQwenResumedCallLooksLikeADirectOne(t *testing.T) {
	calls := map[string]func(prompt string) harness.Call{
		"text":  func(p string) harness.Call { return harness.Call{Args: []string{"-p", p}} },
		"words": func(p string) harness.Call { return harness.Call{Args: []string{p}} },
		"json": func(p string) harness.Call {
			return harness.Call{Args: []string{"-p", p, "-o", "json"}}
		},
		"stream": func(p string) harness.Call {
			return harness.Call{Args: []string{"-o=stream-json", "-p", p}}
		},
		"partial messages": func(p string) harness.Call {
			return harness.Call{Args: []string{"-o", "stream-json", "--include-partial-messages",
				p}}
		},
		"stdin": func(p string) harness.Call { return harness.Call{Stdin: p} },
		"data and prompt": func(p string) harness.Call {
			return harness.Call{Args: []string{"-p", "Look here."}, Stdin: p}
		},
		"one stream": func(p string) harness.Call {
			return harness.Call{Args: []string{"-p", p}, Mixed: true}
		},
		"several lines": func(p string) harness.Call {
			return harness.Call{Args: []string{strings.Replace(p, "ECHO<<yes>>", "MULTI", 1)}}
		},
		"tool use": func(p string) harness.Call {
			return harness.Call{Args: []string{"--yolo",
				strings.Replace(p, "ECHO<<yes>>", "RUNTOOL", 1)}}
		},
		// With and without the shim, qwen 0.24.4 can lose the output of a command that ends at
		// once.
		"tool use, json": func(p string) harness.Call {
			return harness.Call{Args: []string{"--yolo", "-o", "json",
				strings.Replace(p, "ECHO<<yes>>", "RUN<<echo hi; sleep 0.5>>", 1)}}
		},
	}
	each(t, calls, func(t *testing.T, _ string, make func(prompt string) harness.Call) {
		direct, w := newWorld(t, "qwen", false), newWorld(t, "qwen", true)
		w.run("qwen", make(round()))
		again := make(round("ECHO<<yes>>"))
		a, b := direct.run("qwen", again), w.run("qwen", again)
		if a.Exit != b.Exit {
			t.Errorf("exit %d, with the shim %d", a.Exit, b.Exit)
		}
		same(t, "stdout", maskNumbers(direct.Mask(a.Stdout)), maskNumbers(w.Mask(b.Stdout)))
		same(t, "stderr", direct.Mask(a.Stderr), w.Mask(b.Stderr))
		if n := messages(b.last(t)); n < 2+messages(a.last(t)) {
			t.Errorf("the resumed call sent %d messages", n)
		}
		w.statusSays(`"resumed": 1`)
	})
}

var toolCall = regexp.MustCompile(`call\d+`)

// maskNumbers masks the figures in events, and the names of tool calls.
func maskNumbers(text string) string {
	return toolCall.ReplaceAllString(number.ReplaceAllString(text, `":0`), "call")
}

// qwen reports the totals of a session: also of a copy. A resumed call's figures are its own, as
// the model counted them.
func TestQwenFiguresAreThisCallsOwn(t *testing.T) {
	each(t, qwenFormats, func(t *testing.T, format string, _ reader) {
		if format == "" {
			return // it shows none
		}
		w := newWorld(t, "qwen", true)
		var notes []string
		for turn := 1; turn <= 3; turn++ {
			r := w.call(geminiArgs(format, round(notes...))...)
			notes = append(notes, "what number was it?")
			var sum standin.Tokens
			for _, asked := range r.Asked {
				sum.Add(asked.Tokens)
			}
			for _, want := range []string{
				fmt.Sprintf(`"usage":{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":%d,`, sum.Input, sum.Output, sum.Cached),
				fmt.Sprintf(`"tokens":{"prompt":%d,"candidates":%d,"total":%d,"cached":%d,`,
					sum.Input, sum.Output, sum.Input+sum.Output, sum.Cached),
			} {
				if !strings.Contains(r.Stdout, want) &&
					(format == "-o|json" || strings.HasPrefix(want, `"usage"`)) {
					t.Errorf("turn %d: no %s in %s", turn, want, r.Stdout)
				}
			}
		}
		w.statusSays(`"resumed": 2`)
	})
}

// A session that is gone gives one clean fresh run. So does an option that qwen does not take.
func TestQwenRefusedResumeRunsFresh(t *testing.T) {
	each(t, qwenFormats, func(t *testing.T, format string, answer reader) {
		for what, spoil := range map[string]func(path string){
			`"session_file_gone"`: func(path string) {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			},
			`"fell_back": "refused_unknown_session"`: func(path string) { blank(t, path) },
		} {
			w := newWorld(t, "qwen", true)
			w.call(geminiArgs(format, round())...)
			spoil(w.transcripts()[0])
			r := w.call(geminiArgs(format, round("remember number 12"))...)
			if got := answer(t, r.Stdout); got != "Got it: 12." || r.Exit != 0 ||
				strings.Contains(r.Stderr, "session") || len(r.Asked) != 1 {
				t.Errorf("%s: answer %q, stderr %q, exit %d, asked %d times", what, got, r.Stderr,
					r.Exit, len(r.Asked))
			}
			if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt, "Rule 7:") {
				t.Errorf("the fresh session was sent a delta: %q", prompt)
			}
			w.statusSays(what)
		}
	})
}

// A resume from another directory is refused with exit code 1, so sessions never leave theirs:
// there the same prompt begins one of its own.
func TestQwenSessionsStayInTheirDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "qwen", true)
	if err := os.Mkdir(filepath.Join(w.Project, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	task := []string{"REPRISE_TASK=job", "REPRISE_ROLE=coder"}
	w.run("qwen", harness.Call{Args: []string{"-p", round()}, Env: task})
	r := w.run("qwen", harness.Call{Args: list("-p|what number was it?|--resume|{id}"), Dir: "sub"})
	if r.Exit != 1 || r.Stdout != "" ||
		!strings.HasPrefix(r.Stderr, "No saved session found with ID ") || len(r.Asked) != 0 {
		t.Errorf("qwen itself: exit %d, %q, stderr %q", r.Exit, r.Stdout, r.Stderr)
	}
	r = w.run("qwen", harness.Call{Args: []string{"-p", round("remember number 12")}, Dir: "sub",
		Env: task})
	if r.Stdout != "Got it: 12.\n" || !strings.Contains(standin.LastUser(r.last(t)), "Rule 7:") {
		t.Errorf("in another directory: %q, stderr %q", r.Stdout, r.Stderr)
	}
	w.statusSays(`"resumed": 0`)
}

// qwen has no lock: each of two resumes at once sees only its own branch, and the session then
// contains both. So a resume makes a copy, and the source stays as it was.
func TestQwenRunsAtOnceDoNotMix(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "qwen", true)
	w.call("-p", round())
	source := w.transcripts()[0]
	before, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	for _, side := range []string{"left", "right"} {
		both.Go(func() {
			r := w.call("-p", round("SLOW on the "+side+": what number was it?"))
			if r.Stdout != "4711\n" {
				t.Errorf("%s: %q, stderr %q", side, r.Stdout, r.Stderr)
			}
		})
	}
	both.Wait()
	after, err := os.ReadFile(source)
	if err != nil || string(after) != string(before) {
		t.Errorf("the source has changed: %v", err)
	}
	for _, path := range w.transcripts() {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "on the left") &&
			strings.Contains(string(text), "on the right") {
			t.Errorf("%s contains both", filepath.Base(path))
		}
	}
}

// The reminder of the date before the first prompt is not sent again in a resume: nothing of the
// conversation comes from the cache, only the part before it.
func TestQwenResumeBreaksThePrefix(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "qwen", true)
	first := w.call("-p", round())
	r := w.call("-p", round("what number was it?"))
	before, after := firstUser(first.last(t)), firstUser(r.last(t))
	if !strings.Contains(before, "date is:") && !strings.Contains(before, "Today's date") ||
		before == after {
		t.Errorf("the first message was %q, and is %q", before, after)
	}
	if cached, whole := r.last(t).Tokens.Cached, first.last(t).Tokens.Input; cached == 0 ||
		cached >= whole {
		t.Errorf("%d tokens come from the cache, of %d in the request before", cached, whole)
	}
	w.statusSays(`"resumed": 1`)
}

// firstUser returns the first message of a user in a request.
func firstUser(r standin.Request) string {
	body, _ := r.Body.(map[string]any)
	messages, _ := body["messages"].([]any)
	for _, m := range messages {
		if message, _ := m.(map[string]any); message["role"] == "user" {
			return fmt.Sprint(message["content"])
		}
	}
	return ""
}

// By default a second model is asked after a call for things to remember. That request is part of
// qwen's own figures, but neither of the conversation nor of how full the session is.
func TestQwenMemoryIsNotTheCallers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "qwen", true)
	put(t, filepath.Join(w.Root, "home", ".qwen", "settings.json"),
		`{"security": {"auth": {"selectedType": "openai"}}}`)
	w.call("-p", round())
	r := w.call("-p", round("what number was it?"), "-o", "json")
	hidden := slices.IndexFunc(r.Asked, func(asked standin.Request) bool {
		return strings.Contains(fmt.Sprint(asked.Body), "managed memory extraction subagent")
	})
	if len(r.Asked) != 2 || hidden != 1 {
		t.Fatalf("%d requests, of which number %d is hidden", len(r.Asked), hidden)
	}
	if prompt := standin.LastUser(r.Asked[0]); strings.Contains(prompt, "Rule 7:") {
		t.Errorf("the call was no resume: %q", prompt)
	}
	own := r.Asked[0].Tokens
	w.statusSays(`"resumed": 1`, fmt.Sprintf(`"context_tokens": %d`, own.Input+own.Output))
	if sum := own.Input + r.Asked[1].Tokens.Input; !strings.Contains(r.Stdout,
		fmt.Sprintf(`"usage":{"input_tokens":%d,`, sum)) {
		t.Errorf("no %d input tokens in %s", sum, r.Stdout)
	}
}

// The first run adds the version of their form to settings: that is no change of the caller's. A
// real change is.
func TestQwenMigratedSettingsAreNoChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "qwen", true)
	settings := filepath.Join(w.Root, "home", ".qwen", "settings.json")
	const text = `{"security": {"auth": {"selectedType": "openai"}}, "memory": {"enableManagedAutoMemory": false}}`
	put(t, settings, text)
	w.call("-p", round())
	if migrated, err := os.ReadFile(settings); err != nil ||
		!strings.Contains(string(migrated), `"$version"`) {
		t.Fatalf("%s, %v", migrated, err)
	}
	w.call("-p", round("what number was it?"))
	w.statusSays(`"resumed": 1`)
	put(t, settings, strings.Replace(text, "{", `{"ui": {"theme": "dark"}, `, 1))
	r := w.call("-p", round("what number was it?", "what number now?"))
	if !strings.Contains(standin.LastUser(r.last(t)), "Rule 7:") {
		t.Error("a call with other settings is resumed")
	}
	w.statusSays(`"settings_changed"`)
}
