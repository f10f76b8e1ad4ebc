package standin

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"
)

// anthropicTurn reads a message. Tool results are blocks of a user message, and can be beside
// texts.
func anthropicTurn(m object) turn {
	t := turn{role: asString(m["role"]), texts: contentTexts(m["content"])}
	for _, block := range asList(m["content"]) {
		if b := asObject(block); b["type"] == "tool_result" {
			t.results = append(t.results, strings.Join(contentTexts(b["content"]), "\n"))
		}
	}
	return t
}

func anthropicAnswer(x *exchange) {
	message := object{
		"id": x.id("msg"), "type": "message", "role": "assistant", "model": x.body["model"],
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil,
		"usage": anthropicUsage(x.usage),
	}
	stop := "end_turn"
	if x.reply.Command != "" {
		stop = "tool_use"
	}
	if x.body["stream"] != true {
		x.say(func(string) {})
		message["content"], message["stop_reason"] = anthropicContent(x), stop
		writeJSON(x.w, http.StatusOK, message)
		return
	}
	x.event(object{"type": "message_start", "message": message})
	anthropicStream(x)
	x.event(object{
		"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": anthropicUsage(x.usage),
	})
	x.event(object{"type": "message_stop"})
}

// anthropicStream sends the blocks: the start of each is empty, and the deltas fill it.
func anthropicStream(x *exchange) {
	for index, block := range anthropicContent(x) {
		delta := func(delta object) {
			x.event(object{"type": "content_block_delta", "index": index, "delta": delta})
		}
		start, input := maps.Clone(block), block["input"]
		if input != nil {
			start["input"] = object{}
		} else {
			start["text"] = ""
		}
		x.event(object{"type": "content_block_start", "index": index, "content_block": start})
		switch {
		case input != nil:
			delta(object{"type": "input_json_delta", "partial_json": Encode(input)})
		case x.reply.Command != "":
			delta(object{"type": "text_delta", "text": beforeTool})
		default:
			x.say(func(piece string) { delta(object{"type": "text_delta", "text": piece}) })
		}
		x.event(object{"type": "content_block_stop", "index": index})
	}
}

func anthropicContent(x *exchange) []object {
	if x.reply.Command == "" {
		return []object{{"type": "text", "text": x.reply.Text}}
	}
	name, input := x.tool()
	return []object{{"type": "text", "text": beforeTool},
		{"type": "tool_use", "id": x.id("toolu"), "name": name, "input": input}}
}

// anthropicUsage returns the usage; the three kinds of input are disjoint.
func anthropicUsage(u Tokens) object {
	return object{
		"input_tokens":                u.Input - u.Cached - u.Written,
		"cache_read_input_tokens":     u.Cached,
		"cache_creation_input_tokens": u.Written,
		"cache_creation": object{
			"ephemeral_5m_input_tokens": u.Written - u.ForHour,
			"ephemeral_1h_input_tokens": u.ForHour,
		},
		"output_tokens": u.Output,
	}
}

func chatTurn(m object) turn {
	if m["role"] == "tool" {
		return turn{role: "tool", results: []string{strings.Join(contentTexts(m["content"]), "\n")}}
	}
	return turn{role: asString(m["role"]), texts: contentTexts(m["content"])}
}

func chatAnswer(x *exchange) {
	stop := "stop"
	if x.reply.Command != "" {
		stop = "tool_calls"
	}
	if x.body["stream"] != true {
		x.say(func(string) {})
		writeJSON(x.w, http.StatusOK, chatChunk(x, "chat.completion", object{
			"message": chatMessage(x), "finish_reason": stop,
		}))
		return
	}
	delta := func(delta object, stop any) {
		x.event(chatChunk(x, "chat.completion.chunk",
			object{"delta": delta, "finish_reason": stop}))
	}
	if x.reply.Command != "" {
		delta(chatMessage(x), nil)
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
func chatMessage(x *exchange) object {
	if x.reply.Command == "" {
		return object{"role": "assistant", "content": x.reply.Text}
	}
	name, input := x.tool()
	return object{"role": "assistant", "content": beforeTool, "tool_calls": []any{object{
		"id":    fmt.Sprintf("call%05d", x.serial), // Mistral's IDs have nine characters
		"index": 0, "type": "function",
		"function": object{"name": name, "arguments": Encode(input)},
	}}}
}

// geminiTurn reads a message. Tool results are parts of a user message.
func geminiTurn(m object) turn {
	t := turn{role: asString(m["role"]), texts: contentTexts(m["parts"])}
	for _, part := range asList(m["parts"]) {
		if result, ok := asObject(part)["functionResponse"]; ok {
			t.results = append(t.results, asString(
				asObject(asObject(result)["response"])["output"]))
		}
	}
	return t
}

func geminiAnswer(x *exchange) {
	if !strings.HasSuffix(x.path, ":streamGenerateContent") {
		x.say(func(string) {})
		writeJSON(x.w, http.StatusOK, geminiLast(x, geminiParts(x)...))
		return
	}
	if x.reply.Command != "" {
		x.event(geminiLast(x, geminiParts(x)...))
		return
	}
	x.say(func(piece string) {
		x.event(geminiChunk(object{"text": piece}))
	})
	x.event(geminiLast(x, object{"text": ""}))
}

// geminiParts returns the whole answer: a call of the CLI's shell tool, or the text.
func geminiParts(x *exchange) []any {
	if x.reply.Command == "" {
		return []any{object{"text": x.reply.Text}}
	}
	name, input := x.tool()
	return []any{object{"text": beforeTool},
		object{"functionCall": object{"name": name, "args": input}}}
}

func geminiChunk(parts ...any) object {
	return object{
		"candidates": []any{object{"content": object{"role": "model", "parts": parts},
			"index": 0}},
		"modelVersion": "gemini-stand-in",
	}
}

// geminiLast returns the last chunk of a stream, or an answer that is not streamed.
func geminiLast(x *exchange, parts ...any) object {
	chunk := geminiChunk(parts...)
	asObject(asList(chunk["candidates"])[0])["finishReason"] = "STOP"
	chunk["usageMetadata"] = object{
		"promptTokenCount": x.usage.Input, "cachedContentTokenCount": x.usage.Cached,
		"candidatesTokenCount": x.usage.Output, "totalTokenCount": x.usage.Input + x.usage.Output,
	}
	return chunk
}

// responsesTurn reads an item. A tool result is a separate item, without a role.
func responsesTurn(item object) turn {
	output, ran := item["output"]
	if !ran {
		return turn{role: asString(item["role"]), texts: contentTexts(item["content"])}
	}
	return turn{role: "tool", results: []string{strings.Join(contentTexts(output), "\n")}}
}

// responsesAnswer streams: codex requests nothing else.
func responsesAnswer(x *exchange) {
	x.event(object{"type": "response.created", "response": object{"id": x.id("resp")}})
	items := []any{responsesMessage(x)}
	if x.reply.Command != "" {
		name, input := x.tool()
		call := object{"type": "function_call", "id": x.id("fc"), "call_id": x.id("call"),
			"status": "completed", "name": name, "arguments": Encode(input)}
		responsesItem(x, "added", 1, call)
		responsesItem(x, "done", 1, call)
		items = append(items, call)
	}
	x.event(object{"type": "response.completed", "response": object{
		"id": x.id("resp"), "object": "response", "status": "completed", "model": x.body["model"],
		"output": items, "usage": object{
			"input_tokens":          x.usage.Input,
			"input_tokens_details":  object{"cached_tokens": x.usage.Cached},
			"output_tokens":         x.usage.Output,
			"output_tokens_details": object{"reasoning_tokens": 0},
			"total_tokens":          x.usage.Input + x.usage.Output},
	}})
}

// responsesMessage streams the text and returns it as a whole item.
func responsesMessage(x *exchange) object {
	item := func(status string, content []any) object {
		return object{"type": "message", "id": x.id("msg"), "role": "assistant", "status": status,
			"content": content}
	}
	responsesItem(x, "added", 0, item("in_progress", []any{}))
	delta := func(piece string) {
		x.event(object{
			"type": "response.output_text.delta", "item_id": x.id("msg"),
			"output_index": 0, "content_index": 0, "delta": piece,
		})
	}
	text := beforeTool
	if x.reply.Command == "" {
		text = x.reply.Text
		x.say(delta)
	} else {
		delta(text)
	}
	done := item("completed", []any{object{"type": "output_text", "text": text,
		"annotations": []any{}}})
	responsesItem(x, "done", 0, done)
	return done
}

func responsesItem(x *exchange, step string, index int, item object) {
	x.event(object{"type": "response.output_item." + step, "output_index": index, "item": item})
}
