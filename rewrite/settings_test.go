package rewrite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestImports(t *testing.T) {
	got := Imports("See @docs/rules.md, and @~/mine.md.\n- @AGENTS.md\nme@example.com @ `x`")
	if want := []string{"docs/rules.md", "~/mine.md", "AGENTS.md"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Imports(strings.Repeat("@a ", 1000)); len(got) != maxImports {
		t.Errorf("%d files", len(got))
	}
}

// The members of a JSON object are settings of their own beside the text, which alone decides.
func TestJSONSettings(t *testing.T) {
	long := strings.Repeat("k", 101)
	many := "{"
	for i := range 65 {
		many += fmt.Sprintf(`"m%d":1,`, i)
	}
	many = strings.TrimSuffix(many, ",") + "}"
	for text, want := range map[string]string{
		`{"b": {"x": [1, 2]}, "a" : "y", "e": {}}`: `f a="y" f b={"x":[1,2]} f e=`,
		`{"a": 1, "` + long + `": 2}`:              "f a=1",
		"{}":                                       "",
		"[1]":                                      "",
		"null":                                     "",
		`{"a": 1`:                                  "",
		`{"a": 1} // as JSON5`:                     "",
		many:                                       "",
		`{"a": "` + strings.Repeat("x", 64<<10) + `"}`: "",
	} {
		list := JSONSettings("f", text)
		if list[0].Name != "f" || list[0].Value != text {
			t.Errorf("%.40s: the whole is %+v", text, list[0])
		}
		var got []string
		for _, s := range list[1:] {
			got = append(got, s.Name+"="+s.Value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%.40s: %q, want %q", text, got, want)
		}
	}
}
