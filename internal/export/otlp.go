package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/prompt"

	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// OTLP sends spans to one collector, as OTLP over HTTP in protobuf (protocol 1.x).
type OTLP struct {
	Client   *http.Client // http.Client{} follows the usual proxy variables; redirects are not followed
	Endpoint string       // as TracesURL returns it
	Header   http.Header
	Version  string     // of reprise
	Key      prompt.Key // of the IDs: a call has the same IDs whenever it is sent
	Timeout  time.Duration
	Wait     func(context.Context, time.Duration) error // before another try
}

// Sent counts spans.
type Sent struct {
	Accepted, Rejected int64
	Running            int64    // calls left out because they have not ended
	Said               []string // the collector's remarks on what it accepted
}

// TracesURL returns the address that spans are posted to, from the base address of a
// collector or the full one.
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

// Headers reads header fields in the form of OpenTelemetry's variables: name=value,
// separated by commas, percent-encoded.
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

// Send posts a span for each call that has ended. It counts what was sent before an error; a later
// run sends the same IDs again.
func (o *OTLP) Send(ctx context.Context, calls Calls) (sent Sent, err error) {
	var spans []*tracepb.Span
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

// span returns a call in the GenAI conventions' form of an agent's invocation. Facts without a name
// there get a name of ours.
func (o *OTLP) span(i history.Invocation) *tracepb.Span {
	digest := o.Key.Digester()
	id := func(what string, length int) []byte {
		d := digest(fmt.Sprintf("%s of call %d at %d", what, i.ID, i.Started))
		return d[:length]
	}
	s := &tracepb.Span{
		TraceId: id("trace", 16), SpanId: id("span", 8),
		Name: "invoke_agent " + i.Tool, Kind: tracepb.Span_SPAN_KIND_CLIENT,
		StartTimeUnixNano: nanos(i.Started), EndTimeUnixNano: nanos(i.Started + decide.Millis(i.Duration.Int64)),
	}
	text := func(key, v string) {
		if v != "" {
			s.Attributes = append(s.Attributes, textAttribute(key, v))
		}
	}
	number := func(key string, n int64, known bool) {
		if known {
			s.Attributes = append(s.Attributes, &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}})
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
	// The conventions' input includes the cached tokens.
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
	text("reprise.delta_arm", i.DeltaArm)
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
		s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
	}
	return s
}

func textAttribute(key, text string) *commonpb.KeyValue {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: text}}}
}

func nanos(m decide.Millis) uint64 { return uint64(m) * 1e6 }

// post sends a batch, and retries if the collector asks for it.
func (o *OTLP) post(ctx context.Context, spans []*tracepb.Span, sent *Sent) error {
	body, err := proto.Marshal(&collectorpb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource:   &resourcepb.Resource{Attributes: []*commonpb.KeyValue{textAttribute("service.name", "reprise"), textAttribute("service.version", o.Version)}},
		ScopeSpans: []*tracepb.ScopeSpans{{Scope: &commonpb.InstrumentationScope{Name: "reprise", Version: o.Version}, Spans: spans}},
	}}})
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	for try := 1; ; try++ {
		wait, again, err := o.once(ctx, body, int64(len(spans)), sent)
		if !again || try == tries {
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

// once posts a batch. Its error may not recur if again is true.
func (o *OTLP) once(ctx context.Context, body []byte, spans int64, sent *Sent) (wait time.Duration, again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.Endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, false, fmt.Errorf("send spans: %w", err)
	}
	maps.Copy(r.Header, o.Header)
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "reprise/"+o.Version)
	client := *o.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	reply, err := client.Do(r)
	if err != nil {
		return 0, false, fmt.Errorf("send spans: %w", err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxReply))
	if err != nil {
		return 0, false, fmt.Errorf("read the collector's answer: %w", err)
	}
	switch reply.StatusCode {
	case http.StatusOK:
		return 0, false, sent.take(reply, text, spans)
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(reply.Header.Get("Retry-After"))
		return time.Duration(max(seconds, 0)) * time.Second, true, refusal(reply, text)
	}
	return 0, false, refusal(reply, text)
}

func refusal(reply *http.Response, text []byte) error {
	var said status.Status
	if decode(reply, text, &said) == nil && said.Message != "" {
		return fmt.Errorf("send spans: %s answered %s: %s", reply.Request.URL.Redacted(), reply.Status, said.Message)
	}
	return fmt.Errorf("send spans: %s answered %s", reply.Request.URL.Redacted(), reply.Status)
}

// take counts what the collector accepted of a batch: all of it, unless the reply says
// otherwise.
func (s *Sent) take(reply *http.Response, text []byte, spans int64) error {
	var said collectorpb.ExportTraceServiceResponse
	if err := decode(reply, text, &said); err != nil {
		return fmt.Errorf("read the collector's answer: %w", err)
	}
	rejected := min(max(said.GetPartialSuccess().GetRejectedSpans(), 0), spans)
	s.Rejected += rejected
	s.Accepted += spans - rejected
	if m := said.GetPartialSuccess().GetErrorMessage(); m != "" && len(s.Said) < 10 {
		s.Said = append(s.Said, m)
	}
	return nil
}

// decode reads a reply. Collectors should reply in the request's encoding; some use JSON
// anyway.
func decode(reply *http.Response, text []byte, into proto.Message) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	if strings.HasPrefix(reply.Header.Get("Content-Type"), "application/json") {
		return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, into)
	}
	return proto.Unmarshal(text, into)
}
