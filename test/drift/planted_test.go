package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/internal/standin"
	"reprise/test/conformance/suite"
	"reprise/test/harness"
	"reprise/test/toolbox"
)

// A turn is one call of a claude that is played, before it is printed. A planted change changes it.
type turn struct {
	text, json, verbose, stream   bool
	failed, resumed, fork, chosen bool

	session, answer, stderr, end   string
	init, assistant, result, novel string // events
	order                          string // of their first letters
	// lines of the session; files in the project and the home
	lines, files, home []string
	exit               int
	signal             syscall.Signal
	asked, left        int
	took               time.Duration
	breaks             error
}

func newID() string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", rand.Uint32(), rand.Uint64N(1<<48))
}

// about returns a number that differs a little in each run.
func about(n float64) float64 { return n * (1 + rand.Float64()/50) }

// play makes the calls of a case with a claude in which something has changed.
func play(c suite.Case, change func(*turn)) *seen {
	v, w := version{tool: "claude", number: "9.9.9"}, &harness.World{Root: "/nowhere"}
	s := newSeen(func(text string) string { return v.mask(w, text) })
	session, resumable := "", false
	var home []string
	var transcript strings.Builder
	for i, call := range c.Calls {
		if i > 0 {
			s.call = fmt.Sprintf("call %d: ", i+1)
		}
		args := strings.Join(call.Args, " ")
		t := turn{session: newID(), took: 50 * time.Millisecond, end: "\n", order: "iar", asked: 1}
		format := regexp.MustCompile(`--output-format ([\w-]+)`).FindStringSubmatch(args)
		t.verbose = strings.Contains(args, "--verbose")
		t.text, t.json, t.stream = format == nil, format != nil && format[1] == "json",
			format != nil && format[1] == "stream-json"
		t.chosen = strings.Contains(args, "--session-id")
		t.resumed, t.fork = resumable && strings.Contains(args, "{id}"),
			strings.Contains(args, "--fork-session")
		if t.resumed && !t.fork {
			t.session = session
		}
		t.home = []string{".claude/projects/p/" + t.session + ".jsonl", ".claude.json"}
		t.answer = "ok"
		switch {
		case strings.Contains(args, "what number"):
			if t.answer = "I do not know any number."; t.resumed {
				t.answer = "7"
			}
		case regexp.MustCompile("HTTP|TOOBIG|BADTOOL|glm").MatchString(args):
			t.answer, t.exit, t.failed = "API Error: failed", 1, true
		}
		cost, tokens, at := about(0.1), about(9000),
			time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
		if t.resumed {
			cost *= 3
		}
		t.init = fmt.Sprintf(
			`{"type":"system","subtype":"init","session_id":"%s","tools":["Bash","Edit"],"claude_code_version":"9.9.9","uuid":"%s"}`, t.session, newID())
		t.assistant = fmt.Sprintf(
			`{"type":"assistant","session_id":"%s","message":{"id":"msg_%d","model":"m","content":[{"type":"text","text":"%s"}],"usage":{"input_tokens":%.0f}}}`,
			t.session, rand.Uint32(), t.answer, tokens)
		t.result = fmt.Sprintf(
			`{"type":"result","subtype":"success","is_error":%v,"duration_ms":%d,"num_turns":1,"result":"%s","session_id":"%s","total_cost_usd":%f,"usage":{"input_tokens":%.0f},"uuid":"%s"}`,
			t.failed, rand.IntN(5000), t.answer, t.session, cost, tokens, newID())
		t.lines = []string{
			fmt.Sprintf(`{"type":"user","sessionId":"%s","timestamp":"%s","uuid":"%s","message":{"role":"user","content":"hi"}}`, t.session, at, newID()),
			fmt.Sprintf(`{"type":"assistant","sessionId":"%s","timestamp":"%s","requestId":"req_%d","message":{"role":"assistant","content":[{"type":"text","text":"ok"}]}}`,
				t.session, at, rand.Uint32())}
		if change(&t); t.breaks != nil {
			return &seen{failed: t.breaks}
		}
		s.result(call, t.print())
		s.took += t.took
		session, resumable = t.session, !t.failed
		s.ids[session] = true
		for _, name := range t.home {
			if !slices.Contains(home, name) {
				home = append(home, name)
			}
		}
		for _, line := range t.lines {
			transcript.WriteString(line + "\n")
		}
	}
	s.call = ""
	for _, name := range home {
		s.file(name)
	}
	s.transcript(transcript.String())
	return s
}

// print returns the caller's output.
func (t turn) print() harness.Result {
	var events []string
	for _, letter := range t.order {
		events = append(events, map[rune]string{'i': t.init, 'a': t.assistant, 'r': t.result,
			'n': t.novel}[letter])
	}
	r := harness.Result{Stderr: t.stderr, Exit: t.exit, Signal: t.signal, Files: t.files,
		Left: t.left}
	for range t.asked {
		r.Asked = append(r.Asked, standin.Request{API: "messages",
			Body: map[string]any{"model": "m", "stream": true}})
	}
	switch {
	case t.stream:
		r.Stdout = strings.Join(events, "\n") + t.end
	case t.json && t.verbose:
		r.Stdout = "[" + strings.Join(events, ",") + "]" + t.end
	case t.json:
		r.Stdout = t.result + t.end
	default:
		r.Stdout = t.answer + t.end
	}
	return r
}

func swap(text *string, pairs ...string) { *text = strings.NewReplacer(pairs...).Replace(*text) }

// planted are changes in a later claude, each with a line of the report.
var planted = []struct {
	name, want string
	change     func(*turn)
}{
	{"exit status of failures", "### exit status\n\n    - 1\n        in: 429, json; 429, " +
		"stream; 429, text\n", func(t *turn) { t.exit *= 2 }},
	{"notice in text only", "### stderr\n\n    + Note: old sessions were removed.\n        in: " +
		"429, ", func(t *turn) {
		if t.text {
			t.stderr = "Note: old sessions were removed.\n"
		}
	}},
	{"session_id renamed", `- result/success session_id "ID"`, func(t *turn) {
		t.each(`"session_id"`, `"sessionId"`)
	}},
	{"timestamp of transcripts renamed", "- user timestamp \"TIME\"\n", func(t *turn) {
		for i := range t.lines {
			swap(&t.lines[i], `"timestamp"`, `"at"`)
		}
	}},
	{"--session-id needs a flag", "+ error: --session-id needs --allow-session-id\n        in: " +
		"chosen session", func(t *turn) {
		if t.chosen {
			t.refuse("error: --session-id needs --allow-session-id")
		}
	}},
	{"--fork-session is refused", "### stderr\n\n    + call 2: error: not both\n        in: own " +
		"fork; own fork, stream", func(t *turn) {
		if t.fork {
			t.refuse("error: not both")
		}
	}},
	{"sessions elsewhere", "### no result\n\n    + find the session of claude: there is none\n  " +
		"      in: own fork; own fork, stream; own resume, json", func(t *turn) {
		t.home[0] = ".claude/history/p/ID.jsonl"
		if t.resumed {
			t.breaks = errors.New("find the session of claude: there is none")
		}
	}},
	{"resume forgets", `- call 2: result/success result "7"`, func(t *turn) {
		if t.resumed {
			t.each(`"7"`, `"I do not know any number."`)
		}
	}},
	{"a fork forgets", "- call 2: result/success result \"7\"\n        in: own fork; own fork, " +
		"stream\n", func(t *turn) {
		if t.fork {
			t.each(`"7"`, `"I do not know any number."`)
		}
	}},
	{"figures are the call's own", "+ call 2: result/success total_cost_usd is 0.3 times as " +
		"much\n        in: own fork; own fork, stream; own resume, json", func(t *turn) {
		if t.resumed {
			swap(&t.result, `"total_cost_usd":0.3`, `"total_cost_usd":0.1`)
		}
	}},
	{"json in several lines", "+ { in several lines\n        in: 429, json; ", func(t *turn) {
		if t.json {
			swap(&t.result, `,"`, ",\n  \"")
		}
	}},
	{"is_error false on failures", "- result/success is_error true\n", func(t *turn) {
		swap(&t.result, `"is_error":true`, `"is_error":false`)
	}},
	{"result before the answer", "- events: system/init assistant result/success\n", func(t *turn) {
		t.order = "ira"
	}},
	{"answer twice", "+ events: system/init assistant*2 result/success\n", func(t *turn) {
		t.order = "iaar"
	}},
	{"empty result", `- result/success result "ok"`, func(t *turn) {
		swap(&t.result, `"result":"`+t.answer, `"result":"`)
	}},
	{"session_id an object", "+ result/success session_id object\n", func(t *turn) {
		swap(&t.result, `"session_id":"`+t.session+`"`, `"session_id":{"id":"`+t.session+`"}`)
	}},
	{"no session_id in failures", `- result/success session_id "`, func(t *turn) {
		if t.failed {
			swap(&t.result, `"session_id":"`+t.session+`",`, "")
		}
	}},
	{"another session in a resumed run", `- call 2: result/success session_id "known ID"`,
		func(t *turn) {
			if t.resumed {
				t.each(t.session, newID())
			}
		}},
	{"no result in streams", "- events: system/init assistant result/success\n", func(t *turn) {
		if t.stream {
			t.order = "ia"
		}
	}},
	{"no init", "- events: system/init assistant result/success\n", func(t *turn) {
		t.order = "ar"
	}},
	{"subtype of failures", "- events: system/init assistant result/success\n        in: 429",
		func(t *turn) {
			if t.failed {
				swap(&t.result, "success", "error_during_execution")
			}
		}},
	{"another text in json", "- result/success result \"ok\"\n", func(t *turn) {
		swap(&t.result, `"`+t.answer+`"`, `"`+t.answer+` (done)"`)
	}},

	{"one more request", "+ requests: messages*2\n", func(t *turn) { t.asked = 2 }},
	{"failures end by a signal", "+ terminated\n", func(t *turn) {
		if t.failed {
			t.exit, t.signal = -1, syscall.SIGTERM
		}
	}},
	{"a number is a text", "- result/success num_turns <n>\n", func(t *turn) {
		swap(&t.result, `"num_turns":1`, `"num_turns":"1"`)
	}},
	{"null for an answer", "- result/success result \"ok\"\n", func(t *turn) {
		swap(&t.result, `"result":"`+t.answer+`"`, `"result":null`)
	}},
	{"no newline at the end", "+ ok (no newline at the end)\n", func(t *turn) { t.end = "" }},
	{"colours in text", "- ok\n", func(t *turn) {
		swap(&t.answer, t.answer, "\x1b[1m"+t.answer+"\x1b[0m")
	}},
	{"a list is one event a line", "- [ in a line\n", func(t *turn) {
		t.stream, t.verbose = t.stream || t.verbose, false
	}},
	{"a tool is gone", `- system/init tools[] "Edit"`, func(t *turn) {
		swap(&t.init, `,"Edit"`, "")
	}},
	{"a session of two files", "- .claude/projects/p/ID.jsonl\n", func(t *turn) {
		t.home[0] = ".claude/projects/p/" + t.session + "/messages.json"
	}},
	{"work leaves a file", "    + lock\n        in: 429, ", func(t *turn) {
		t.files = []string{"lock\n"}
	}},
	{"lines of a session in another order", "- transcripts: user assistant\n", func(t *turn) {
		slices.Reverse(t.lines)
	}},
	{"figures are zero", "result/success total_cost_usd is 0\n        in: 429, json; ",
		func(t *turn) { swap(&t.result, `_usd":0.`, `_usd":0,"x":0.`) }},
	{"json with spaces", "+ { in a line, with spaces\n", func(t *turn) {
		swap(&t.result, `":`, `": `)
	}},
	{"events with spaces", "+ { in each line, with spaces\n", func(t *turn) {
		if t.stream {
			t.each(`":`, `": `)
		}
	}},
	{"a session is one list", "- { in each line\n        in: 429, ", func(t *turn) {
		t.lines = []string{"[" + strings.Join(t.lines, ",") + "]"}
	}},
	{"a process is left", "### exit status\n\n    + 1 processes are left\n        in: ",
		func(t *turn) { t.left = 1 }},
	{"figures of tokens are twice as much", "result/success usage.input_tokens is 2",
		func(t *turn) { swap(&t.result, `"input_tokens":9`, `"input_tokens":19`) }},
}

// listed are changes that break no caller.
var listed = []struct {
	name, want string
	change     func(*turn)
}{
	{"a new event", "    + usage_update object\n        in: 429, stream; ", func(t *turn) {
		t.novel, t.order = `{"type":"usage_update","tokens":1}`, "inar"
	}},
	{"starts later", "### time\n\n    half of the calls take 300ms more, or longer\n",
		func(t *turn) { t.took += 300 * time.Millisecond }},
	{"a new key", "    + result/success fast true\n        in: 429, json; ", func(t *turn) {
		swap(&t.result, `"num_turns"`, `"fast":true,"num_turns"`)
	}},
	{"a new file", "### files in the home, new\n\n    + .claude/cache/*.json\n", func(t *turn) {
		t.home = append(t.home, ".claude/cache/x8.json")
	}},
}

// each changes all that the turn prints.
func (t *turn) each(pairs ...string) {
	for _, text := range []*string{&t.init, &t.assistant, &t.result} {
		swap(text, pairs...)
	}
	answer := `"` + t.answer + `"`
	swap(&answer, pairs...)
	t.answer = strings.Trim(answer, `"`)
}

// refuse has the turn fail with a message, before it does anything.
func (t *turn) refuse(message string) {
	*t = turn{stderr: message + "\n", exit: 1, text: true}
}

// few are cases with each format, failures and resumes.
func few() []suite.Case {
	match := regexp.MustCompile(
		`^(text|json|verbose|stream|429, (json|stream|text)|own resume, (text|json|stream)|own fork|own fork, stream|chosen session|two jobs)$`)
	return slices.DeleteFunc(suite.Cases("claude"), func(c suite.Case) bool {
		return !match.MatchString(c.Name)
	})
}

// compareTurns compares a claude with itself in which something has changed.
func compareTurns(change func(*turn)) report {
	r := report{tool: "claude", old: "9.9.8", new: "9.9.9"}
	r.compare(few(), func(c suite.Case) *seen {
		return play(c, func(*turn) {})
	}, func(c suite.Case) *seen { return play(c, change) })
	return r
}

// Each planted change is a difference.
func TestPlanted(t *testing.T) {
	toolbox.Long(t)
	for _, p := range planted {
		if r := compareTurns(p.change); r.outcome() != differs ||
			!strings.Contains(r.String(), p.want) {
			t.Errorf("%s: no %q in\n%s", p.name, p.want, r)
		}
	}
}

// New and slower things are listed.
func TestListed(t *testing.T) {
	for _, p := range listed {
		if r := compareTurns(p.change); r.outcome() != clean ||
			!strings.Contains(r.String(), p.want) {
			t.Errorf("%s: no %q in\n%s", p.name, p.want, r)
		}
	}
}

// Versions that are equal but for IDs, times and numbers of tokens are clean, each time.
func TestUnchanged(t *testing.T) {
	for range 3 {
		if r := compareTurns(func(*turn) {}); len(r.sections) > 0 || r.outcome() != clean {
			t.Errorf("%s", r)
		}
	}
}
