package droid

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/test/tooltest"
)

// call reads a command line written as words; underscores stand for spaces.
func call(line string, tty bool, env ...string) rewrite.CommandLine {
	in := tooltest.Invocation(line, env...)
	in.StdinTTY = tty
	return tool.Parse(in)
}

func TestDroidReads(t *testing.T) {
	const id = "11111111-2222-4333-8444-555555555555"
	for _, tt := range []struct {
		line   string
		mode   rewrite.Mode
		reason reason.Code
		prompt string
		format rewrite.Format
	}{
		{"exec hi", rewrite.Fresh, "", "hi", rewrite.Text},
		{"exec -o json hi", rewrite.Fresh, "", "hi", rewrite.JSON},
		{"exec --output-format=stream-json --auto high hi_there", rewrite.Fresh, "", "hi there",
			rewrite.StreamJSON},
		{"exec -m gpt-5 -r high --only-tools Read,Grep -- hi", rewrite.Fresh, "", "hi",
			rewrite.Text},
		{"exec", rewrite.Fresh, "", "", rewrite.Text}, // the prompt is on stdin
		{"", rewrite.Passthrough, reason.Interactive, "", rewrite.Text},
		{"--resume", rewrite.Passthrough, reason.Interactive, "", rewrite.Text},
		{"--version", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"search x", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"daemon", rewrite.Passthrough, reason.AppServer, "", rewrite.Text},
		{"exec --help", rewrite.Passthrough, reason.NotManaged, "", rewrite.Text},
		{"exec -f there.txt", rewrite.Passthrough, reason.UnmanagedOption, "", rewrite.Text},
		{"exec --input-format stream-jsonrpc", rewrite.Passthrough, reason.UnmanagedOption, "",
			rewrite.Text},
		{"exec -w tree hi", rewrite.Passthrough, reason.UnmanagedOption, "hi", rewrite.Text},
		{"exec --mission --auto high hi", rewrite.Passthrough, reason.UnmanagedOption, "hi",
			rewrite.Text},
		{"exec --nope hi", rewrite.Passthrough, reason.UnknownOption, "", rewrite.Text},
		{"exec two words", rewrite.Passthrough, reason.BadUsage, "two", rewrite.Text},
		{"exec -o xml hi", rewrite.Passthrough, reason.BadUsage, "hi", ""},
		{"exec -s " + id + " hi", rewrite.Passthrough, reason.CallerSession, "hi", rewrite.Text},
		{"exec -o json -s " + id + " hi", rewrite.Observe, reason.CallerSession, "hi",
			rewrite.JSON},
		{"exec -o json --fork " + id + " hi", rewrite.Observe, reason.CallerSession, "hi",
			rewrite.JSON},
		{"exec /help", rewrite.Passthrough, reason.SlashCommand, "/help", rewrite.Text},
	} {
		c := call(tt.line, false)
		if c.Mode != tt.mode || c.Reason != tt.reason || c.Prompt != tt.prompt ||
			c.Format != tt.format {
			t.Errorf("%s: %s %q, prompt %q, format %s", tt.line, c.Mode, c.Reason, c.Prompt,
				c.Format)
		}
	}
	if c := call("exec", true); c.Reason != reason.BadUsage {
		t.Errorf("without a prompt: %q", c.Reason)
	}
	if c := call("exec hi", false, "FACTORY_DISABLE_SETTINGS_PERSISTENCE=true"); c.Reason !=
		reason.Nested {
		t.Errorf("within droid: %q", c.Reason)
	}
	if c := tool.Parse(rewrite.Input{Args: []string{"exec", "hi"}, Env: func(string) string {
		return ""
	}, StdoutTTY: true}); c.Reason != reason.Interactive {
		t.Errorf("at a terminal: %q", c.Reason)
	}
	old := tool.Parse(rewrite.Input{Args: []string{"exec", "hi"}, Env: func(string) string {
		return ""
	}, Learned: rewrite.Probe{Known: true}})
	if old.Reason != reason.NoResume {
		t.Errorf("a version without --fork: %q", old.Reason)
	}
}

func TestDroidPlans(t *testing.T) {
	const id = "11111111-2222-4333-8444-555555555555"
	for _, tt := range []struct {
		line, want string
		resume     bool
		stdin      string
	}{
		{"exec hi", "exec --output-format=stream-json hi", false, ""},
		{"exec -o json hi", "exec -o json hi", false, ""},
		{"exec -o json hi", "exec --fork=" + id + " -o stream-json more of it", true, ""},
		{"exec --auto high hi", "exec --output-format=stream-json --fork=" + id +
			" --auto high more of it", true, ""},
		{"exec -o stream-json", "exec --fork=" + id + " -o stream-json", true, "more of it"},
	} {
		c := call(tt.line, false)
		target := tooltest.To{Prompt: c.Prompt, Whole: true}.Target()
		if tt.resume {
			target = tooltest.To{ID: id, Copied: true, Prompt: "more of it",
				Asked: c.Prompt}.Target()
		}
		p := tool.Plan(c, target)
		if got := strings.Join(p.Args, " "); got != tt.want || p.Stdin != tt.stdin ||
			p.Copy != tt.resume {
			t.Errorf("%s: %q, stdin %q, copy %v", tt.line, got, p.Stdin, p.Copy)
		}
	}
}

// recording reads one file of a recording.
func recording(t *testing.T, name, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../testdata/recordings/droid", name, file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// show feeds output to the stream of a call, and returns the output that the caller sees.
func show(c rewrite.CommandLine, p rewrite.Plan, totals rewrite.Totals, output []byte) (stdout,
	stderr string, seen *rewrite.StreamState) {
	s := tool.Stream(c, p, totals)
	var out []byte
	for l := range bytes.Lines(output) {
		out = append(out, s.Line(l)...)
	}
	out = append(out, s.End()...)
	return string(out), s.TakeStderr(), s.Seen()
}

// Output that is rendered from stream-json is the same as droid's own.
func TestDroidRenders(t *testing.T) {
	for _, tt := range []struct{ stream, line, stdout, stderr string }{
		{"fresh-stream", "exec hi", "Got it: 456.\n", ""},
		{"http401-stream", "exec hi", "", "Error during droid execution: Exec failed\n"},
		{"multi-stream", "exec hi", "\n", ""},
		{"tool-stream", "exec hi", "ok\n", ""},
	} {
		stdout, stderr, seen := show(call(tt.line, false), rewrite.Plan{}, "",
			recording(t, tt.stream, "stdout"))
		if stdout != tt.stdout || stderr != tt.stderr || !seen.Final || seen.ID == "" ||
			seen.Failed != (stderr != "") {
			t.Errorf("%s: %q, stderr %q, %+v", tt.stream, stdout, stderr, seen)
		}
	}
	for _, name := range []string{"fresh-text", "http401-text"} {
		stream := strings.Replace(name, "-text", "-stream", 1)
		stdout, stderr, _ := show(call("exec hi", false), rewrite.Plan{}, "",
			recording(t, stream, "stdout"))
		if stdout != string(recording(t, name, "stdout")) ||
			stderr != string(recording(t, name, "stderr")) {
			t.Errorf("%s: %q, stderr %q", name, stdout, stderr)
		}
	}
}

// A fork shows its own turns, and nothing of the session that it copies.
func TestDroidShowsAForksOwn(t *testing.T) {
	_, _, first := show(call("exec -o json hi", false), rewrite.Plan{}, "",
		recording(t, "fresh-json", "stdout"))
	fork := rewrite.Plan{Resume: first.ID, Copy: true, Prompt: "what number",
		Asked: "the whole prompt"}
	for _, tt := range []struct{ recording, line, stdout, stderr string }{
		{"fork-stream", "exec -o json hi", `"num_turns":1,"result":"456"`, ""},
		{"fork-stream", "exec -o stream-json hi", `"finalText":"456","numTurns":1,`, ""},
		{"fork-stream", "exec -o stream-json hi", `"text":"the whole prompt"`, ""},
		{"fork-stream", "exec hi", "456\n", ""},
		{"fork-empty-stream", "exec hi", "\n", ""},
		{"fork-empty-stream", "exec -o json hi", `"num_turns":0,"result":""`, ""},
		{"fork-401-stream", "exec -o json hi", `"subtype":"failure","is_error":true`, ""},
		{"fork-401-stream", "exec -o json hi", `"num_turns":0,"result":"Exec failed"`, ""},
		{"fork-401-stream", "exec -o stream-json hi", `"source":"cli","message":"Exec failed"`, ""},
		{"fork-401-stream", "exec hi", "", "Error during droid execution: Exec failed\n"},
	} {
		stdout, stderr, seen := show(call(tt.line, false), fork, first.Totals,
			recording(t, tt.recording, "stdout"))
		if !strings.Contains(stdout, tt.stdout) || strings.Contains(stdout+stderr, "Got it") ||
			stderr != tt.stderr || seen.WrongID {
			t.Errorf("%s as %s: %q, stderr %q", tt.recording, tt.line, stdout, stderr)
		}
	}
	byCall := bytes.Replace(recording(t, "fork-stream", "stdout"), []byte(`"numTurns":2`),
		[]byte(`"numTurns":1`), 1)
	for line, want := range map[string]string{"exec hi": "456\n",
		"exec -o json hi": `"num_turns":1,"result":"456"`} {
		if stdout, _, _ := show(call(line, false), fork, first.Totals,
			byCall); !strings.Contains(stdout, want) {
			t.Errorf("turns by call as %s: %q", line, stdout)
		}
	}
	uncounted := bytes.Replace(byCall, []byte(`"finalText":"456"`),
		[]byte(`"finalText":"Got it: 4711."`), 1)
	for line, want := range map[string]string{"exec hi": "\n",
		"exec -o json hi": `"num_turns":0,"result":""`} {
		if stdout, _, _ := show(call(line, false), fork, first.Totals,
			uncounted); !strings.Contains(stdout, want) || strings.Contains(stdout, "Got it") {
			t.Errorf("a turn that is not counted as %s: %q", line, stdout)
		}
	}
	same := fork
	same.Resume = string(regexpID(t, recording(t, "fork-stream", "stdout")))
	if _, _, seen := show(call("exec hi", false), same, "",
		recording(t, "fork-stream", "stdout")); !seen.WrongID {
		t.Error("a run in the session itself is taken for a copy")
	}
}

func regexpID(t *testing.T, out []byte) []byte {
	t.Helper()
	_, rest, _ := bytes.Cut(out, []byte(`"session_id":"`))
	id, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		t.Fatalf("no ID in %s", out)
	}
	return id
}

func TestDroidRefusals(t *testing.T) {
	if got := tool.Refused(string(recording(t, "fork-unknown", "stderr")), 1); got !=
		reason.RefusedSilent || len(recording(t, "fork-unknown", "stdout")) > 0 {
		t.Errorf("unknown: %q", got)
	}
	if got := tool.Refused("Invalid --output-format value\n", 1); got != "" {
		t.Errorf("bad usage: %q", got)
	}
	for name, want := range map[string]reason.Code{"toobig-stream": reason.RefusedContext,
		"badtool-stream": reason.RefusedBroken, "http401-stream": ""} {
		if _, _, seen := show(call("exec hi", false),
			rewrite.Plan{Resume: tooltest.SomeID, Copy: true}, "",
			recording(t, name, "stdout")); seen.Refusal != want || !seen.Final || !seen.Failed {
			t.Errorf("%s: %+v", name, seen)
		}
	}
}

// Every option of the help is known.
func TestDroidKnowsItsOptions(t *testing.T) {
	probe := tool.Options(string(recording(t, "help", "stdout")))
	if !probe.Known || !probe.Resume {
		t.Errorf("%v %v", probe.Known, probe.Resume)
	}
	var seen []string
	for _, o := range probe.Options {
		known, ok := options.Find(o.Names[0])
		if slices.Contains(seen, o.Names[0]) {
			continue // in an example
		}
		seen = append(seen, o.Names[0])
		if !ok || known.Arity != o.Arity {
			t.Errorf("%v: %v", o, known)
		}
	}
}

func TestDroidFiles(t *testing.T) {
	files, ok := rewrite.FilesOf(tool, "/h", tooltest.SomeID,
		"/h/sessions/-p/"+tooltest.SomeID+".jsonl")
	if !ok || len(files.Paths) != 3 ||
		files.Paths[1] != "sessions/-p/"+tooltest.SomeID+".settings.json" {
		t.Errorf("%+v", files)
	}
	if _, ok := rewrite.FilesOf(tool, "/h", tooltest.SomeID,
		"/h/sessions/"+tooltest.SomeID+".jsonl"); ok {
		t.Error("a file elsewhere is a session's")
	}
}

// A completion without its figures is shown as it is, with the events before it.
func TestDroidJSONWithoutFigures(t *testing.T) {
	s := tool.Stream(rewrite.CommandLine{Format: rewrite.JSON},
		rewrite.Plan{Resume: tooltest.SomeID, Copy: true}, "")
	lines := []string{
		`{"type":"message","role":"assistant","text":"hi","session_id":"` + tooltest.ForeignID +
			`"}` + "\n",
		`{"type":"completion","finalText":"hi","session_id":"` + tooltest.ForeignID + `"}` + "\n",
	}
	for _, line := range lines {
		if shown := s.Line([]byte(line)); len(shown) > 0 {
			t.Errorf("%q", shown)
		}
	}
	if shown := s.End(); len(shown) > 0 || s.Seen().Final ||
		string(s.Seen().Unshown) != strings.Join(lines, "") {
		t.Errorf("%q, %+v", shown, s.Seen())
	}
}

// Lines that are not shown are kept within bounds.
func TestDroidKeepsTheLatestLines(t *testing.T) {
	s := tool.Stream(rewrite.CommandLine{Format: rewrite.Text}, rewrite.Plan{}, "")
	line := `{"type":"x","text":"` + strings.Repeat("x", rewrite.MaxTexts/2) + "\"}\n"
	for range 3 {
		s.Line([]byte(line))
	}
	if s.End(); string(s.Seen().Unshown) != line {
		t.Errorf("%d bytes are kept", len(s.Seen().Unshown))
	}
}
