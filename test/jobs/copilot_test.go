package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
)

// copilotFormats are the output formats, and how a final answer is read from each.
var copilotFormats = map[string]reader{
	"":   func(_ *testing.T, out string) string { return strings.TrimSuffix(out, "\n\n") },
	"-s": func(_ *testing.T, out string) string { return strings.TrimSuffix(out, "\n\n") },
	"--output-format|json": func(t *testing.T, out string) string {
		answer := ""
		for line := range strings.Lines(out) {
			if e := readCopilotEvent(t, line); e.Type == "assistant.message" {
				answer = e.Data.Content
			}
		}
		return answer
	},
}

type copilotEvent struct {
	Type string
	Data struct{ Content, TransformedContent string }
}

func readCopilotEvent(t *testing.T, line string) (e copilotEvent) {
	t.Helper()
	decode(t, line, &e)
	return e
}

func copilotArgs(format, prompt string) []string {
	args := []string{"-p", prompt}
	if format != "" {
		args = append(list(format), args...)
	}
	return args
}

func TestCopilotRemembersANumberOverFourTurns(t *testing.T) {
	each(t, copilotFormats, func(t *testing.T, format string, answer reader) {
		w := newWorld(t, "copilot", true)
		first := w.call(copilotArgs(format, round())...)
		if got := answer(t, first.Stdout); got != "Got it: 4711." {
			t.Fatalf("first answer %q, stderr %q", got, first.Stderr)
		}
		var notes []string
		for turn := 2; turn <= 4; turn++ {
			notes = append(notes, fmt.Sprintf("Round %d: what number was it?", turn))
			r := w.call(copilotArgs(format, round(notes...))...)
			if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 {
				t.Fatalf("turn %d: %q, exit %d, stderr %q", turn, got, r.Exit, r.Stderr)
			}
			w.sentOnlyNews(r, turn, notes)
			if format != "" && r.Stderr != "" {
				t.Errorf("turn %d: stderr %q", turn, r.Stderr)
			}
			if format == "" && r.Stderr != harness.WithoutFigures(r.Stderr) {
				t.Errorf("turn %d: stderr %q", turn, r.Stderr)
			}
			for line := range strings.Lines(r.Stdout) {
				if !strings.Contains(line, `"type":"user.message"`) {
					continue
				}
				shown := readCopilotEvent(t, line).Data
				if shown.Content != round(notes...) ||
					!strings.HasSuffix(shown.TransformedContent,
						"\n\n"+strings.TrimSpace(round(notes...))) {
					t.Errorf("turn %d: the prompt is shown as %q", turn, shown)
				}
			}
		}
		w.statusSays(`"resume"`, `"extends"`, `"turns": 4`, `"calls": 4`)
		if files := w.transcripts(); len(files) != 1 {
			t.Errorf("sessions: %v", files)
		}
	})
}

// A resumed call must show its caller the output of a call without the shim.
func TestCopilotResumedCallLooksLikeADirectOne(t *testing.T) {
	type test struct {
		args  string
		does  string
		stdin bool
	}
	tests := map[string]test{
		"text, tool use":        {"--allow-all-tools", "RUNTOOL", false},
		"text, nothing":         {"--no-color", "EMPTY", false},
		"text, stdin":           {"--no-color", "ECHO<<yes>>", true},
		"silent, tool use":      {"--allow-all-tools|-s", "RUNTOOL", false},
		"silent, several lines": {"-s", "MULTI", false},
		"json, several lines":   {"--output-format|json", "MULTI", false},
		"json, tool use":        {"--allow-all-tools|--output-format|json", "RUNTOOL", false},
		"json, stdin":           {"--output-format|json", "ECHO<<<yes> & no>>", true},
		"json, a key":           {"--output-format|json", "ECHO<<the stand-in>>", false},
		"json, 401":             {"--output-format|json", "HTTP401", false},
	}
	each(t, tests, func(t *testing.T, name string, tt test) {
		direct, w := newWorld(t, "copilot", false), newWorld(t, "copilot", true)
		ask := func(prompt string) harness.Call {
			if tt.stdin {
				return harness.Call{Args: list(tt.args), Stdin: prompt}
			}
			return harness.Call{Args: append(list(tt.args), "-p", prompt)}
		}
		w.run("copilot", ask(round()))
		a, b := direct.run("copilot", ask(round(tt.does))), w.run("copilot", ask(round(tt.does)))
		if a.Exit != b.Exit {
			t.Errorf("exit %d, with the shim %d", a.Exit, b.Exit)
		}
		same(t, "stdout", copilotMask(direct, a.Stdout), copilotMask(w, b.Stdout))
		same(t, "stderr", copilotMask(direct, a.Stderr), copilotMask(w, b.Stderr))
		w.statusSays(`"extends"`)
		if strings.Contains(standin.LastUser(b.last(t)), "Rule 7:") {
			t.Error("the whole prompt was sent")
		}
	})
}

// The history costs a resumed call more input than a fresh one has.
var copilotHistory = regexp.MustCompile(
	`"requestBody(Wire)?Bytes":\d+|"(messageCount|context_current_tokens)":\d+`)

func copilotMask(w *world, text string) string {
	return harness.WithoutFigures(copilotHistory.ReplaceAllString(w.Mask(text), "SIZE"))
}

// A resume that copilot does not take is run once more, fresh, and the caller sees one clean
// run.
func TestCopilotRefusedResumeRunsFresh(t *testing.T) {
	type test struct {
		format string
		harm   func(w *world)
		reason string
	}
	broken := func(w *world) {
		file := w.transcripts()[0]
		info, err := os.Stat(file)
		if err != nil {
			w.t.Fatal(err)
		}
		put(w.t, file, strings.Repeat("x", int(info.Size()-1))+"\n")
	}
	tests := map[string]test{
		"broken, text":   {"", broken, "refused_broken_transcript"},
		"broken, silent": {"-s", broken, "refused_broken_transcript"},
		"broken, json":   {"--output-format|json", broken, "refused_broken_transcript"},
	}
	each(t, tests, func(t *testing.T, name string, tt test) {
		w := newWorld(t, "copilot", true)
		w.call(copilotArgs(tt.format, round())...)
		tt.harm(w)
		r := w.call(copilotArgs(tt.format, round("remember number 12"))...)
		if got := copilotFormats[tt.format](t, r.Stdout); got != "Got it: 12." ||
			strings.Contains(r.Stderr, "rror") || r.Exit != 0 {
			t.Errorf("answer %q, stderr %q, exit %d", got, r.Stderr, r.Exit)
		}
		if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt, "Rule 7:") {
			t.Errorf("the fresh session was sent a delta: %q", prompt)
		}
		w.statusSays(fmt.Sprintf(`"fell_back": %q`, tt.reason))
	})
}

func TestCopilotDeletedSessionRunsFresh(t *testing.T) {
	each(t, copilotFormats, func(t *testing.T, format string, answer reader) {
		w := newWorld(t, "copilot", true)
		w.call(copilotArgs(format, round())...)
		if err := os.RemoveAll(filepath.Dir(w.transcripts()[0])); err != nil {
			t.Fatal(err)
		}
		r := w.call(copilotArgs(format, round("remember number 12"))...)
		if got := answer(t, r.Stdout); got != "Got it: 12." || r.Exit != 0 || len(r.Asked) != 1 {
			t.Errorf("answer %q, stderr %q, exit %d, asked %d times", got, r.Stderr, r.Exit,
				len(r.Asked))
		}
		w.statusSays(`"session_file_gone"`)
	})
}

func TestCopilotOverflowRunsFresh(t *testing.T) {
	each(t, copilotFormats, func(t *testing.T, format string, _ reader) {
		w, direct := newWorld(t, "copilot", true), newWorld(t, "copilot", false)
		w.call(copilotArgs(format, round())...)
		r := w.call(copilotArgs(format, round("TOOBIG"))...)
		d := direct.call(copilotArgs(format, round("TOOBIG"))...)
		same(t, "stdout", direct.Mask(d.Stdout), w.Mask(r.Stdout))
		same(t, "stderr", direct.Mask(d.Stderr), w.Mask(r.Stderr))
		w.statusSays(`"refused_context_exceeded"`)
	})
}

// A resume from another directory would work in the session's: the call there is fresh.
func TestCopilotAnotherDirectoryIsFresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "copilot", true)
	w.call("-s", "-p", round())
	id, err := w.NewestID()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(w.Project, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	where := "RUN<<pwd > " + filepath.Join(w.Root, "where") + ">>"
	w.run("copilot", harness.Call{Args: []string{"-s", "--allow-all", "--resume=" + id, "-p",
		where}, Dir: "sub", Env: []string{"REPRISE_OFF=1"}})
	if text, err := os.ReadFile(filepath.Join(w.Root, "where")); err != nil ||
		strings.TrimSpace(string(text)) != w.Project {
		t.Errorf("a resume from another directory works in %q, %v", text, err)
	}
	r := w.run("copilot", harness.Call{Args: []string{"-s", "-p", round("remember number 12")},
		Dir: "sub"})
	if prompt := standin.LastUser(r.last(t)); r.Stdout != "Got it: 12.\n\n" ||
		!strings.Contains(prompt, "Rule 7:") {
		t.Errorf("answer %q, sent %q", r.Stdout, prompt)
	}
}

// copilot rewrites its state at the first start, older settings included. That is no change
// of the settings.
func TestCopilotMigratesItsState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "copilot", true)
	state := filepath.Join(w.Root, "home", ".copilot", "config.json")
	put(t, state, `{"theme":"dark","trusted_folders":["/nosuch"],"banner":"never"}`)
	w.call("-s", "-p", round())
	if text, err := os.ReadFile(state); err != nil ||
		!strings.Contains(string(text), "trustedFolders") {
		t.Errorf("%s, %v", text, err)
	}
	w.call("-s", "-p", round("what number was it?"))
	w.statusSays(`"extends"`)
	put(t, state, `{"theme":"dark","trusted_folders":["/nosuch"],"banner":"never","model":"gpt-5"}`)
	w.call("-s", "-p", round("what number was it?", "And now?"))
	w.statusSays(`"settings_changed"`)
}

// Data beside a prompt in argv are not read, so they are no part of it.
func TestCopilotIgnoresDataBesideAPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "copilot", true)
	w.run("copilot", harness.Call{Args: []string{"-s", "-p", round()}, Stdin: "remember number 5"})
	r := w.run("copilot", harness.Call{Args: []string{"-s", "-p", round("what number was it?")},
		Stdin: "remember number 6"})
	if r.Stdout != "4711\n\n" {
		t.Errorf("answer %q, stderr %q", r.Stdout, r.Stderr)
	}
	w.sentOnlyNews(r, 2, []string{"what number was it?"})
}

func TestCopilotPromptOnStdin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "copilot", true)
	w.run("copilot", harness.Call{Stdin: round()})
	r := w.run("copilot", harness.Call{Stdin: round("what number was it?")})
	if r.Stdout != "4711\n\n" {
		t.Errorf("answer %q, stderr %q", r.Stdout, r.Stderr)
	}
	w.sentOnlyNews(r, 2, []string{"what number was it?"})
}

// copilot does not keep a second process out of a session. Two runs of the shim keep to their own.
func TestCopilotRunsAtOnceDoNotMix(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "copilot", true)
	prompt := func(job int, notes ...string) string {
		return strings.Replace(round(notes...), "4711", fmt.Sprint(job), 1)
	}
	var both sync.WaitGroup
	for _, job := range []int{1001, 2002} {
		both.Go(func() {
			for turn, want := range []string{fmt.Sprintf("Got it: %d.\n\n", job),
				fmt.Sprintf("%d\n\n", job)} {
				if r := w.call("-s", "-p", prompt(job,
					[]string{"what number was it?"}[:turn]...)); r.Stdout != want {
					t.Errorf("job %d, turn %d: %q, want %q, stderr %q", job, turn+1, r.Stdout, want,
						r.Stderr)
				}
			}
		})
	}
	both.Wait()
	w.statusSays(`"turns": 2`)
	if files := w.transcripts(); len(files) != 2 {
		t.Errorf("sessions: %v", files)
	}
}

// A resume's request begins with the session's last one, so that it is in the provider's cache.
// Only the spacing of a tool call's arguments and two members beside the content can differ.
func TestCopilotResumeKeepsThePrefix(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "copilot", true)
	first := w.call("-s", "--allow-all-tools", "-p", round("RUNTOOL"))
	second := w.call("-s", "--allow-all-tools", "-p", round("RUNTOOL", "The test still fails."))
	before, after := first.last(t).Body.(map[string]any), second.last(t).Body.(map[string]any)
	sent, again := before["messages"].([]any), after["messages"].([]any)
	if len(again) <= len(sent) {
		t.Fatalf("%d messages, then %d", len(sent), len(again))
	}
	for i, message := range sent {
		for _, m := range []any{message, again[i]} {
			delete(m.(map[string]any), "refusal")
			delete(m.(map[string]any), "__copilotMessageSource")
		}
		a, b := fmt.Sprint(message), fmt.Sprint(again[i])
		if strings.ReplaceAll(a, " ", "") != strings.ReplaceAll(b, " ", "") {
			t.Errorf("message %d: %s, resumed %s", i, a, b)
		}
	}
	if a, b := fmt.Sprint(before["tools"]), fmt.Sprint(after["tools"]); a != b {
		t.Error("the tools differ")
	}
}

func TestCopilotSeesAForeignTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "copilot", true)
	w.call("-s", "-p", round())
	id, err := w.NewestID()
	if err != nil {
		t.Fatal(err)
	}
	if r := w.call("-s", "-p", "what number", "--resume="+id); r.Stdout != "4711\n\n" {
		t.Fatalf("the caller's own resume: %q %q", r.Stdout, r.Stderr)
	}
	if r := w.call("-s", "-p", round("remember number 3")); r.Stdout != "Got it: 3.\n\n" {
		t.Errorf("answer %q", r.Stdout)
	}
	w.statusSays(`"session_changed"`)
}
