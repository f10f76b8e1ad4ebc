package player

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	_ "github.com/mattn/go-sqlite3" // the driver of opencode's database
)

// dialects are the tools' by their names. A file of its own can add one.
var dialects = map[string]dialect{
	"claude": claude, "codex": codex, "copilot": copilot, "gemini": gemini, "opencode": opencode,
	"qwen": qwen, "vibe": vibe,
}

// joined joins prompt and stdin. Either can be empty.
func joined(first, between, second string) string {
	if first == "" || second == "" {
		between = ""
	}
	return first + between + second
}

// either returns the prompt, or else stdin.
func either(prompt, stdin string) string {
	if prompt == "" {
		return stdin
	}
	return prompt
}

// lastLine is the text output of most tools: the last message.
func lastLine(o output) Shown { return Shown{Stdout: o.last() + "\n"} }

const (
	item      = `{"type":"response_item","role":"{role}","text":{text}}` // as most tools store it
	copilotAt = `"timestamp":"2026-11-21T08:00:00.000Z"`
	// parts that only a stream shows
	claudeOwn = `,"model_usage_since_last_result":{"fake":{"inputTokens":3,"outputTokens":6,"costUSD":0.25}}`
)

// claude's figures are cumulative over a session.
var claude = dialect{
	version: "2.1.329",
	options: map[string]string{"--output-format": "format", "--resume": "resume",
		"--session-id": "id", "--model": "model", "--input-format": "frames",
		"--fork-session": "!fork", "--resume-session-at": "at", "--verbose": "!verbose", "-p": "!"},
	formats: map[string]string{"json-verbose": "json-verbose"},
	compose: func(prompt, stdin string) string { return joined(prompt, "\n", stdin) },
	session: ".claude/projects/{directory}/{id}.jsonl",
	header:  `{"type":"mode","sessionId":"{id}"}`,
	user:    `{"type":"user","role":"user","text":{text},"uuid":"{uuid}","timestamp":"{now}","version":"{version}","message":{"role":"user","content":{text}}}`,
	answer: `{"type":"assistant","role":"assistant","text":{text},"uuid":"{said}","timestamp":"{now}","version":"{version}","message":{"id":"{uuid}","role":"assistant",` +
		`"model":"fake","content":[{"type":"text","text":{text}}],"usage":{"input_tokens":3,"cache_read_input_tokens":900,"output_tokens":6}}}`,
	opening: `{"type":"system","subtype":"init","cwd":{dir},"session_id":"{id}","tools":["Bash"],"model":"fake","claude_code_version":"{version}"}`,
	said: `{"type":"assistant","message":{"model":"fake","role":"assistant","content":[{"type":"text","text":{text}}],"usage":{"input_tokens":3,` +
		`"cache_read_input_tokens":900,"output_tokens":6}},"parent_tool_use_id":null,"uuid":"{said}","session_id":"{id}"}`,
	work: `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"{huge}"}]},"parent_tool_use_id":null,"session_id":"{id}"}`,
	late: true,
	closing: `{"type":"result","subtype":"success","is_error":false,"api_error_status":null,"num_turns":1,"result":{answer},"session_id":"{id}",` +
		`"total_cost_usd":{0.25*turns},"modelUsage":{"fake":{"inputTokens":{3*turns},"outputTokens":{6*turns},"costUSD":{0.25*turns},"contextWindow":200000}}` + claudeOwn + `}`,
	failed: `{"type":"assistant","message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"API Error: 429"}]},"parent_tool_use_id":null,"session_id":"{id}"}
{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: 429","num_turns":1,"session_id":"{id}","total_cost_usd":0}`,
	other: func(o output) Shown {
		last := &o.lines[len(o.lines)-1]
		*last = strings.Replace(*last, claudeOwn, "", 1)
		switch {
		case o.format == "json":
			return Shown{Stdout: *last}
		case o.format == "json-verbose":
			return Shown{Stdout: o.array()}
		case o.Ending == Limit:
			return Shown{Stdout: "API Error: 429\n"}
		}
		return lastLine(o)
	},
	refusals: map[Refusal]refusal{
		Busy: {text: "Session {id} is currently running as a background agent (bg).\n"},
		Unknown: {text: "No conversation found with session ID: {id}\n",
			line: `{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,` +
				`"session_id":"{id}","total_cost_usd":0,"modelUsage":{},"errors":["No conversation found with session ID: {id}"]}`},
	},
	ends: func(e Ending) []string { // the totals count no turn that failed
		const totals = `{"type":"cost-state","totalCostUSD":{0.25*N},"modelUsage":{"fake":{"inputTokens":{3*N},"outputTokens":{6*N},"costUSD":{0.25*N}}}}`
		if e == Limit {
			return []string{`{"type":"assistant","uuid":"{uuid}","timestamp":"{now}","version":"{version}","isApiErrorMessage":true,"message":` +
				`{"model":"<synthetic>","content":[{"type":"text","text":"API Error: 429"}]}}`,
				strings.ReplaceAll(totals, "N", "before")}
		}
		return []string{strings.ReplaceAll(totals, "N", "turns")}
	},
}

var codexOptions = map[string]string{"exec": "!", "--json": "!json", "--skip-git-repo-check": "!",
	"resume": "resume now", "-": "!", "-m": "model"}

const codexTotal = `"input_tokens":{1000*turns},"cached_input_tokens":{400*turns},"cache_write_input_tokens":0,"output_tokens":{50*turns},"reasoning_output_tokens":0`

var codex = dialect{
	version: "0.169.0",
	options: codexOptions,
	formats: map[string]string{"json": "stream-json"},
	always:  request{waits: true},
	compose: func(prompt, stdin string) string {
		switch {
		case prompt == "":
			return stdin
		case strings.TrimSpace(stdin) == "":
			return prompt
		case !strings.HasSuffix(stdin, "\n"):
			stdin += "\n"
		}
		return prompt + "\n\n<stdin>\n" + stdin + "</stdin>"
	},
	session: ".codex/sessions/2026/11/21/rollout-2026-11-21T08-00-00-{id}.jsonl",
	header:  `{"type":"session_meta","payload":{"id":"{id}","cli_version":"{version}"}}`,
	opening: `{"type":"thread.started","thread_id":"{id}"}
{"type":"turn.started"}`,
	said:    `{"type":"item.completed","item":{"id":"item_{i}","type":"agent_message","text":{text}}}`,
	work:    `{"type":"item.completed","item":{"id":"item_x","type":"command_execution","aggregated_output":"{huge}"}}`,
	late:    true,
	closing: `{"type":"turn.completed","usage":{` + codexTotal + `}}`,
	failed: `{"type":"error","message":"exceeded retry limit, last status: 429 Too Many Requests"}
{"type":"turn.failed","error":{"message":"exceeded retry limit, last status: 429 Too Many Requests"}}`,
	notice:  codexNotice,
	streams: "text",
	other:   codexText,
	foreign: func(o output) Shown { return Shown{Stderr: codexText(o).Stderr} },
	refusals: map[Refusal]refusal{
		Silent: {text: "Error: thread/resume: thread/resume failed: something (code -32000)\n"},
		Busy: {text: "Error: thread/resume: thread/resume failed: thread {id} already has an " +
			"active writer (code -32600)\n"},
		Unknown: {text: "Error: thread/resume: thread/resume failed: no rollout found for " +
			"thread id {id} (code -32600)\n"},
	},
	ends: func(e Ending) []string {
		if e != Well && e != Status {
			return nil
		}
		return []string{`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{` + codexTotal + `,"total_tokens":{1050*turns}},` +
			`"last_token_usage":{"input_tokens":1000,"cached_input_tokens":400,"cache_write_input_tokens":0,"output_tokens":50,"reasoning_output_tokens":0,` +
			`"total_tokens":1050},"model_context_window":200000}}}`}
	},
}

// codexNotice returns the line about stdin at the beginning of a fresh run.
func codexNotice(args []string) string {
	q := dialect{options: codexOptions}.read(args)
	switch {
	case q.resume != "" || args[len(args)-1] == "-":
		return ""
	case q.prompt == "":
		return "Reading prompt from stdin...\n"
	}
	return "Reading additional input from stdin...\n"
}

func codexText(o output) Shown {
	transcript := "OpenAI Codex v" + o.version + "\n--------\nworkdir: " + o.Dir +
		"\nmodel: fake\nsession id: " + o.Session + "\n--------\nuser\n" + o.Prompt + "\n"
	if o.Ending == Limit {
		return Shown{"", transcript + "ERROR: exceeded retry limit, last status: 429 Too Many " +
			"Requests\n"}
	}
	for i, text := range o.Script.Said {
		if o.broken && i+1 == len(o.Script.Said) {
			return Shown{"", transcript + "codex\n" + text[:len(text)/2]}
		}
		transcript += "codex\n" + text + "\n"
	}
	tokens := fmt.Sprint(650 * o.turns)
	if n := len(tokens) - 3; n > 0 {
		tokens = tokens[:n] + "," + tokens[n:]
	}
	return Shown{o.last() + "\n", transcript + "tokens used\n" + tokens + "\n"}
}

var copilot = dialect{
	version: "1.0.102",
	options: map[string]string{"--output-format": "format", "--silent": "!silent",
		"--usage-output-file": "output", "--share": "share", "--resume": "resume",
		"--prompt": "prompt", "-p": "prompt"},
	formats: map[string]string{"json": "stream-json", "json-silent": "stream-json",
		"text-silent": "silent"},
	always:  request{deaf: true},
	compose: either,
	session: ".copilot/session-state/{id}/events.jsonl",
	header: `{"type":"session.start","data":{"sessionId":"{id}","copilotVersion":"{version}"},` +
		copilotAt + `}`,
	user: `{"type":"{role}.message","role":"{role}","text":{text}}`,
	opening: `{"type":"session.tools_updated","data":{"model":"fake"},` + copilotAt + `}
{"type":"user.message","data":{"content":{prompt},"transformedContent":{transformed}},` + copilotAt + `}`,
	said: `{"type":"assistant.message","data":{"model":"fake","content":{text},"toolRequests":[]},` + copilotAt + `}`,
	work: `{"type":"tool.execution_start","data":{"toolName":"bash","arguments":{"command":"{huge}"}},` + copilotAt + `}
{"type":"tool.execution_complete","data":{"success":true},` + copilotAt + `}`,
	closing: strings.ReplaceAll(copilotResult, "EXIT", "{exit}"),
	failed: `{"type":"session.error","data":{"errorType":"query","message":"500 something"},` +
		copilotAt + "}\n" + strings.ReplaceAll(copilotResult, "EXIT", "1"),
	streams: "text silent",
	other: func(o output) (shown Shown) {
		for i, text := range o.Script.Said {
			last := i+1 == len(o.Script.Said)
			if o.Ending == Limit || last && o.broken {
				break
			}
			shown.Stdout += text + "\n\n"
			if o.format == "text" && !last {
				shown.Stdout += "● look (shell)\n\n"
			}
		}
		if o.Ending == Limit {
			shown.Stderr = "\n500 something\n"
		}
		if o.format == "text" && !o.broken {
			shown.Stderr += o.fill("\n\nChanges    +{2*turns} -0\nDuration   "+
				"{1*before}s\nTokens     ↑ {50*turns} ({20*turns} cached) • ↓ {10*turns}\n"+
				"Resume     copilot --resume={id}\n", nil)
		}
		return shown
	},
	refusals: map[Refusal]refusal{
		Broken: {text: "Error: Session '{id}' was found but could not be loaded.\nError: " +
			"Session file is corrupted (line 1: something)\n"},
		Unknown: {text: "Error: No session, task, or name matched '{id}'.\n"},
	},
	begins: func(p *player) { // notes in the session's file that it is continued
		if p.resume == "" || p.OnResume != Takes {
			return
		}
		if f, err := os.OpenFile(p.path(p.resume, ""), os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintln(f,
				`{"type":"session.resume","data":{"resumeTime":"2026-11-21T08:00:00.000Z"},`+copilotAt+`}`)
			f.Close()
		}
	},
	errLast: true, // as copilot 1.0.102 does
	ended: func(p *player, _ int) { // writes the figures of the session, and the session itself
		if p.output != "" && !p.Refused {
			check(os.WriteFile(p.output, []byte(
				p.fill(`{"totalPremiumRequestCost":{1*turns},"totalNanoAiu":0,"totalApiDurationMs":{9*turns},"codeChanges":{"linesAdded":{2*turns},`+
					`"linesRemoved":0},"modelMetrics":{"fake":{"usage":{"inputTokens":{50*turns},"outputTokens":{10*turns},"cacheReadTokens":{20*turns},"cacheWriteTokens":0}}},`+
					`"currentModel":"fake","lastCallInputTokens":50,"lastCallOutputTokens":10}`,
					nil)),
				0o600))
		}
		if p.share != "" && !p.Refused {
			check(os.WriteFile(p.share, []byte(
				"# Copilot CLI Session\n\n> - **Session ID:** `"+p.Session+"`  \n\n---\n"), 0o600))
		}
	},
}

const copilotResult = `{"type":"result","sessionId":"{id}","exitCode":EXIT,"usage":{"premiumRequests":{1*turns},"totalApiDurationMs":{9*turns},` +
	`"sessionDurationMs":{1000*before},"codeChanges":{"linesAdded":{2*turns},"linesRemoved":0,"filesModified":[]}},` + copilotAt + `}`

const geminiStats = `"stats":{"total_tokens":60,"input_tokens":50,"output_tokens":10,"cached":20,"input":30,"duration_ms":9,"tool_calls":0,` +
	`"models":{"fake":{"total_tokens":60,"input_tokens":50,"output_tokens":10,"cached":20,"input":30}}}`

// geminiLeft begins the name of a file that a resume leaves. There is no such minute, so that it is
// no session's name.
const geminiLeft = "session-2026-11-21T09-60-"

// gemini's messages name the session in which they were said, also in a copy that the shim has
// made.
var gemini = dialect{
	version: "0.61.0",
	options: map[string]string{"--output-format": "format", "-o": "format", "--resume": "resume",
		"--session-id": "id", "--prompt": "prompt", "-p": "prompt"},
	compose: func(prompt, stdin string) string { return joined(stdin, "\n\n", prompt) },
	session: ".gemini/tmp/{base}/chats/session-2026-11-21T08-00-{short}.jsonl",
	// of whatever minute, since the shim makes copies; no left one
	found:  ".gemini/tmp/{base}/chats/session-*T??-[0-5]?-{short}.jsonl",
	header: `{"sessionId":"{id}","projectHash":"0","startTime":"2026-11-21T08:00:00.000Z","kind":"main"}`,
	user:   `{"id":"{uuid}","session":"{id}","type":"user","role":"user","text":{text},"content":[{"text":{text}}]}`,
	answer: `{"id":"{uuid}","session":"{id}","type":"gemini","role":"assistant","text":{text},"content":{text},"tokens":{"input":50,"cached":20,"total":60},"model":"fake"}`,
	opening: `{"type":"init","timestamp":"2026-11-21T08:00:00.000Z","session_id":"{id}","model":"fake"}
{"type":"message","timestamp":"2026-11-21T08:00:00.000Z","role":"user","content":{prompt}}`,
	said: `{"type":"message","timestamp":"2026-11-21T08:00:00.000Z","role":"assistant","content":{text},"delta":true}`,
	work: `{"type":"tool_use","timestamp":"2026-11-21T08:00:00.000Z","tool_name":"look","tool_id":"look_{i}","parameters":{"path":"{huge}"}}
{"type":"tool_result","timestamp":"2026-11-21T08:00:00.000Z","tool_id":"look_{i}","status":"success"}`,
	closing: `{"type":"result","timestamp":"2026-11-21T08:00:00.000Z","status":"success",` +
		geminiStats + `}`,
	failed:  `{"type":"result","timestamp":"2026-11-21T08:00:00.000Z","status":"error","error":{"type":"unknown","message":"[API Error: {}]"},` + geminiStats + `}`,
	streams: "text",
	other: func(o output) Shown {
		text := strings.Join(o.Script.Said, "\n") + "\n"
		switch {
		case o.format == "text" && o.Ending == Limit:
			return Shown{Stderr: "An unexpected critical error occurred:[object Object]\n"}
		case o.Ending == Limit:
			return Shown{Stdout: fmt.Sprintf("{\n  \"session_id\": \"%s\",\n  \"error\": {\n    "+
				"\"code\": 401\n  }\n}\n", o.Session)}
		// streamed: a run that was cut short did not reach the last text
		case o.format == "text" && o.broken:
			return Shown{Stdout: strings.TrimSuffix(text, o.last()+"\n")}
		case o.format == "text":
			return Shown{Stdout: text}
		}
		return Shown{Stdout: geminiObject(o)}
	},
	foreign: func(o output) (shown Shown) {
		if o.format == "json" {
			shown.Stdout = geminiObject(o) + "\n"
		}
		return shown
	},
	refusals: map[Refusal]refusal{
		Broken: {text: "Error resuming session: something\n", exit: 42},
		Unknown: {text: "Error resuming session: Invalid session identifier \"{id}\".\n  " +
			"Searched for sessions in /somewhere/chats.\n", exit: 42},
	},
	limit: 401 & 255, // the API error's own status
	// A start in a later minute takes a file left by a resume for a broken session and deletes all
	// files of that ID, and a resume leaves such a file. It names the session again.
	begins: func(p *player) {
		left, _ := filepath.Glob(filepath.Join(filepath.Dir(p.path("12345678", p.Dir)),
			geminiLeft+"*.jsonl"))
		for _, path := range left {
			all, _ := filepath.Glob(strings.Replace(path, geminiLeft, "session-*-", 1))
			for _, path := range all {
				_ = os.Remove(path) // another start might have been faster
			}
		}
		if p.resume == "" {
			return
		}
		p.user = `{"$set":{"sessionId":"{id}"}}` + "\n" + p.user
		if path := p.find(p.resume); path != "" {
			check(os.WriteFile(filepath.Join(filepath.Dir(path), geminiLeft+p.resume[:8]+".jsonl"),
				[]byte(strings.ReplaceAll(p.header, "{id}", p.resume)+"\n"+
					`{"$set":{"messages":[{"type":"user","content":[{"text":"<session_context>\nThis is the Gemini CLI."}]}]}}`+"\n"), 0o600))
		}
	},
}

// geminiObject returns json's object, without a newline after it.
func geminiObject(o output) string {
	return fmt.Sprintf("{\n  \"session_id\": \"%s\",\n  \"response\": %s,\n  \"stats\": {\n    "+
		"\"models\": {}\n  }\n}", o.Session, rawJSON(o.last()))
}

// qwen resumes in a copy. Its figures are the session's.
var qwen = dialect{
	version: "0.24.4",
	options: map[string]string{"--output-format": "format", "-o": "format", "--resume": "resume",
		"--session-id": "id", "--prompt": "prompt", "-p": "prompt",
		"--fork-session": "!fork"},
	compose: gemini.compose,
	session: ".qwen/projects/{directory}/chats/{id}.jsonl",
	header:  `{"type":"system","sessionId":"{id}"}`,
	user: `{"type":"system","sessionId":"{id}","version":"{version}","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_response",` +
		`"input_token_count":9,"cached_content_token_count":3,"output_token_count":6,"total_token_count":15}}}
{"type":"user","sessionId":"{id}","version":"{version}","role":"user","text":{text},"message":{"parts":[{"text":{text}}]}}`,
	answer: `{"type":"assistant","sessionId":"{id}","version":"{version}","role":"assistant","text":{text},"message":{"parts":[{"text":{text}}]},"model":"fake",` +
		`"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":6}}`,
	copied:  copyQwen,
	opening: `{"type":"system","subtype":"init","session_id":"{id}","cwd":{dir},"tools":[],"model":"fake","qwen_code_version":"{version}"}`,
	said: `{"type":"assistant","session_id":"{id}","parent_tool_use_id":null,"message":{"role":"assistant","model":"fake","content":[{"type":"text","text":{text}}],` +
		`"usage":{"input_tokens":9,"output_tokens":6,"cache_read_input_tokens":3,"total_tokens":15}}}`,
	work: `{"type":"user","session_id":"{id}","message":{"role":"user","content":[{"type":"tool_result","content":"{huge}"}]}}`,
	late: true,
	closing: `{"type":"result","subtype":"success","session_id":"{id}","is_error":false,"num_turns":1,"result":{answer},"usage":{"input_tokens":{9*turns},` +
		`"output_tokens":{6*turns},"cache_read_input_tokens":{3*turns},"total_tokens":{15*turns}},"permission_denials":[]}`,
	failed: `{"type":"assistant","session_id":"{id}","parent_tool_use_id":null,"message":{"role":"assistant","model":"fake","content":[{"type":"text","text":"[API Error: 401]"}],"usage":{"input_tokens":0,"output_tokens":0}}}
{"type":"result","subtype":"error_during_execution","session_id":"{id}","is_error":true,"num_turns":1,"usage":{"input_tokens":{9*turns},"output_tokens":{6*turns}},"error":{"message":"[API Error: 401]"}}`,
	other: func(o output) Shown {
		switch {
		case o.format == "json":
			return Shown{Stdout: o.array()}
		case o.Ending == Limit:
			return Shown{Stderr: "[API Error: 401]\n"}
		}
		return lastLine(o)
	},
	foreign: func(o output) Shown {
		o.lines = o.lines[:1]
		return Shown{Stdout: map[string]string{"json": o.array()}[o.format]}
	},
	refusals: map[Refusal]refusal{
		Unknown: {text: "No saved session found with ID {id}. Run `qwen --resume` without an ID " +
			"to choose from existing sessions.\n"},
	},
}

// copyQwen copies a session's file: each line gets the copy's ID, and names the source.
func copyQwen(text []byte, from, to string) []byte {
	var copied bytes.Buffer
	for line := range bytes.Lines(text) {
		var record map[string]any
		if json.Unmarshal(line, &record) != nil {
			continue // cut short
		}
		record["sessionId"], record["forkedFrom"] = to, map[string]string{"sessionId": from}
		check(json.NewEncoder(&copied).Encode(record))
	}
	return copied.Bytes()
}

const (
	vibeEntry = `{"id":"entry-{n}","sessionId":"{id}","turnId":"{turn}","generationStatus":"completed",`
	vibeLimit = "Server error '500 Internal Server Error' for url 'http://127.0.0.1/'"
)

var vibe = dialect{
	version: "3.0.3",
	options: map[string]string{"--output": "format", "--output-dir": "output", "--resume": "resume",
		"--prompt": "prompt", "-p": "prompt"},
	formats: map[string]string{"streaming": "stream-json"},
	always:  request{deaf: true},
	compose: func(prompt, stdin string) string { return either(prompt, strings.TrimSpace(stdin)) },
	session: ".vibe/logs/session/unified/{id}/turns.jsonl",
	header:  `{"session_id":"{id}"}`,
	opening: vibeEntry +
		`"type":"message","role":"user","content":[{"type":"text","text":{prompt}}],"source":"turn_start"}`,
	said: vibeEntry +
		`"type":"message","role":"assistant","content":[{"type":"text","text":{text}}],"source":"harness"}`,
	work: vibeEntry +
		`"type":"effect","title":"file_system.bash","state":{"status":"completed","outputText":"{huge}"}}`,
	late:    true,
	endless: true,
	other: func(o output) Shown {
		switch {
		case o.Ending == Limit:
			return Shown{}
		case o.format == "text":
			return lastLine(o)
		}
		return Shown{Stdout: vibeArray(o)}
	},
	limit:   2,
	limited: "\nError: " + vibeLimit + "\n",
	refusals: map[Refusal]refusal{
		Unknown: {text: "\nError: Session not found: {id}\n"},
		Busy:    {text: "\nError: Session is already open: {id}\n", exit: 2},
		Broken:  {text: "\nError: Invalid Unified session store: something\n", exit: 2},
		Silent:  {text: "\nError: something\n", exit: 2},
	},
	begins: func(p *player) { // a run that continues a session writes to its newest journal
		// none if its first run was killed
		if journals := vibeJournals(p.resume); p.resume != "" && p.OnResume == Takes &&
			p.find(p.resume) != "" && len(journals) > 0 {
			check(os.WriteFile(journals[len(journals)-1], []byte("{}\n"), 0o600))
		}
	},
	ended: vibeEnds,
}

// vibeArray returns the session's turns and this one's, indented by two.
func vibeArray(o output) string {
	var entries []json.RawMessage
	add := func(lines []string) {
		for _, line := range lines {
			entries = append(entries, json.RawMessage(line))
		}
	}
	for i := 0; i < len(o.history); {
		turn, said := Run{Session: o.Session, Start: int64(i)}, Script{}
		if o.history[i].Role == "user" {
			turn.Prompt = o.history[i].Text
			for i++; i < len(o.history) && o.history[i].Role == "assistant"; i++ {
				said.Said = append(said.Said, o.history[i].Text)
			}
			add(o.stream(said, &turn))
			continue
		}
		i++
	}
	add(o.lines)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	check(e.Encode(entries))
	return b.String()
}

func vibeJournals(id string) []string {
	journals, _ := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".vibe/logs/session/unified", id,
		"journal/*.jsonl"))
	return journals
}

// vibeEnds begins the next journal, and records how the run ended.
func vibeEnds(p *player, exit int) {
	if !p.Refused {
		journal := filepath.Join(filepath.Dir(p.file), "journal")
		check(os.MkdirAll(journal, 0o700))
		check(os.WriteFile(fmt.Sprintf("%s/%06d.jsonl", journal, len(vibeJournals(p.Session))+1),
			nil, 0o600))
	}
	if p.output == "" {
		return
	}
	outcome, message, steps, id := "finished", "", len(p.Script.Said), p.Session
	said := strings.TrimSuffix(strings.TrimPrefix(p.fill(p.refusals[p.OnResume].text, nil),
		"\nError: "), "\n")
	switch {
	case p.Refused && p.OnResume == Unknown:
		outcome, message, steps, id = "usage_error", said, 0, ""
	case p.Refused && p.OnResume != OtherID:
		outcome, message, steps = "infrastructure_failure", said, 0
	case p.Ending == Limit:
		outcome, message, steps = "infrastructure_failure", vibeLimit, 1
	case p.Ending == Status:
		outcome = "turn_limit"
	}
	session := filepath.Join(p.output, "session/generations/1")
	check(os.MkdirAll(session, 0o700))
	check(os.WriteFile(filepath.Join(session, "checkpoint.json"),
		[]byte(`{"compaction_count":0,"last_reported_context_tokens":1000}`), 0o600))
	check(os.WriteFile(filepath.Join(p.output, "export.json"), fmt.Appendf(nil,
		`{"outcome":"%s","error":{"message":%s},"session_id":"%s","usage":{"input_tokens":50,"output_tokens":10,"cached_input_tokens":20,"total_tokens":60},"cost_usd":0.01,"steps":%d,"config":{"active_model":"fake"},"vibe_version":"%s","exit_code":%d}`,
		outcome, rawJSON(message), id, steps, p.version, exit), 0o600))
}

const opencodeFailed = "\x1b[91m\x1b[1mError: \x1b[0m"

// opencode keeps the content of a session in a separate file, and a row for it in the database.
var opencode = dialect{
	version: "1.18.33",
	options: map[string]string{"run": "!", "--format": "format", "--session": "resume",
		"--print-logs": "!"},
	formats: map[string]string{"json": "stream-json"},
	always:  request{waits: true},
	compose: func(prompt, stdin string) string { return joined(prompt, "\n", stdin) },
	session: ".local/share/opencode/fake/{id}.jsonl",
	header:  `{"session_id":"{id}"}`,
	newID:   func() string { return "ses_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:26] },
	said: `{"type":"step_start","timestamp":1,"sessionID":"{id}","part":{"type":"step-start"}}
{"type":"text","timestamp":1,"sessionID":"{id}","part":{"type":"text","text":{text}}}`,
	work: `{"type":"tool_use","timestamp":1,"sessionID":"{id}","part":{"type":"tool","state":{"status":"completed","input":{"filePath":"{huge}"}}}}`,
	after: `{"type":"step_finish","timestamp":1,"sessionID":"{id}","part":{"reason":"{reason}","tokens":{"input":30,"output":5,"reasoning":0,` +
		`"cache":{"read":0,"write":0}},"cost":0.01}}`,
	failed: `{"type":"error","timestamp":1,"sessionID":"{id}","error":{"name":"APIError","data":{"message":"the limit","statusCode":401}}}`,
	banner: "\x1b[0m\n> build · fake\n\x1b[0m\n",
	other: func(o output) Shown {
		if o.Ending == Limit {
			return Shown{Stderr: opencodeFailed + "the limit\n"}
		}
		return Shown{Stdout: strings.Join(o.Script.Said, "\n") + "\n"}
	},
	refusals: map[Refusal]refusal{
		Unknown: {text: opencodeFailed + "Session not found\n"},
		Broken: {text: "{logged}" + opencodeFailed + "Bad Request\n",
			line: `{"type":"error","timestamp":1,"sessionID":"{id}","error":{"name":"APIError","data":{"message":"Bad Request","statusCode":400}}}`},
	},
	opened: func(p *player) { // stores the prompt and names the session in the log
		if !p.Refused {
			p.noteRow()
		}
		named := "created id=" + p.Session + " parentID=undefined"
		if p.Resumed {
			named = "loop session.id=" + p.Session + " step=0"
		}
		fmt.Fprint(os.Stderr, opencodeLog(p.Run, named))
	},
	ended: func(p *player, exit int) {
		if p.Refused {
			return
		}
		p.noteRow()
		if exit == 0 {
			fmt.Fprint(os.Stderr, opencodeLog(p.Run, `"exiting loop" session.id=`+p.Session))
		}
	},
}

// opencodeLog returns lines of the log, if the run was asked to print it.
func opencodeLog(r *Run, messages ...string) (lines string) {
	if len(r.Args) < 2 || r.Args[1] != "--print-logs=true" {
		return ""
	}
	for _, m := range messages {
		lines += fmt.Sprintf("timestamp=%s level=INFO run=%08x message=%s\n",
			time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), uint32(r.Start), m)
	}
	return lines
}

// noteRow adds a message to a session's row.
func (p *player) noteRow() {
	home := filepath.Join(os.Getenv("HOME"), ".local/share/opencode")
	check(os.MkdirAll(home, 0o700))
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(home,
		"opencode.db")+"?_busy_timeout=10000&_txlock=immediate")
	check(err)
	defer db.Close()
	tx, err := db.Begin()
	check(err)
	now := time.Now().UnixMilli()
	for _, step := range []struct {
		text string
		args []any
	}{
		{`CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, revert TEXT, version TEXT, model TEXT, cost REAL, tokens_input INTEGER,
			tokens_output INTEGER, tokens_reasoning INTEGER, tokens_cache_read INTEGER, tokens_cache_write INTEGER, time_created INTEGER, time_updated INTEGER)`, nil},
		{"CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT, " +
			"time_created INTEGER, data TEXT)", nil},
		{"INSERT OR IGNORE INTO session VALUES (?, NULL, ?, NULL, ?, '{\"id\":\"fake\"}', 0, 0, " +
			"0, 0, 0, 0, ?, ?)", []any{p.Session, p.Dir, p.version, now, now}},
		{"UPDATE session SET time_updated = ?, cost = cost + 0.01, tokens_input = tokens_input " +
			"+ 30, tokens_output = tokens_output + 5 WHERE id = ?", []any{now, p.Session}},
		{"INSERT INTO message VALUES (?, ?, ?, " +
			"'{\"role\":\"assistant\",\"tokens\":{\"total\":60}}')",
			[]any{"msg_" + uuid.NewString(), p.Session, now}},
	} {
		_, err := tx.Exec(step.text, step.args...)
		check(err)
	}
	check(tx.Commit())
	// in a new file; it fails at once, and does not matter, if another player is there too
	_, _ = db.Exec("PRAGMA journal_mode = WAL")
}
