package jsonline

import "testing"

func TestRawString(t *testing.T) {
	for text, want := range map[string]string{
		"a\u2028b\u2029c":            "\"a\u2028b\u2029c\"",
		`a\u2028b\` + "\u2029" + `c`: `"a\\u2028b\\` + "\u2029" + `c"`,
		"\n\"\u2027\u202a<&>":        `"\n\"` + "\u2027\u202a" + `<&>"`,
		`cut\`:                       `"cut\\"`,
		`\u202`:                      `"\\u202"`,
		"":                           `""`,
	} {
		if got := string(RawString(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
