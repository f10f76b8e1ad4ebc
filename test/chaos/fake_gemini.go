package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// geminiVersion is the version to imitate: it takes --session-id.
const geminiVersion = "0.61.0"

type fakeGemini struct{}

func (fakeGemini) read(args []string) (q request) {
	q.format = "text"
	for name, value := range options(args) {
		switch name {
		case "--output-format", "-o":
			q.format = value
		case "--resume":
			q.resume = value
		case "--session-id":
			q.id = value
		case "--prompt", "-p":
			q.prompt = value
		}
	}
	return q
}

func (fakeGemini) compose(prompt, stdin string) string {
	if prompt == "" || stdin == "" {
		return stdin + prompt
	}
	return stdin + "\n\n" + prompt
}

func geminiChats(dir string) string {
	return filepath.Join(os.Getenv("HOME"), ".gemini/tmp", filepath.Base(dir), "chats")
}

func (fakeGemini) path(id, dir string) string {
	return filepath.Join(geminiChats(dir), "session-2026-11-21T08-00-"+id[:8]+".jsonl")
}

func (fakeGemini) find(id string) string {
	found, _ := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".gemini/tmp/*/chats/session-2026-11-21T08-00-"+id[:8]+".jsonl"))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

func (fakeGemini) header(id string) string {
	return `{"sessionId":"` + id + `","projectHash":"0","startTime":"2026-11-21T08:00:00.000Z","kind":"main"}`
}

// geminiEntry returns a message. A resume names the session again first.
func geminiEntry(r *Run, role, text string) string {
	if role != "user" {
		return fmt.Sprintf(`{"id":"%s","type":"gemini","role":"assistant","text":%[2]s,"content":%[2]s,"tokens":{"input":50,"cached":20,"total":60},"model":"fake"}`,
			newID(), rawJSON(text))
	}
	line := fmt.Sprintf(`{"id":"%s","type":"user","role":"user","text":%[2]s,"content":[{"text":%[2]s}]}`, newID(), rawJSON(text))
	if r.Resumed {
		line = `{"$set":{"sessionId":"` + r.Session + `"}}` + "\n" + line
	}
	return line
}

// begins does what gemini does at a start in a later minute: it takes a file left by a resume for a
// broken session and deletes all files of that ID, and a resume leaves such a file.
func (g fakeGemini) begins(q request, r *Run, _ Script) {
	left, _ := filepath.Glob(filepath.Join(geminiChats(r.Dir), "session-2026-11-21T09-00-*.jsonl"))
	for _, path := range left {
		_ = os.Remove(path) // another start may have been faster
		_ = os.Remove(strings.Replace(path, "T09-00", "T08-00", 1))
	}
	if q.resume == "" {
		return
	}
	if path := g.find(q.resume); path != "" {
		check(os.WriteFile(strings.Replace(path, "T08-00", "T09-00", 1),
			[]byte(g.header(q.resume)+"\n"+`{"$set":{"messages":[{"type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI."}]}]}}`+"\n"), 0o600))
	}
}

func (fakeGemini) ended(request, *Run, Script, int) {}

// limit returns the API error's own status, except in text.
func (fakeGemini) limit(format string) int {
	if format == "text" {
		return 1
	}
	return 401 & 255
}

// geminiEvents returns the lines of stream-json. A tool runs between two texts.
func geminiEvents(s Script, r *Run) (lines []string) {
	add := func(format string, args ...any) {
		lines = append(lines, fmt.Sprintf(`{"type":`+format+"}\n", args...))
	}
	add(`"init","timestamp":"2026-11-21T08:00:00.000Z","session_id":"%s","model":"fake"`, r.Session)
	add(`"message","timestamp":"2026-11-21T08:00:00.000Z","role":"user","content":%s`, rawJSON(r.Prompt))
	const stats = `"stats":{"total_tokens":60,"input_tokens":50,"output_tokens":10,"cached":20,"input":30,"duration_ms":9,"tool_calls":0,"models":{"fake":{"total_tokens":60,"input_tokens":50,"output_tokens":10,"cached":20,"input":30}}}`
	if s.Ending == Limit {
		add(`"result","timestamp":"2026-11-21T08:00:00.000Z","status":"error","error":{"type":"unknown","message":"[API Error: {}]"},%s`, stats)
		return lines
	}
	for i, text := range s.Said {
		if i > 0 {
			add(`"tool_use","timestamp":"2026-11-21T08:00:00.000Z","tool_name":"look","tool_id":"look_%d","parameters":{"path":"%s"}`, i,
				strings.Repeat("x", s.Huge))
			add(`"tool_result","timestamp":"2026-11-21T08:00:00.000Z","tool_id":"look_%d","status":"success"`, i)
		}
		add(`"message","timestamp":"2026-11-21T08:00:00.000Z","role":"assistant","content":%s,"delta":true`, rawJSON(text))
	}
	add(`"result","timestamp":"2026-11-21T08:00:00.000Z","status":"success",%s`, stats)
	return lines
}

func (fakeGemini) shown(format string, s Script, r *Run, _ int) Shown {
	lines, stderr := geminiEvents(s, r), s.Noise
	broken := stops(s.Ending)
	if s.Ending == Middle {
		stderr += "something broke\n"
	}
	switch {
	case format == "stream-json" && broken:
		return Shown{cut(lines), stderr}
	case format == "stream-json":
		text := strings.Join(lines, "")
		if s.NoFinal {
			text = strings.TrimSuffix(text, "\n")
		}
		return Shown{text, stderr}
	case s.Ending == Limit && format == "text":
		return Shown{"", stderr + "An unexpected critical error occurred:[object Object]\n"}
	case s.Ending == Limit:
		return Shown{"", stderr + fmt.Sprintf("{\n  \"session_id\": \"%s\",\n  \"error\": {\n    \"code\": 401\n  }\n}\n", r.Session)}
	case format == "text": // streamed: a run that was cut short did not reach the last text
		text := strings.Join(s.Said, "\n") + "\n"
		if broken {
			text = strings.TrimSuffix(text, s.Said[len(s.Said)-1]+"\n")
		}
		return Shown{text, stderr}
	case broken:
		return Shown{"", stderr}
	}
	return Shown{geminiObject(s, r), stderr}
}

// geminiObject returns json's object, without a newline after it.
func geminiObject(s Script, r *Run) string {
	return fmt.Sprintf("{\n  \"session_id\": \"%s\",\n  \"response\": %s,\n  \"stats\": {\n    \"models\": {}\n  }\n}",
		r.Session, rawJSON(s.Said[len(s.Said)-1]))
}

func (fakeGemini) refused(format string, s Script, r *Run) (Shown, int) {
	switch {
	case s.OnResume == OtherID && format == "stream-json":
		return Shown{geminiEvents(s, r)[0], s.Noise}, 1
	case s.OnResume == OtherID && format == "json":
		return Shown{geminiObject(s, r) + "\n", s.Noise}, 1
	case s.OnResume == OtherID:
		return Shown{"", s.Noise}, 1
	case s.OnResume == Broken:
		return Shown{"", s.Noise + "Error resuming session: something\n"}, 42
	}
	return Shown{"", s.Noise + "Error resuming session: Invalid session identifier \"" + r.Session +
		"\".\n  Searched for sessions in " + geminiChats(r.Dir) + ".\n"}, 42
}
