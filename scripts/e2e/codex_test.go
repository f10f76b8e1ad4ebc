package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/standin"
)

var codexTwins = map[string]call{
	"text":                      {args: list("exec|hi remember number 456")},
	"json":                      {args: list("exec|--json|hi remember number 456")},
	"json by its old name":      {args: list("exec|hi|--experimental-json")},
	"alias":                     {args: list("e|hi")},
	"stdin only":                {args: list("exec"), stdin: "hi remember number 9\n"},
	"stdin by dash":             {args: list("exec|-"), stdin: "hi remember number 9\n"},
	"stdin by dash, json":       {args: list("exec|--json|-"), stdin: "hi remember number 9\n"},
	"stdin and argument":        {args: list("exec|look here"), stdin: "hi remember number 9\n"},
	"stdin, no newline":         {args: list("exec|look here"), stdin: "hi remember number 9"},
	"stdin is only space":       {args: list("exec|look here"), stdin: " \n\n"},
	"no prompt":                 {args: list("exec")},
	"empty prompt":              {args: []string{"exec", ""}},
	"several lines, text":       {args: list("exec|MULTI")},
	"several lines, json":       {args: list("exec|MULTI|--json")},
	"empty result, text":        {args: list("exec|EMPTY")},
	"empty result, json":        {args: list("exec|EMPTY|--json")},
	"colours":                   {args: list("exec|--color|always|hi")},
	"tool use, text":            {args: list("exec|--dangerously-bypass-approvals-and-sandbox|RUNTOOL please")},
	"tool use, json":            {args: list("exec|--json|--yolo|RUNTOOL please")},
	"401, text":                 {args: list("exec|HTTP401")},
	"401, json":                 {args: list("exec|HTTP401|--json")},
	"429, text":                 {args: list("exec|HTTP429")},
	"429, json":                 {args: list("exec|HTTP429|--json")},
	"500, text":                 {args: list("exec|HTTP500")},
	"500, json":                 {args: list("exec|HTTP500|--json")},
	"overflow, text":            {args: list("exec|TOOBIG")},
	"overflow, json":            {args: list("exec|TOOBIG|--json")},
	"broken transcript":         {args: list("exec|BADTOOL")},
	"options before exec":       {args: list("-m|gpt-5.4|-a|never|exec|hi")},
	"options around":            {args: list("exec|-s|read-only|hi|-mgpt-5.4|-c=model_reasoning_effort=low")},
	"unknown flag":              {args: list("exec|hi|--no-such-flag")},
	"unknown flag before":       {args: list("--no-such-flag|exec|hi")},
	"flag given twice":          {args: list("exec|--json|--json|hi")},
	"bad value":                 {args: list("exec|-s|nowhere|hi")},
	"value missing":             {args: list("exec|hi|-m")},
	"two prompts":               {args: list("exec|hi|there")},
	"prompt like an option":     {args: list("exec|--|--json")},
	"prompt like a command":     {args: list("exec|--|resume")},
	"prompt like a slash":       {args: list("exec|/status")},
	"long prompt":               {args: []string{"exec", strings.Repeat("All work and no play. ", 4600)}},
	"unknown session, text":     {args: list("exec|resume|" + unknownID + "|hi")},
	"unknown session, json":     {args: list("exec|--json|resume|" + unknownID + "|hi")},
	"not a session, json":       {args: list("exec|--json|resume|nonsense|hi")},
	"no session kept":           {args: list("exec|--ephemeral|hi")},
	"nested":                    {args: list("exec|hi"), env: []string{"CODEX_THREAD_ID=" + unknownID}},
	"5 MB answer":               {args: list("exec|BIG5MB|--json")},
	"one stream":                {args: list("exec|hi remember number 5"), mixed: true},
	"one stream, several lines": {args: list("exec|MULTI"), mixed: true},
	"other settings' answer":    {args: list("exec|hi|-o|LAST")},
	"help":                      {args: list("exec|--help")},
	"top help":                  {args: list("--help")},
	"version":                   {args: list("--version")},
	"mcp list":                  {args: list("mcp|list")},
}

// What stands in files that codex is given.
const (
	anyObject = `{"type":"object","properties":{},"additionalProperties":false}`
	pixel     = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
		"\x00\x00\x00\rIDATx\x9cc`\x00\x00\x00\x02\x00\x01\xe2!\xbc3\x00\x00\x00\x00IEND\xaeB`\x82"
)

func TestCodexTwins(t *testing.T) { checkTwins(t, "codex", codexTwins) }

func TestCodexWritesTheCallersFiles(t *testing.T) {
	for _, args := range []string{"exec|hi|-o|LAST", "exec|MULTI|--json|--output-schema|schema.json|--output-last-message=LAST"} {
		var last []string
		for _, shim := range []bool{false, true} {
			w := newWorld(t, "codex", shim)
			put(t, filepath.Join(w.project, "schema.json"), anyObject)
			if r := w.call(list(args)...); r.exit != 0 {
				t.Errorf("%s: exit %d, %s", args, r.exit, r.stderr)
			}
			text, err := os.ReadFile(filepath.Join(w.project, "LAST"))
			if err != nil {
				t.Error(err)
			}
			last = append(last, string(text))
		}
		same(t, "LAST", last[0], last[1])
	}
}

// codexFormats are the formats, and how the final answer is read from each.
var codexFormats = map[string]func(*testing.T, string) string{
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
	for format, answer := range codexFormats {
		t.Run(orText(format), func(t *testing.T) {
			w := newWorld(t, "codex", true)
			if got := answer(t, w.call(codexArgs(format, round())...).stdout); got != "Got it: 4711." {
				t.Fatalf("first answer %q", got)
			}
			var notes []string
			for turn := 2; turn <= 5; turn++ {
				notes = append(notes, fmt.Sprintf("Round %d: what number was it?", turn))
				r := w.call(codexArgs(format, round(notes...))...)
				if got := answer(t, r.stdout); got != "4711" || r.exit != 0 {
					t.Fatalf("turn %d: %q, exit %d, stderr %q", turn, got, r.exit, r.stderr)
				}
				w.sentOnlyNews(r, turn, notes)
			}
			w.statusSays(`"resume"`, `"extends"`, `"turns": 5`, `"calls": 5`)
		})
	}
}

// What a resumed call shows is what a direct one shows, but for the model's own
// words, which here are the same.
func TestCodexResumedCallLooksLikeADirectOne(t *testing.T) {
	calls := map[string]func(prompt string) call{
		"text":               func(p string) call { return call{args: []string{"exec", p}} },
		"json":               func(p string) call { return call{args: []string{"exec", "--json", p}} },
		"colours":            func(p string) call { return call{args: []string{"exec", p, "--color", "always"}} },
		"stdin":              func(p string) call { return call{args: list("exec"), stdin: p} },
		"stdin, json":        func(p string) call { return call{args: list("exec|--json"), stdin: p} },
		"dash":               func(p string) call { return call{args: list("exec|-"), stdin: p} },
		"argument and stdin": func(p string) call { return call{args: []string{"exec", "Look here."}, stdin: p} },
		"one stream":         func(p string) call { return call{args: []string{"exec", p}, mixed: true} },
		"options": func(p string) call {
			return call{args: []string{"-a", "never", "exec", "-s", "read-only", "-C", ".", "--", p}}
		},
		"files": func(p string) call {
			return call{args: []string{"exec", "-i", "a.png", "--output-schema", "schema.json", "-o", "LAST", p}}
		},
		"tool use": func(p string) call {
			return call{args: []string{"exec", "--yolo", strings.Replace(p, "ECHO<<yes>>", "RUNTOOL", 1)}}
		},
		"tool use, json": func(p string) call {
			return call{args: []string{"exec", strings.Replace(p, "ECHO<<yes>>", "RUNTOOL", 1), "--json", "--yolo"}}
		},
		"several lines": func(p string) call {
			return call{args: []string{"exec", strings.Replace(p, "ECHO<<yes>>", "MULTI", 1)}}
		},
		"nothing": func(p string) call {
			return call{args: []string{"exec", strings.Replace(p, "ECHO<<yes>>", "EMPTY", 1)}}
		},
		"a long line": func(p string) call {
			return call{args: []string{"exec", "-"}, stdin: p + "\n" + strings.Repeat("long ", 30000) + "\n"}
		},
	}
	for name, make := range calls {
		t.Run(name, func(t *testing.T) {
			direct, w := newWorld(t, "codex", false), newWorld(t, "codex", true)
			for _, world := range []*world{direct, w} {
				put(t, filepath.Join(world.project, "schema.json"), anyObject)
				put(t, filepath.Join(world.project, "a.png"), pixel)
			}
			first, second := make(round()), make(round("ECHO<<yes>>"))
			w.run("codex", first)
			a, b := direct.run("codex", second), w.run("codex", second)
			if a.exit != b.exit {
				t.Errorf("exit %d, with the shim %d", a.exit, b.exit)
			}
			same(t, "stdout", withoutFigures(direct.mask(a.stdout)), withoutFigures(w.mask(b.stdout)))
			same(t, "stderr", withoutFigures(direct.mask(a.stderr)), withoutFigures(w.mask(b.stderr)))
			if n := standin.Messages(b.last(t)); n < 2+standin.Messages(a.last(t)) {
				t.Errorf("the resumed call sent %d messages", n)
			}
			w.statusSays(`"extends"`)
		})
	}
}

// withoutFigures masks what a call took.
func withoutFigures(text string) string {
	for _, cut := range []string{"tokens used\x1b[0m\n", "tokens used\n", `"usage":{`} {
		if at := strings.Index(text, cut); at >= 0 {
			end := at + len(cut) + strings.IndexAny(text[at+len(cut):], "\n}")
			text = text[:at+len(cut)] + text[end:]
		}
	}
	return text
}

// The number of tokens at the end of a resumed transcript and in the last event is
// the call's own: near what the model's API counted for it, not the thread's sum.
func TestCodexFiguresAreThisCallsOwn(t *testing.T) {
	for format := range codexFormats {
		t.Run(orText(format), func(t *testing.T) {
			w := newWorld(t, "codex", true)
			var first int64
			for turn, notes := range [][]string{nil, {"what number?"}, {"what number?", "what number again?"}} {
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
}

// tokens makes a round's call and reads how many tokens it is said to have taken.
func (w *world) tokens(format string, notes []string) (took int64) {
	w.t.Helper()
	r := w.call(codexArgs(format, round(notes...))...)
	if format != "" {
		events := codexEvents(w.t, r.stdout)
		return events[len(events)-1].Usage.Input
	}
	_, after, _ := strings.Cut(r.stderr, "\ntokens used\n")
	if err := json.Unmarshal([]byte(strings.ReplaceAll(strings.TrimSpace(after), ",", "")), &took); err != nil {
		w.t.Fatalf("%v: %q", err, r.stderr)
	}
	return took
}

func TestCodexPromptAndFileAreOnePrompt(t *testing.T) {
	w := newWorld(t, "codex", true)
	// The end of the file is in one block with what codex puts behind it, so that
	// a file that has grown is a prompt revised.
	task := []string{"REPRISE_TASK=one"}
	w.run("codex", call{args: []string{"exec", round()}, stdin: "## Data\n\none\n", env: task})
	r := w.run("codex", call{args: []string{"exec", round()}, stdin: "## Data\n\none\n\n## More\n\nwhat number was it?\n", env: task})
	if r.stdout != "4711\n" {
		t.Errorf("answer %q, stderr %q", r.stdout, r.stderr)
	}
	prompt := standin.LastUser(r.last(t))
	if strings.Contains(prompt, "Rule 7:") || !strings.Contains(prompt, "what number was it?\n</stdin>") {
		t.Errorf("sent %q", prompt)
	}
}

func TestCodexSessionFileGone(t *testing.T) {
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
	if got := answer(w.t, r.stdout); got != "Got it: 12." || r.exit != 0 || len(r.asked) != 1 {
		w.t.Errorf("answer %q, stderr %q, exit %d, asked %d times", got, r.stderr, r.exit, len(r.asked))
	}
	if strings.Contains(r.stderr, "Error") || strings.Count(r.stderr, "Reading additional input") != 1 {
		w.t.Errorf("stderr %q", r.stderr)
	}
	if prompt := standin.LastUser(r.last(w.t)); !strings.Contains(prompt, "Rule 7:") {
		w.t.Errorf("the fresh session was sent a delta: %q", prompt)
	}
}

func TestCodexRefusedResumeRunsFresh(t *testing.T) {
	for format, answer := range codexFormats {
		t.Run(orText(format), func(t *testing.T) {
			w := newWorld(t, "codex", true)
			w.call(codexArgs(format, round())...)
			for _, f := range w.transcripts() {
				blank(t, f)
			}
			w.runsFresh(format, answer)
			w.statusSays(`"state": "dead"`)
		})
	}
}

// A thread that another codex has open is not dead.
func TestCodexBusyThreadRunsFresh(t *testing.T) {
	w := newWorld(t, "codex", true)
	w.call("exec", round())
	w.lockThread()
	w.runsFresh("", codexFormats[""])
	w.statusSays(`"fell_back": "refused_busy"`)
}

func TestCodexOverflowRunsFresh(t *testing.T) {
	w := newWorld(t, "codex", true)
	w.call("exec", round())
	r := w.call("exec", round("TOOBIG"))
	direct := newWorld(t, "codex", false)
	d := direct.call("exec", round("TOOBIG"))
	if r.exit != d.exit || r.stdout != d.stdout {
		t.Errorf("stdout %q, exit %d; direct %q, %d", r.stdout, r.exit, d.stdout, d.exit)
	}
	same(t, "stderr", direct.mask(d.stderr), w.mask(r.stderr))
	w.statusSays(`"refused_context_exceeded"`)
	if r := w.call("exec", round("remember number 5")); r.exit != 0 || r.stdout != "Got it: 5.\n" {
		t.Errorf("afterwards: stdout %q, exit %d", r.stdout, r.exit)
	}
}

// What is not about the session is passed on as it is, once.
func TestCodexFailureOfTheModelIsPassedOn(t *testing.T) {
	for format := range codexFormats {
		t.Run(orText(format), func(t *testing.T) {
			direct, w := newWorld(t, "codex", false), newWorld(t, "codex", true)
			w.call(codexArgs(format, round())...)
			args := codexArgs(format, round("HTTP401"))
			a, b := direct.call(args...), w.call(args...)
			if a.exit != b.exit || len(b.asked) != len(a.asked) {
				t.Errorf("exit %d, asked %d times; direct %d, %d", b.exit, len(b.asked), a.exit, len(a.asked))
			}
			same(t, "stdout", direct.mask(a.stdout), w.mask(b.stdout))
			same(t, "stderr", direct.mask(a.stderr), w.mask(b.stderr))
		})
	}
}

func TestCodexOtherSettingsRunFresh(t *testing.T) {
	w := newWorld(t, "codex", true)
	w.call("exec", "-s", "read-only", round())
	r := w.call("exec", "-s", "workspace-write", round("what number?"))
	if prompt := standin.LastUser(r.last(t)); !strings.Contains(prompt, "Rule 7:") {
		t.Errorf("sent %q", prompt)
	}
	w.statusSays(`"settings_changed"`)
}
