package rewrite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

// A chatLine is a line that a run has added to a session's file.
type chatLine struct{ path, text string }

// A chatRun is a recorded run in text, with what it has written to session files.
type chatRun struct {
	tool   Tool
	plan   Plan
	exit   int
	stdout string
	lines  []chatLine
}

func readChat(t *testing.T, tool Tool, name string) chatRun {
	t.Helper()
	dir := filepath.Join("../testdata/recordings", tool.Descriptor().Name, name)
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
	c := chatRun{tool: tool, exit: run.Exit, stdout: read(dir + "/stdout"), plan: Plan{Whole: true}}
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

// play returns what is seen of the run if stdout comes behind so many lines, and the file ends with others.
func (c chatRun) play(t *testing.T, behind, end int) StreamState {
	t.Helper()
	s := c.tool.Stream(Call{Format: Text}, c.plan, "")
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

// What a run in text was is read from the session's file, wherever stdout comes in between.
func TestChats(t *testing.T) {
	const fork = ""
	for _, tt := range []struct {
		tool                            Tool
		name                            string
		digit                           string // of the ID that distinguishes it, or fork
		final, content, tool_, shortens bool
		usage                           Usage
		context                         int64
		texts                           string
	}{
		{gemini{}, "chat-fresh", "4", true, true, false, false, Usage{Input: 7764, CacheRead: 0, Output: 3}, 7767, "Got it: 7."},
		{gemini{}, "chat-resume", "4", true, true, false, false, Usage{Input: 108, CacheRead: 7680, Output: 1}, 7789, "7"},
		{gemini{}, "chat-resume-later", "4", true, true, false, false, Usage{Input: 305, CacheRead: 7680, Output: 1}, 7986, "7"},
		{gemini{}, "chat-resume-tool", "4", true, true, true, false, Usage{Input: 9277, CacheRead: 14336, Output: 4}, 11866, "Let me run it.|ok"},
		{gemini{}, "chat-resume-http401", "4", false, false, false, false, Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		{gemini{}, "chat-tool", "0", true, true, true, false, Usage{Input: 6621, CacheRead: 16896, Output: 4}, 11818, "Let me run it.|ok"},
		{gemini{}, "chat-multi", "1", true, true, false, false, Usage{Input: 6450, CacheRead: 5248, Output: 11}, 11709, "line one\n\n  line two \u2028 \u00e9 red"},
		{gemini{}, "chat-empty", "2", false, false, false, false, Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		{gemini{}, "chat-http401", "3", false, false, false, false, Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		{gemini{}, "chat-toobig", "4", false, false, false, false, Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		{gemini{}, "chat-cut", "5", false, true, false, false, Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		// Its tool's call is written when it has ended. That the shim has passed on a signal is all that shows it.
		{gemini{}, "chat-cut-in-tool", "6", true, true, false, false, Usage{Input: 6452, CacheRead: 5248, Output: 3}, 11703, "Let me run it."},
		{qwen{}, "chat-fresh", "4", true, true, false, false, Usage{Input: 13810, CacheRead: 0, Output: 3}, 13813, "Got it: 7."},
		{qwen{}, "chat-fork", fork, true, true, false, false, Usage{Input: 141, CacheRead: 13696, Output: 1}, 13838, "7"},
		{qwen{}, "chat-fork-tool", fork, true, true, true, false, Usage{Input: 14389, CacheRead: 21248, Output: 4}, 17867, "Let me run it.|ok"},
		{qwen{}, "chat-fork-toobig", fork, true, true, false, true, Usage{Input: 3469, CacheRead: 11392, Output: 2}, 11479, "ok"},
		{qwen{}, "chat-fork-http401", fork, false, false, false, false, Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		{qwen{}, "chat-tool", "0", true, true, true, false, Usage{Input: 1019, CacheRead: 34560, Output: 4}, 17838, "Let me run it.|ok"},
		{qwen{}, "chat-multi", "1", true, true, false, false, Usage{Input: 844, CacheRead: 16896, Output: 11}, 17751, "line one\n\n  line two \u2028 \u00e9 \x1b[31mred\x1b[0m\n\n"},
		{qwen{}, "chat-http401", "2", false, false, false, false, Usage{Input: 0, CacheRead: 0, Output: 0}, 0, ""},
		{qwen{}, "chat-cut", "3", false, true, false, false, Usage{Input: 0, CacheRead: 0, Output: 0}, 0, "ok"},
		{qwen{}, "chat-cut-in-tool", "4", false, true, true, false, Usage{Input: 86, CacheRead: 17664, Output: 11}, 17761, "Let me run it."},
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
			if seen.ID != id || seen.Final != tt.final || seen.Content != tt.content || seen.ToolRan != tt.tool_ ||
				seen.Compacted != tt.shortens || seen.Failed || seen.WrongID || seen.Refusal != "" {
				t.Fatalf("%s, stdout behind %d lines: %+v", name, behind, seen)
			}
			if got := strings.Join(seen.Texts, "|"); got != tt.texts || seen.Answer != strings.TrimSuffix(c.stdout, "\n") {
				t.Errorf("%s: texts %q, answer %q", name, got, seen.Answer)
			}
			if seen.Usage != tt.usage || seen.ContextUse.Used != tt.context || seen.First.Known != tt.usage.Known {
				t.Errorf("%s: usage %+v, first %+v, context %d", name, seen.Usage, seen.First, seen.ContextUse.Used)
			}
			if want := map[string]string{"gemini": "gemini-2.5-pro", "qwen": "stand-in"}[tt.tool.Descriptor().Name]; tt.final && seen.Model != want {
				t.Errorf("%s: model %q", name, seen.Model)
			}
		}
	}
}

// A file that ends at any of its lines shows a run as complete only if the newest message is an answer without
// calls of tools.
func TestChatsCutShort(t *testing.T) {
	for _, tt := range []struct {
		tool Tool
		name string
		want string // for each line: whether the run is complete (f), and whether there is content (c)
	}{
		{gemini{}, "chat-fresh", "----ff"},
		{gemini{}, "chat-tool", "----ffcccff"},
		{gemini{}, "chat-resume", "------ff"},
		{gemini{}, "chat-resume-tool", "------ffcccff"},
		{qwen{}, "chat-tool", "---ccccf"},
		{qwen{}, "chat-fork-tool", "-------ccccf"},
		{qwen{}, "chat-fork-toobig", "----------f"},
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

// Of two copies made at once with one prompt, neither is this run's for sure; one with another prompt is not.
func TestQwenCopies(t *testing.T) {
	c := readChat(t, qwen{}, "chat-fork")
	own := strings.TrimSuffix(filepath.Base(c.lines[0].path), ".jsonl")
	for _, tt := range []struct{ what, prompt, want string }{
		{"the same prompt", "what number", ""},
		{"another prompt", "what letter", own},
	} {
		both := c
		for _, line := range c.lines {
			text := strings.ReplaceAll(strings.ReplaceAll(line.text, own, foreignID), `"what number"`, `"`+tt.prompt+`"`)
			both.lines = append(both.lines, chatLine{"/h/" + foreignID + ".jsonl", text})
		}
		seen := both.play(t, 0, len(both.lines))
		if seen.ID != tt.want || !seen.Content || seen.Final != (tt.want != "") {
			t.Errorf("%s: %+v", tt.what, seen)
		}
	}
}

// A copy's totals are the session's, as json's results are.
func TestQwenChatTotals(t *testing.T) {
	fresh, copied := readChat(t, qwen{}, "chat-fresh"), readChat(t, qwen{}, "chat-fork")
	var before, after map[string]int64
	first, second := fresh.play(t, 0, len(fresh.lines)), copied.play(t, 0, len(copied.lines))
	if json.Unmarshal([]byte(first.Totals), &before) != nil || json.Unmarshal([]byte(second.Totals), &after) != nil {
		t.Fatalf("totals %s and %s", first.Totals, second.Totals)
	}
	u := second.Usage
	for key, own := range map[string]int64{
		"input_tokens": u.Input + u.CacheRead, "cache_read_input_tokens": u.CacheRead, "output_tokens": u.Output,
		"total_tokens": u.Input + u.CacheRead + u.Output,
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
			place.lines = append(place.lines, chatLine{"/h/" + place.plan.Resume + ".jsonl", strings.ReplaceAll(line.text, id, place.plan.Resume)})
		}
	}
	s := qwen{}.Stream(Call{Format: Text}, place.plan, first.Totals)
	for _, line := range place.lines {
		s.File(line.path, []byte(line.text))
	}
	if seen := s.Seen(); seen.Totals != second.Totals || seen.Usage != u || seen.ID != place.plan.Resume {
		t.Errorf("in place: %+v, want totals %s", seen, second.Totals)
	}
}

// Records that another process has written, or that are of an unexpected shape, make a session one that is not resumed.
func TestOddChats(t *testing.T) {
	const (
		geminiHead  = `{"sessionId":"` + someID + `","kind":"main"}` + "\n"
		geminiAsks  = `{"id":"a","type":"user","content":[{"text":"hi"}]}` + "\n"
		geminiSays  = `{"id":"b","type":"gemini","content":"yes"}` + "\n"
		qwenAsks    = `{"type":"user","sessionId":"` + someID + `","message":{"parts":[{"text":"hi"}]}}` + "\n"
		qwenSays    = `{"type":"assistant","sessionId":"` + someID + `","message":{"parts":[{"text":"yes"}]},"usageMetadata":{"promptTokenCount":1}}` + "\n"
		oddGemini   = `{"id":"b","type":"gemini","content":"yes","tokens":7}` + "\n"
		otherGemini = `{"sessionId":"` + foreignID + `","kind":"main"}` + "\n"
	)
	for _, tt := range []struct {
		what  string
		tool  Tool
		lines string
		good  bool
	}{
		{"gemini", gemini{}, geminiHead + geminiAsks + geminiSays, true},
		{"gemini, another session's header", gemini{}, geminiHead + otherGemini + geminiAsks + geminiSays, false},
		{"gemini, no header", gemini{}, geminiAsks + geminiSays, false},
		{"gemini, two prompts", gemini{}, geminiHead + geminiAsks + geminiAsks + geminiSays, false},
		{"gemini, no prompt", gemini{}, geminiHead + geminiSays, false},
		{"gemini, odd figures", gemini{}, geminiHead + geminiAsks + oddGemini, false},
		{"gemini, an answer that is no text", gemini{}, geminiHead + geminiAsks + `{"id":"b","type":"gemini","content":[]}` + "\n", false},
		{"gemini, an empty answer", gemini{}, geminiHead + geminiAsks + `{"id":"b","type":"gemini","content":""}` + "\n", false},
		{"gemini, not JSON", gemini{}, geminiHead + "oops\n" + geminiAsks + geminiSays, true},
		{"qwen", qwen{}, qwenAsks + qwenSays, true},
		{"qwen, two prompts", qwen{}, qwenAsks + qwenAsks + qwenSays, false},
		{"qwen, no prompt", qwen{}, qwenSays, false},
		{"qwen, another session", qwen{}, qwenAsks + strings.ReplaceAll(qwenSays, someID, foreignID), false},
		{"qwen, no figures", qwen{}, qwenAsks + strings.Replace(qwenSays, "Token", "", 1), false},
		{"qwen, odd parts", qwen{}, qwenAsks + strings.Replace(qwenSays, `"yes"`, "7", 1), false},
		{"qwen, a prompt behind", qwen{}, qwenAsks + qwenSays + qwenAsks, false},
	} {
		s := tt.tool.Stream(Call{Format: Text}, Plan{NewID: someID}, "")
		for line := range strings.Lines(tt.lines) {
			s.File("/h/"+someID+".jsonl", []byte(line))
		}
		s.End()
		if seen := s.Seen(); (seen.ID == someID && seen.Final && !seen.Failed) != tt.good {
			t.Errorf("%s: %+v", tt.what, seen)
		}
	}
	s := gemini{}.Stream(Call{Format: Text}, Plan{Resume: someID}, "")
	s.File("", []byte(geminiHead))
	s.File("", []byte(strings.Replace(geminiAsks, "hi", "<hook_context>x</hook_context>hi", 1)))
	if seen := s.Seen(); seen.Refusal != reason.RefusedBroken {
		t.Errorf("a prompt that gemini does not keep: %+v", seen)
	}
}

// A text that is too long to keep is shown, and its session is not resumed.
func TestChatsTooLong(t *testing.T) {
	for _, tool := range []Tool{gemini{}, qwen{}} {
		s := tool.Stream(Call{Format: Text}, Plan{NewID: someID}, "")
		piece := strings.Repeat("x", LongestLine/2+1)
		for range 2 {
			if got := s.Line([]byte(piece)); string(got) != piece {
				t.Errorf("%d bytes are shown", len(got))
			}
		}
		s.End()
		if seen := s.Seen(); !seen.Failed || seen.Answer != "" {
			t.Errorf("%s: failed %v, %d bytes of answer", tool.Descriptor().Name, seen.Failed, len(seen.Answer))
		}
	}
}

// qwen's file is in the project's directory: a fresh session's under its ID, a copy's under an ID that is not known yet.
func TestQwenFollows(t *testing.T) {
	const any = "????????-????-????-????-????????????.jsonl"
	long := "/" + strings.Repeat("d", 200)
	for _, tt := range []struct {
		dir    string
		target Target
		want   Follow
	}{
		{"/work/my.app", ToFresh("hi"), Follow{"/h/.qwen/projects/-work-my-app/chats", foreignID + ".jsonl", true, true}},
		{"/work/my.app", Target{id: someID, copied: true, prompt: "hi", whole: true}, Follow{"/h/.qwen/projects/-work-my-app/chats", any, false, true}},
		{long, ToFresh("hi"), Follow{"/h/.qwen/projects", foreignID + ".jsonl", false, true}},
	} {
		c := qwen{}.ResolveWithEnv(Call{Mode: Fresh, Format: Text, Home: "/h/.qwen", Prompt: "hi"}, HostEnv{Dirs: []string{tt.dir}, Version: "0.24.4"})
		if got := (qwen{}).Plan(c, tt.target.Beginning(foreignID)).Follow; len(got) != 1 || got[0] != tt.want {
			t.Errorf("in %.20s: %+v, want %+v", tt.dir, got, tt.want)
		}
	}
}
