package export

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"reprise/ledger"
	"reprise/rewrite"
)

// OTLP sends spans to one collector, as OTLP over HTTP in JSON (protocol 1.x).
type OTLP struct {
	Client   *http.Client // http.Client{} follows the usual proxy variables; redirects are not followed
	Endpoint string       // as TracesURL gives it
	Header   http.Header
	Version  string      // of reprise
	Key      rewrite.Key // makes ids: equal calls have equal ids whenever they are sent
	Timeout  time.Duration
	Wait     func(context.Context, time.Duration) error // before another try
}

// Sent counts spans.
type Sent struct {
	Accepted, Rejected int64
	Running            int64    // calls that were left out since they have not ended
	Said               []string // by the collector, about what it took
}

// TracesURL gives the address that spans are posted to, from the base address of a
// collector or the whole one.
func TracesURL(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", fmt.Errorf("read endpoint: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("read endpoint: %q is no http or https address", endpoint)
	}
	if !strings.HasSuffix(u.Path, tracesPath) {
		u.Path = strings.TrimSuffix(u.Path, "/") + tracesPath
	}
	return u.String(), nil
}

// Headers reads header fields as OpenTelemetry's variables have them: name=value,
// separated by commas, each percent-encoded.
func Headers(text string) (http.Header, error) {
	h := http.Header{}
	for field := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(field) == "" {
			continue
		}
		name, value, ok := strings.Cut(field, "=")
		name, errName := url.PathUnescape(strings.TrimSpace(name))
		value, errValue := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || errName != nil || errValue != nil {
			return nil, errors.New("a field is not name=value") // it may be a secret: it is not shown
		}
		h.Add(name, value)
	}
	return h, nil
}

const (
	tracesPath = "/v1/traces"
	batch      = 500 // spans in one request
	tries      = 4
	maxWait    = 30 * time.Second
	maxReply   = 1 << 20
)

// Send posts the calls that have ended, a span each. What was sent before an error
// is counted; a later run sends the same ids again.
func (o *OTLP) Send(ctx context.Context, calls Calls) (sent Sent, err error) {
	var spans []span
	flush := func() error {
		if len(spans) == 0 {
			return nil
		}
		err := o.post(ctx, spans, &sent)
		spans = spans[:0]
		return err
	}
	for i, err := range calls {
		if err != nil {
			return sent, err
		}
		if !i.Duration.Valid {
			sent.Running++
			continue
		}
		if spans = append(spans, o.span(i)); len(spans) == batch {
			if err := flush(); err != nil {
				return sent, err
			}
		}
	}
	return sent, flush()
}

// The message as the protocol has it; 64-bit integers are strings, ids hex.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []attribute `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	span struct {
		TraceID    string      `json:"traceId"`
		SpanID     string      `json:"spanId"`
		Name       string      `json:"name"`
		Kind       int         `json:"kind"`
		Start      string      `json:"startTimeUnixNano"`
		End        string      `json:"endTimeUnixNano"`
		Attributes []attribute `json:"attributes"`
		Status     *status     `json:"status,omitempty"`
	}
	status struct {
		Code    int    `json:"code"`
		Message string `json:"message,omitempty"`
	}
	attribute struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		String *string `json:"stringValue,omitempty"`
		Int    *string `json:"intValue,omitempty"`
	}
)

// Of the enumerations of the protocol.
const (
	kindClient  = 3
	statusError = 2
)

// span is a call as the GenAI conventions have the invocation of an agent, with what
// they have no name for under ours.
func (o *OTLP) span(i ledger.Invocation) span {
	digest := o.Key.Digester()
	id := func(what string) []byte {
		d := digest(fmt.Sprintf("%s of call %d at %d", what, i.ID, i.Started))
		return d[:]
	}
	s := span{
		TraceID: hex.EncodeToString(id("trace")[:16]), SpanID: hex.EncodeToString(id("span")[:8]),
		Name: "invoke_agent " + i.Tool, Kind: kindClient,
		Start: nanos(i.Started), End: nanos(i.Started + ledger.Millis(i.Duration.Int64)),
	}
	text := func(key, v string) {
		if v != "" {
			v = strings.ToValidUTF8(v, "\uFFFD")
			s.Attributes = append(s.Attributes, attribute{key, value{String: &v}})
		}
	}
	number := func(key string, n int64, known bool) {
		if known {
			v := strconv.FormatInt(n, 10)
			s.Attributes = append(s.Attributes, attribute{key, value{Int: &v}})
		}
	}
	text("gen_ai.operation.name", "invoke_agent")
	if tool, ok := rewrite.Lookup(i.Tool); ok {
		text("gen_ai.provider.name", tool.Descriptor().Provider)
	}
	text("gen_ai.agent.name", i.Tool)
	text("gen_ai.conversation.id", i.NativeID)
	text("gen_ai.request.model", i.Asked)
	text("gen_ai.response.model", i.Model)
	// The conventions' input has the cached tokens in it.
	number("gen_ai.usage.input_tokens", i.Input.Int64+i.CacheRead.Int64+i.CacheWrite.Int64, i.Input.Valid)
	number("gen_ai.usage.cache_read.input_tokens", i.CacheRead.Int64, i.CacheRead.Valid)
	number("gen_ai.usage.cache_creation.input_tokens", i.CacheWrite.Int64, i.CacheWrite.Valid)
	number("gen_ai.usage.output_tokens", i.Output.Int64, i.Output.Valid)
	text("process.working_directory", i.Cwd)
	number("process.exit.code", i.Exit.Int64, i.Exit.Valid && !i.Signal.Valid)
	text("reprise.mode", string(i.Mode))
	text("reprise.reason", string(i.Reason))
	text("reprise.detail", string(i.Detail))
	text("reprise.arm", i.Arm)
	text("reprise.fell_back", string(i.FellBack))
	number("reprise.invocation", i.ID, true)
	number("reprise.chain", i.Chain, i.Chain != 0)
	text("reprise.task", i.Task)
	text("reprise.role", i.Role)
	text("reprise.rule", i.Rule)
	number("reprise.prompt_bytes", i.PromptBytes, true)
	number("reprise.sent_bytes", i.SentBytes, true)
	number("reprise.cost_nano_usd", i.Cost.Int64, i.Cost.Valid)
	number("reprise.signal", i.Signal.Int64, i.Signal.Valid)
	if i.Outcome != "ok" {
		text("error.type", i.Outcome)
		s.Status = &status{Code: statusError}
	}
	return s
}

func nanos(m ledger.Millis) string { return strconv.FormatInt(int64(m)*1e6, 10) }

// post sends a batch, and tries again where the collector asks for it.
func (o *OTLP) post(ctx context.Context, spans []span, sent *Sent) error {
	name := "reprise"
	body, err := json.Marshal(request{[]resourceSpans{{
		Resource:   resource{[]attribute{{"service.name", value{String: &name}}, {"service.version", value{String: &o.Version}}}},
		ScopeSpans: []scopeSpans{{Scope: scope{name, o.Version}, Spans: spans}},
	}}})
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	for try := 1; ; try++ {
		wait, err := o.once(ctx, body, int64(len(spans)), sent)
		var again *retryable
		if !errors.As(err, &again) || try == tries {
			return err
		}
		if wait == 0 {
			wait = time.Second << (try - 1)
		}
		if err := o.Wait(ctx, min(wait, maxWait)); err != nil {
			return err
		}
	}
}

// A retryable error may be gone at the next try.
type retryable struct{ error }

func (r *retryable) Unwrap() error { return r.error }

func (o *OTLP) once(ctx context.Context, body []byte, spans int64, sent *Sent) (wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.Endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("send spans: %w", err)
	}
	r.Header = o.Header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "reprise/"+o.Version)
	client := *o.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	reply, err := client.Do(r)
	if err != nil {
		return 0, fmt.Errorf("send spans: %w", err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxReply))
	if err != nil {
		return 0, fmt.Errorf("read the collector's answer: %w", err)
	}
	switch reply.StatusCode {
	case http.StatusOK:
		return 0, sent.take(text, spans)
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(reply.Header.Get("Retry-After"))
		return time.Duration(max(seconds, 0)) * time.Second, &retryable{refusal(reply, text)}
	}
	return 0, refusal(reply, text)
}

func refusal(reply *http.Response, text []byte) error {
	var said struct{ Message string }
	if json.Unmarshal(text, &said) == nil && said.Message != "" {
		return fmt.Errorf("send spans: %s answered %s: %s", reply.Request.URL.Redacted(), reply.Status, said.Message)
	}
	return fmt.Errorf("send spans: %s answered %s", reply.Request.URL.Redacted(), reply.Status)
}

// take reads what the collector made of a batch. An answer that says nothing took
// all of it.
func (s *Sent) take(text []byte, spans int64) error {
	var reply struct {
		PartialSuccess struct {
			RejectedSpans count  `json:"rejectedSpans"`
			ErrorMessage  string `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if len(bytes.TrimSpace(text)) > 0 {
		if err := json.Unmarshal(text, &reply); err != nil {
			return fmt.Errorf("read the collector's answer: %w", err)
		}
	}
	rejected := min(max(int64(reply.PartialSuccess.RejectedSpans), 0), spans)
	s.Rejected += rejected
	s.Accepted += spans - rejected
	if m := reply.PartialSuccess.ErrorMessage; m != "" && len(s.Said) < 10 {
		s.Said = append(s.Said, m)
	}
	return nil
}

// A count is a 64-bit integer of protobuf's JSON: a string, or a number.
type count int64

func (c *count) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
	*c = count(n)
	return err
}
