package supervise

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
)

// split feeds pieces to a splitter, and gives the lines it saw and all that it
// showed. Lines are shown between brackets.
func split(max int, pieces ...string) (lines []string, shown string) {
	s := splitter{max: max, line: func(line []byte) []byte {
		lines = append(lines, string(line))
		return slices.Concat([]byte("["), line, []byte("]"))
	}}
	var out bytes.Buffer
	for _, p := range pieces {
		out.Write(s.feed([]byte(p)))
	}
	out.Write(s.flush())
	return lines, out.String()
}

func TestLines(t *testing.T) {
	tests := []struct {
		text, shown string
		max         int
	}{
		{"", "", 0},
		{"a\nb\n", "[a\n][b\n]", 0},
		{"a\nb", "[a\n][b]", 0},
		{"\n\n", "[\n][\n]", 0},
		{"a\x00b\n\x00", "[a\x00b\n][\x00]", 0},
		{"\r\n\xff\xfe\n", "[\r\n][\xff\xfe\n]", 0},
		{"12345\n12\n", "[12345\n][12\n]", 6},
		{"123456\n12\n", "123456\n[12\n]", 6},
		{"123456", "[123456]", 6},
		{"1234567\n12\n", "1234567\n[12\n]", 6},
		{"1\n1234567", "[1\n]1234567", 6},
		{"1234567\n1234567\n1\n", "1234567\n1234567\n[1\n]", 6},
	}
	for _, test := range tests {
		for i := range len(test.text) + 1 {
			if _, shown := split(test.max, test.text[:i], test.text[i:]); shown != test.shown {
				t.Errorf("%q cut at %d with max %d is shown as %q, want %q", test.text, i, test.max,
					shown, test.shown)
			}
		}
		if _, shown := split(test.max, chunks(test.text, 1)...); shown != test.shown {
			t.Errorf("%q byte by byte with max %d is shown as %q, want %q", test.text, test.max,
				shown, test.shown)
		}
	}
}

// A line that is shown as it is does not wait for its end. It is read as a whole all the same, and
// any other waits.
func TestEarlyParts(t *testing.T) {
	play := func(max int, pieces ...string) (lines, shown []string) {
		s := splitter{max: max, line: func(line []byte) []byte {
			lines = append(lines, string(line))
			if line[0] == '#' {
				return nil
			}
			return line
		}, early: func(part []byte) bool { return part[0] != '#' }}
		for _, p := range pieces {
			shown = append(shown, string(s.feed([]byte(p))))
		}
		return lines, append(shown, string(s.flush()))
	}
	lines, shown := play(0, "one ", "two", " three\n#four", " five\nsix\nse", "ven\n", "eight", "")
	if want := []string{"one two three\n", "#four five\n", "six\n",
		"seven\n", "eight"}; !slices.Equal(lines, want) {
		t.Errorf("read %q", lines)
	}
	if want := []string{"one ", "two", " three\n", "six\nse", "ven\n", "eight",
		"", ""}; !slices.Equal(shown, want) {
		t.Errorf("shown %q", shown)
	}
	text := "1234567890\n#2\n12\n#1234567890\n123"
	for _, max := range []int{0, 6, 100} {
		want := map[int]string{0: "1234567890\n12\n123", 6: "1234567890\n12\n#1234567890\n123",
			100: "1234567890\n12\n123"}[max]
		for i := range len(text) + 1 {
			for j := range i + 1 {
				if _, shown := play(max, text[:j],
					text[j:i], text[i:]); strings.Join(shown, "") != want {
					t.Errorf("%d, %d, %d: %q", max, i, j, shown)
				}
			}
		}
	}
}

// Output that is not read by lines does not wait for the end of a line.
func TestPieces(t *testing.T) {
	if _, shown := split(rewrite.NoLines, "a", "b\nc", "\n"); shown != "[a][b\nc][\n]" {
		t.Errorf("shown as %q", shown)
	}
}

func TestRecordingsCutAtEveryByte(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/recordings/claude/*/stdout")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		lines, shown := split(0, text)
		if got := strings.Join(lines, ""); got != text {
			t.Errorf("%s: its lines are not its text", path)
		}
		for name, pieces := range map[string][]string{
			"byte by byte": chunks(text, 1),
			"in sevens":    chunks(text, 7),
		} {
			gotLines, gotShown := split(0, pieces...)
			if !slices.Equal(gotLines, lines) || gotShown != shown {
				t.Errorf("%s: cut %s it reads otherwise", path, name)
			}
		}
		cutAnywhere(t, path, text, lines)
	}
}

// cutAnywhere cuts a text in two, at each byte in turn.
func cutAnywhere(t *testing.T, path, text string, want []string) {
	var n, wrong int
	s := splitter{line: func(line []byte) []byte {
		if n >= len(want) || string(line) != want[n] {
			wrong++
		}
		n++
		return line
	}}
	for i := range len(text) {
		n = 0
		whole := bytes.Clone(s.feed([]byte(text[:i])))
		whole = append(whole, s.feed([]byte(text[i:]))...)
		whole = append(whole, s.flush()...)
		if string(whole) != text || n != len(want) || wrong > 0 {
			t.Fatalf("%s cut at %d: %d lines of %d, %d wrong", path, i, n, len(want), wrong)
		}
	}
}

func chunks(text string, n int) []string {
	var out []string
	for c := range slices.Chunk([]byte(text), n) {
		out = append(out, string(c))
	}
	return out
}

// More than a piece can wait in a pipe at the tool's end.
func TestDrain(t *testing.T) {
	r, w := pair(t, nonblockingPipe)
	widen(w)
	text := bytes.Repeat([]byte("0123456789abcdef"), 3*pieceSize/32)
	if n, err := w.Write(text); n != len(text) {
		t.Skipf("the pipe holds %d bytes, %v", n, err)
	}
	tap := &tap{ours: r, free: newBuffers()}
	pieces := make(chan piece, mostPieces)
	tap.end()
	tap.read(pieces, make(chan struct{}))
	var got []byte
	for len(pieces) > 1 {
		got = append(got, (<-pieces).buffer.piece...)
	}
	if last := <-pieces; last.buffer != nil || last.over {
		t.Error("the stream is at the end, or the reader goes on")
	}
	if !bytes.Equal(got, text) {
		t.Errorf("%d bytes of %d", len(got), len(text))
	}
}
