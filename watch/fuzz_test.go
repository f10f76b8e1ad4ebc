package watch

import (
	"slices"
	"strings"
	"testing"
)

// However a file grows, its lines are handed on once, in their order.
func FuzzTails(f *testing.F) {
	f.Add("a\nb\n\nc", uint8(2))
	f.Add("\x00\n\xff\r\n", uint8(0))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		var got []string
		ts := &tree{handle: func(_ string, line []byte) { got = append(got, string(line)) }}
		tl := &tail{path: "x"}
		for piece := range slices.Chunk([]byte(text), int(size)+1) {
			ts.feed(tl, piece)
		}
		ts.flush(tl)
		if want := slices.Collect(strings.Lines(text)); !slices.Equal(got, want) {
			t.Fatalf("%q is handed on as %q", text, got)
		}
	})
}
