package suite

import (
	"fmt"
	"maps"
	"syscall"

	"reprise/test/harness"
)

func init() { maps.Copy(claudeCalls, framesCalls) }

// frames is the command line of a caller that speaks stream-json on stdin, as the agent SDKs do.
func frames(more ...string) []string {
	return append(list("--output-format|stream-json|--verbose|--input-format|stream-json"), more...)
}

const initialize = `{"request_id":"first","type":"control_request","request":{"subtype":"initialize"}}` + "\n"

// initializeWith is initialize with more fields in the request.
func initializeWith(fields string) string {
	return `{"request_id":"first","type":"control_request","request":{"subtype":"initialize",` +
		fields + "}}\n"
}

func message(text string) string { return messageOf(fmt.Sprintf("%q", text)) }

// messageOf is a user's message with this content, in JSON.
func messageOf(content string) string {
	return `{"type":"user","session_id":"","message":{"role":"user","content":` + content +
		`},"parent_tool_use_id":null}` + "\n"
}

// sdk is a caller as the SDKs are: it sends the messages from stdin, one at a time, answers
// requests, and closes its end after the last result. A request is shown without its ID. With DO,
// it interrupts the first turn, or aborts it.
const sdk = `exec node -e '
const [program, ...args] = process.argv.slice(1)
const tool = require("child_process").spawn(program, args, { argv0: "claude", stdio: ["pipe", "pipe", "inherit"] })
const frames = require("fs").readFileSync(0, "utf8").split("\n").filter(Boolean)
const say = f => tool.stdin.write(typeof f === "string" ? f + "\n" : JSON.stringify(f) + "\n")
const next = () => {
	while (frames.length) {
		const f = frames.shift()
		say(f)
		if (JSON.parse(f).type === "user") return
	}
	tool.stdin.end()
}
const answer = r => r.subtype === "can_use_tool" ? { behavior: "allow", updatedInput: r.input }
	: r.subtype !== "mcp_message" ? {}
	: { mcp_response: { jsonrpc: "2.0", id: r.message.id ?? 0, result: { protocolVersion: "2025-06-18", capabilities: { tools: {} },
		serverInfo: { name: "x", version: "1" }, tools: [{ name: "add", inputSchema: { type: "object" } }] } } }
const take = f => {
	if (f.type === "control_request") {
		const r = f.request
		console.log("asked", r.subtype, r.callback_id ?? "", r.tool_name ?? "", r.message?.method ?? "")
		say({ type: "control_response", response: { subtype: "success", request_id: f.request_id, response: answer(r) } })
	} else {
		console.log(JSON.stringify(f))
	}
	if (f.subtype === "init" && process.env.DO === "interrupt") {
		setTimeout(say, 2000, { type: "control_request", request_id: "stop", request: { subtype: "interrupt" } })
	}
	if (f.subtype === "init" && process.env.DO === "abort") setTimeout(() => { tool.stdin.end(); tool.kill("SIGTERM") }, 2000)
	if (f.type === "result") next()
}
let rest = ""
tool.stdout.on("data", d => {
	const lines = (rest + d).split("\n")
	rest = lines.pop()
	for (const line of lines) take(JSON.parse(line))
})
tool.stdin.on("error", () => {})
tool.on("close", code => { process.exitCode = code ?? 1 })
next()
' "$0" "$@"`

// pixel is an image.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

// framesCalls are calls of callers that speak stream-json.
var framesCalls = map[string]call{
	"frames": {Args: frames(),
		Stdin: initialize + message("hi remember number 456")},
	"frames, waiting": {Args: frames(),
		Stdin: initialize + message("hi remember number 456"), From: harness.Late},
	"frames, two messages": {Args: frames(),
		Stdin: initialize + message("hi remember number 456") + message("what number")},
	"frames, no initialize": {Args: frames("-p"), Stdin: message("RUNTOOL please")},
	"frames, partial": {Args: frames("--include-partial-messages",
		"--replay-user-messages"), Stdin: initialize + message("hi")},
	"frames, command": {Args: frames(), Stdin: initialize + message("/cost")},
	"frames, another model": {Args: frames(),
		Stdin: initialize +
			`{"request_id":"second","type":"control_request","request":{"subtype":"set_model","model":"claude-sonnet-4-5"}}` + "\n" + message("hi")},
	"frames, no message": {Args: frames(), Stdin: initialize},
	"frames, no frame":   {Args: frames(), Stdin: "hi\n"},
	"frames, 429":        {Args: frames(), Stdin: initialize + message("HTTP429")},
	"frames, TERM in the middle": {Args: frames(), Stdin: initialize + message("HANG"),
		Signal: syscall.SIGTERM, At: harness.Middle},

	"frames, several turns": {Args: frames(),
		Stdin: initialize + message("hi remember number 456") + message("what number") +
			message("RUNTOOL please"), Around: sdk},
	"frames, hooks": {Args: frames("--allowedTools", "Bash"), Around: sdk,
		Stdin: initializeWith(`"hooks":{"UserPromptSubmit":[{"hookCallbackIds":["asked"]}],`+
			`"PreToolUse":[{"matcher":"Bash","hookCallbackIds":["before"]}],"PostToolUse":[{"hookCallbackIds":["after"]}],"Stop":[{"hookCallbackIds":["stop"]}]}`) +
			message("RUNTOOL please")},
	"frames, canUseTool": {Args: frames("--permission-prompt-tool", "stdio"), Around: sdk,
		Stdin: initialize + message("RUNTOOL touch something")},
	"frames, server in process": {Args: frames("--mcp-config",
		`{"mcpServers":{"adder":{"type":"sdk","name":"adder"}}}`), Around: sdk,
		Stdin: initializeWith(`"sdkMcpServers":["adder"]`) + message("hi")},
	"frames, image": {Args: frames(), Stdin: initialize + messageOf(`[{"type":"text","text":"hi"},`+
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+pixel+`"}}]`)},
	"frames, interrupt": {Args: frames(), Around: sdk, Env: []string{"DO=interrupt"},
		Stdin: initialize + message("HANG")},
	"frames, abort": {Args: frames(), Around: sdk, Env: []string{"DO=abort"},
		Stdin: initialize + message("HANG")},
}
