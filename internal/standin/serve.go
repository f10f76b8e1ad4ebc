package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

type dialect struct {
	name     string
	path     string   // how the paths of its requests end
	messages string   // the field that contains the conversation
	head     []string // the fields that count as coming before it
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
	{Anthropic, "/v1/messages", "messages", []string{"tools", "system"}, anthropicTurn,
		anthropicAnswer},
	{Responses, "/v1/responses", "input", []string{"instructions", "tools"}, responsesTurn,
		responsesAnswer},
	{Gemini, ":generateContent", "contents", geminiHead, geminiTurn, geminiAnswer},
	{Gemini, ":streamGenerateContent", "contents", geminiHead, geminiTurn, geminiAnswer},
	{OpenAIChat, "/openai/v1/chat/completions", "messages", toolsFirst, chatTurn, chatAnswer},
	{Chat, "/v1/chat/completions", "messages", toolsFirst, chatTurn, chatAnswer},
}

var geminiHead, toolsFirst = []string{"systemInstruction", "tools"}, []string{"tools"}

// findDialect returns the API of a request to a model, nil for any other request.
func findDialect(r *http.Request) *dialect {
	if r.Method != http.MethodPost {
		return nil
	}
	return firstDialect(func(d *dialect) bool { return strings.HasSuffix(r.URL.Path, d.path) })
}

func firstDialect(fits func(*dialect) bool) *dialect {
	if i := slices.IndexFunc(dialects, fits); i >= 0 {
		return dialects[i]
	}
	return nil
}

// An exchange is one request being answered.
type exchange struct {
	ctx    context.Context
	w      http.ResponseWriter
	path   string
	serial int // of the request; makes the IDs of the answer unique
	body   object
	reply  Reply
	usage  Tokens
}

// ServeHTTP records the request, then answers it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	encoding := r.Header.Get("Content-Encoding")
	if err == nil && encoding != "" && encoding != "identity" { // none of the CLIs compresses
		err = errors.New("content-encoding " + encoding + " is not understood")
	}
	if err != nil {
		writeJSON(w, http.StatusUnsupportedMediaType, notUnderstood(err.Error()))
		return
	}
	request := newRequest(r, raw)
	serial := s.record(request)
	d := findDialect(r)
	body, isObject := request.Body.(object)
	if d == nil {
		aside(w, request)
		return
	}
	if !isObject {
		writeJSON(w, http.StatusBadRequest, notUnderstood("the body is not a JSON object"))
		return
	}
	x := &exchange{ctx: r.Context(), w: w, path: request.Path, serial: serial, body: body,
		reply: s.reply(request)}
	if instead := x.reply.Instead; instead.Status != 0 {
		w.Header().Set("Content-Type", map[bool]string{false: "application/json",
			true: "text/event-stream"}[instead.Stream])
		w.WriteHeader(instead.Status)
		_, _ = io.WriteString(w, instead.Body) // a client that is gone needs no answer
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

func (s *Server) reply(r Request) Reply {
	if s.options.Reply != nil {
		if reply, ok := s.options.Reply(r); ok {
			return reply
		}
	}
	return Reply{Text: "ok"}
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
	_, _ = w.Write(encode(v)) // a client that is gone needs no answer
}

// event sends one server-sent event, without buffering. The name can be empty.
func (x *exchange) event(name string, data any) {
	x.w.Header().Set("Content-Type", "text/event-stream")
	if name != "" {
		fmt.Fprintf(x.w, "event: %s\n", name)
	}
	fmt.Fprintf(x.w, "data: %s\n\n", encode(data))
	x.w.(http.Flusher).Flush()
}

// encode leaves <, > and & unescaped, as the real APIs do.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only our own maps come here
	}
	return bytes.TrimSpace(b.Bytes())
}

// say passes the reply's text to emit piece by piece, at the reply's pace. It does not return if
// the reply hangs or the client is gone. An answer that is not streamed takes as long.
func (x *exchange) say(emit func(piece string)) {
	for i, piece := range pieces(x.reply.Text, x.reply.Pause > 0) {
		if i > 0 {
			x.wait(x.reply.Pause)
		}
		emit(piece)
		if x.reply.Hang {
			x.wait(time.Minute)
			panic(http.ErrAbortHandler)
		}
	}
}

// wait aborts the exchange when the client is gone.
func (x *exchange) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-x.ctx.Done():
		panic(http.ErrAbortHandler)
	}
}

// pieces cuts a text between characters: into about ten pieces, or so that no event is huge. An
// empty text is one piece, since the CLIs expect one.
func pieces(text string, slowly bool) []string {
	runes := []rune(text)
	size := 64 << 10
	if slowly {
		size = max(1, (len(runes)+9)/10)
	}
	cut := []string{}
	for len(runes) > size {
		cut, runes = append(cut, string(runes[:size])), runes[size:]
	}
	return append(cut, string(runes))
}
