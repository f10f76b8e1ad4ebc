package prompt

import (
	"fmt"
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

// Has says of each block of a prompt whether the session was sent it, in this order.
func TestSentBlocks(t *testing.T) {
	for _, tt := range []struct{ before, after, want string }{
		{"a|b", "a|b|c", "110"},
		{"a|b", "a|c|b", "101"},
		{"a|b|c", "a|c|b|d", "1010"},
		{"a|b|c|d|e", "a|d|e|b|c|x", "100110"},
		{"a|b|c|d|e", "a|c|d|b|e|x", "111010"},
		{"a|b|c|d", "d|c|b|a", "0001"},
		{"a|x|b|x|c", "a|x|x|c", "1111"},
		{"a|x|b", "a|x|x|y", "1100"},
		{"a|x|x|x|c", "a|x|c|d", "1110"},
		{"a|b", "x|y", "00"},
		{"a|b|c", "x|b|c", "011"},
		{"a|b|c", "a|b/more|c", "101"},
		{"a|b|c", "a|b/more|x", "100"},
		{"a|b", "", ""},
	} {
		text := func(s string) string {
			return strings.ReplaceAll(
				strings.ReplaceAll(s, "|", "\n\n"), "/", "\n")
		}
		got := ""
		for _, has := range compare(text(tt.before), text(tt.after)).Has {
			got += map[bool]string{true: "1", false: "0"}[has]
		}
		if got != tt.want {
			t.Errorf("%q to %q: %s, want %s", tt.before, tt.after, got, tt.want)
		}
	}
}

// The frame of a conversation can change, the messages in it must not.
func TestFramesChange(t *testing.T) {
	const turns, long = "User: one\n\nAssistant: first\n\nUser: two",
		"User: one\n\nIn short.\n\nAssistant: first\n\nUser: two"
	const rest, frame = "\n\nAssistant: second\n\nUser: three", "Frame B.\n\nMore.\n\n"
	with := func(turns, old, new string) string {
		return frame + strings.Replace(turns, old, new, 1) + rest
	}
	for _, tt := range []struct{ name, before, prompt, want string }{
		{"the frame changed", "Frame A.\n\n" + turns, frame + turns + rest, "revises"},
		{"the frame is gone", "Frame A.\n\n" + turns, turns + rest, "revises"},
		{"the frame is new", turns, frame + turns + rest, "extends"},
		{"a turn of two paragraphs", "Frame A.\n\n" + long, frame + long + rest, "revises"},
		{"a first turn twice", "Frame A.\n\n" + turns, "User: one\n\nFrame B.\n\n" + turns + rest,
			"history_edited"},
		{"a turn more in front", "Frame A.\n\n" + turns,
			"Frame B.\n\nUser: zero\n\n" + turns + rest, "history_edited"},
		{"a turn gone", "Frame A.\n\n" + turns, with(turns, "User: one\n\n", ""), "history_edited"},
		{"a paragraph gone", "Frame A.\n\n" + long, with(long, "In short.\n\n", ""),
			"history_edited"},
		{"the paragraphs in another order", "Frame A.\n\n" + long,
			with(long, "User: one\n\nIn short.", "In short.\n\nUser: one"), "history_edited"},
		{"the frame and a turn gone", "Frame A.\n\n" + turns,
			strings.TrimPrefix(turns, "User: one\n\n") + rest, "history_edited"},
		{"a turn changed", "Frame A.\n\n" + turns, with(turns, "one", "One"), "history_edited"},
		{"something new within", "Frame A.\n\n" + turns,
			with(turns, "\n\nUser: two", "\n\nWell.\n\nUser: two"), "history_edited"},
		{"a tool's words within", "Frame A.\n\n" + turns,
			with(turns, "\n\nUser: two", "\n\nTool: ok\n\nUser: two"), "history_edited"},
		{"a tool's words of two paragraphs", "Frame A.\n\n" + turns,
			with(turns, "\n\nUser: two", "\n\nTool: ok\n\nYes.\n\nUser: two"), "history_edited"},
		{"a tool's words within a turn", "Frame A.\n\n" + long,
			with(long, "In short.", "Tool: ok\n\nIn short."), "history_edited"},
		{"a tool's words before the answer", "Frame A.\n\n" + turns,
			frame + turns + "\n\nTool: ok" + rest, "history_edited"},
		{"no answer", "Frame A.\n\n" + turns, frame + turns + "\n\nUser: three", "history_edited"},
	} {
		sent := sentTo(tt.before, "first", "second")
		sent.Transcript = true
		if c := Compare(sent, New(tt.prompt, testKey)); string(c.Relation) != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, c.Relation, tt.want)
		}
		for _, first := range []int{-1, len(sent.Base.Blocks), len(sent.Base.Blocks) + 1} {
			sent.Base.Shape.FirstTurn = first
			if c := Compare(sent, New(tt.prompt, testKey)); c.Relation != reason.HistoryEdited {
				t.Errorf("%s, not knowing where it began: %s", tt.name, c.Relation)
			}
		}
	}
}

func TestOpenings(t *testing.T) {
	for _, tt := range []struct {
		before, after string
		want          reason.Code
	}{
		{"# h", "# h\n\nx", reason.Extends},
		{"# h\n\na", "# h\n\nx\n\na", reason.Revises},
		{"a\n\nb", "a\nmore\n\nb", reason.Extends},
		{"a\n\nb", "a\nmuch\nmore\n\nb", reason.Extends},
		{"a\n\nb", "a more\n\nb", reason.Unrelated},
		{"a\n\nb", "a", reason.BaseChanged},
		{"a\n\nb\n\nc\n\nd", "a\n\nb\n\nx", reason.Unrelated},
		{"a\n\nb\n\nc\n\nd", "a\n\nb\n\nc\n\nx", reason.Revises},
	} {
		if c := compare(tt.before, tt.after); c.Relation != tt.want {
			t.Errorf("%q to %q: %s, want %s", tt.before, tt.after, c.Relation, tt.want)
		}
	}
	base := sentTo("a\n\nb")
	base.Base.Lines = make([]int, 2) // their column is damaged
	if c := Compare(base, New("a\n\nb\nmore", testKey)); c.Relation != reason.Unrelated {
		t.Errorf("a block that grew, not knowing its lines: %s", c.Relation)
	}
	base.Base.Opening = 3 // of a ledger that is damaged
	if c := Compare(base, New("a\n\nb\n\nmore", testKey)); c.Relation != reason.Revises {
		t.Errorf("more blocks in the opening than there are: %s", c.Relation)
	}
	for relation, want := range map[reason.Code]bool{reason.Identical: true, reason.Extends: true,
		reason.Revises: false, reason.Unrelated: false} {
		if got := (Continuity{Relation: relation}).Retains(); got != want {
			t.Errorf("%s retains: %v", relation, got)
		}
	}
}

func TestTooLittle(t *testing.T) {
	for delta, want := range map[int]bool{666: false, 667: true, 600: false} {
		if tooLittle(delta, 1000) != want || tooLittle(200, 300) {
			t.Errorf("%d of 1000: %v", delta, !want)
		}
	}
}

func TestBalanced(t *testing.T) {
	for text, want := range map[string]bool{"": true, "```\na": false, "```\na\n```": true,
		"  ```\na\n  ```": true, "  ```\na": false, "```\n~~~": false, "~~~\n```\n~~~": true,
		"<!-- a": false, "<!-- a -->": true, "~~a": false, "~~a~~": true, "~~a~~ ~~": false,
		"<details>": false, "<details></details>": true,
		"<del>a": false, "<del>a</del>": true, "/* a": false, "/* a */": true} {
		if balanced(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// An addition is sent alone only where it means the same without the text right before it.
func TestStandsAlone(t *testing.T) {
	end, inside := New("a", testKey), New("a\n\nb\n\nc", testKey)
	for _, tt := range []struct {
		before, added string
		inside, want  bool
	}{
		{"a", "\n\nIt fails.", false, true},
		{"a", "\n\r\nIt fails.", false, true},
		{"a", "\nIt fails.", false, false},
		{"a", "It fails.", false, false},
		{"a", "", false, false},
		{"a", "\n\n", false, false},
		{"a", "\n## Review", false, true},
		{"a", "\n# Review", false, true},
		{"```", "\n## Review", false, false},
		{"```", "\n\nIt fails.", false, false},
		{"a", "\n\n- b", false, false},
		{"a", "\n\n* b", false, false},
		{"a", "\n\n**Review**", false, true},
		{"a", "\n\n• b", false, false},
		{"a", "\n\n2. b", false, false},
		{"a", "\n\n> b", false, false},
		{"a\n\n", "Review:\n\nIt fails.", true, true},
		{"a\n", "Review:\n\nIt fails.", true, false},
		{"a\n\n", "It fails.", true, false},
		{"```\n\n", "Review:\n\nIt fails.", true, false},
		{"a\n\n", "## Review", true, true},
	} {
		p := end
		if tt.inside {
			p = inside
		}
		if got := p.standsAlone(tt.before, tt.added, tt.inside); got != tt.want {
			t.Errorf("%q behind %q: %v", tt.added, tt.before, got)
		}
	}
	if New("a\n\n# b\n\nc", testKey).standsAlone("a\n\n", "Review:\n\nIt fails.", true) {
		t.Error("a label stands alone among headings")
	}
}

func TestClosingSection(t *testing.T) {
	for text, want := range map[string]string{
		"a":                               "",
		"a\n\nb":                          "b",
		"a\n\n# h":                        "# h",
		"a\n\n# h\n\nb":                   "# h\n\nb",
		"# h\n\na":                        "a",
		"# h\n\na\n\nb":                   "b",
		"a\n\n## b\n\nc\n\n## d\n\ne":     "## d\n\ne",
		"a\n\n## b\n\n## d\n\n### e\n\nf": "## d\n\n### e\n\nf",
		"a\n\n# t\n\n## b\n\n## d":        "## d",
		"a\n\n# t\n\n## b":                "## b",
		"a\n\n## b\n\n# d\n\n### e":       "### e",
		"a\n\n{\"role\":\"user\",\"text\":\"x\"}": "",
	} {
		got := ""
		if p := New(text, testKey); p.closing() > 0 {
			got = text[p.closing():]
		}
		if got != want {
			t.Errorf("%q closes with %q, want %q", text, got, want)
		}
	}
}

func TestPartsAreBounded(t *testing.T) {
	prompt := func(n int) string {
		var text strings.Builder
		text.WriteString("You are it.\n")
		for i := range n - 1 {
			fmt.Fprintf(&text, "\n## Part %d\n\ntext and what else stands in a section of some "+
				"length\n", i)
		}
		return text.String()
	}
	for n, want := range map[int]int{maxParts: maxParts, maxParts + 1: 0, 1: 1} {
		if got := len(New(prompt(n), testKey).Footprint().Shape.Parts); got != want {
			t.Errorf("%d parts of %d", got, n)
		}
	}
	change := func(n int) (bool, reason.Code) {
		_, whole, why := makeDelta(prompt(n), strings.Replace(prompt(n), "Part 3\n\ntext",
			"Part 3\n\nother", 1))
		return whole, why
	}
	if whole, why := change(maxParts); whole {
		t.Errorf("of as many parts as are told apart: %s", why)
	}
	if whole, why := change(maxParts + 1); !whole || why != reason.NoCleanCut {
		t.Errorf("of one more: %s", why)
	}
}

func TestStartsLikeCommand(t *testing.T) {
	for text, want := range map[string]bool{"?": true, " \n?x": true, "a?": false, "/help": true,
		"go on": false} {
		if StartsLikeCommand(text) != want {
			t.Errorf("%q starts like a command: %v", text, !want)
		}
	}
}
