package rewrite

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Stop is a call that the user's budget does not allow.
type Stop struct {
	Message string // for people
	ID      string // a new session ID: formats name one
	Cwd     string
	Prompt  string
	Time    string // RFC 3339, in milliseconds
}

// A Failure is what a caller gets of a call that is stopped.
type Failure struct {
	Stdout, Stderr string
	Exit           int
}

// jsonText returns a text as a JSON string.
func jsonText(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return `""` // a string is always encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Stopped returns what claude 2.1.197 shows if its API answers 429 (recordings http429-*).
func (claude) Stopped(c Call, s Stop) Failure {
	const noUsage = `{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0}`
	id, message := jsonText(s.ID), jsonText(s.Message)
	init := fmt.Sprintf(`{"type":"system","subtype":"init","cwd":%s,"session_id":%s,"tools":[],"mcp_servers":[],"model":%s,"permissionMode":"default","slash_commands":[],"apiKeySource":"none"}`,
		jsonText(s.Cwd), id, jsonText(c.Model))
	assistant := fmt.Sprintf(`{"type":"assistant","message":{"id":%s,"model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","stop_sequence":"","type":"message","usage":%s,"content":[{"type":"text","text":%s}]},"parent_tool_use_id":null,"session_id":%s,"error":"rate_limit"}`,
		id, noUsage, message, id)
	result := fmt.Sprintf(`{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"duration_ms":0,"duration_api_ms":0,"num_turns":1,"result":%s,"stop_reason":"stop_sequence","session_id":%s,"total_cost_usd":0,"usage":%s,"modelUsage":{},"permission_denials":[]}`,
		message, id, noUsage)
	f := Failure{Exit: 1}
	switch c.Format {
	case StreamJSON:
		f.Stdout = init + "\n" + assistant + "\n" + result + "\n"
	case JSONVerbose:
		f.Stdout = "[" + init + "," + assistant + "," + result + "]\n"
	case JSON:
		f.Stdout = result + "\n"
	default:
		f.Stdout = s.Message + "\n"
	}
	return f
}

// Stopped returns what codex 0.169.0 shows if its API answers 429 (recordings http429-*).
func (codex) Stopped(c Call, s Stop) Failure {
	message := jsonText(s.Message)
	if c.Format != StreamJSON {
		return Failure{Stderr: "ERROR: " + s.Message + "\n", Exit: 1}
	}
	return Failure{Exit: 1, Stdout: fmt.Sprintf(`{"type":"thread.started","thread_id":%s}
{"type":"turn.started"}
{"type":"error","message":%s}
{"type":"turn.failed","error":{"message":%s}}
`, jsonText(s.ID), message, message)}
}

// Stopped returns what gemini 0.61.0 shows if its API refuses (recordings http400-*), with its exit code for 429.
func (gemini) Stopped(c Call, s Stop) Failure {
	const exit = 429 & 0xff
	message, at := jsonText(s.Message), jsonText(s.Time)
	switch c.Format {
	case StreamJSON:
		return Failure{Exit: exit, Stderr: s.Message + "\n", Stdout: fmt.Sprintf(`{"type":"init","timestamp":%s,"session_id":%s,"model":%s}
{"type":"message","timestamp":%s,"role":"user","content":%s}
{"type":"result","timestamp":%s,"status":"error","error":{"type":"unknown","message":%s},"stats":{"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0,"input":0,"duration_ms":0,"tool_calls":0,"models":{}}}
`, at, jsonText(s.ID), jsonText(c.Model), at, jsonText(s.Prompt), at, message)}
	case JSON:
		return Failure{Exit: exit, Stderr: fmt.Sprintf("{\n  \"session_id\": %s,\n  \"error\": {\n    \"type\": \"Error\",\n    \"message\": %s,\n    \"code\": 429\n  }\n}\n", jsonText(s.ID), message)}
	}
	return Failure{Stderr: s.Message + "\n", Exit: 1}
}

// Stopped returns what vibe 3.0.2 shows if its API answers 429 (recording http429-text): the same in each format.
func (vibe) Stopped(_ Call, s Stop) Failure {
	return Failure{Stderr: "Error: " + s.Message + "\n", Exit: 2}
}

// Stopped returns what qwen 0.24.4 shows if its API refuses (recordings http401-*).
func (qwen) Stopped(c Call, s Stop) Failure {
	id, message := jsonText(s.ID), jsonText(s.Message)
	events := []string{
		fmt.Sprintf(`{"type":"system","subtype":"init","uuid":%s,"session_id":%s,"cwd":%s,"tools":[],"mcp_servers":[],"model":%s,"permission_mode":"default","slash_commands":[],"agents":[]}`,
			id, id, jsonText(s.Cwd), jsonText(c.Model)),
		fmt.Sprintf(`{"type":"assistant","uuid":%s,"session_id":%s,"parent_tool_use_id":null,"message":{"id":%s,"type":"message","role":"assistant","model":%s,"content":[{"type":"text","text":%s}],"stop_reason":null,"usage":{"input_tokens":0,"output_tokens":0}}}`,
			id, id, id, jsonText(c.Model), message),
		fmt.Sprintf(`{"type":"result","subtype":"error_during_execution","uuid":%s,"session_id":%s,"is_error":true,"duration_ms":0,"duration_api_ms":0,"num_turns":1,"usage":{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0},"permission_denials":[],"error":{"message":%s}}`,
			id, id, message),
	}
	switch c.Format {
	case StreamJSON:
		return Failure{Exit: 1, Stdout: strings.Join(events, "\n") + "\n"}
	case JSON:
		return Failure{Exit: 1, Stdout: "[" + strings.Join(events, ",") + "]\n",
			Stderr: fmt.Sprintf("{\n  \"error\": {\n    \"type\": \"AlreadyReportedError\",\n    \"message\": %s,\n    \"code\": 1\n  }\n}\n", message)}
	}
	return Failure{Stderr: s.Message + "\n", Exit: 1}
}

// Stopped returns what copilot 1.0.102 shows if its API refuses (recordings toobig-*).
func (copilot) Stopped(c Call, s Stop) Failure {
	if c.Format != JSON {
		return Failure{Stderr: "\n" + s.Message + "\n", Exit: 1}
	}
	id, at, model := jsonText(s.ID), jsonText(s.Time), jsonText(c.Model)
	var b strings.Builder
	for _, event := range []string{
		`"session.skills_loaded","data":{"skills":[]}`,
		`"session.mcp_servers_loaded","data":{"servers":[]}`,
		`"session.tools_updated","data":{"model":` + model + `}`,
		`"user.message","data":{"content":` + jsonText(s.Prompt) + `}`,
		`"assistant.turn_start","data":{"turnId":"0"}`,
		`"model.call_start","data":{"turnId":"0","model":` + model + `}`,
		`"model.call_failure","data":{"model":` + model + `,"statusCode":429,"errorMessage":` + jsonText(s.Message) + `}`,
		`"model.call_finished","data":{"turnId":"0","outcome":"error"}`,
		`"model.call_final_result","data":{"model":` + model + `,"result":"http_4xx"}`,
		`"assistant.turn_end","data":{"turnId":"0"}`,
		`"session.error","data":{"errorType":"query","message":` + jsonText(s.Message) + `,"statusCode":429}`,
		`"assistant.idle","data":{}`,
	} {
		fmt.Fprintf(&b, `{"type":%s,"id":%s,"timestamp":%s}`+"\n", event, id, at)
	}
	fmt.Fprintf(&b, `{"type":"result","timestamp":%s,"sessionId":%s,"exitCode":1,"usage":{"premiumRequests":0,"totalApiDurationMs":0,"sessionDurationMs":0,"codeChanges":{"linesAdded":0,"linesRemoved":0,"filesModified":[]}}}`+"\n", at, id)
	return Failure{Exit: 1, Stdout: b.String()}
}
