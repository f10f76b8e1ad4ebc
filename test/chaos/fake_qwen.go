package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// qwenVersion is the version to imitate: it resumes in a copy.
const qwenVersion = "0.24.4"

type fakeQwen struct{ plain }

func (fakeQwen) read(args []string) request {
	rest := args[:0:0]
	fork := false
	for _, arg := range args {
		if arg == "--fork-session" {
			fork = true
			continue
		}
		rest = append(rest, arg)
	}
	q := fakeGemini{}.read(rest)
	q.fork = fork
	return q
}

func (fakeQwen) compose(prompt, stdin string) string { return fakeGemini{}.compose(prompt, stdin) }

func (fakeQwen) path(id, dir string) string {
	return filepath.Join(os.Getenv("HOME"), ".qwen/projects", notAlphanumeric.ReplaceAllString(dir, "-"), "chats", id+".jsonl")
}

func (fakeQwen) find(id string) string {
	found, _ := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".qwen/projects/*/chats", id+".jsonl"))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

func (fakeQwen) header(id string) string { return `{"type":"system","sessionId":"` + id + `"}` }

// qwenEvents returns the lines of stream-json, each with its newline. Its figures are the session's.
func qwenEvents(s Script, r *Run, turns int) (lines []string) {
	session := `"session_id":"` + r.Session + `"`
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)+"\n") }
	add(`{"type":"system","subtype":"init",%s,"cwd":%s,"tools":[],"model":"fake","qwen_code_version":"%s"}`, session, rawJSON(r.Dir), qwenVersion)
	if s.Ending == Limit {
		add(`{"type":"assistant",%s,"parent_tool_use_id":null,"message":{"role":"assistant","model":"fake","content":[{"type":"text","text":"[API Error: 401]"}],"usage":{"input_tokens":0,"output_tokens":0}}}`, session)
		add(`{"type":"result","subtype":"error_during_execution",%s,"is_error":true,"num_turns":1,"usage":{"input_tokens":%d,"output_tokens":%d},"error":{"message":"[API Error: 401]"}}`, session, 9*turns, 6*turns)
		return lines
	}
	for i, text := range s.Said {
		add(`{"type":"assistant",%s,"parent_tool_use_id":null,"message":{"role":"assistant","model":"fake","content":[{"type":"text","text":%s}],"usage":{"input_tokens":9,"output_tokens":6,"cache_read_input_tokens":3,"total_tokens":15}}}`, session, rawJSON(text))
		if i == 0 && s.Huge > 0 {
			add(`{"type":"user",%s,"message":{"role":"user","content":[{"type":"tool_result","content":"%s"}]}}`, session, strings.Repeat("x", s.Huge))
		}
	}
	add(`{"type":"result","subtype":"success",%s,"is_error":false,"num_turns":1,"result":%s,"usage":{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":%d,"total_tokens":%d},"permission_denials":[]}`,
		session, rawJSON(s.Said[len(s.Said)-1]), 9*turns, 6*turns, 3*turns, 15*turns)
	return lines
}

func (fakeQwen) shown(format string, s Script, r *Run, turns int) Shown {
	lines, stderr := qwenEvents(s, r, turns), s.Noise
	if s.Ending == Middle {
		stderr += "something broke\n"
	}
	text := strings.Join(lines, "")
	switch broken := stops(s.Ending); {
	case format == "stream-json" && broken:
		return Shown{cut(lines), stderr}
	case broken:
		return Shown{"", stderr}
	case format == "stream-json" && s.NoFinal:
		return Shown{strings.TrimSuffix(text, "\n"), stderr}
	case format == "stream-json":
		return Shown{text, stderr}
	case format == "json":
		return Shown{"[" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", ",") + "]\n", stderr}
	case s.Ending == Limit:
		return Shown{"", stderr + "[API Error: 401]\n"}
	}
	return Shown{s.Said[len(s.Said)-1] + "\n", stderr}
}

func (fakeQwen) refused(format string, s Script, r *Run) (Shown, int) {
	if s.OnResume != OtherID {
		return Shown{"", s.Noise + "No saved session found with ID " + r.Session + ". Run `qwen --resume` without an ID to choose from existing sessions.\n"}, 1
	}
	lines := qwenEvents(s, r, 1)
	switch format {
	case "stream-json":
		return Shown{lines[0], s.Noise}, 1
	case "json":
		return Shown{"[" + strings.TrimSuffix(lines[0], "\n") + "]\n", s.Noise}, 1
	}
	return Shown{"", s.Noise}, 1
}

// installPackage installs a fake as its npm package does, so that its version is known.
func installPackage(self, tools, name, version string) error {
	pkg := filepath.Join(tools, name+"-package")
	if err := os.Mkdir(pkg, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(pkg, "package.json"), []byte(`{"version":"`+version+`","bin":{"`+name+`":"`+name+`"}}`), 0o644); err != nil {
		return err
	}
	if err := copyProgram(self, filepath.Join(pkg, name)); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(name+"-package", name), filepath.Join(tools, name))
}

// qwenEntry returns a message, and before a prompt the figures of the run.
func qwenEntry(r *Run, role, text string) string {
	session := `"sessionId":"` + r.Session + `","version":"` + qwenVersion + `"`
	line := `{"type":"` + role + `",` + session + `,"role":"` + role + `","text":` + rawJSON(text) + `,"message":{"parts":[{"text":` + rawJSON(text) + `}]}`
	if role != "user" {
		return line + `,"model":"fake","usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":6}}`
	}
	return `{"type":"system",` + session + `,"subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_response",` +
		`"input_token_count":9,"cached_content_token_count":3,"output_token_count":6,"total_token_count":15}}}` + "\n" + line + "}"
}

// forkQwen copies a session's file: each of its lines gets the copy's ID, and names its source.
func forkQwen(text []byte, from, to string) []byte {
	var copied bytes.Buffer
	for line := range bytes.Lines(text) {
		var record map[string]any
		if json.Unmarshal(line, &record) != nil {
			continue // cut short
		}
		record["sessionId"] = to
		record["forkedFrom"] = map[string]string{"sessionId": from}
		check(json.NewEncoder(&copied).Encode(record))
	}
	return copied.Bytes()
}
