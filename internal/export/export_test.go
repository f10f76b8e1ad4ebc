package export

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"

	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
)

func n(v int64) history.Number { return history.Known(v) }

var (
	resumed = history.Invocation{
		ID: 2, Chain: 1, Tool: "claude", Cwd: "/p", Task: "ABC-1", Role: "coder", Rule: "steroids", Started: 1_800_000_000_123,
		Duration: n(4567), Mode: rewrite.Resume, Reason: reason.Extends, Arm: ledger.Treated, ResumedFrom: "id", Format: rewrite.JSON, NativeID: "id",
		Asked: "opus", Model: "claude-opus-5", PromptBytes: 3000, SentBytes: 400,
		Input: n(10), CacheRead: n(900), CacheWrite: n(90), Output: n(20), Cost: n(1_234_567), Outcome: "ok", Exit: n(0),
	}
	failed = history.Invocation{
		ID: 3, Tool: "vibe", Cwd: "/\xff<\"", Started: 1, Duration: n(0), Mode: rewrite.Observe, Reason: reason.CallerSession,
		Format: rewrite.Text, PromptBytes: 1, SentBytes: 1, Outcome: "killed", Exit: n(-1), Signal: n(9),
	}
	running = history.Invocation{ID: 4, Chain: 1, Tool: "codex", Started: 5, Mode: rewrite.Fresh, Reason: reason.FirstCall}
)

func calls(list ...history.Invocation) Calls {
	return func(yield func(history.Invocation, error) bool) {
		for _, i := range list {
			if !yield(i, nil) {
				return
			}
		}
	}
}

var errLedger = errors.New("the ledger is broken")

func broken(yield func(history.Invocation, error) bool) {
	_ = yield(resumed, nil) && yield(history.Invocation{}, errLedger)
}

func same(i history.Invocation) history.Invocation { return i }

// A line has every number that is known, null for others, and no words that there are none of.
func TestNDJSON(t *testing.T) {
	var out bytes.Buffer
	if err := NDJSON(&out, calls(resumed, failed, running), same); err != nil {
		t.Fatal(err)
	}
	want := `{"id":2,"tool":"claude","directory":"/p","task":"ABC-1","role":"coder","rule":"steroids","format":"json","duration_ms":4567,` +
		`"mode":"resume","reason":"extends","arm":"treated","resumed_from":"id","session":"id","model_asked":"opus","model":"claude-opus-5",` +
		`"exit":0,"signal":null,"prompt_bytes":3000,"sent_bytes":400,` +
		`"input_tokens":10,"cache_read_tokens":900,"cache_write_tokens":90,"output_tokens":20}`
	lines := strings.Split(out.String(), "\n")
	if lines[0] != want {
		t.Errorf("%s\nwant %s", lines[0], want)
	}
	if len(lines) != 4 || lines[3] != "" {
		t.Errorf("%d lines", len(lines))
	}
	for _, part := range []string{`"input_tokens":null`, `"exit":-1`, `"signal":9`, `"directory":"/\ufffd<\""`} {
		if !strings.Contains(lines[1], part) {
			t.Errorf("no %s in %s", part, lines[1])
		}
	}
	for _, part := range []string{`"duration_ms":null`, `"exit":null`} {
		if !strings.Contains(lines[2], part) {
			t.Errorf("no %s in %s", part, lines[2])
		}
	}
	if err := NDJSON(io.Discard, broken, same); !errors.Is(err, errLedger) {
		t.Errorf("%v", err)
	}
}

func TestPrometheus(t *testing.T) {
	f := Figures{
		Version: "1 \"x\" \\ \n\xff", Chains: 3, Sessions: []history.Census{{Tool: "claude", State: decide.Live, Sessions: 2}},
		Tallies: []history.Tally{
			{Tool: "claude", Mode: rewrite.Fresh, Reason: reason.FirstCall, Outcome: "ok", Calls: 2, Millis: 61_500, PromptBytes: 10,
				SentBytes: 10, Metered: 2, Input: 5, CacheRead: 6, CacheWrite: 7, Output: 8, Priced: 1, Cost: 1_500_000_001},
			{Tool: "claude", Mode: rewrite.Fresh, Reason: reason.Extends, FellBack: reason.RefusedUnknown, Outcome: "ok", Calls: 1,
				Millis: 500, PromptBytes: 1, SentBytes: 1},
			{Tool: "claude", Mode: rewrite.Fresh, Reason: reason.FirstCall, Calls: 4, PromptBytes: 9},
		},
	}
	var out bytes.Buffer
	if err := Prometheus(&out, f); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`reprise_build_info{version="1 \"x\" \\ \n` + "\uFFFD" + `"} 1`,
		`reprise_chains 3`,
		`reprise_sessions{tool="claude",state="live"} 2`,
		`reprise_invocations_running{tool="claude",mode="fresh"} 4`,
		`reprise_invocations_total{tool="claude",mode="fresh",reason="first_call",outcome="ok"} 2`,
		`reprise_invocations_total{tool="claude",mode="fresh",reason="extends",outcome="ok"} 1`,
		`reprise_fallbacks_total{tool="claude",reason="refused_unknown_session"} 1`,
		`reprise_invocation_seconds_total{tool="claude",mode="fresh"} 62`,
		`reprise_prompt_bytes_total{tool="claude",mode="fresh"} 11`,
		`reprise_metered_invocations_total{tool="claude",mode="fresh"} 2`,
		`reprise_tokens_total{tool="claude",mode="fresh",kind="cache_read"} 6`,
		`reprise_priced_invocations_total{tool="claude",mode="fresh"} 1`,
		`reprise_cost_dollars_total{tool="claude",mode="fresh"} 1.500000001`,
	} {
		if !strings.Contains(out.String(), "\n"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, out.String())
		}
	}
	checkExposition(t, out.String())
}

// checkExposition holds text against the grammar of the format: each metric is
// described once and typed before its samples, no sample comes twice or with a time.
func checkExposition(t *testing.T, text string) {
	t.Helper()
	help := regexp.MustCompile(`^# HELP (reprise_[a-z_]+) [^\\]+$`)
	kind := regexp.MustCompile(`^# TYPE (reprise_[a-z_]+) (counter|gauge)$`)
	line := regexp.MustCompile(`^(reprise_[a-z_]+)((?:\{[a-z_]+="(?:[^"\\]|\\[\\"n])*"(?:,[a-z_]+="(?:[^"\\]|\\[\\"n])*")*\})?) [0-9]+(\.[0-9]+)?$`)
	seen, now := map[string]bool{}, ""
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if m := help.FindStringSubmatch(l); m != nil {
			if seen[m[1]] {
				t.Errorf("%s comes twice", m[1])
			}
			seen[m[1]], now = true, m[1]
			continue
		}
		if m := kind.FindStringSubmatch(l); m != nil {
			if m[1] != now || strings.HasSuffix(now, "_total") != (m[2] == "counter") {
				t.Errorf("%s", l)
			}
			continue
		}
		m := line.FindStringSubmatch(l)
		if m == nil || m[1] != now || seen[m[1]+m[2]] && m[2] != "" {
			t.Errorf("bad line %q", l)
			continue
		}
		seen[m[1]+m[2]] = true
	}
}

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		value  int64
		places int
		want   string
	}{{0, 9, "0"}, {1, 9, "0.000000001"}, {1_000_000_000, 9, "1"}, {12_340, 3, "12.34"}, {9_007_199_254_740_993, 3, "9007199254740.993"}} {
		if got := decimal(c.value, c.places); got != c.want {
			t.Errorf("%d: %s, want %s", c.value, got, c.want)
		}
	}
}

// A collector stands in for one: it answers what it is told to, in turn.
type collector struct {
	t       *testing.T
	answers []http.HandlerFunc
	bodies  [][]byte
	headers []http.Header
	waited  []time.Duration
}

func (c *collector) send(ctx context.Context, list Calls) (Sent, error) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/traces" || r.Method != http.MethodPost {
			c.t.Errorf("%s %s", r.Method, r.URL)
		}
		c.bodies, c.headers = append(c.bodies, body), append(c.headers, r.Header)
		if len(c.answers) >= len(c.bodies) {
			c.answers[len(c.bodies)-1](w, r)
		}
	}))
	defer s.Close()
	url, err := TracesURL(s.URL)
	if err != nil {
		c.t.Fatal(err)
	}
	o := OTLP{
		Client: &http.Client{}, Endpoint: url, Header: http.Header{"Authorization": {"Bearer x"}}, Version: "1.2", Key: prompt.Key("k"),
		Timeout: 5 * time.Second, Wait: func(_ context.Context, d time.Duration) error {
			c.waited = append(c.waited, d)
			return nil
		},
	}
	return o.Send(ctx, list)
}

// answer replies with text, which is JSON if it looks like that.
func answer(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if strings.HasPrefix(body, "{") {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// answerProto replies with a message, in the encoding of the request.
func answerProto(code int, m proto.Message) http.HandlerFunc {
	body, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		w.WriteHeader(code)
		_, _ = w.Write(body)
	}
}
func TestOTLP(t *testing.T) {
	c := &collector{t: t, answers: []http.HandlerFunc{answer(200, `{"partialSuccess":{}}`)}}
	sent, err := c.send(t.Context(), calls(resumed, failed, running))
	if err != nil || sent.Accepted != 2 || sent.Rejected != 0 || sent.Running != 1 {
		t.Fatalf("%+v, %v", sent, err)
	}
	if h := c.headers[0]; h.Get("Content-Type") != "application/x-protobuf" || h.Get("Authorization") != "Bearer x" {
		t.Errorf("%v", h)
	}
	var got collectorpb.ExportTraceServiceRequest
	if err := proto.Unmarshal(c.bodies[0], &got); err != nil {
		t.Fatalf("%v: %q", err, c.bodies[0])
	}
	service := attributeMap(t, got.ResourceSpans[0].Resource.Attributes)
	if service["service.name"] != "reprise" || service["service.version"] != "1.2" {
		t.Errorf("%v", service)
	}
	spans := got.ResourceSpans[0].ScopeSpans[0].Spans
	s := spans[0]
	if len(s.TraceId) != 16 || len(s.SpanId) != 8 || bytes.Equal(s.TraceId, spans[1].TraceId) || bytes.Equal(s.SpanId, spans[1].SpanId) {
		t.Errorf("ids %x %x, %x %x", s.TraceId, s.SpanId, spans[1].TraceId, spans[1].SpanId)
	}
	if s.Name != "invoke_agent claude" || s.Kind != tracepb.Span_SPAN_KIND_CLIENT || s.StartTimeUnixNano != 1_800_000_000_123_000_000 ||
		s.EndTimeUnixNano != 1_800_000_004_690_000_000 || s.Status != nil {
		t.Errorf("%+v", s)
	}
	first, second := attributeMap(t, spans[0].Attributes), attributeMap(t, spans[1].Attributes)
	for key, want := range map[string]any{
		"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "anthropic",
		"gen_ai.agent.name": "claude", "gen_ai.conversation.id": "id",
		"gen_ai.request.model": "opus", "gen_ai.response.model": "claude-opus-5",
		"gen_ai.usage.input_tokens": int64(1000), "gen_ai.usage.cache_read.input_tokens": int64(900),
		"gen_ai.usage.cache_creation.input_tokens": int64(90), "gen_ai.usage.output_tokens": int64(20),
		"process.exit.code": int64(0), "reprise.mode": "resume", "reprise.chain": int64(1),
		"reprise.cost_nano_usd": int64(1234567), "error.type": nil,
	} {
		if first[key] != want {
			t.Errorf("%s: %v, want %v", key, first[key], want)
		}
	}
	for key, want := range map[string]any{
		"error.type": "killed", "reprise.signal": int64(9), "process.exit.code": nil, "gen_ai.usage.input_tokens": nil,
		"reprise.chain": nil, "gen_ai.provider.name": "mistral_ai", "process.working_directory": "/\uFFFD<\"",
	} {
		if second[key] != want {
			t.Errorf("%s: %v, want %v", key, second[key], want)
		}
	}
	if spans[1].Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR {
		t.Errorf("%+v", spans[1].Status)
	}

	again := &collector{t: t}
	if _, err := again.send(t.Context(), calls(resumed, failed)); err != nil || !bytes.Equal(again.bodies[0], c.bodies[0]) {
		t.Errorf("the same calls are not the same spans: %v", err)
	}
}

func attributeMap(t *testing.T, list []*commonpb.KeyValue) map[string]any {
	values := map[string]any{}
	for _, a := range list {
		if _, twice := values[a.Key]; twice {
			t.Errorf("%s comes twice", a.Key)
		}
		switch v := a.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			values[a.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			values[a.Key] = v.IntValue
		}
	}
	return values
}

func TestOTLPAnswers(t *testing.T) {
	many := calls(make([]history.Invocation, 0)...)
	busy := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	moved := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://192.0.2.1/", http.StatusTemporaryRedirect)
	}
	cases := []struct {
		name               string
		answers            []http.HandlerFunc
		accepted, rejected int64
		requests           int
		waited             []time.Duration
		err                string
	}{
		{"all accepted", []http.HandlerFunc{answerProto(200, &collectorpb.ExportTraceServiceResponse{})}, 2, 0, 1, nil, ""},
		{"partial", []http.HandlerFunc{answerProto(200, &collectorpb.ExportTraceServiceResponse{
			PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "too old"}})}, 1, 1, 1, nil, ""},
		{"refused", []http.HandlerFunc{answerProto(400, &status.Status{Code: 3, Message: "bad span"})}, 0, 0, 1, nil, "answered 400 Bad Request: bad span"},
		{"empty answer", []http.HandlerFunc{answer(200, "")}, 2, 0, 1, nil, ""},
		{"partial, as JSON", []http.HandlerFunc{answer(200, `{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}`)}, 1, 1, 1, nil, ""},
		{"partial, as JSON with a number", []http.HandlerFunc{answer(200, `{"partialSuccess":{"rejectedSpans":2}}`)}, 0, 2, 1, nil, ""},
		{"a warning", []http.HandlerFunc{answer(200, `{"partialSuccess":{"errorMessage":"use gzip"}}`)}, 2, 0, 1, nil, ""},
		{"nonsense", []http.HandlerFunc{answer(200, `<html>`)}, 0, 0, 1, nil, "read the collector's answer"},
		{"refused, as JSON", []http.HandlerFunc{answer(400, `{"code":3,"message":"bad span"}`)}, 0, 0, 1, nil, "answered 400 Bad Request: bad span"},
		{"no such place", []http.HandlerFunc{answer(404, "not found")}, 0, 0, 1, nil, "answered 404 Not Found"},
		{"moved", []http.HandlerFunc{moved}, 0, 0, 1, nil, "answered 307"},
		{"busy once", []http.HandlerFunc{busy, answer(200, "{}")}, 2, 0, 2, []time.Duration{7 * time.Second}, ""},
		{"busy for ever", []http.HandlerFunc{answer(429, ""), answer(502, ""), answer(503, ""), answer(504, "")}, 0, 0, 4,
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "answered 504"},
	}
	for _, tt := range cases {
		c := &collector{t: t, answers: tt.answers}
		sent, err := c.send(t.Context(), calls(resumed, failed))
		if sent.Accepted != tt.accepted || sent.Rejected != tt.rejected || len(c.bodies) != tt.requests {
			t.Errorf("%s: %+v, %d requests", tt.name, sent, len(c.bodies))
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if len(c.waited) != len(tt.waited) {
			t.Errorf("%s: waited %v", tt.name, c.waited)
		}
		for i, d := range tt.waited {
			if i < len(c.waited) && c.waited[i] != d {
				t.Errorf("%s: waited %v, want %v", tt.name, c.waited, tt.waited)
			}
		}
	}
	if sent, err := (&collector{t: t}).send(t.Context(), many); err != nil || sent.Accepted != 0 {
		t.Errorf("nothing to send: %+v, %v", sent, err)
	}
	if _, err := (&collector{t: t}).send(t.Context(), broken); !errors.Is(err, errLedger) {
		t.Errorf("%v", err)
	}
}

func TestTracesURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:4318":             "http://127.0.0.1:4318/v1/traces",
		"http://127.0.0.1:4318/":            "http://127.0.0.1:4318/v1/traces",
		"https://x.test/otlp":               "https://x.test/otlp/v1/traces",
		"https://x.test/otlp/v1/traces?a=b": "https://x.test/otlp/v1/traces?a=b",
		"127.0.0.1:4318":                    "", "localhost:4318": "", "": "", "ftp://x": "", "http://": "", "grpc://x:4317": "",
	} {
		got, err := TracesURL(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

// Calls are never all in memory together.
func TestMemoryIsBounded(t *testing.T) {
	const calls = 200_000
	var most uint64
	look := func(i int) {
		if i%50_000 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	many := func(yield func(history.Invocation, error) bool) {
		for i := range calls {
			look(i)
			if !yield(resumed, nil) {
				return
			}
		}
	}
	if err := NDJSON(io.Discard, many, same); err != nil {
		t.Fatal(err)
	}
	if most > 64<<20 {
		t.Errorf("%d MB in use", most>>20)
	}
}

func TestHeaders(t *testing.T) {
	h, err := Headers(" Authorization=Basic%20abc== , x-a=1,,x-a=2")
	if err != nil || h.Get("Authorization") != "Basic abc==" || len(h["X-A"]) != 2 {
		t.Errorf("%v, %v", h, err)
	}
	for _, bad := range []string{"secret", "=secret", "a=%zz"} {
		if _, err := Headers(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
