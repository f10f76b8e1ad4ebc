package markers

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPieces(t *testing.T) {
	for _, text := range []string{"", "a", "\u00e9\u2028\u00e9",
		"one two three four five six seven eight nine ten", strings.Repeat("\u00e9x", 100_000)} {
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
