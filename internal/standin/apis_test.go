package standin_test

import (
	"fmt"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/test/markers"
)

// An api says how a conversation looks in one of the APIs, and where the answers have their facts.
type api struct {
	path, body, turn, result string // URL, request, a turn of ROLE saying TEXT, a tool's result
	model                    string // the model's role
	delta                    []any  // path of the text in each event
	// paths of the tool's name and of its arguments, in the event that has them
	tool, command  []any
	name           string // of the shell tool
	prompt, cached []any  // paths of token counts, in the event that has them
	message        []any  // path of the message of an error
	tooBig         string // a part of that message
}

// apis are the APIs other than Anthropic's.
var apis = map[string]api{
	standin.Responses: {
		path:   "/v1/responses",
		body:   `{"model":"m","stream":true,"instructions":"Be","input":[TURNS]}`,
		turn:   `{"type":"message","role":"ROLE","content":[{"type":"input_text","text":TEXT}]}`,
		result: `{"type":"function_call","name":"exec_command"},{"type":"function_call_output","output":"hi\n"}`,
		model:  "assistant", delta: []any{"delta"},
		tool: []any{"item", "name"}, command: []any{"item", "arguments"}, name: "exec_command",
		prompt:  []any{"response", "usage", "input_tokens"},
		cached:  []any{"response", "usage", "input_tokens_details", "cached_tokens"},
		message: []any{"error", "message"},
	},
	standin.Gemini: {
		path:   "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
		body:   `{"systemInstruction":{},"contents":[TURNS]}`,
		turn:   `{"role":"ROLE","parts":[{"text":"<session_context>TOOBIG</session_context>"},{"text":TEXT}]}`,
		result: `{"role":"user","parts":[{"functionResponse":{"response":{"output":"hi\n"}}}]}`,
		model:  "model", delta: []any{"candidates", 0, "content", "parts", 0, "text"},
		tool:    []any{"candidates", 0, "content", "parts", 1, "functionCall", "name"},
		command: []any{"candidates", 0, "content", "parts", 1, "functionCall", "args"},
		name:    "run_shell_command",
		prompt:  []any{"usageMetadata", "promptTokenCount"},
		cached:  []any{"usageMetadata", "cachedContentTokenCount"},
		message: []any{"error", "message"}, tooBig: "exceeds the maximum number of tokens allowed",
	},
	standin.Chat: {
		path:   "/v1/chat/completions",
		body:   `{"model":"m","prompt_cache_key":"k","stream":true,"messages":[TURNS]}`,
		turn:   `{"role":"ROLE","content":TEXT}`,
		result: `{"role":"tool","content":"hi\n"}`,
		model:  "assistant", delta: []any{"choices", 0, "delta", "content"},
		tool:    []any{"choices", 0, "delta", "tool_calls", 0, "function", "name"},
		command: []any{"choices", 0, "delta", "tool_calls", 0, "function", "arguments"},
		name:    "bash",
		prompt:  []any{"usage", "prompt_tokens"},
		cached:  []any{"usage", "prompt_tokens_details", "cached_tokens"},
		message: []any{"message"}, tooBig: "too large for model",
	},
	standin.OpenAIChat: {
		path:   "/openai/v1/chat/completions",
		body:   `{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"run_shell_command"}}],"messages":[TURNS]}`,
		turn:   `{"role":"ROLE","content":[{"type":"text","text":"<system-reminder>TOOBIG</system-reminder>"},{"type":"text","text":TEXT}]}`,
		result: `{"role":"tool","content":"hi\n"}`,
		model:  "assistant", delta: []any{"choices", 0, "delta", "content"},
		tool:    []any{"choices", 0, "delta", "tool_calls", 0, "function", "name"},
		command: []any{"choices", 0, "delta", "tool_calls", 0, "function", "arguments"},
		name:    "run_shell_command",
		prompt:  []any{"usage", "prompt_tokens"},
		cached:  []any{"usage", "prompt_tokens_details", "cached_tokens"},
		message: []any{"error", "message"}, tooBig: "maximum context length",
	},
}

// say is one turn.
func (a api) say(role, text string) string {
	return strings.NewReplacer("ROLE", role, "TEXT", quote(text)).Replace(a.turn)
}

// ask sends a conversation and returns the status and the body of the answer.
func (a api) ask(t *testing.T, s *standin.Server, turns ...string) (int, string) {
	t.Helper()
	return post(t, s.URL()+a.path, strings.Replace(a.body, "TURNS", strings.Join(turns, ","), 1))
}

func eachAPI(t *testing.T, test func(t *testing.T, a api, s *standin.Server)) {
	for name, a := range apis {
		t.Run(name, func(t *testing.T) { test(t, a, start(t, markers.Options{})) })
	}
}

func TestAPIText(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api, s *standin.Server) {
		for prompt, want := range map[string]string{
			"what number": "456", "hi": "ok", "ECHO<<" + several + ">>": several, "EMPTY": "",
			"ECHO<<a <b>>>": "a <b",
		} {
			_, raw := a.ask(t, s,
				a.say("user", "remember number 456"), a.say(a.model, "Got it: 456."),
				a.say("user", prompt))
			if said := joined(events(raw), a.delta...); said != want {
				t.Errorf("%s: %q, want %q", prompt, said, want)
			}
		}
	})
}

func TestAPITool(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api, s *standin.Server) {
		_, raw := a.ask(t, s, a.say("user", "RUNTOOL"))
		if tool := first(events(raw), a.tool...); tool != a.name {
			t.Errorf("asks for the tool %v, want %s", tool, a.name)
		}
		if command := fmt.Sprint(first(events(raw), a.command...)); !strings.Contains(command,
			"echo hi") {
			t.Errorf("asks for the command %s", command)
		}
		_, raw = a.ask(t, s, a.say("user", "RUNTOOL"), a.result)
		if said := joined(events(raw), a.delta...); said != "ok" {
			t.Errorf("after the tool: %q", said)
		}
		last := s.Asked()[1]
		if standin.LastUser(last) != "RUNTOOL" ||
			!strings.HasSuffix(standin.AllText(last), "hi\n") {
			t.Errorf("LastUser %q, AllText %q", standin.LastUser(last), standin.AllText(last))
		}
	})
}

func TestAPIFailures(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api, s *standin.Server) {
		for prompt, status := range map[string]int{
			"HTTP401": 401, "HTTP403": 403, "HTTP429": 429, "HTTP500": 500, "HTTP529": 529,
			"BADTOOL": 400,
		} {
			code, raw := a.ask(t, s, a.say("user", prompt))
			if text := asString(dig(parse(t, raw), a.message...)); code != status || text == "" {
				t.Errorf("%s: %d %s", prompt, code, raw)
			}
		}
	})
}

func TestAPITooBig(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api, s *standin.Server) {
		code, raw := a.ask(t, s, a.say("user", "TOOBIG"))
		if a.name == "exec_command" { // codex's API fails inside a stream
			if got := first(events(raw), "response", "error", "code"); got !=
				"context_length_exceeded" {
				t.Errorf("%d %s", code, raw)
			}
			return
		}
		if text := asString(dig(parse(t, raw), a.message...)); code != 400 ||
			!strings.Contains(text, a.tooBig) {
			t.Errorf("%d %s", code, raw)
		}
	})
}

func TestAPIUsage(t *testing.T) {
	eachAPI(t, func(t *testing.T, a api, s *standin.Server) {
		long := a.say("user", strings.Repeat("long ", 2400))
		a.ask(t, s, long)
		_, raw := a.ask(t, s, long, a.say(a.model, "ok"), a.say("user", "next"))
		input, _ := first(events(raw), a.prompt...).(float64)
		cached, _ := first(events(raw), a.cached...).(float64)
		if cached < 2500 || cached >= input || input > 3200 {
			t.Errorf("%v tokens, of which %v cached", input, cached)
		}
	})
}

// first is the first value at a path of the events.
func first(all []any, path ...any) any {
	for _, e := range all {
		if v := dig(e, path...); v != nil {
			return v
		}
	}
	return nil
}

func TestNotStreamed(t *testing.T) {
	s := start(t, markers.Options{})
	for path, c := range map[string]struct {
		body string
		text []any
	}{
		"/v1/chat/completions": {
			`{"messages":[{"role":"user","content":"ECHO<<x>>"}]}`,
			[]any{"choices", 0, "message", "content"},
		},
		"/v1beta/models/m:generateContent": {
			`{"contents":[{"role":"user","parts":[{"text":"ECHO<<x>>"}]}]}`,
			[]any{"candidates", 0, "content", "parts", 0, "text"},
		},
	} {
		if _, raw := post(t, s.URL()+path, c.body); dig(parse(t, raw), c.text...) != "x" {
			t.Errorf("%s: %s", path, raw)
		}
	}
}

func TestInputAsText(t *testing.T) {
	s := start(t, markers.Options{})
	post(t, s.URL()+"/v1/responses", `{"input":"hello"}`)
	if got := standin.LastUser(s.Asked()[0]); got != "hello" {
		t.Errorf("LastUser %q", got)
	}
}
