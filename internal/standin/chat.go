package standin

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

func chatTurn(m object) turn {
	if m["role"] == "tool" {
		return turn{role: "tool", results: contentTexts(m["content"]), tool: true}
	}
	return turn{role: asString(m["role"]), texts: contentTexts(m["content"])}
}

func chatAnswer(x *exchange) {
	stop := "stop"
	if x.reply.Command != "" {
		stop = "tool_calls"
	}
	if x.body["stream"] != true {
		writeJSON(x.w, http.StatusOK, chatChunk(x, "chat.completion", object{
			"message": chatMessage(x, x.text), "finish_reason": stop,
		}))
		return
	}
	delta := func(delta object, stop any) {
		x.event("", chatChunk(x, "chat.completion.chunk",
			object{"delta": delta, "finish_reason": stop}))
	}
	if x.reply.Command != "" {
		delta(chatMessage(x, nil), nil)
	} else {
		x.say(func(piece string) { delta(object{"role": "assistant", "content": piece}, nil) })
	}
	delta(object{"content": ""}, stop)
	fmt.Fprint(x.w, "data: [DONE]\n\n")
}

// chatChunk returns a chunk of a stream, or a whole answer. The last chunk contains the usage, as
// Mistral's does.
func chatChunk(x *exchange, kind string, choice object) object {
	choice["index"] = 0
	chunk := object{
		"id": x.id("chat"), "object": kind, "created": time.Now().Unix(), "model": x.body["model"],
		"choices": []any{choice},
	}
	if choice["finish_reason"] != nil {
		chunk["usage"] = object{
			"prompt_tokens": x.usage.Input, "prompt_tokens_details": object{
				"cached_tokens": x.usage.Cached},
			"completion_tokens": x.usage.Output, "total_tokens": x.usage.Input + x.usage.Output,
		}
	}
	return chunk
}

// chatMessage returns the whole answer: a call of the CLI's shell tool, or the text.
func chatMessage(x *exchange, text func() string) object {
	if x.reply.Command == "" {
		return object{"role": "assistant", "content": text()}
	}
	return object{"role": "assistant", "content": beforeTool, "tool_calls": []any{object{
		"id":    fmt.Sprintf("call%05d", x.serial), // Mistral's IDs have nine characters
		"index": 0, "type": "function",
		"function": object{"name": shellTool(x.body),
			"arguments": string(encode(object{"command": x.reply.Command}))},
	}}}
}

var shellTools = []string{"bash", "run_shell_command"}

// shellTool returns the name of the shell tool that a request offers, the usual one if it offers
// none.
func shellTool(body object) string {
	for _, tool := range asList(body["tools"]) {
		name := asString(asObject(asObject(tool)["function"])["name"])
		if slices.Contains(shellTools, name) {
			return name
		}
	}
	return shellTools[0]
}
