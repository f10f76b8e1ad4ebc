package markers

import (
	"fmt"
	"io"
	"net/http"

	"reprise/internal/standin"
)

// An api says how requests to one of the APIs fail.
type api struct {
	kinds           map[int]string // the names of the errors, by status
	body            func(status int, kind, message string) object
	tooBig, badTool string // messages
}

type object = map[string]any

var openaiKinds = map[int]string{
	400: "invalid_request_error", 401: "invalid_request_error", 403: "invalid_request_error",
	404: "invalid_request_error", 429: "rate_limit_error", 500: "server_error", 529: "server_error",
}

var apis = map[string]api{
	standin.Anthropic: {
		kinds: map[int]string{
			400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
			404: "not_found_error", 429: "rate_limit_error", 500: "api_error",
			529: "overloaded_error",
		},
		body: func(_ int, kind, message string) object {
			return object{"type": "error", "error": object{"type": kind, "message": message}}
		},
		tooBig: "prompt is too long: 250000 tokens > 200000 maximum",
		badTool: "messages.3: `tool_use` ids were found without `tool_result` blocks " +
			"immediately after: toolu_000001. " +
			"Each `tool_use` block must have a corresponding `tool_result` block in the next " +
			"message.",
	},
	standin.Responses: {
		kinds: openaiKinds,
		body: func(_ int, kind, message string) object {
			return object{"error": object{"message": message, "type": kind, "code": nil}}
		},
		badTool: "No tool output found for function call call_000001.",
	},
	standin.Gemini: {
		kinds: map[int]string{
			400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
			404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 529: "UNAVAILABLE",
		},
		body: func(status int, kind, message string) object {
			return object{"error": object{"code": status, "message": message, "status": kind}}
		},
		tooBig: "The input token count (1200000) exceeds the maximum number of tokens allowed " +
			"(1048576).",
		badTool: "Please ensure that the number of function response parts is equal to the " +
			"number of function call parts of the function call turn.",
	},
	standin.Chat: { // Mistral's
		kinds: openaiKinds,
		body: func(_ int, kind, message string) object {
			return object{"object": "error", "message": message, "type": kind, "code": nil}
		},
		tooBig: "Prompt contains 300000 tokens, too large for model with 262144 maximum " +
			"context length",
		badTool: "Not the same number of function calls and responses",
	},
	standin.OpenAIChat: {
		kinds: openaiKinds,
		body: func(_ int, kind, message string) object {
			return object{"error": object{"message": message, "type": kind, "param": nil,
				"code": nil}}
		},
		tooBig: "This model's maximum context length is 128000 tokens. However, your messages " +
			"resulted in 300000 tokens. " +
			"Please reduce the length of the messages.",
		badTool: "An assistant message with 'tool_calls' must be followed by tool messages " +
			"responding to each 'tool_call_id'.",
	},
}

// Fails returns an answer to a request that fails with a status.
func Fails(r standin.Request, status int) standin.Reply {
	return failsWith(r, status, fmt.Sprintf("stand-in error %d", status))
}

func failsWith(r standin.Request, status int, message string) standin.Reply {
	a := apis[r.API]
	return sends(status, "application/json",
		standin.Encode(a.body(status, a.kinds[status], message)))
}

// sends returns an answer that is sent as it is.
func sends(status int, kind, body string) standin.Reply {
	return standin.Reply{Instead: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // a client that is gone needs no answer
	}}
}

// badTool returns an answer to a transcript with a tool call that has no result.
func badTool(r standin.Request) standin.Reply { return failsWith(r, 400, apis[r.API].badTool) }

// contextLength is the code of OpenAI's error for a conversation that is too long.
const contextLength = "context_length_exceeded"

// tooBig returns an answer to a conversation that exceeds the context window.
func tooBig(r standin.Request) standin.Reply {
	a := apis[r.API]
	body := a.body(400, a.kinds[400], a.tooBig)
	switch r.API {
	case standin.Responses: // found while the answer is generated
		body := object{"type": "response.failed",
			"response": object{"id": "resp_1", "status": "failed", "error": object{
				"code": contextLength, "message": "Your input exceeds the context window of this " +
					"model. Please adjust your input and try again."}}}
		created := object{"type": "response.created", "response": object{"id": "resp_1"}}
		return sends(200, "text/event-stream",
			"event: response.created\ndata: "+standin.Encode(created)+
				"\n\nevent: response.failed\ndata: "+standin.Encode(body)+"\n\n")
	case standin.OpenAIChat:
		body["error"].(object)["code"] = contextLength
	}
	return sends(400, "application/json", standin.Encode(body))
}
