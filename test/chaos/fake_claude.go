package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// claudeVersion is the version to imitate: its figures are cumulative over a session.
const claudeVersion = "2.1.329"

type fakeClaude struct{ plain }

func (fakeClaude) read(args []string) (q request) {
	q.format = "text"
	verbose := false
	for i := 0; i < len(args); i++ {
		value := func() string {
			if i++; i < len(args) {
				return args[i]
			}
			return ""
		}
		switch name, attached, has := strings.Cut(args[i], "="); {
		case name == "--output-format" && has:
			q.format = attached
		case name == "--output-format":
			q.format = value()
		case name == "--resume":
			q.resume = value()
		case name == "--session-id":
			q.id = value()
		case name == "--model":
			value()
		case name == "--input-format":
			q.frames = value() == "stream-json"
		case name == "--fork-session":
			q.fork = true
		case name == "--resume-session-at":
			q.at = value()
		case name == "--verbose":
			verbose = true
		case name == "-p":
		default:
			q.prompt = args[i]
		}
	}
	if q.format == "json" && verbose {
		q.format = "json-verbose"
	}
	return q
}

func (fakeClaude) compose(prompt, stdin string) string {
	if prompt == "" || stdin == "" {
		return prompt + stdin
	}
	return prompt + "\n" + stdin
}

var notAlphanumeric = regexp.MustCompile(`[^a-zA-Z0-9]`)

func (fakeClaude) path(id, dir string) string {
	return filepath.Join(os.Getenv("HOME"), ".claude/projects", notAlphanumeric.ReplaceAllString(dir, "-"), id+".jsonl")
}

func (fakeClaude) find(id string) string {
	found, _ := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".claude/projects/*", id+".jsonl"))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

func (fakeClaude) header(id string) string { return `{"type":"mode","sessionId":"` + id + `"}` }

// claudeEntry returns a line of a session's file.
func claudeEntry(r *Run, role, text string) string {
	t := turn{Type: role, Role: role, Text: text, UUID: newID(), Time: time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), Version: claudeVersion}
	t.Message = map[string]any{"role": role, "content": text}
	if role == "assistant" {
		t.UUID = uuidOf(r.Session + text)
		t.Message = map[string]any{
			"id": newID(), "role": role, "model": "fake", "content": []any{map[string]string{"type": "text", "text": text}},
			"usage": map[string]int{"input_tokens": 3, "cache_read_input_tokens": 900, "output_tokens": 6},
		}
	}
	return toJSON(t)
}

// claudeEnd returns what a session's file has after a turn: an error of the API, and the totals unless the
// run was killed.
func claudeEnd(s Script, r *Run, turns int) string {
	end := ""
	if s.Ending == Limit {
		end = toJSON(turn{
			Type: "assistant", UUID: newID(), Time: time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), Version: claudeVersion, APIError: true,
			Message: map[string]any{"model": "<synthetic>", "content": []any{map[string]string{"type": "text", "text": "API Error: 429"}}},
		}) + "\n"
		turns--
	}
	return end + fmt.Sprintf(`{"type":"cost-state","totalCostUSD":%g,"modelUsage":{"fake":{"inputTokens":%d,"outputTokens":%d,"costUSD":%g}}}`+"\n",
		0.25*float64(turns), 3*turns, 6*turns, 0.25*float64(turns))
}

// claudeOwnUsage is what only stream-json shows: a turn's own part of the running totals.
const claudeOwnUsage = `,"model_usage_since_last_result":{"fake":{"inputTokens":3,"outputTokens":6,"costUSD":0.25}}`

// uuidOf returns an ID that depends on a text only.
func uuidOf(text string) string {
	d := sha256.Sum256([]byte(text))
	return formatID([16]byte(d[:16]))
}

// claudeEvents returns the lines of stream-json, each with its newline.
func claudeEvents(s Script, r *Run, turns int) (lines []string) {
	session := `"session_id":"` + r.Session + `"`
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)+"\n") }
	add(`{"type":"system","subtype":"init","cwd":%s,%s,"tools":["Bash"],"model":"fake","claude_code_version":"%s"}`,
		toJSON(r.Dir), session, claudeVersion)
	if s.Ending == Limit {
		add(`{"type":"assistant","message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"API Error: 429"}]},"parent_tool_use_id":null,%s}`, session)
		add(`{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: 429","num_turns":1,%s,"total_cost_usd":0}`, session)
		return lines
	}
	for i, text := range s.Said {
		add(`{"type":"assistant","message":{"model":"fake","role":"assistant","content":[{"type":"text","text":%s}],"usage":{"input_tokens":3,"cache_read_input_tokens":900,"output_tokens":6}},"parent_tool_use_id":null,"uuid":"%s",%s}`,
			toJSON(text), uuidOf(r.Session+text), session)
		if i == 0 && s.Huge > 0 {
			add(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"%s"}]},"parent_tool_use_id":null,%s}`,
				strings.Repeat("x", s.Huge), session)
		}
	}
	add(`{"type":"result","subtype":"success","is_error":false,"api_error_status":null,"num_turns":1,"result":%s,%s,"total_cost_usd":%g,"modelUsage":{"fake":{"inputTokens":%d,"outputTokens":%d,"costUSD":%g,"contextWindow":200000}}%s}`,
		toJSON(s.Said[len(s.Said)-1]), session, 0.25*float64(turns), 3*turns, 6*turns, 0.25*float64(turns), claudeOwnUsage)
	return lines
}

func (fakeClaude) shown(format string, s Script, r *Run, turns int) Shown {
	lines, stderr := claudeEvents(s, r, turns), s.Noise
	if stops(s.Ending) {
		if s.Ending == Middle {
			stderr += "something broke\n"
		}
		if format == "stream-json" {
			return Shown{cut(lines), stderr}
		}
		return Shown{"", stderr}
	}
	if format == "stream-json" {
		text := strings.Join(lines, "")
		if s.NoFinal {
			text = strings.TrimSuffix(text, "\n")
		}
		return Shown{text, stderr}
	}
	lines[len(lines)-1] = strings.Replace(lines[len(lines)-1], claudeOwnUsage, "", 1)
	last := lines[len(lines)-1]
	switch format {
	case "json":
		return Shown{last, stderr}
	case "json-verbose":
		return Shown{"[" + strings.ReplaceAll(strings.TrimSuffix(strings.Join(lines, ""), "\n"), "\n", ",") + "]\n", stderr}
	}
	if s.Ending == Limit {
		return Shown{"API Error: 429\n", stderr}
	}
	return Shown{s.Said[len(s.Said)-1] + "\n", stderr}
}

func (fakeClaude) refused(format string, s Script, r *Run) (Shown, int) {
	switch s.OnResume {
	case OtherID:
		if format != "stream-json" {
			return Shown{"", s.Noise}, 1
		}
		return Shown{claudeEvents(s, r, 1)[0], s.Noise}, 1
	case Silent:
		return Shown{"", s.Noise}, 1
	case Busy:
		return Shown{"", s.Noise + "Session " + r.Session + " is currently running as a background agent (bg).\n"}, 1
	}
	message := "No conversation found with session ID: " + r.Session
	if format != "stream-json" {
		return Shown{"", s.Noise + message + "\n"}, 1
	}
	return Shown{fmt.Sprintf(`{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"session_id":"%s","total_cost_usd":0,"modelUsage":{},"errors":["%s"]}`+"\n",
		r.Session, message), s.Noise + message + "\n"}, 1
}
