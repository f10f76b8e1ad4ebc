package standin_test

import (
	"net/http"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/test/markers"
)

// A resumed conversation as claude 2.1.329 sends it: reminders beside the prompt, a system message
// after it.
const resumed = `{"model":"m","stream":STREAM,"system":[{"type":"text","text":"You are"}],"messages":[
 {"role":"user","content":[{"type":"text","text":"<system-reminder>\nTOOBIG\n</system-reminder>"},
                           {"type":"text","text":"hi remember number 456"}]},
 {"role":"system","content":"# Environment"},
 {"role":"assistant","content":[{"type":"text","text":"Got it: 456."}]},
 {"role":"user","content":[{"type":"text","text":PROMPT,"cache_control":{"type":"ephemeral"}}]}]}`

func messagesBody(stream, prompt string) string {
	return strings.NewReplacer("STREAM", stream, "PROMPT", quote(prompt)).Replace(resumed)
}

func TestAnthropicText(t *testing.T) {
	s := start(t, markers.Options{})
	for prompt, want := range map[string]string{
		"what number": "456", "ECHO<<" + several + ">>": several, "EMPTY": "",
		"ECHO<<a <b> & \u2028>>": "a <b> & \u2028",
	} {
		_, raw := post(t, s.URL()+"/v1/messages", messagesBody("false", prompt))
		if got := dig(parse(t, raw), "content", 0, "text"); got != want {
			t.Errorf("%s: %q, want %q", prompt, got, want)
		}
		_, raw = post(t, s.URL()+"/v1/messages?beta=true", messagesBody("true", prompt))
		if got := joined(events(raw), "delta", "text"); got != want {
			t.Errorf("%s streamed: %q, want %q", prompt, got, want)
		}
	}
}

func TestAnthropicEvents(t *testing.T) {
	s := start(t, markers.Options{})
	_, raw := post(t, s.URL()+"/v1/messages", messagesBody("true", "hi"))
	const want = "message_start content_block_start content_block_delta content_block_stop " +
		"message_delta message_stop"
	var names, types []string
	for line := range strings.Lines(raw) {
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	for _, e := range events(raw) {
		types = append(types, asString(dig(e, "type")))
	}
	if got := strings.Join(names, " "); got != want || strings.Join(types, " ") != want {
		t.Errorf("events %s, types %s", got, types)
	}
}

func TestAnthropicTool(t *testing.T) {
	s := start(t, markers.Options{})
	_, raw := post(t, s.URL()+"/v1/messages", messagesBody("false", "RUNTOOL"))
	got := parse(t, raw)
	if dig(got, "content", 1, "name") != "Bash" ||
		dig(got, "content", 1, "input", "command") != "echo hi" ||
		dig(got, "stop_reason") != "tool_use" {
		t.Errorf("%s", raw)
	}
	_, raw = post(t, s.URL()+"/v1/messages", messagesBody("true", "RUNTOOL"))
	if got := joined(events(raw), "delta", "partial_json"); dig(parse(t, got), "command") !=
		"echo hi" {
		t.Errorf("streamed input %s", got)
	}

	after := `{"messages":[{"role":"user","content":"RUNTOOL"},{"role":"assistant","content":[]},
	 {"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"hi"},
	  {"type":"text","text":"<system-reminder>RUNTOOL</system-reminder>"}]}]}`
	_, raw = post(t, s.URL()+"/v1/messages", after)
	if dig(parse(t, raw), "content", 0, "text") != "ok" {
		t.Errorf("after the tool: %s", raw)
	}
	last := s.Requests()[2]
	if standin.LastUser(last) != "RUNTOOL" ||
		!strings.Contains(standin.AllText(last), "hi") {
		t.Errorf("LastUser %q, AllText %q", standin.LastUser(last), standin.AllText(last))
	}
}

func TestAnthropicFailures(t *testing.T) {
	s := start(t, markers.Options{})
	for prompt, want := range map[string]struct {
		status        int
		kind, message string
	}{
		"HTTP401": {401, "authentication_error", "401"},
		"HTTP403": {403, "permission_error", "403"},
		"HTTP429": {429, "rate_limit_error", "429"},
		"HTTP500": {500, "api_error", "500"},
		"HTTP529": {529, "overloaded_error", "529"},
		"TOOBIG":  {400, "invalid_request_error", "prompt is too long"},
		"BADTOOL": {400, "invalid_request_error",
			"`tool_use` ids were found without `tool_result`"},
	} {
		code, raw := post(t, s.URL()+"/v1/messages", messagesBody("true", prompt))
		got := dig(parse(t, raw), "error")
		if code != want.status || dig(got, "type") != want.kind ||
			!strings.Contains(asString(dig(got, "message")), want.message) {
			t.Errorf("%s: %d %s", prompt, code, raw)
		}
	}
}

func TestAnthropicUsage(t *testing.T) {
	s := start(t, markers.Options{})
	body := `{"system":"s","messages":[{"role":"user","content":[{"type":"text","text":"` +
		strings.Repeat("long ", 1600) + `","cache_control":{"type":"ephemeral","ttl":"1h"}},` +
		`{"type":"text","text":"unmarked"}]}]}`
	for i, want := range []string{"cache_creation_input_tokens", "cache_read_input_tokens"} {
		_, raw := post(t, s.URL()+"/v1/messages", body)
		usage := asObject(dig(parse(t, raw), "usage"))
		if usage[want].(float64) < 2000 || usage["input_tokens"].(float64) < 5 ||
			usage["input_tokens"].(float64) > 20 {
			t.Errorf("request %d: %v", i+1, usage)
		}
		if hour := dig(usage, "cache_creation", "ephemeral_1h_input_tokens"); hour !=
			usage["cache_creation_input_tokens"] {
			t.Errorf("request %d: %v kept for an hour", i+1, hour)
		}
	}
}

func TestAnthropicAside(t *testing.T) {
	s := start(t, markers.Options{})
	code, raw := post(t, s.URL()+"/v1/messages/count_tokens", `{"messages":[]}`)
	if n, _ := dig(parse(t, raw), "input_tokens").(float64); code != 200 || n < 1 {
		t.Errorf("count_tokens: %d %s", code, raw)
	}
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		r, _ := http.NewRequest(method, s.URL()+"/", nil)
		if response, err := http.DefaultClient.Do(r); err != nil || response.StatusCode != 200 {
			t.Errorf("%s /: %v %v", method, response, err)
		}
	}
	if len(s.Asked()) != 0 {
		t.Error("a token count is no question to the model")
	}
}
