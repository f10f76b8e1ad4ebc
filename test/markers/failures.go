package markers

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"reprise/internal/standin"
)

// An api says how requests to one of the APIs fail.
type api struct {
	kinds           map[int]string // the names of the errors, by status
	body            string         // with STATUS, KIND, MESSAGE and CODE, in the order of keys
	tooBig, badTool string         // messages
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
		body:   `{"error":{"message":MESSAGE,"type":KIND},"type":"error"}`,
		tooBig: "prompt is too long: 250000 tokens > 200000 maximum",
		badTool: "messages.3: `tool_use` ids were found without `tool_result` blocks " +
			"immediately after: toolu_000001. " +
			"Each `tool_use` block must have a corresponding `tool_result` block in the next " +
			"message.",
	},
	standin.Responses: {
		kinds:   openaiKinds,
		body:    `{"error":{"code":CODE,"message":MESSAGE,"type":KIND}}`,
		badTool: "No tool output found for function call call_000001.",
	},
	standin.Gemini: {
		kinds: map[int]string{
			400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
			404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 529: "UNAVAILABLE",
		},
		body: `{"error":{"code":STATUS,"message":MESSAGE,"status":KIND}}`,
		tooBig: "The input token count (1200000) exceeds the maximum number of tokens allowed " +
			"(1048576).",
		badTool: "Please ensure that the number of function response parts is equal to the " +
			"number of function call parts of the function call turn.",
	},
	standin.Chat: { // Mistral's
		kinds: openaiKinds,
		body:  `{"code":null,"message":MESSAGE,"object":"error","type":KIND}`,
		tooBig: "Prompt contains 300000 tokens, too large for model with 262144 maximum " +
			"context length",
		badTool: "Not the same number of function calls and responses",
	},
	standin.OpenAIChat: {
		kinds: openaiKinds,
		body:  `{"error":{"code":CODE,"message":MESSAGE,"param":null,"type":KIND}}`,
		tooBig: "This model's maximum context length is 128000 tokens. However, your messages " +
			"resulted in 300000 tokens. " +
			"Please reduce the length of the messages.",
		badTool: "An assistant message with 'tool_calls' must be followed by tool messages " +
			"responding to each 'tool_call_id'.",
	},
}

// Fails returns an answer to a request that fails with a status.
func Fails(r standin.Request, status int) standin.Reply {
	return failsWith(r, status, fmt.Sprintf("stand-in error %d", status), nil)
}

func failsWith(r standin.Request, status int, message string, code any) standin.Reply {
	a := apis[r.API]
	return sends(status, "application/json", strings.NewReplacer("STATUS", fmt.Sprint(status),
		"KIND", standin.Encode(a.kinds[status]), "MESSAGE", standin.Encode(message),
		"CODE", standin.Encode(code)).Replace(a.body))
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
func badTool(r standin.Request) standin.Reply {
	return failsWith(r, 400, apis[r.API].badTool, nil)
}

// contextLength is the code of OpenAI's error for a conversation that is too long.
const contextLength = "context_length_exceeded"

// tooBig returns an answer to a conversation that exceeds the context window.
func tooBig(r standin.Request) standin.Reply {
	switch r.API {
	case standin.Responses: // found while the answer is generated
		return sends(200, "text/event-stream", `event: response.created
data: {"response":{"id":"resp_1"},"type":"response.created"}

event: response.failed
data: {"response":{"error":{"code":"`+contextLength+`","message":"Your input exceeds the `+
			`context window of this model. Please adjust your input and try again."},`+
			`"id":"resp_1","status":"failed"},"type":"response.failed"}

`)
	case standin.OpenAIChat:
		return failsWith(r, 400, apis[r.API].tooBig, contextLength)
	}
	return failsWith(r, 400, apis[r.API].tooBig, nil)
}
