package jsonline

import "testing"

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
