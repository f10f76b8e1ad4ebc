package standin

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func said(role, text string) turn { return turn{role: role, texts: []string{text}} }

func TestReplyTo(t *testing.T) {
	const ask, tell = "what number", "remember number 7"
	for name, c := range map[string]struct {
		in   conversation
		want Reply
	}{
		"nothing":          {nil, Reply{Text: "ok"}},
		"told":             {conversation{said("user", tell)}, Reply{Text: "Got it: 7."}},
		"asked":            {conversation{said("user", tell), said("assistant", "x"), said("user", ask)}, Reply{Text: "7"}},
		"asked, not told":  {conversation{said("user", ask)}, Reply{Text: "I do not know any number."}},
		"last one counts":  {conversation{said("user", tell+" remember number 8"), said("user", ask)}, Reply{Text: "8"}},
		"transcript asks":  {conversation{said("user", tell+"\n"+ask)}, Reply{Text: "7"}},
		"transcript tells": {conversation{said("user", ask+"\n"+tell)}, Reply{Text: "Got it: 7."}},
		"system after":     {conversation{said("user", "HTTP500"), said("system", "TOOBIG")}, Reply{Status: 500, Text: "ok"}},
		"history is inert": {conversation{said("user", "TOOBIG HTTP429 EMPTY"), said("user", "hi")}, Reply{Text: "ok"}},
		"part of a word":   {conversation{said("user", "XTOOBIG HTTP5000 EMPTYING")}, Reply{Text: "ok"}},
		"too big":          {conversation{said("user", "TOOBIG")}, Reply{TooBig: true, Text: "ok"}},
		"bad tool":         {conversation{said("user", "BADTOOL")}, Reply{BadTool: true, Text: "ok"}},
		"run":              {conversation{said("user", "RUNTOOL")}, Reply{Command: "echo hi", Text: "ok"}},
		"run another":      {conversation{said("user", "RUN<<touch a>>")}, Reply{Command: "touch a", Text: "ok"}},
		"ran":              {conversation{said("user", "RUNTOOL"), {role: "tool", tool: true}}, Reply{Text: "ok"}},
		"ran before":       {conversation{{role: "tool", tool: true}, said("user", "RUNTOOL")}, Reply{Command: "echo hi", Text: "ok"}},
		"echo":             {conversation{said("user", "ECHO<<a>> ECHO<<b>\n>> c")}, Reply{Text: "b>\n"}},
		"echo not closed":  {conversation{said("user", "ECHO<<a")}, Reply{Text: "ok"}},
		"empty":            {conversation{said("user", "EMPTY")}, Reply{}},
		"multi":            {conversation{said("user", "MULTI")}, Reply{Text: multi}},
		"slow":             {conversation{said("user", "SLOW")}, Reply{Text: slow, Pause: 100 * time.Millisecond}},
		"slow number":      {conversation{said("user", "SLOW "+tell)}, Reply{Text: "Got it: 7.", Pause: 100 * time.Millisecond}},
		"hang":             {conversation{said("user", "HANG")}, Reply{Text: "ok", Hang: true}},
	} {
		if got := replyTo(c.in); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestBig(t *testing.T) {
	text := replyTo(conversation{said("user", "BIG5MB")}).Text
	if len(text) != 5<<20 || strings.Contains(text, "\n") {
		t.Errorf("%d bytes", len(text))
	}
}

func TestPieces(t *testing.T) {
	for _, text := range []string{"", "a", "\u00e9\u2028\u00e9", slow, strings.Repeat("\u00e9x", 100_000)} {
		for _, slowly := range []bool{false, true} {
			cut := pieces(text, slowly)
			if strings.Join(cut, "") != text {
				t.Errorf("%.20q: pieces do not add up", text)
			}
			if slowly && len(cut) > 10 {
				t.Errorf("%.20q: %d pieces", text, len(cut))
			}
			for _, piece := range cut {
				if !utf8.ValidString(piece) {
					t.Errorf("%.20q: cut inside a character", text)
				}
			}
		}
	}
}
