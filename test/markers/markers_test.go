package markers

import (
	"strings"
	"testing"
	"time"

	"reprise/internal/standin"
)

func said(role, text string) any { return object{"role": role, "content": text} }

// ran is a tool's result.
var ran any = object{"role": "user", "content": []any{object{"type": "tool_result"}}}

func request(messages ...any) standin.Request {
	return standin.Request{API: standin.Anthropic, Body: object{"messages": messages}}
}

func TestReplyTo(t *testing.T) {
	const ask, tell = "what number", "remember number 7"
	for name, c := range map[string]struct {
		in   []any
		want standin.Reply
	}{
		"nothing": {nil, standin.Reply{Text: "ok"}},
		"told":    {[]any{said("user", tell)}, standin.Reply{Text: "Got it: 7."}},
		"asked": {[]any{said("user", tell), said("assistant", "x"), said("user", ask)},
			standin.Reply{Text: "7"}},
		"asked, not told": {[]any{said("user", ask)},
			standin.Reply{Text: "I do not know any number."}},
		"last one counts": {[]any{said("user", tell+" remember number 8"), said("user", ask)},
			standin.Reply{Text: "8"}},
		"transcript asks":  {[]any{said("user", tell+"\n"+ask)}, standin.Reply{Text: "7"}},
		"transcript tells": {[]any{said("user", ask+"\n"+tell)}, standin.Reply{Text: "Got it: 7."}},
		"system after": {[]any{said("user", "HTTP500"), said("system", "TOOBIG")},
			standin.Reply{Instead: standin.Answer{Status: 500}}},
		"history is inert": {[]any{said("user", "TOOBIG HTTP429 EMPTY"), said("user", "hi")},
			standin.Reply{Text: "ok"}},
		"part of a word": {[]any{said("user", "XTOOBIG HTTP5000 EMPTYING")},
			standin.Reply{Text: "ok"}},
		"too big": {[]any{said("user", "TOOBIG")},
			standin.Reply{Instead: standin.Answer{Status: 400}}},
		"bad tool": {[]any{said("user", "BADTOOL")},
			standin.Reply{Instead: standin.Answer{Status: 400}}},
		"run": {[]any{said("user", "RUNTOOL")},
			standin.Reply{Command: "echo hi", Text: "ok"}},
		"run another": {[]any{said("user", "RUN<<touch a>>")},
			standin.Reply{Command: "touch a", Text: "ok"}},
		"ran": {[]any{said("user", "RUNTOOL"), ran}, standin.Reply{Text: "ok"}},
		"ran before": {[]any{ran, said("user", "RUNTOOL")},
			standin.Reply{Command: "echo hi", Text: "ok"}},
		"echo": {[]any{said("user", "ECHO<<a>> ECHO<<b>\n>> c")},
			standin.Reply{Text: "b>\n"}},
		"echo not closed": {[]any{said("user", "ECHO<<a")}, standin.Reply{Text: "ok"}},
		"empty":           {[]any{said("user", "EMPTY")}, standin.Reply{}},
		"multi":           {[]any{said("user", "MULTI")}, standin.Reply{Text: multi}},
		"slow": {[]any{said("user", "SLOW")},
			standin.Reply{Text: slow, Pause: 100 * time.Millisecond}},
		"slow number": {[]any{said("user", "SLOW "+tell)},
			standin.Reply{Text: "Got it: 7.", Pause: 100 * time.Millisecond}},
		"hang": {[]any{said("user", "HANG")}, standin.Reply{Text: "ok", Hang: true}},
	} {
		got := replyTo(request(c.in...))
		if got.Instead.Body = ""; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestBig(t *testing.T) {
	text := replyTo(request(said("user", "BIG5MB"))).Text
	if len(text) != 5<<20 || strings.Contains(text, "\n") {
		t.Errorf("%d bytes", len(text))
	}
}
