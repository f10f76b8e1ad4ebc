package standin

// responsesTurn reads an item. A tool result is a separate item, without a role.
func responsesTurn(item object) turn {
	output, ran := item["output"]
	if !ran {
		return turn{role: asString(item["role"]), texts: contentTexts(item["content"])}
	}
	return turn{role: "tool", results: contentTexts(output), tool: true}
}

// responsesAnswer streams: codex requests nothing else.
func responsesAnswer(x *exchange) {
	x.event("response.created", object{"type": "response.created",
		"response": object{"id": x.id("resp")}})
	items := []any{responsesMessage(x)}
	if x.reply.Command != "" {
		items = append(items, responsesCall(x))
	}
	x.event("response.completed", object{"type": "response.completed", "response": object{
		"id": x.id("resp"), "object": "response", "status": "completed", "model": x.body["model"],
		"output": items, "usage": responsesUsage(x.usage),
	}})
}

// responsesMessage streams the text and returns it as a whole item.
func responsesMessage(x *exchange) object {
	item := func(status string, content []any) object {
		return object{"type": "message", "id": x.id("msg"), "role": "assistant", "status": status,
			"content": content}
	}
	x.event("response.output_item.added", object{
		"type": "response.output_item.added", "output_index": 0,
		"item": item("in_progress", []any{}),
	})
	delta := func(piece string) {
		x.event("response.output_text.delta", object{
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
	x.event("response.output_item.done", object{"type": "response.output_item.done",
		"output_index": 0, "item": done})
	return done
}

// responsesCall streams a call of codex's shell tool and returns it.
func responsesCall(x *exchange) object {
	call := object{
		"type": "function_call", "id": x.id("fc"), "call_id": x.id("call"), "status": "completed",
		"name": "exec_command", "arguments": string(encode(object{"cmd": x.reply.Command})),
	}
	x.event("response.output_item.added", object{"type": "response.output_item.added",
		"output_index": 1, "item": call})
	x.event("response.output_item.done", object{"type": "response.output_item.done",
		"output_index": 1, "item": call})
	return call
}

func responsesUsage(u Tokens) object {
	return object{
		"input_tokens": u.Input, "input_tokens_details": object{"cached_tokens": u.Cached},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": u.Input + u.Output,
	}
}
