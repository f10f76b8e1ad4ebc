package standin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

type dialect struct {
	name     string
	path     string   // how the paths of the requests end
	messages string   // the field that contains the conversation
	head     []string // the fields that count as coming before it
	shell    string   // the CLI's shell tool
	command  string   // the argument that has the command
	turn     func(message object) turn
	answer   func(x *exchange)
}

// The names of the APIs in Request.API.
const (
	Anthropic  = "anthropic"   // Messages, used by claude
	Responses  = "responses"   // OpenAI Responses, used by codex
	Gemini     = "gemini"      // generateContent, used by gemini
	Chat       = "chat"        // chat completions, used by vibe
	OpenAIChat = "openai-chat" // chat completions as OpenAI serves them, used by qwen
)

// dialects are all APIs. The first path that fits counts.
var dialects = []*dialect{
	{Anthropic, "/v1/messages", "messages", []string{"tools", "system"}, "Bash", "command",
		anthropicTurn, anthropicAnswer},
	{Responses, "/v1/responses", "input", []string{"instructions", "tools"}, "exec_command", "cmd",
		responsesTurn, responsesAnswer},
	{Gemini, ":generateContent", "contents", geminiHead, geminiShell, "command", geminiTurn,
		geminiAnswer},
	{Gemini, ":streamGenerateContent", "contents", geminiHead, geminiShell, "command", geminiTurn,
		geminiAnswer},
	{OpenAIChat, "/openai/v1/chat/completions", "messages", toolsFirst, geminiShell, "command",
		chatTurn, chatAnswer},
	{Chat, "/v1/chat/completions", "messages", toolsFirst, "bash", "command", chatTurn, chatAnswer},
}

const geminiShell = "run_shell_command" // qwen began as gemini

var geminiHead, toolsFirst = []string{"systemInstruction", "tools"}, []string{"tools"}

// firstDialect returns the first API that fits, nil for none.
func firstDialect(fits func(*dialect) bool) *dialect {
	if i := slices.IndexFunc(dialects, fits); i >= 0 {
		return dialects[i]
	}
	return nil
}

// An exchange is one request being answered.
type exchange struct {
	api    *dialect
	ctx    context.Context
	w      http.ResponseWriter
	path   string // of the request
	serial int    // of the request; makes the IDs of the answer unique
	body   object
	reply  Reply
	usage  Tokens
}

// ServeHTTP records the request, then answers it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	request := Request{Method: r.Method, Path: r.URL.Path, Size: len(raw)}
	d := firstDialect(func(d *dialect) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, d.path)
	})
	if d != nil {
		request.API = d.name
	}
	if json.Unmarshal(raw, &request.Body) != nil {
		request.Body = string(raw)
	}
	serial := s.record(request)
	body, isObject := request.Body.(object)
	if d == nil {
		aside(w, request)
		return
	}
	if !isObject {
		writeJSON(w, http.StatusBadRequest, notUnderstood("the body is not a JSON object"))
		return
	}
	x := &exchange{api: d, ctx: r.Context(), w: w, path: request.Path, serial: serial,
		body: body, reply: s.options.Reply(request)}
	if x.reply.Instead != nil {
		x.reply.Instead(w, r)
		return
	}
	x.usage, err = s.options.Measure(Prompt{API: d.name, Model: model(r.URL.Path, body),
		Header: r.Header, Body: raw, Head: d.head, Messages: d.messages})
	if err != nil {
		writeJSON(x.w, http.StatusBadRequest,
			object{"type": "error", "error": object{"type": "invalid_request_error",
				"message": err.Error()}})
		return
	}
	x.usage.Output = 1 + len(x.reply.Text+x.reply.Command)/4
	s.charge(serial, x.usage)
	d.answer(x)
}

// model returns the name of the model that is asked. Google's API has it in the path.
func model(path string, body object) string {
	if _, name, ok := strings.Cut(path, "/models/"); ok {
		name, _, _ = strings.Cut(name, ":")
		return name
	}
	return asString(body["model"])
}

// aside answers requests that ask no model: token counts, lists of models, health checks.
func aside(w http.ResponseWriter, r Request) {
	switch {
	case strings.HasSuffix(r.Path, "/v1/messages/count_tokens"):
		writeJSON(w, http.StatusOK, object{"input_tokens": r.Size/4 + 1})
	case strings.HasSuffix(r.Path, ":countTokens"):
		writeJSON(w, http.StatusOK, object{"totalTokens": r.Size/4 + 1})
	case strings.HasSuffix(r.Path, "/models"):
		// An empty list, under the name that OpenAI and Mistral use and under the name that codex
		// and gemini use.
		writeJSON(w, http.StatusOK, object{"object": "list", "data": []any{}, "models": []any{}})
	case r.Method == http.MethodHead, r.Path == "/":
		writeJSON(w, http.StatusOK, object{})
	default:
		writeJSON(w, http.StatusNotFound, notUnderstood("no "+r.Method+" "+r.Path+" here"))
	}
}

// notUnderstood returns an error in a form that all the APIs' clients can read.
func notUnderstood(message string) object {
	return object{"type": "error", "error": object{"type": "not_found_error", "message": message}}
}

// id returns an ID that no other answer of this server has.
func (x *exchange) id(prefix string) string { return fmt.Sprintf("%s_%06d", prefix, x.serial) }

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, Encode(v)) // a client that is gone needs no answer
}

// event sends one server-sent event, without buffering. Its name is the type of the data, if any.
func (x *exchange) event(data object) {
	x.w.Header().Set("Content-Type", "text/event-stream")
	if name := asString(data["type"]); name != "" {
		fmt.Fprintf(x.w, "event: %s\n", name)
	}
	fmt.Fprintf(x.w, "data: %s\n\n", Encode(data))
	x.w.(http.Flusher).Flush()
}

// Encode writes JSON and leaves <, > and & unescaped, as the real APIs do.
func Encode(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only our own maps come here
	}
	return strings.TrimSpace(b.String())
}

// say passes the reply's text to emit. An answer that is not streamed takes as long.
func (x *exchange) say(emit func(piece string)) {
	if x.reply.Say == nil {
		emit(x.reply.Text)
		return
	}
	x.reply.Say(x.ctx, emit)
}

// tool returns the call of the CLI's shell tool that runs the command.
func (x *exchange) tool() (name string, input object) {
	if x.reply.Tool != "" {
		return x.reply.Tool, x.reply.Input
	}
	return x.api.shell, object{x.api.command: x.reply.Command}
}
