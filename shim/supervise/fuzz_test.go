package supervise

import (
	"strings"
	"testing"
)

// However a stream is cut into pieces, the lines are the same, and nothing is lost.
func FuzzSplitter(f *testing.F) {
	f.Add("a\nb\n\nc", uint8(3), uint8(4))
	f.Add("1234567\n12", uint8(2), uint8(6))
	f.Add("\x00\r\n\xff", uint8(1), uint8(0))
	f.Fuzz(func(t *testing.T, text string, size, max uint8) {
		lines, shown := split(int(max), chunks(text, int(size)+1)...)
		plain := strings.NewReplacer("[", "", "]", "")
		if plain.Replace(shown) != plain.Replace(text) {
			t.Fatalf("%q is shown as %q", text, shown)
		}
		at := 0
		for _, line := range lines {
			if max > 0 && len(line) > int(max) {
				t.Fatalf("%q is read, with a limit of %d", line, max)
			}
			if strings.Count(line, "\n") > 1 ||
				strings.Contains(line, "\n") && !strings.HasSuffix(line, "\n") {
				t.Fatalf("%q is taken for a line", line)
			}
			i := strings.Index(text[at:], line)
			if i < 0 {
				t.Fatalf("%q is no line of %q", line, text)
			}
			at += i + len(line)
		}
		whole := 0
		for line := range strings.Lines(text) {
			if max == 0 || len(line) <= int(max) {
				whole++
			}
		}
		if len(lines) != whole {
			t.Fatalf("%d lines of %q, want %d", len(lines), text, whole)
		}
	})
}
