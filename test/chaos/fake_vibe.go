package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// vibeVersion is the version to imitate. The shim reads it from the Python package of the script.
const vibeVersion = "3.0.3"

// installVibe creates what a Python package leaves beside its scripts.
func installVibe(tools string) error {
	dir := filepath.Join(tools, "../lib/python3.12/site-packages/mistral_vibe-"+vibeVersion+".dist-info")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "entry_points.txt"), []byte("[console_scripts]\nvibe = vibe:main\n"), 0o600)
}

type fakeVibe struct{}

func (fakeVibe) read(args []string) (q request) {
	q.format, q.deaf = "text", true
	for name, value := range options(args) {
		switch name {
		case "--output":
			q.format = map[string]string{"text": "text", "json": "json", "streaming": "stream-json"}[value]
		case "--output-dir":
			q.dir = value
		case "--resume":
			q.resume = value
		case "--prompt", "-p":
			q.prompt = value
		}
	}
	return q
}

func (fakeVibe) compose(prompt, stdin string) string {
	if prompt == "" {
		return strings.TrimSpace(stdin)
	}
	return prompt
}

func vibeSession(id string) string {
	return filepath.Join(os.Getenv("HOME"), ".vibe/logs/session/unified", id)
}

func (fakeVibe) path(id, _ string) string { return filepath.Join(vibeSession(id), "turns.jsonl") }

func (v fakeVibe) find(id string) string {
	path := v.path(id, "")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

func (fakeVibe) header(id string) string { return `{"session_id":"` + id + `"}` }

// begins writes to the session's newest journal if the run continues a session.
func (v fakeVibe) begins(q request, _ *Run, s Script) {
	if q.resume == "" || s.OnResume != Takes || v.find(q.resume) == "" {
		return
	}
	journals, _ := filepath.Glob(vibeSession(q.resume) + "/journal/*.jsonl")
	if len(journals) == 0 {
		return // its first run was killed
	}
	check(os.WriteFile(journals[len(journals)-1], []byte("{}\n"), 0o600))
}

// ended begins the next journal, and records how the run ended.
func (v fakeVibe) ended(q request, r *Run, s Script, exit int) {
	if !r.Refused {
		journals, _ := filepath.Glob(vibeSession(r.Session) + "/journal/*.jsonl")
		check(os.MkdirAll(filepath.Join(vibeSession(r.Session), "journal"), 0o700))
		check(os.WriteFile(fmt.Sprintf("%s/journal/%06d.jsonl", vibeSession(r.Session), len(journals)+1), nil, 0o600))
	}
	if q.dir == "" {
		return
	}
	outcome, message, steps, id := "finished", "", len(s.Said), r.Session
	switch {
	case r.Refused && s.OnResume == Unknown:
		outcome, message, steps, id = "usage_error", vibeRefusal(s, r), 0, ""
	case r.Refused && s.OnResume != OtherID:
		outcome, message, steps = "infrastructure_failure", vibeRefusal(s, r), 0
	case s.Ending == Limit:
		outcome, message, steps = "infrastructure_failure", vibeLimit, 1
	case s.Ending == Status:
		outcome = "turn_limit"
	}
	session := filepath.Join(q.dir, "session/generations/1")
	check(os.MkdirAll(session, 0o700))
	check(os.WriteFile(filepath.Join(session, "checkpoint.json"), []byte(`{"compaction_count":0,"last_reported_context_tokens":1000}`), 0o600))
	check(os.WriteFile(filepath.Join(q.dir, "export.json"), fmt.Appendf(nil,
		`{"outcome":"%s","error":{"message":%s},"session_id":"%s","usage":{"input_tokens":50,"output_tokens":10,"cached_input_tokens":20,"total_tokens":60},"cost_usd":0.01,"steps":%d,"config":{"active_model":"fake"},"vibe_version":"%s","exit_code":%d}`,
		outcome, rawJSON(message), id, steps, vibeVersion, exit), 0o600))
}

const vibeLimit = "Server error '500 Internal Server Error' for url 'http://127.0.0.1/'"

func (fakeVibe) limit(string) int { return 2 }

// vibeEntries returns the entries of one turn.
func vibeEntries(texts []turn, session, turnID string, huge int) (entries []json.RawMessage) {
	add := func(format string, args ...any) {
		entries = append(entries, fmt.Appendf(nil, `{"id":"entry-%d","sessionId":"%s","turnId":"%s","generationStatus":"completed",%s}`,
			len(entries), session, turnID, fmt.Sprintf(format, args...)))
	}
	for i, t := range texts {
		source := map[string]string{"user": "turn_start", "assistant": "harness"}[t.Role]
		add(`"type":"message","role":"%s","content":[{"type":"text","text":%s}],"source":"%s"`, t.Role, rawJSON(t.Text), source)
		if i == 1 && huge > 0 {
			add(`"type":"effect","title":"file_system.bash","state":{"status":"completed","outputText":"%s"}`, strings.Repeat("x", huge))
		}
	}
	return entries
}

// newTurns returns what this run adds to the session.
func newTurns(s Script, r *Run) (texts []turn) {
	texts = []turn{{Role: "user", Text: r.Prompt}}
	if s.Ending == Limit {
		return texts
	}
	for _, text := range s.Said {
		texts = append(texts, turn{Role: "assistant", Text: text})
	}
	return texts
}

func (fakeVibe) shown(format string, s Script, r *Run, _ int) Shown {
	stderr := s.Noise
	switch s.Ending {
	case Middle:
		stderr += "something broke\n"
	case Limit:
		stderr += "\nError: " + vibeLimit + "\n"
	}
	entries := vibeEntries(newTurns(s, r), r.Session, fmt.Sprintf("turn-%x", r.Start), s.Huge)
	if format == "stream-json" {
		var lines []string
		for _, e := range entries {
			lines = append(lines, string(e)+"\n")
		}
		switch {
		case stops(s.Ending):
			return Shown{cut(append(lines, "")), stderr}
		case s.NoFinal:
			return Shown{strings.TrimSuffix(strings.Join(lines, ""), "\n"), stderr}
		}
		return Shown{strings.Join(lines, ""), stderr}
	}
	switch {
	case stops(s.Ending) || s.Ending == Limit:
		return Shown{"", stderr}
	case format == "text":
		return Shown{s.Said[len(s.Said)-1] + "\n", stderr}
	}
	return Shown{vibeArray(append(vibeHistory(r), entries...)), stderr}
}

// vibeHistory returns what json shows before a turn that continues a session.
func vibeHistory(r *Run) (entries []json.RawMessage) {
	from := 0
	for i, t := range r.history {
		if t.Role == "user" {
			from = i
		}
		if i+1 == len(r.history) || r.history[i+1].Role == "user" {
			entries = append(entries, vibeEntries(r.history[from:i+1], r.Session, fmt.Sprintf("turn-of-old-%d", from), 0)...)
		}
	}
	return entries
}

// vibeArray returns an array indented by two.
func vibeArray(entries []json.RawMessage) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	check(e.Encode(entries))
	return b.String()
}

// vibeRefusal returns the message of an error that concerns the session.
func vibeRefusal(s Script, r *Run) string {
	return map[Refusal]string{
		Unknown: "Session not found: " + r.Session,
		Busy:    "Session is already open: " + r.Session,
		Broken:  "Invalid Unified session store: something",
		Silent:  "something",
	}[s.OnResume]
}

func (fakeVibe) refused(format string, s Script, r *Run) (Shown, int) {
	switch s.OnResume {
	case OtherID:
		if format != "stream-json" {
			return Shown{"", s.Noise}, 1
		}
		return Shown{string(vibeEntries(newTurns(s, r), r.Session, "turn-other", 0)[0]) + "\n", s.Noise}, 1
	case Unknown:
		return Shown{"", s.Noise + "\nError: " + vibeRefusal(s, r) + "\n"}, 1
	}
	return Shown{"", s.Noise + "\nError: " + vibeRefusal(s, r) + "\n"}, 2
}
