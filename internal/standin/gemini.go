package standin

import (
	"fmt"
	"net/http"
	"strings"
)

// gemini is generateContent, and streamGenerateContent with alt=sse.
var gemini = &dialect{
	name:     Gemini,
	messages: "contents",
	head:     []string{"systemInstruction", "tools"},
	cached:   geminiCache.cached,
	turn:     geminiTurn,
	answer:   geminiAnswer,
	fail:     geminiFail,
}

// geminiTurn reads a message. Tool results are parts of a user message.
func geminiTurn(m object) turn {
	t := turn{role: asString(m["role"]), texts: contentTexts(m["parts"])}
	for _, part := range asList(m["parts"]) {
		if result, ok := asObject(part)["functionResponse"]; ok {
			t.tool = true
			t.results = append(t.results, asString(asObject(asObject(result)["response"])["output"]))
		}
	}
	return t
}

func geminiAnswer(x *exchange) {
	if !strings.HasSuffix(x.path, ":streamGenerateContent") {
		x.json(http.StatusOK, geminiLast(x, geminiParts(x, x.text)...))
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
		"candidates":   []any{object{"content": object{"role": "model", "parts": parts}, "index": 0}},
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

var geminiErrors = map[int]string{
	400: "INVALID_ARGUMENT",
	401: "UNAUTHENTICATED",
	403: "PERMISSION_DENIED",
	429: "RESOURCE_EXHAUSTED",
	500: "INTERNAL",
	529: "UNAVAILABLE",
}

func geminiFail(x *exchange) {
	status, message := x.reply.Status, fmt.Sprintf("stand-in error %d", x.reply.Status)
	switch {
	case x.reply.TooBig:
		status, message = http.StatusBadRequest,
			"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
	case x.reply.BadTool:
		status, message = http.StatusBadRequest, "Please ensure that the number of function response parts is "+
			"equal to the number of function call parts of the function call turn."
	}
	x.json(status, object{"error": object{"code": status, "message": message, "status": geminiErrors[status]}})
}
