package markers

import (
	"net/http/httptest"
	"strings"
	"testing"

	"reprise/internal/standin"
)

func said(role, text string) any { return object{"role": role, "content": text} }

// ran is a tool's result.
var ran any = object{"role": "user", "content": []any{object{"type": "tool_result"}}}

func request(messages ...any) standin.Request {
	return standin.Request{API: standin.Anthropic, Body: object{"messages": messages}}
}

// A reply is the part of a standin.Reply that can be compared.
type reply struct {
	Text, Command string
	Status        int // of an error
}

func TestReplyTo(t *testing.T) {
	const ask, tell = "what number", "remember number 7"
	for name, c := range map[string]struct {
		in   []any
		want reply
	}{
		"nothing": {nil, reply{Text: "ok"}},
		"told":    {[]any{said("user", tell)}, reply{Text: "Got it: 7."}},
		"asked": {[]any{said("user", tell), said("assistant", "x"), said("user", ask)},
			reply{Text: "7"}},
		"asked, not told": {[]any{said("user", ask)},
			reply{Text: "I do not know any number."}},
		"last one counts": {[]any{said("user", tell+" remember number 8"), said("user", ask)},
			reply{Text: "8"}},
		"transcript asks":  {[]any{said("user", tell+"\n"+ask)}, reply{Text: "7"}},
		"transcript tells": {[]any{said("user", ask+"\n"+tell)}, reply{Text: "Got it: 7."}},
		"system after": {[]any{said("user", "HTTP500"), said("system", "TOOBIG")},
			reply{Status: 500}},
		"history is inert": {[]any{said("user", "TOOBIG HTTP429 EMPTY"), said("user", "hi")},
			reply{Text: "ok"}},
		"part of a word": {[]any{said("user", "XTOOBIG HTTP5000 EMPTYING")},
			reply{Text: "ok"}},
		"too big": {[]any{said("user", "TOOBIG")},
			reply{Status: 400}},
		"bad tool": {[]any{said("user", "BADTOOL")},
			reply{Status: 400}},
		"run": {[]any{said("user", "RUNTOOL")},
			reply{Command: "echo hi", Text: "ok"}},
		"run another": {[]any{said("user", "RUN<<touch a>>")},
			reply{Command: "touch a", Text: "ok"}},
		"ran": {[]any{said("user", "RUNTOOL"), ran}, reply{Text: "ok"}},
		"ran before": {[]any{ran, said("user", "RUNTOOL")},
			reply{Command: "echo hi", Text: "ok"}},
		"echo": {[]any{said("user", "ECHO<<a>> ECHO<<b>\n>> c")},
			reply{Text: "b>\n"}},
		"echo not closed": {[]any{said("user", "ECHO<<a")}, reply{Text: "ok"}},
		"empty":           {[]any{said("user", "EMPTY")}, reply{}},
		"multi":           {[]any{said("user", "MULTI")}, reply{Text: multi}},
		"slow": {[]any{said("user", "SLOW")},
			reply{Text: slow}},
		"slow number": {[]any{said("user", "SLOW "+tell)},
			reply{Text: "Got it: 7."}},
		"hang": {[]any{said("user", "HANG")}, reply{Text: "ok"}},
	} {
		r := replyTo(request(c.in...))
		got := reply{r.Text, r.Command, 0}
		if r.Instead != nil {
			sent := httptest.NewRecorder()
			r.Instead(sent, nil)
			got.Status = sent.Code
		}
		if got != c.want {
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
