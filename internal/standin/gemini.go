package standin

import (
	"net/http"
	"strings"
)

// geminiTurn reads a message. Tool results are parts of a user message.
func geminiTurn(m object) turn {
	t := turn{role: asString(m["role"]), texts: contentTexts(m["parts"])}
	for _, part := range asList(m["parts"]) {
		if result, ok := asObject(part)["functionResponse"]; ok {
			t.tool = true
			t.results = append(t.results, asString(
				asObject(asObject(result)["response"])["output"]))
		}
	}
	return t
}

func geminiAnswer(x *exchange) {
	if !strings.HasSuffix(x.path, ":streamGenerateContent") {
		writeJSON(x.w, http.StatusOK, geminiLast(x, geminiParts(x, x.text)...))
		return
	}
	if x.reply.Command != "" {
		x.event("", geminiLast(x, geminiParts(x, nil)...))
		return
	}
	x.say(func(piece string) {
		x.event("", geminiChunk(object{"text": piece}))
	})
	x.event("", geminiLast(x, object{"text": ""}))
}

// geminiParts returns the whole answer: a call of gemini's shell tool, or the text.
func geminiParts(x *exchange, text func() string) []any {
	if x.reply.Command == "" {
		return []any{object{"text": text()}}
	}
	return []any{object{"text": beforeTool}, object{"functionCall": object{
		"name": "run_shell_command",
		"args": object{"command": x.reply.Command, "description": "Run it"},
	}}}
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
