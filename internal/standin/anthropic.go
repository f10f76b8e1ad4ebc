package standin

import "net/http"

// anthropicTurn reads a message. Tool results are blocks of a user message, and can be beside
// texts.
func anthropicTurn(m object) turn {
	t := turn{role: asString(m["role"]), texts: contentTexts(m["content"])}
	for _, block := range asList(m["content"]) {
		if b := asObject(block); b["type"] == "tool_result" {
			t.tool = true
			t.results = append(t.results, contentTexts(b["content"])...)
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
		message["content"], message["stop_reason"] = anthropicContent(x), stop
		writeJSON(x.w, http.StatusOK, message)
		return
	}
	x.event("message_start", object{"type": "message_start", "message": message})
	anthropicStream(x)
	x.event("message_delta", object{
		"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": anthropicUsage(x.usage),
	})
	x.event("message_stop", object{"type": "message_stop"})
}

func anthropicStream(x *exchange) {
	if x.reply.Command == "" {
		anthropicBlock(x, 0, object{"type": "text", "text": ""}, func(delta func(object)) {
			x.say(func(piece string) { delta(object{"type": "text_delta", "text": piece}) })
		})
		return
	}
	anthropicBlock(x, 0, object{"type": "text", "text": ""}, func(delta func(object)) {
		delta(object{"type": "text_delta", "text": beforeTool})
	})
	call := anthropicCall(x)
	input := string(encode(call["input"]))
	call["input"] = object{}
	anthropicBlock(x, 1, call, func(delta func(object)) {
		delta(object{"type": "input_json_delta", "partial_json": input})
	})
}

// anthropicBlock sends one block. fill sends the deltas.
func anthropicBlock(x *exchange, index int, start object, fill func(delta func(object))) {
	x.event("content_block_start", object{"type": "content_block_start", "index": index,
		"content_block": start})
	fill(func(delta object) {
		x.event("content_block_delta", object{"type": "content_block_delta", "index": index,
			"delta": delta})
	})
	x.event("content_block_stop", object{"type": "content_block_stop", "index": index})
}

func anthropicContent(x *exchange) []any {
	if x.reply.Command == "" {
		return []any{object{"type": "text", "text": x.text()}}
	}
	return []any{object{"type": "text", "text": beforeTool}, anthropicCall(x)}
}

// anthropicCall calls the shell tool that the request offers: droid's has more arguments than
// claude's.
func anthropicCall(x *exchange) object {
	name, input := "Bash", object{"command": x.reply.Command, "description": "Run it"}
	for _, tool := range asList(x.body["tools"]) {
		if asObject(tool)["name"] == "Execute" {
			name = "Execute"
			input = object{"command": x.reply.Command, "summary": "Run the given command",
				"riskLevel": "low", "riskLevelReason": "A test."}
		}
	}
	return object{"type": "tool_use", "id": x.id("toolu"), "name": name, "input": input}
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
