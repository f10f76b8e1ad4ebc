package standin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"reprise/internal/standin"
	"reprise/test/markers"
)

// start starts a stand-in that ends with the test.
func start(t *testing.T, options markers.Options) *standin.Server {
	t.Helper()
	s, err := markers.Start(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// post sends a body of JSON and returns the status and the body of the answer.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(raw)
}

// several is several lines, with characters that are written in several bytes or escaped, and ECHO
// has it said.
const several = "line one\n\n  line two \u2028 \u00e9 \x1b[31mred\x1b[0m\n\n"

// quote is a text as a JSON string.
func quote(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func asObject(v any) map[string]any { o, _ := v.(map[string]any); return o }
func asList(v any) []any            { l, _ := v.([]any); return l }
func asString(v any) string         { s, _ := v.(string); return s }

// dig walks into parsed JSON by keys and indices.
func dig(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			v = asObject(v)[step]
		case int:
			if list := asList(v); step < len(list) {
				v = list[step]
			} else {
				return nil
			}
		}
	}
	return v
}

func parse(t *testing.T, raw string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatalf("%v in %.200s", err, raw)
	}
	return v
}

// events are the data of a stream, in order; data that is not JSON ([DONE]) is a string.
func events(raw string) []any {
	var all []any
	for line := range strings.Lines(raw) {
		data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
		if !ok {
			continue
		}
		var v any = data
		_ = json.Unmarshal([]byte(data), &v)
		all = append(all, v)
	}
	return all
}

// joined is the text at a path of each event.
func joined(all []any, path ...any) string {
	var b strings.Builder
	for _, e := range all {
		b.WriteString(asString(dig(e, path...)))
	}
	return b.String()
}

func TestCloseTwice(t *testing.T) {
	s, err := markers.Start(markers.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRecord(t *testing.T) {
	s := start(t, markers.Options{})
	r, _ := http.NewRequest("POST", s.URL()+"/v1/messages?key=secret1",
		strings.NewReader(`{"messages":[]}`))
	r.Header.Set("Authorization", "Bearer secret2")
	if _, err := http.DefaultClient.Do(r); err != nil {
		t.Fatal(err)
	}
	post(t, s.URL()+"/nowhere", "not json")
	all := s.Requests()
	if len(all) != 2 || all[1].Body != "not json" || all[0].Size != 15 {
		t.Errorf("recorded %+v", all)
	}
	if text := fmt.Sprint(all); strings.Contains(text, "secret") {
		t.Errorf("the record holds a credential: %s", text)
	}
	if asked := s.Asked(); len(asked) != 1 || asked[0].API != standin.Anthropic {
		t.Errorf("asked %+v", asked)
	}
}

func TestCannedReply(t *testing.T) {
	s := start(t, markers.Options{Reply: func(r standin.Request) (standin.Reply, bool) {
		return standin.Reply{Text: "canned"}, standin.LastUser(r) == "mine"
	}})
	for prompt, want := range map[string]string{"mine": "canned", "other": "ok"} {
		_, raw := post(t, s.URL()+"/v1/messages",
			`{"messages":[{"role":"user","content":`+quote(prompt)+`}]}`)
		if got := dig(parse(t, raw), "content", 0, "text"); got != want {
			t.Errorf("%s: %v, want %s", prompt, got, want)
		}
	}
}

func TestRefusesWhatItCannotRead(t *testing.T) {
	s := start(t, markers.Options{})
	if code, _ := post(t, s.URL()+"/v1/messages", "["); code != http.StatusBadRequest {
		t.Errorf("status %d for broken JSON", code)
	}
}

func TestHangEndsWithClientAndServer(t *testing.T) {
	s := start(t, markers.Options{})
	const body = `{"stream":true,"messages":[{"role":"user","content":"HANG"}]}`
	ctx, cancel := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, "POST", s.URL()+"/v1/messages", strings.NewReader(body))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	var first [1]byte
	if _, err := io.ReadFull(response.Body, first[:]); err != nil {
		t.Fatal(err)
	}
	cancel()

	response, err = http.Post(s.URL()+"/v1/messages", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := io.ReadAll(response.Body); err == nil {
		t.Error("a hanging answer ended as if it were whole")
	}
}

func TestSlow(t *testing.T) {
	s := start(t, markers.Options{})
	began := time.Now()
	_, raw := post(t, s.URL()+"/v1/messages",
		`{"stream":true,"messages":[{"role":"user","content":"SLOW"}]}`)
	if took := time.Since(began); took < 900*time.Millisecond {
		t.Errorf("took %v", took)
	}
	if n := strings.Count(raw, "text_delta"); n != 10 {
		t.Errorf("%d pieces, want 10", n)
	}
}

// Without another measure, the beginning that a prompt shares with earlier ones counts as read,
// wherever the breakpoint is by now.
func TestCacheOfBeginnings(t *testing.T) {
	s, err := standin.Start(standin.Options{
		Reply: func(standin.Request) standin.Reply { return standin.Reply{Text: "ok"} }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	turn := func(text, mark string) string {
		return `{"role":"user","content":[{"type":"text","text":"` + text + `"` + mark + `}]}`
	}
	const mark = `,"cache_control":{"type":"ephemeral"}`
	long := strings.Repeat("long ", 1600)
	for i, c := range []struct {
		model, messages string
		cached          bool
	}{
		{"m", turn(long, mark), false},
		{"m", turn(long, "") + "," + turn("next", mark), true},
		{"other", turn(long, mark), false},
		{"m", turn("other "+long, mark), false},
	} {
		post(t, s.URL()+"/v1/messages", `{"model":"`+c.model+`","system":"s","messages":[`+
			c.messages+`]}`)
		u := s.Requests()[i].Tokens
		if (u.Cached > 1900) != c.cached || u.Input < 2000 || u.Written != u.Input-u.Cached {
			t.Errorf("request %d: %+v", i+1, u)
		}
	}
}
