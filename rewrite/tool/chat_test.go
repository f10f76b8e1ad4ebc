package tool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/test/tooltest"
)

// A chatLine is a line that a run has added to a session's file.
type chatLine struct{ path, text string }

// A chatRun is a recorded run in text, with the session files that it has written.
type chatRun struct {
	tool   rewrite.Tool
	plan   rewrite.Plan
	exit   int
	stdout string
	lines  []chatLine
}

func readChat(t *testing.T, tool rewrite.Tool, name string) chatRun {
	t.Helper()
	dir := filepath.Join("../../testdata/recordings", tool.Descriptor().Name, name)
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var run struct {
		Argv []string
		Exit int
	}
	if err := json.Unmarshal([]byte(read(dir+"/run.json")), &run); err != nil {
		t.Fatal(err)
	}
	c := chatRun{tool: tool, exit: run.Exit, stdout: read(dir + "/stdout"),
		plan: rewrite.Plan{Whole: true}}
	for i, arg := range run.Argv {
		value := arg[strings.Index(arg, "=")+1:]
		switch {
		case strings.HasPrefix(arg, "--session-id="):
			c.plan.NewID = value
		case strings.HasPrefix(arg, "--resume="):
			c.plan.Resume = value
		case arg == "--fork-session":
			c.plan.Copy = true
		case strings.HasPrefix(arg, "--prompt="):
			c.plan.Prompt = value
		case arg == "-p":
			c.plan.Prompt = run.Argv[i+1]
		}
	}
	paths, err := filepath.Glob(dir + "/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		for line := range strings.Lines(read(path)) {
			c.lines = append(c.lines, chatLine{path, line})
		}
	}
	return c
}

// play returns the state that is read from the run if stdout comes behind so many lines, and the
// file ends with others.
func (c chatRun) play(t *testing.T, behind, end int) rewrite.StreamState {
	t.Helper()
	s := c.tool.Stream(rewrite.CommandLine{Format: rewrite.Text}, c.plan, "")
	shown := ""
	for i := range end + 1 {
		if i == behind {
			shown += string(s.Line([]byte(c.stdout)))
		}
		if i < end {
			s.File(c.lines[i].path, []byte(c.lines[i].text))
		}
	}
	if shown += string(s.End()); shown != c.stdout && behind <= end {
		t.Errorf("%q is shown as %q", c.stdout, shown)
	}
	return *s.Seen()
}

// The figures of a run in text are read from the session's file, wherever stdout comes in between.
func TestChats(t *testing.T) {
	const fork = ""
	for _, tt := range []struct {
		tool                            rewrite.Tool
		name                            string
		digit                           string // of the ID that distinguishes it, or fork
		final, content, tool_, shortens bool
		usage                           rewrite.Usage
		context                         int64
		texts                           string
	}{
		{the("gemini"), "chat-fresh", "4", true, true, false, false,
			rewrite.Usage{Input: 7764, CacheRead: 0, Output: 3}, 7767, "Got it: 7."},
		{the("gemini"), "chat-resume", "4", true, true, false, false,
			rewrite.Usage{Input: 108, CacheRead: 7680, Output: 1}, 7789, "7"},
		{the("gemini"), "chat-resume-later", "4", true, true, false, false,
			rewrite.Usage{Input: 305, CacheRead: 7680, Output: 1}, 7986, "7"},
		{the("gemini"), "chat-resume-tool", "4", true, true, true, false,
			rewrite.Usage{Input: 9277, CacheRead: 14336, Output: 4}, 11866, "Let me run it.|ok"},
		{the("gemini"), "chat-resume-http401", "4", false, false, false, false,
			rewrite.Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		{the("gemini"), "chat-tool", "0", true, true, true, false,
			rewrite.Usage{Input: 6621, CacheRead: 16896, Output: 4}, 11818, "Let me run it.|ok"},
		{the("gemini"), "chat-multi", "1", true, true, false, false,
			rewrite.Usage{Input: 6450, CacheRead: 5248, Output: 11}, 11709,
			"line one\n\n  line two \u2028 \u00e9 red"},
		{the("gemini"), "chat-empty", "2", false, false, false, false,
			rewrite.Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		{the("gemini"), "chat-http401", "3", false, false, false, false,
			rewrite.Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		{the("gemini"), "chat-toobig", "4", false, false, false, false,
			rewrite.Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		{the("gemini"), "chat-cut", "5", false, true, false, false,
			rewrite.Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		// Its tool's call is written when it has ended. That the shim has passed on a signal is all
		// that shows it.
		{the("gemini"), "chat-cut-in-tool", "6", true, true, false, false,
			rewrite.Usage{Input: 6452, CacheRead: 5248, Output: 3}, 11703, "Let me run it."},
		{the("qwen"), "chat-fresh", "4", true, true, false, false,
			rewrite.Usage{Input: 13810, CacheRead: 0, Output: 3}, 13813, "Got it: 7."},
		{the("qwen"), "chat-fork", fork, true, true, false, false,
			rewrite.Usage{Input: 141, CacheRead: 13696, Output: 1}, 13838, "7"},
		{the("qwen"), "chat-fork-tool", fork, true, true, true, false,
			rewrite.Usage{Input: 14389, CacheRead: 21248, Output: 4}, 17867, "Let me run it.|ok"},
		{the("qwen"), "chat-fork-toobig", fork, true, true, false, true,
			rewrite.Usage{Input: 3469, CacheRead: 11392, Output: 2}, 11479, "ok"},
		{the("qwen"), "chat-fork-http401", fork, false, false, false, false,
			rewrite.Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		{the("qwen"), "chat-tool", "0", true, true, true, false,
			rewrite.Usage{Input: 1019, CacheRead: 34560, Output: 4}, 17838, "Let me run it.|ok"},
		{the("qwen"), "chat-multi", "1", true, true, false, false,
			rewrite.Usage{Input: 844, CacheRead: 16896, Output: 11}, 17751,
			"line one\n\n  line two \u2028 \u00e9 \x1b[31mred\x1b[0m\n\n"},
		{the("qwen"), "chat-http401", "2", false, false, false, false,
			rewrite.Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		{the("qwen"), "chat-cut", "3", false, true, false, false,
			rewrite.Usage{Input: 0, CacheRead: 0, Output: 0}, 0, "ok"},
		{the("qwen"), "chat-cut-in-tool", "4", false, true, true, false,
			rewrite.Usage{Input: 86, CacheRead: 17664, Output: 11}, 17761, "Let me run it."},
	} {
		name := tt.tool.Descriptor().Name + " " + tt.name
		c := readChat(t, tt.tool, tt.name)
		id := "a1b2c3d" + tt.digit + "-7c1e-4f3a-9b52-0d5e8a61f2c4"
		if tt.digit == fork {
			id = strings.TrimSuffix(filepath.Base(c.lines[0].path), ".jsonl")
		}
		tt.usage.Known = tt.usage.Output > 0
		for behind := range len(c.lines) + 1 {
			seen := c.play(t, behind, len(c.lines))
			if seen.ID != id || seen.Final != tt.final || seen.Content != tt.content ||
				seen.ToolRan != tt.tool_ ||
				seen.Compacted != tt.shortens || seen.Failed || seen.WrongID || seen.Refusal != "" {
				t.Fatalf("%s, stdout behind %d lines: %+v", name, behind, seen)
			}
			if got := strings.Join(seen.Texts, "|"); got != tt.texts ||
				seen.Answer != strings.TrimSuffix(c.stdout, "\n") {
				t.Errorf("%s: texts %q, answer %q", name, got, seen.Answer)
			}
			if seen.Usage != tt.usage || seen.ContextUse.Used != tt.context ||
				seen.First.Known != tt.usage.Known {
				t.Errorf("%s: usage %+v, first %+v, context %d", name, seen.Usage, seen.First,
					seen.ContextUse.Used)
			}
			if want := map[string]string{"gemini": "gemini-2.5-pro",
				"qwen": "stand-in"}[tt.tool.Descriptor().Name]; tt.final && seen.Model != want {
				t.Errorf("%s: model %q", name, seen.Model)
			}
		}
	}
}

// A file that ends at any of its lines shows a run as complete only if the newest message is an
// answer without calls of tools.
func TestChatsCutShort(t *testing.T) {
	for _, tt := range []struct {
		tool rewrite.Tool
		name string
		// for each line: whether the run is complete (f), and whether there is content (c)
		want string
	}{
		{the("gemini"), "chat-fresh", "----ff"},
		{the("gemini"), "chat-tool", "----ffcccff"},
		{the("gemini"), "chat-resume", "------ff"},
		{the("gemini"), "chat-resume-tool", "------ffcccff"},
		{the("qwen"), "chat-tool", "---ccccf"},
		{the("qwen"), "chat-fork-tool", "-------ccccf"},
		{the("qwen"), "chat-fork-toobig", "----------f"},
	} {
		c := readChat(t, tt.tool, tt.name)
		c.stdout = ""
		got := ""
		for end := range c.lines {
			switch seen := c.play(t, 0, end+1); {
			case seen.Final && seen.Content:
				got += "f"
			case seen.Content:
				got += "c"
			default:
				got += "-"
			}
		}
		if got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.tool.Descriptor().Name, tt.name, got, tt.want)
		}
	}
}

// Of two copies made at once with one prompt, neither is this run's for sure; one with another
// prompt is not.
func TestQwenCopies(t *testing.T) {
	c := readChat(t, the("qwen"), "chat-fork")
	own := strings.TrimSuffix(filepath.Base(c.lines[0].path), ".jsonl")
	for _, tt := range []struct{ what, prompt, want string }{
		{"the same prompt", "what number", ""},
		{"another prompt", "what letter", own},
	} {
		both := c
		for _, line := range c.lines {
			text := strings.ReplaceAll(strings.ReplaceAll(line.text, own, tooltest.ForeignID),
				`"what number"`, `"`+tt.prompt+`"`)
			both.lines = append(both.lines, chatLine{"/h/" + tooltest.ForeignID + ".jsonl", text})
		}
		seen := both.play(t, 0, len(both.lines))
		if seen.ID != tt.want || !seen.Content || seen.Final != (tt.want != "") {
			t.Errorf("%s: %+v", tt.what, seen)
		}
	}
}

// A copy's totals are the session's, as json's results are.
func TestQwenChatTotals(t *testing.T) {
	fresh, copied := readChat(t, the("qwen"), "chat-fresh"), readChat(t, the("qwen"), "chat-fork")
	var before, after map[string]int64
	first, second := fresh.play(t, 0, len(fresh.lines)), copied.play(t, 0, len(copied.lines))
	if json.Unmarshal([]byte(first.Totals), &before) != nil ||
		json.Unmarshal([]byte(second.Totals), &after) != nil {
		t.Fatalf("totals %s and %s", first.Totals, second.Totals)
	}
	u := second.Usage
	for key, own := range map[string]int64{
		"input_tokens": u.Input + u.CacheRead, "cache_read_input_tokens": u.CacheRead,
		"output_tokens": u.Output,
		"total_tokens":  u.Input + u.CacheRead + u.Output,
	} {
		if key = "usage\t" + key; after[key] != before[key]+own {
			t.Errorf("%s: %d after %d, used %d", key, after[key], before[key], own)
		}
	}
	place := copied
	place.plan.Copy = false
	place.lines = nil
	for _, line := range copied.lines {
		if !strings.Contains(line.text, "forkedFrom") {
			id := strings.TrimSuffix(filepath.Base(line.path), ".jsonl")
			place.lines = append(place.lines, chatLine{"/h/" + place.plan.Resume + ".jsonl",
				strings.ReplaceAll(line.text, id, place.plan.Resume)})
		}
	}
	s := the("qwen").Stream(rewrite.CommandLine{Format: rewrite.Text}, place.plan, first.Totals)
	for _, line := range place.lines {
		s.File(line.path, []byte(line.text))
	}
	if seen := s.Seen(); seen.Totals != second.Totals || seen.Usage != u ||
		seen.ID != place.plan.Resume {
		t.Errorf("in place: %+v, want totals %s", seen, second.Totals)
	}
}

// Records that another process has written, or that are of an unexpected shape, keep a session from
// being resumed.
func TestOddChats(t *testing.T) {
	const (
		geminiHead = `{"sessionId":"` + tooltest.SomeID + `","kind":"main"}` + "\n"
		geminiAsks = `{"id":"a","type":"user","content":[{"text":"hi"}]}` + "\n"
		geminiSays = `{"id":"b","type":"gemini","content":"yes"}` + "\n"
		qwenAsks   = `{"type":"user","sessionId":"` + tooltest.SomeID +
			`","message":{"parts":[{"text":"hi"}]}}` + "\n"
		qwenSays = `{"type":"assistant","sessionId":"` + tooltest.SomeID +
			`","message":{"parts":[{"text":"yes"}]},"usageMetadata":{"promptTokenCount":1}}` + "\n"
		oddGemini   = `{"id":"b","type":"gemini","content":"yes","tokens":7}` + "\n"
		otherGemini = `{"sessionId":"` + tooltest.ForeignID + `","kind":"main"}` + "\n"
	)
	for _, tt := range []struct {
		what  string
		tool  rewrite.Tool
		lines string
		good  bool
	}{
		{"gemini", the("gemini"), geminiHead + geminiAsks + geminiSays, true},
		{"gemini, another session's header", the("gemini"),
			geminiHead + otherGemini + geminiAsks + geminiSays, false},
		{"gemini, no header", the("gemini"), geminiAsks + geminiSays, false},
		{"gemini, two prompts", the("gemini"), geminiHead + geminiAsks + geminiAsks + geminiSays,
			false},
		{"gemini, no prompt", the("gemini"), geminiHead + geminiSays, false},
		{"gemini, odd figures", the("gemini"), geminiHead + geminiAsks + oddGemini, false},
		{"gemini, an answer that is no text", the("gemini"),
			geminiHead + geminiAsks + `{"id":"b","type":"gemini","content":[]}` + "\n", false},
		{"gemini, an empty answer", the("gemini"),
			geminiHead + geminiAsks + `{"id":"b","type":"gemini","content":""}` + "\n", false},
		{"gemini, not JSON", the("gemini"), geminiHead + "oops\n" + geminiAsks + geminiSays, true},
		{"qwen", the("qwen"), qwenAsks + qwenSays, true},
		{"qwen, two prompts", the("qwen"), qwenAsks + qwenAsks + qwenSays, false},
		{"qwen, no prompt", the("qwen"), qwenSays, false},
		{"qwen, another session", the("qwen"), qwenAsks + strings.ReplaceAll(qwenSays,
			tooltest.SomeID, tooltest.ForeignID), false},
		{"qwen, no figures", the("qwen"), qwenAsks + strings.Replace(qwenSays, "Token", "", 1),
			false},
		{"qwen, odd parts", the("qwen"), qwenAsks + strings.Replace(qwenSays, `"yes"`, "7", 1),
			false},
		{"qwen, a prompt behind", the("qwen"), qwenAsks + qwenSays + qwenAsks, false},
	} {
		s := tt.tool.Stream(rewrite.CommandLine{Format: rewrite.Text},
			rewrite.Plan{NewID: tooltest.SomeID}, "")
		for line := range strings.Lines(tt.lines) {
			s.File("/h/"+tooltest.SomeID+".jsonl", []byte(line))
		}
		s.End()
		if seen := s.Seen(); (seen.ID == tooltest.SomeID && seen.Final && !seen.Failed) != tt.good {
			t.Errorf("%s: %+v", tt.what, seen)
		}
	}
	s := the("gemini").Stream(rewrite.CommandLine{Format: rewrite.Text},
		rewrite.Plan{Resume: tooltest.SomeID}, "")
	s.File("", []byte(geminiHead))
	s.File("", []byte(strings.Replace(geminiAsks, "hi", "<hook_context>x</hook_context>hi", 1)))
	if seen := s.Seen(); seen.Refusal != reason.RefusedBroken {
		t.Errorf("a prompt that gemini does not keep: %+v", seen)
	}
}

// A text that is too long to keep is shown, and its session is not resumed.
func TestChatsTooLong(t *testing.T) {
	for _, tool := range []rewrite.Tool{the("gemini"), the("qwen")} {
		s := tool.Stream(rewrite.CommandLine{Format: rewrite.Text},
			rewrite.Plan{NewID: tooltest.SomeID},
			"")
		piece := strings.Repeat("x", rewrite.LongestLine/2+1)
		for range 2 {
			if got := s.Line([]byte(piece)); string(got) != piece {
				t.Errorf("%d bytes are shown", len(got))
			}
		}
		s.End()
		if seen := s.Seen(); !seen.Failed || seen.Answer != "" {
			t.Errorf("%s: failed %v, %d bytes of answer", tool.Descriptor().Name, seen.Failed,
				len(seen.Answer))
		}
	}
}

// qwen's file is in the project's directory: a fresh session's under its ID, a copy's under an ID
// that is not known yet.
func TestQwenFollows(t *testing.T) {
	const any = "????????-????-????-????-????????????.jsonl"
	long := "/" + strings.Repeat("d", 200)
	for _, tt := range []struct {
		dir    string
		target rewrite.Target
		want   rewrite.Follow
	}{
		{"/work/my.app", rewrite.ToFresh("hi"),
			rewrite.Follow{Dir: "/h/.qwen/projects/-work-my-app/chats",
				Name: tooltest.ForeignID + ".jsonl", Root: "/h/.qwen/projects", Lines: true}},
		{"/work/my.app", tooltest.To{ID: tooltest.SomeID, Copied: true, Prompt: "hi",
			Whole: true}.Target(), rewrite.Follow{Dir: "/h/.qwen/projects/-work-my-app/chats",
			Name: any, Lines: true}},
		{long, rewrite.ToFresh("hi"), rewrite.Follow{Dir: "/h/.qwen/projects",
			Name: tooltest.ForeignID + ".jsonl", Lines: true}},
	} {
		c := the("qwen").ResolveWithEnv(rewrite.CommandLine{Mode: rewrite.Fresh,
			Format: rewrite.Text,
			Home:   "/h/.qwen", Prompt: "hi"}, rewrite.HostEnv{Dirs: []string{tt.dir},
			Version: "0.24.4"})
		got := the("qwen").Plan(c, tooltest.Beginning(tt.target, tooltest.ForeignID)).Follow
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("in %.20s: %+v, want %+v", tt.dir, got, tt.want)
		}
	}
}
