package jobs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
)

// droidFormats are the output formats, and how an answer is read from each.
var droidFormats = map[string]reader{
	"": func(_ *testing.T, out string) string { return strings.TrimSuffix(out, "\n") },
	"-o|json": func(t *testing.T, out string) string {
		var r struct{ Result string }
		decode(t, out, &r)
		return r.Result
	},
	"-o|stream-json": func(t *testing.T, out string) string {
		lines := strings.Split(strings.TrimSpace(out), "\n")
		var r struct{ FinalText, Message string }
		decode(t, lines[len(lines)-1], &r)
		return r.FinalText + r.Message
	},
}

func droidArgs(format, prompt string) []string {
	args := []string{"exec"}
	if format != "" {
		args = append(args, list(format)...)
	}
	return append(args, prompt)
}

func TestDroidRemembersANumberOverThreeRounds(t *testing.T) {
	each(t, droidFormats, func(t *testing.T, format string, answer reader) {
		w := newWorld(t, "droid", true)
		if r := w.call(droidArgs(format, round())...); answer(t, r.Stdout) != "Got it: 4711." {
			t.Fatalf("first answer %q, stderr %q", r.Stdout, r.Stderr)
		}
		var notes []string
		for turn := 2; turn <= 3; turn++ {
			notes = append(notes, fmt.Sprintf("Round %d: what number was it?", turn))
			r := w.call(droidArgs(format, round(notes...))...)
			if got := answer(t, r.Stdout); got != "4711" || r.Exit != 0 {
				t.Fatalf("turn %d: %q, exit %d, stderr %q", turn, got, r.Exit, r.Stderr)
			}
			w.sentOnlyNews(r, turn, notes)
		}
		w.statusSays(`"resume"`, `"extends"`, `"resumed": 2`)
	})
}

// A resumed call shows the same as a direct one: the prompt as the caller wrote it, its own turns,
// and nothing of the session that was copied.
func TestDroidResumedCallLooksLikeADirectOne(t *testing.T) {
	calls := map[string]struct{ format, says string }{
		"text":                 {"", "ECHO<<yes>>"},
		"json":                 {"-o|json", "ECHO<<yes>>"},
		"stream":               {"-o|stream-json", "ECHO<<yes>>"},
		"several lines, json":  {"--output-format=json", "MULTI"},
		"nothing, text":        {"", "EMPTY"},
		"nothing, json":        {"-o|json", "EMPTY"},
		"nothing, stream":      {"-o|stream-json", "EMPTY"},
		"tool use, json":       {"--auto|high|-o|json", "RUNTOOL"},
		"tool use, stream":     {"--auto|high|-o|stream-json", "RUNTOOL"},
		"failure, text":        {"", "HTTP401"},
		"failure, json":        {"-o|json", "HTTP401"},
		"failure, stream-json": {"-o|stream-json", "HTTP401"},
	}
	each(t, calls, func(t *testing.T, _ string, c struct{ format, says string }) {
		direct, w := newWorld(t, "droid", false), newWorld(t, "droid", true)
		w.call(droidArgs(c.format, round())...)
		again := droidArgs(c.format, round(c.says))
		a, b := direct.call(again...), w.call(again...)
		if a.Exit != b.Exit {
			t.Errorf("exit %d, with the shim %d", a.Exit, b.Exit)
		}
		same(t, "stdout", maskDroid(direct.Mask(a.Stdout)), maskDroid(w.Mask(b.Stdout)))
		same(t, "stderr", direct.Mask(a.Stderr), w.Mask(b.Stderr))
		// A resume without an answer is run again, fresh.
		n := messages(b.last(t))
		if resumed := n >= 2+messages(a.last(t)); resumed == (c.says == "EMPTY") {
			t.Errorf("the call's last request had %d messages", n)
		}
	})
}

// maskDroid masks times and tokens, which depend on the conversation, but not the number of turns.
func maskDroid(text string) string {
	text = strings.NewReplacer(`"num_turns":`, `"num_turns"=`, `"numTurns":`,
		`"numTurns"=`).Replace(text)
	return number.ReplaceAllString(text, `":0`)
}

// A prompt on stdin reaches a resume the same way.
func TestDroidPromptOnStdin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "droid", true)
	w.run("droid", harness.Call{Args: list("exec"), Stdin: round() + "\n"})
	r := w.run("droid", harness.Call{Args: list("exec"),
		Stdin: round("what number was it?") + "\n"})
	if r.Stdout != "4711\n" || strings.Contains(standin.LastUser(r.last(t)), "Rule 7:") {
		t.Errorf("%q, stderr %q", r.Stdout, r.Stderr)
	}
	w.statusSays(`"resumed": 1`)
}

// A call that continues an unknown session begins one under that very ID and exits with 0; a fork
// of it is refused without a word. So the shim forks: a session that is gone gives one clean fresh
// run.
func TestDroidUnknownSession(t *testing.T) {
	each(t, droidFormats, func(t *testing.T, format string, answer reader) {
		const unknown = "11111111-2222-4333-8444-555555555555"
		direct := newWorld(t, "droid", false)
		if r := direct.call("exec", "-o", "json", "-s", unknown, "hi"); r.Exit != 0 ||
			!strings.Contains(r.Stdout, unknown) {
			t.Logf("-s: exit %d, %q, stderr %q", r.Exit, r.Stdout, r.Stderr)
		}
		if r := direct.call("exec", "-o", "json", "--fork", unknown, "hi"); r.Exit != 1 ||
			r.Stdout != "" || len(r.Asked) != 0 {
			t.Errorf("--fork: exit %d, %q, stderr %q", r.Exit, r.Stdout, r.Stderr)
		}
		for what, spoil := range map[string]func(path string){
			`"session_file_gone"`: func(path string) {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			},
			`"session_changed"`: func(path string) { put(t, path, "") },
		} {
			w := newWorld(t, "droid", true)
			w.call(droidArgs(format, round())...)
			spoil(w.transcripts()[0])
			r := w.call(droidArgs(format, round("remember number 12"))...)
			if got := answer(t, r.Stdout); got != "Got it: 12." || r.Exit != 0 || r.Stderr != "" ||
				len(r.Asked) != 1 {
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

func TestDroidOverflowRunsFresh(t *testing.T) {
	each(t, droidFormats, func(t *testing.T, format string, _ reader) {
		w, direct := newWorld(t, "droid", true), newWorld(t, "droid", false)
		w.call(droidArgs(format, round())...)
		r, d := w.call(droidArgs(format, round("TOOBIG"))...),
			direct.call(droidArgs(format, round("TOOBIG"))...)
		if r.Exit != d.Exit {
			t.Errorf("exit %d; direct %d", r.Exit, d.Exit)
		}
		same(t, "stdout", maskDroid(direct.Mask(d.Stdout)), maskDroid(w.Mask(r.Stdout)))
		same(t, "stderr", direct.Mask(d.Stderr), w.Mask(r.Stderr))
		w.statusSays(`"fell_back": "refused_context_exceeded"`)
	})
}

// A fork from another directory just works, so sessions stay in theirs by the shim's own rule.
func TestDroidSessionsStayInTheirDirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "droid", true)
	if err := os.Mkdir(filepath.Join(w.Project, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	task := []string{"REPRISE_TASK=job", "REPRISE_ROLE=coder"}
	w.run("droid", harness.Call{Args: droidArgs("", round()), Env: task})
	r := w.run("droid", harness.Call{Args: droidArgs("", round("remember number 12")), Dir: "sub",
		Env: task})
	if r.Stdout != "Got it: 12.\n" || !strings.Contains(standin.LastUser(r.last(t)), "Rule 7:") {
		t.Errorf("in another directory: %q, stderr %q", r.Stdout, r.Stderr)
	}
	w.statusSays(`"resumed": 0`)
}

// The service that keeps sessions can be away: a fork reads the file.
func TestDroidResumesWithoutItsService(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "droid", true)
	w.call(droidArgs("", round())...)
	away := []string{"FACTORY_API_BASE_URL=http://127.0.0.1:1"}
	r := w.run("droid", harness.Call{Args: list("exec|--fork|{id}|what number was it?"), Env: away})
	if r.Stdout != "4711\n" || r.Exit != 0 {
		t.Errorf("exit %d, %q, stderr %q", r.Exit, r.Stdout, r.Stderr)
	}
}

// A call of droid within droid's own shell is passed through.
func TestDroidNestedCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "droid", true)
	r := w.run("droid", harness.Call{Args: list(
		"exec|--skip-permissions-unsafe|-o|stream-json|RUN<<env -u REPRISE_INSIDE shimctl why " +
			"--json -- droid exec hi>>")})
	if !strings.Contains(r.Stdout, `\"nested\"`) {
		t.Errorf("%q, stderr %q", r.Stdout, r.Stderr)
	}
}

var number = regexp.MustCompile(`":\d+(\.\d+)?`)
