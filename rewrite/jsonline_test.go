package rewrite

import (
	"strings"
	"testing"
)

// What is no UTF-8 stands in an event as JSON.stringify writes it (node 22: the text that it makes of these bytes).
func TestAsAskedOfInvalidUTF8(t *testing.T) {
	const r = "\ufffd"
	broken := "a\xe2\x82b\xff\xfe\xf0\x80\x80\xed\xa0\x80\xc0a\xf0\x9f\x98"
	as := "a" + r + "b" + strings.Repeat(r, 9) + "a" + r
	plan := Plan{Prompt: broken, Asked: "all of \xff"}
	got := string(plan.asAsked([]byte(`{"role":"user","content":"` + as + `"}`)))
	if want := `{"role":"user","content":"all of ` + r + `"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	line := `{"type":"message","role":"user","content":"` + as + `"}` + "\n"
	if shown := string(gemini{}.Stream(Call{Format: StreamJSON}, plan, "").Line([]byte(line))); !strings.Contains(shown, `"all of `+r+`"`) {
		t.Errorf("gemini shows %q", shown)
	}
}

func TestRawSeparators(t *testing.T) {
	tests := []struct{ line, want string }{
		{`"a\u2028b\u2029c"`, "\"a\u2028b\u2029c\""},
		{`"a\\u2028b\\\u2029c"`, "\"a\\\\u2028b\\\\\u2029c\""},
		{`"\n\"\u2027\u202a"`, `"\n\"\u2027\u202a"`},
		{`cut\`, `cut\`},
		{`\u202`, `\u202`},
		{"", ""},
	}
	for _, tt := range tests {
		if got := string(appendRawSeparators([]byte("x"), []byte(tt.line))); got != "x"+tt.want {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
	}
}
