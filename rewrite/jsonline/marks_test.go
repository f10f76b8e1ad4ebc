package jsonline

import (
	"slices"
	"strings"
	"testing"
)

func FuzzMarks(f *testing.F) {
	for _, s := range []string{"", `"`, `""`, `"a"`, `"ab"`, `"b"ab"`, `""ab"`, `"ab`, `ab"`,
		`x"aab"`, `"c"`} {
		f.Add(s)
	}
	words := []string{"ab", "aa", "c"}
	m := NewMarks(words...)
	f.Fuzz(func(t *testing.T, line string) {
		want := slices.ContainsFunc(words, func(w string) bool {
			return strings.Contains(line, `"`+w+`"`)
		})
		if m.In([]byte(line)) != want {
			t.Errorf("%q: found: %v, want %v", line, !want, want)
		}
	})
}
