package standin

import (
	"fmt"
	"strings"
	"testing"
)

// apis are the three other APIs: how a conversation looks in each, and where its answers have what matters.
var apis = map[string]struct {
	path, body, turn, result string // URL, request, a turn of ROLE saying TEXT, a tool's result
	model                    string // the model's role
	delta                    []any  // path of the text in each event
	tool, command            []any  // paths of the tool's name and of its arguments, in the event that has them
	name                     string // of the shell tool
	prompt, cached           []any  // paths of token counts, in the event that has them
	message                  []any  // path of the message of an error
	tooBig                   string // a part of that message
}{
	Responses: {
		path: "/v1/responses", body: `{"model":"m","stream":true,"instructions":"Be","input":[TURNS]}`,
		turn:   `{"type":"message","role":"ROLE","content":[{"type":"input_text","text":TEXT}]}`,
		result: `{"type":"function_call","name":"exec_command"},{"type":"function_call_output","output":"hi\n"}`,
		model:  "assistant", delta: []any{"delta"},
		tool: []any{"item", "name"}, command: []any{"item", "arguments"}, name: "exec_command",
		prompt:  []any{"response", "usage", "input_tokens"},
		cached:  []any{"response", "usage", "input_tokens_details", "cached_tokens"},
		message: []any{"error", "message"}, tooBig: "",
	},
	Gemini: {
		path: "/v1beta/models/m:streamGenerateContent?alt=sse", body: `{"systemInstruction":{},"contents":[TURNS]}`,
		turn:   `{"role":"ROLE","parts":[{"text":"<session_context>TOOBIG</session_context>"},{"text":TEXT}]}`,
		result: `{"role":"user","parts":[{"functionResponse":{"response":{"output":"hi\n"}}}]}`,
		model:  "model", delta: []any{"candidates", 0, "content", "parts", 0, "text"},
		tool:    []any{"candidates", 0, "content", "parts", 1, "functionCall", "name"},
		command: []any{"candidates", 0, "content", "parts", 1, "functionCall", "args"}, name: "run_shell_command",
		prompt:  []any{"usageMetadata", "promptTokenCount"},
		cached:  []any{"usageMetadata", "cachedContentTokenCount"},
		message: []any{"error", "message"}, tooBig: "exceeds the maximum number of tokens allowed",
	},
	Chat: {
		path: "/v1/chat/completions", body: `{"model":"m","stream":true,"messages":[TURNS]}`,
		turn:   `{"role":"ROLE","content":TEXT}`,
		result: `{"role":"tool","content":"hi\n"}`,
		model:  "assistant", delta: []any{"choices", 0, "delta", "content"},
		tool:    []any{"choices", 0, "delta", "tool_calls", 0, "function", "name"},
		command: []any{"choices", 0, "delta", "tool_calls", 0, "function", "arguments"}, name: "bash",
		prompt:  []any{"usage", "prompt_tokens"},
		cached:  []any{"usage", "prompt_tokens_details", "cached_tokens"},
		message: []any{"message"}, tooBig: "too large for model",
	},
}

func TestAPIs(t *testing.T) {
	for name, api := range apis {
		t.Run(name, func(t *testing.T) {
			s := start(t, Options{})
			say := func(role, text string) string {
				return strings.NewReplacer("ROLE", role, "TEXT", quote(text)).Replace(api.turn)
			}
			ask := func(turns ...string) (int, string) {
				return post(t, s.URL()+api.path, strings.Replace(api.body, "TURNS", strings.Join(turns, ","), 1))
			}
			told, got := say("user", "remember number 456"), say(api.model, "Got it: 456.")

			for prompt, want := range map[string]string{
				"what number": "456", "hi": "ok", "MULTI": multi, "EMPTY": "", "ECHO<<a <b>>>": "a <b",
			} {
				_, raw := ask(told, got, say("user", prompt))
				if said := joined(events(raw), api.delta...); said != want {
					t.Errorf("%s: %q, want %q", prompt, said, want)
				}
			}

			_, raw := ask(told, got, say("user", "RUNTOOL"))
			if tool := first(events(raw), api.tool...); tool != api.name {
				t.Errorf("asks for the tool %v, want %s", tool, api.name)
			}
			if command := fmt.Sprint(first(events(raw), api.command...)); !strings.Contains(command, "echo hi") {
				t.Errorf("asks for the command %s", command)
			}
			_, raw = ask(told, got, say("user", "RUNTOOL"), api.result)
			if said := joined(events(raw), api.delta...); said != "ok" {
				t.Errorf("after the tool: %q", said)
			}
			last := s.Asked()[6]
			if last.API != name || LastUser(last) != "RUNTOOL" || !strings.HasSuffix(AllText(last), "hi\n") {
				t.Errorf("API %s, LastUser %q, AllText %q", last.API, LastUser(last), AllText(last))
			}

			for _, status := range []int{401, 403, 429, 500, 529} {
				code, raw := ask(say("user", fmt.Sprint("HTTP", status)))
				if text := asString(dig(parse(t, raw), api.message...)); code != status || text == "" {
					t.Errorf("HTTP%d: %d %s", status, code, raw)
				}
			}
			if code, raw := ask(say("user", "BADTOOL")); code != 400 || dig(parse(t, raw), api.message...) == nil {
				t.Errorf("BADTOOL: %d %s", code, raw)
			}
			code, raw := ask(say("user", "TOOBIG"))
			if api.tooBig == "" {
				if text := first(events(raw), "response", "error", "code"); text != "context_length_exceeded" {
					t.Errorf("TOOBIG: %d %s", code, raw)
				}
			} else if code != 400 || !strings.Contains(asString(dig(parse(t, raw), api.message...)), api.tooBig) {
				t.Errorf("TOOBIG: %d %s", code, raw)
			}

			long := strings.Repeat("long ", 400)
			ask(say("user", long))
			_, raw = ask(say("user", long), say(api.model, "ok"), say("user", "next"))
			input, _ := first(events(raw), api.prompt...).(float64)
			cached, _ := first(events(raw), api.cached...).(float64)
			if cached < 500 || cached >= input || input > 700 {
				t.Errorf("%v tokens, of which %v cached", input, cached)
			}
		})
	}
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
	s := start(t, Options{})
	for path, c := range map[string]struct {
		body string
		text []any
	}{
		"/v1/chat/completions": {
			`{"messages":[{"role":"user","content":"ECHO<<x>>"}]}`, []any{"choices", 0, "message", "content"},
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
	s := start(t, Options{})
	post(t, s.URL()+"/v1/responses", `{"input":"hello"}`)
	if got := LastUser(s.Asked()[0]); got != "hello" {
		t.Errorf("LastUser %q", got)
	}
}

func TestSetup(t *testing.T) {
	for _, tool := range []string{"claude", "codex", "gemini", "vibe"} {
		env, err := Setup(tool, t.TempDir(), "http://127.0.0.1:1")
		if err != nil || !strings.HasPrefix(env[0], "HOME=") {
			t.Errorf("%s: %v %v", tool, env, err)
		}
	}
	if _, err := Setup("other", t.TempDir(), ""); err == nil {
		t.Error("an unknown tool was set up")
	}
}
