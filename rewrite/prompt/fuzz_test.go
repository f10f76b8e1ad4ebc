package prompt

import (
	"slices"
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

// Blocks joined by blank lines are the same prompt.
func FuzzBlocks(f *testing.F) {
	for _, s := range []string{"", "a\nb\n\n# c\nd", "```\na\n\nb\n```\nc\n\n~~~\nd",
		"# a\r\n\r\nb \t\n", "x\n````md\n```\n\n```\n````"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := New(text, testKey)
		texts := make([]string, len(p.blocks))
		for i, b := range p.blocks {
			texts[i] = b.text
			if b.text == "" || p.digest(normal(b.text)) != b.digest {
				t.Fatalf("block %d of %q is %q", i, text, b.text)
			}
		}
		again := New(strings.Join(texts, "\n\n"), testKey)
		if !slices.Equal(p.Footprint().Blocks, again.Footprint().Blocks) {
			t.Fatalf("%q is cut into %q, and that into %v", text, texts, again.blocks)
		}
		if c := Compare(Sent{Base: p.Footprint()}, again); c.Relation != reason.Identical {
			t.Fatalf("%q: %s to itself", text, c.Relation)
		}
	})
}

func FuzzWithoutClock(f *testing.F) {
	for _, s := range []string{"Now: 2026-11-19T08:15:02.1+01:00",
		"It is now Thu 19 Nov 2026, 8:15 PM", "Report 08:15", "Today 12 08:15", "\x00clock now"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got := stripClock(line)
		if stripClock(got) != got {
			t.Fatalf("%q becomes %q, and that %q", line, got, stripClock(got))
		}
		if got == line {
			return
		}
		letters := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool {
			return r < 'a' || r > 'z'
		})
		for _, w := range letters {
			if !clockWords(w) && !calendarWords(w) && w != "t" && w != "z" {
				t.Fatalf("%q is taken for a clock in spite of %q", line, w)
			}
		}
		if !slices.ContainsFunc(letters, nowWords) || !strings.Contains(line, ":") {
			t.Fatalf("%q is taken for a clock", line)
		}
	})
}

func FuzzOpensTurn(f *testing.F) {
	for _, s := range []string{"## assistant", "**Assistant:** x", "<turn speaker=\"ai\">x</turn>",
		"[08:15] bot> x", "[/INST] x", `{"role": "assistant"}`,
		"- role: user", "| assistant | x |", "<|im_start|>assistant", "</assistant>",
		"İ: role=İ assistant"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		who, rest := opensTurn(line)
		if !strings.Contains(line, rest) {
			t.Fatalf("%q says %q", line, rest)
		}
		if who == noTurn && rest != line {
			t.Fatalf("%q is nobody's and says %q", line, rest)
		}
	})
}

// linesIn reports whether all lines of a text stand in another one, in order, and that one has
// more. A block can grow by lines.
func linesIn(before, after string) bool {
	lines := func(text string) []string {
		return strings.FieldsFunc(normal(strings.ReplaceAll(text, "\r", "\n")), func(r rune) bool {
			return r == '\n'
		})
	}
	left, all := lines(before), lines(after)
	for _, line := range all {
		if len(left) > 0 && strings.TrimSpace(line) == strings.TrimSpace(left[0]) {
			left = left[1:]
		}
	}
	return len(left) == 0 && len(all) > len(lines(before))
}

// A prompt is compared with the prompt that it was made of: if a part is missing it never extends,
// if all is there it is never unrelated.
func FuzzCompare(f *testing.F) {
	f.Add("a\n\nb", "a\n\nb\n\nc", "c")
	f.Add("O\n\nHuman: a", "O\n\nHuman: a\n\nAssistant: b\n\nHuman: c", "b")
	f.Add("```\na", "a\r\n\r\nb", "")
	f.Add("0", "0\n0", "")
	f.Fuzz(func(t *testing.T, before, after, answer string) {
		sent := sentTo(before, answer)
		if c := Compare(sent, New(before, testKey)); c.Relation != reason.Identical {
			t.Fatalf("%q: %s to itself", before, c.Relation)
		}
		p := New(after, testKey)
		c := Compare(sent, p)
		if len(c.Has) != len(p.blocks) {
			t.Fatalf("%d marks for %d blocks", len(c.Has), len(p.blocks))
		}
		kept := 0 // the blocks of the base that stand in the prompt, in order
		for _, b := range p.blocks {
			if kept < len(sent.Base.Blocks) && b.digest == sent.Base.Blocks[kept] {
				kept++
			}
		}
		if c.Relation == reason.Extends &&
			(kept < len(sent.Base.Blocks) || len(p.blocks) == kept) && !linesIn(before, after) {
			t.Fatalf("%q extends %q", after, before)
		}
		if c.Relation == reason.Identical &&
			(kept < len(sent.Base.Blocks) || len(p.blocks) != kept) {
			t.Fatalf("%q is identical to %q", after, before)
		}
		text, whole, _ := sentOf(p, c)
		if whole && text != after {
			t.Fatalf("the whole of %q is %q", after, text)
		}
		for i, b := range p.blocks {
			if !whole && !c.Transcript && !c.Has[i] && !strings.Contains(text, b.text) {
				t.Fatalf("%q is not sent of %q", b.text, after)
			}
		}
	})
}
