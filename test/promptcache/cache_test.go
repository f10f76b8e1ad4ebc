package promptcache_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"reprise/internal/standin"
	"reprise/test/promptcache"
)

// start starts a stand-in that ends with the test.
func start(t *testing.T, options promptcache.Options) *standin.Server {
	t.Helper()
	s, err := standin.Start(standin.Options{Measure: promptcache.New(options),
		Reply: func(standin.Request) standin.Reply { return standin.Reply{Text: "ok"} }})
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

// quote is a text as a JSON string.
func quote(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

// A clock is set by tests.
type clock struct{ time time.Time }

func newClock() *clock { return &clock{time.Unix(1_800_000_000, 0)} }

func (c *clock) now() time.Time { return c.time }

// text returns a JSON string of so many tokens.
func text(seed string, tokens int) string {
	return quote(strings.Repeat(seed, 4*tokens/len(seed)+1)[:4*tokens])
}

// mark is a breakpoint, with a lifetime unless that is empty.
func mark(ttl string) string {
	if ttl != "" {
		ttl = `,"ttl":"` + ttl + `"`
	}
	return `,"cache_control":{"type":"ephemeral"` + ttl + `}`
}

func textBlock(text, mark string) string { return `{"type":"text","text":` + text + mark + `}` }

func userMessage(content ...string) string {
	return `{"role":"user","content":[` + strings.Join(content, ",") + `]}`
}

// used returns the tokens of a request to Anthropic's API.
func used(t *testing.T, s *standin.Server, model, system string,
	messages ...string) standin.Tokens {
	t.Helper()
	body := `{"model":"` + model + `","tools":[{"name":"Bash"}],"system":` + system +
		`,"messages":[` + strings.Join(messages, ",") + `]}`
	if code, raw := post(t, s.URL()+"/v1/messages", body); code != http.StatusOK {
		t.Fatalf("%d %s", code, raw)
	}
	all := s.Requests()
	return all[len(all)-1].Tokens
}

func TestCacheComparesWhatWasSent(t *testing.T) {
	long := text("long ", 2000)
	system := "[" + textBlock(text("rules ", 2000), mark("")) + "]"
	first := userMessage(textBlock(long, mark("")))
	next := userMessage(textBlock(`"next"`, mark("")))
	for name, c := range map[string]struct {
		system, first string // of the second request
		atLeast, most int    // tokens read from the cache
	}{
		"the same":           {system, first, 4000, 4100},
		"another breakpoint": {system, userMessage(textBlock(long, "")), 4000, 4100},
		"a string":           {system, `{"role":"user","content":` + long + `}`, 2000, 2100},
		"other order of fields": {system, userMessage(`{"text":` + long + `,"type":"text"}`), 2000,
			2100},
		"another role": {system, strings.Replace(first, "user", "assistant", 1), 2000,
			2100},
		"two blocks": {system, userMessage(textBlock(`"more"`, ""), textBlock(long, "")),
			2000, 2100},
		"another system prompt": {strings.Replace(system, "rules", "Rules", 1), first, 0, 0},
		"a system string":       {text("rules ", 2000), first, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, promptcache.Options{})
			if u := used(t, s, "claude-sonnet-5", system, first); u.Cached != 0 ||
				u.Written < 4000 || u.Input-u.Written > 1 {
				t.Errorf("first request: %+v", u)
			}
			u := used(t, s, "claude-sonnet-5", c.system, c.first, next)
			if u.Cached < c.atLeast || u.Cached > c.most || u.Input != u.Cached+u.Written+1 {
				t.Errorf("second request: %+v, want %d to %d read", u, c.atLeast, c.most)
			}
			if u := used(t, s, "claude-opus-4-8", c.system, c.first, next); u.Cached != 0 {
				t.Errorf("another model: %+v", u)
			}
		})
	}
}

func TestCacheNeedsABreakpoint(t *testing.T) {
	s := start(t, promptcache.Options{})
	plain := userMessage(textBlock(text("long ", 2000), ""))
	for range 2 {
		if u := used(t, s, "claude-sonnet-5", `"short"`, plain); u.Cached != 0 || u.Written != 0 ||
			u.Input < 2000 {
			t.Errorf("%+v", u)
		}
	}
}

func TestCacheForgets(t *testing.T) {
	for ttl, minutes := range map[string]int{"": 5, "5m": 5, "1h": 60} {
		t.Run("ttl "+ttl, func(t *testing.T) {
			clock := newClock()
			s := start(t, promptcache.Options{Now: clock.now})
			first := userMessage(textBlock(text("long ", 2000), mark(ttl)))
			u := used(t, s, "claude-sonnet-5", `"s"`, first)
			if hour := ttl == "1h"; (u.ForHour == u.Written) != hour {
				t.Errorf("%+v", u)
			}
			for range 3 { // each use begins the lifetime anew
				clock.time = clock.time.Add(time.Duration(minutes)*time.Minute - time.Second)
				if u := used(t, s, "claude-sonnet-5", `"s"`, first); u.Cached < 2000 {
					t.Errorf("in time: %+v", u)
				}
			}
			clock.time = clock.time.Add(time.Duration(minutes) * time.Minute)
			if u := used(t, s, "claude-sonnet-5", `"s"`, first); u.Cached != 0 || u.Written < 2000 {
				t.Errorf("too late: %+v", u)
			}
		})
	}
}

func TestCacheMinimum(t *testing.T) {
	for model, least := range map[string]int{"claude-opus-5": 512, "claude-sonnet-5": 1024,
		"claude-haiku-4-5": 4096, "claude-3-5-haiku": 2048} {
		s := start(t, promptcache.Options{})
		for _, n := range []int{least - 100, least} {
			message := userMessage(textBlock(text("long ", n), mark("")))
			used(t, s, model, `"s"`, message)
			if u := used(t, s, model, `"s"`, message); (u.Cached > 0) != (n == least) ||
				(u.Cached+u.Written > 0) != (n == least) {
				t.Errorf("%s, %d tokens: %+v", model, n, u)
			}
		}
	}
}

// A beginning is found from a breakpoint nineteen blocks later, and from no later one.
func TestCacheLookback(t *testing.T) {
	for more, found := range map[int]bool{19: true, 20: false} {
		s := start(t, promptcache.Options{})
		content := []string{textBlock(text("long ", 2000), "")}
		used(t, s, "claude-sonnet-5", `"s"`, userMessage(textBlock(text("long ", 2000), mark(""))))
		for i := range more {
			at := ""
			if i == more-1 {
				at = mark("")
			}
			content = append(content, textBlock(fmt.Sprintf(`"block %d"`, i), at))
		}
		if u := used(t, s, "claude-sonnet-5", `"s"`, userMessage(content...)); (u.Cached > 0) !=
			found {
			t.Errorf("%d blocks later: %+v", more, u)
		}
	}
}

func TestCacheRefusesBreakpoints(t *testing.T) {
	s := start(t, promptcache.Options{})
	for want, marks := range map[string][]string{
		"maximum of 4":  {mark(""), mark(""), mark(""), mark(""), mark("")},
		"must not come": {mark("5m"), mark("1h")},
		"":              {mark("1h"), mark("1h"), mark(""), mark("5m")},
	} {
		var content []string
		for _, m := range marks {
			content = append(content, textBlock(`"x"`, m))
		}
		code, raw := post(t, s.URL()+"/v1/messages", `{"messages":[`+userMessage(content...)+`]}`)
		if (code == http.StatusBadRequest) != (want != "") || !strings.Contains(raw, want) {
			t.Errorf("%q: %d %s", marks, code, raw)
		}
	}
}

// Without a breakpoint of its own, the last block has the whole request's.
func TestCacheOfWholeRequest(t *testing.T) {
	s := start(t, promptcache.Options{})
	body := `{"model":"m","messages":[` + userMessage(textBlock(text("long ", 2000), "")) + `]` +
		mark("") + `}`
	for range 2 {
		post(t, s.URL()+"/v1/messages", body)
	}
	if u := s.Requests()[1].Tokens; u.Cached < 2000 {
		t.Errorf("%+v", u)
	}
}

// The caches without breakpoints find a part of a message too, in whole steps.
func TestAutomaticCache(t *testing.T) {
	turn := func(role, text string) string {
		return `{"role":"` + role + `","content":` + text + `}`
	}
	for name, c := range map[string]struct {
		path, body string // of a request with TURNS
		least      int
		step       int
	}{
		"openai": {"/v1/responses", `{"model":"m","input":[TURNS]}`, 1024, 128},
		"gemini": {"/v1beta/models/gemini-3-pro:generateContent", `{"contents":[TURNS]}`, 4096,
			128},
		"gemini2.5": {"/v1beta/models/gemini-2.5-pro:generateContent", `{"contents":[TURNS]}`, 2048,
			128},
		"mistral": {"/v1/chat/completions", `{"prompt_cache_key":"k","messages":[TURNS]}`, 64,
			64},
	} {
		t.Run(name, func(t *testing.T) {
			clock := newClock()
			s := start(t, promptcache.Options{Now: clock.now})
			ask := func(turns ...string) standin.Tokens {
				post(t, s.URL()+c.path, strings.Replace(c.body, "TURNS", strings.Join(turns, ","),
					1))
				all := s.Requests()
				return all[len(all)-1].Tokens
			}
			short := turn("user", text("short ", c.least-40))
			ask(short)
			if u := ask(short); u.Cached != 0 {
				t.Errorf("too short: %+v", u)
			}
			long := turn("user", text("long ", c.least+300))
			ask(long)
			whole := ask(long, turn("user", `"next"`))
			if whole.Cached < c.least || whole.Cached%c.step != 0 ||
				whole.Input-whole.Cached > c.step+20 {
				t.Errorf("the same beginning: %+v", whole)
			}
			if u := ask(turn("user", text("long ", c.least+200))); u.Cached < c.least {
				t.Errorf("another end: %+v", u)
			}
			if u := ask(turn("user", text("other ", c.least+300))); u.Cached != 0 {
				t.Errorf("another beginning: %+v", u)
			}
			clock.time = clock.time.Add(5 * time.Minute)
			if u := ask(long); u.Cached != 0 {
				t.Errorf("after five minutes: %+v", u)
			}
		})
	}
}

func TestAutomaticCacheForADay(t *testing.T) {
	clock := newClock()
	s := start(t, promptcache.Options{Now: clock.now})
	body := `{"prompt_cache_retention":"24h","input":[` + text("long ", 2000) + `]}`
	post(t, s.URL()+"/v1/responses", body)
	clock.time = clock.time.Add(23 * time.Hour)
	post(t, s.URL()+"/v1/responses", body)
	if u := s.Requests()[1].Tokens; u.Cached == 0 {
		t.Errorf("%+v", u)
	}
}

// Mistral stores nothing of a request without a key.
func TestCacheWithoutKey(t *testing.T) {
	s := start(t, promptcache.Options{})
	for range 2 {
		post(t, s.URL()+"/v1/chat/completions",
			`{"messages":[{"role":"user","content":`+text("long ", 2000)+`}]}`)
	}
	if u := s.Requests()[1].Tokens; u.Cached != 0 {
		t.Errorf("%+v", u)
	}
}
