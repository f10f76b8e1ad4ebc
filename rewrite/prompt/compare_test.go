package prompt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

var testKey = Key("a key for tests")

// sentTo returns the stored texts of a session that was sent a prompt with a named task.
func sentTo(prompt string, answers ...string) Sent {
	s := Sent{Base: New(prompt, testKey).Footprint(), Named: true}
	for _, a := range answers {
		s.Answers = append(s.Answers, NewAnswer(a, nil, testKey))
	}
	return s
}

func compare(before, after string, answers ...string) Continuity {
	return Compare(sentTo(before, answers...), New(after, testKey))
}

func TestBlocks(t *testing.T) {
	tests := []struct{ prompt, want string }{
		{"", ""},
		{"a\nb\n\nc", "a/b|c"},
		{"\n\n a \n \t\n\nb\n", " a |b"},
		{"# h\ntext\n## i\n", "# h|text|## i"},
		{"#not a heading\n####### nor this", "#not a heading/####### nor this"},
		{"x\n```go\na\n\n# b\n```\ny\n\nz", "x/```go/a//# b/```/y|z"},
		{"~~~\na\n```\n\nb\n~~~~\n\nc", "~~~/a/```//b/~~~~|c"},
		{"```\nnever\n\nclosed", "```/never//closed"},
		{"a ``` b\n\nc", "a ``` b|c"},
		{"a\r\n\r\nb\r\n", "a\r|b\r"},
	}
	for _, tt := range tests {
		var got []string
		for _, b := range cut(new(fence), tt.prompt, 0) {
			got = append(got, strings.ReplaceAll(b.text, "\n", "/"))
		}
		if text := strings.Join(got, "|"); text != tt.want {
			t.Errorf("%q: %q, want %q", tt.prompt, text, tt.want)
		}
	}
}

func TestVolatileLines(t *testing.T) {
	same := [][2]string{
		{"Now: 2026-11-19T08:15:02Z", "Now: 2026-11-19T08:19:11Z"},
		{"Now: 2026-11-19T08:15:02.123+01:00", "Now: 2026-11-20T09:15:02.9+01:00"},
		{"Current date and time: Thu Nov 19 2026 08:15:02 UTC",
			"Current date and time: Fri Nov 20 2026 09:00:00 UTC"},
		{"_Generated at 2026-11-19 08:15_", "_Generated at 2026-11-19 08:16_"},
		{"Today's date is not this", "Today's date is not this"},
		{"text  ", "text"},
		{"text\r", "text"},
	}
	different := [][2]string{
		{"# TASK: T-123", "# TASK: T-124"},
		{"The incident of 2026-11-19T08:15:02Z", "The incident of 2026-11-20T08:15:02Z"},
		{"Version: 1.2.3", "Version: 1.2.4"},
		{"Updated: 1.2.3", "Updated: 1.2.4"},
		{"Now 5", "Now 6"},
		{"2026-11-19T08:15:02Z", "2026-11-20T08:15:02Z"},
		{"Run 7 at 08:15", "Run 8 at 08:15"},
		{"On 2026-11-19 the build broke", "On 2026-11-20 the build broke"},
		{"Last 3 08:15", "Last 4 08:15"},
		{" text", "text"},
		{"**Date:** 2026-11-19", "**Date:** 2026-11-20"},
		{"Today is 2026-11-19", "Today is 2026-11-20"},
		{"Timestamp: 2026-11-19T08:15:02Z", "Timestamp: 2026-11-19T08:15:03Z"},
		{"Updated: 2026-11-19 08:15", "Updated: 2026-11-19 08:16"},
		{"08:15:02 generated", "08:15:03 generated"},
		{"Current 16:9", "Current 16:8"},
		{"Now 00:1a:2b:3c:4d:5e", "Now 00:1a:2b:3c:4d:5f"},
		{"Now 10:20:30:40:50:60", "Now 10:20:30:40:50:61"},
	}
	for _, pair := range same {
		if normal(pair[0]) != normal(pair[1]) {
			t.Errorf("%q and %q are different", pair[0], pair[1])
		}
	}
	for _, pair := range different {
		if normal(pair[0]) == normal(pair[1]) {
			t.Errorf("%q and %q are the same", pair[0], pair[1])
		}
	}
}

func TestRelations(t *testing.T) {
	tests := []struct {
		name, before, after string
		want                reason.Code
	}{
		{"the same", "a\n\nb", "a\n\nb\n", reason.Identical},
		{"line ends do not count", "a\n\nb", "a\r\n\r\nb\r\n", reason.Identical},
		{"appended", "a\n\nb", "a\n\nb\n\nc", reason.Extends},
		{"inserted", "a\n\nb", "a\n\nc\n\nb", reason.Extends},
		{"before the opening", "a\n\nb", "c\n\na\n\nb", reason.Extends},
		{"into the opening", "# h\n\na\n\nb", "# h\n\nc\n\na\n\nb", reason.Revises},
		{"a line more in a block", "a\n\nb\n\nc", "a\n\nb\nx\n\nc", reason.Extends},
		{"a line before those of a block", "a\n\nb\n\nc", "a\n\nx\nb\n\nc", reason.Extends},
		{"lines in the midst of a block", "a\nb\nc", "a\nx\ny\nb\nc", reason.Extends},
		{"lines in two places of a block", "a\nb\nc", "a\nx\nb\ny\nc", reason.Unrelated},
		{"a line of a block replaced", "a\nb\nc", "a\nx\nc", reason.Unrelated},
		{"a line of code more", "a\n\n```\nb\nc\n```", "a\n\n```\nb\nx\nc\n```",
			reason.Unrelated},
		{"a line before the only block", "a\nb", "x\na\nb", reason.Unrelated},
		{"one of three replaced", "a\n\nb\n\nc", "a\n\nx\n\nc", reason.Revises},
		{"most replaced", "a\n\nb\n\nc", "a\n\nx\n\ny", reason.Unrelated},
		{"shorter", "a\n\nb\n\nc", "a\n\nb", reason.BaseChanged},
		{"another order", "a\n\nb\n\nc", "a\n\nc\n\nb", reason.BaseChanged},
		{"another order and more", "a\n\nb\n\nc", "a\n\nc\n\nb\n\nd", reason.Revises},
		{"twice the same block", "a\n\n---\n\nb", "a\n\n---\n\nb\n\n---\n\nc", reason.Extends},
		{"one repeat less", "a\n\n---\n\nb\n\n---", "a\n\n---\n\nb\n\nc", reason.Revises},
		{"nothing in common", "a\n\nb", "c\n\nd", reason.Unrelated},
		{"to nothing", "a", "", reason.BaseChanged},
	}
	for _, tt := range tests {
		if c := compare(tt.before, tt.after); c.Relation != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, c.Relation, tt.want)
		}
	}
}

// conversations are the usual ways to write one down: of a question, an answer and
// another question.
var conversations = map[string]func(q1, a, q2 string) (first, second string){
	"headings": func(q1, a, q2 string) (string, string) {
		first := "Be kind.\n\n## user\n\n" + q1
		return first, first + "\n\n## assistant\n\n" + a + "\n\n## user\n\n" + q2
	},
	"names": func(q1, a, q2 string) (string, string) {
		first := "Be kind.\n\nHuman: " + q1
		return first, first + "\n\nAssistant: " + a + "\n\nHuman: " + q2
	},
	"a cue at the end": func(q1, a, q2 string) (string, string) {
		first := "Be kind.\n\nUser: " + q1
		return first, first + "\n\nAssistant: " + a + "\n\nUser: " + q2 + "\n\nAssistant:"
	},
	"bold": func(q1, a, q2 string) (string, string) {
		first := "Be kind.\n\n**User:** " + q1
		return first, first + "\n\n**Assistant:** " + a + "\n\n**User:** " + q2
	},
	"tags": func(q1, a, q2 string) (string, string) {
		first := "Be kind.\n\n<user>\n" + q1 + "\n</user>"
		return first, first + "\n\n<assistant>\n" + a + "\n</assistant>\n\n<user>\n" + q2 +
			"\n</user>"
	},
	"tags on one line": func(q1, a, q2 string) (string, string) {
		first := "Be kind.\n\n<user>" + q1 + "</user>"
		return first, first + "\n\n<assistant>" + a + "</assistant>\n\n<user>" + q2 + "</user>"
	},
	"brackets": func(q1, a, q2 string) (string, string) {
		first := "Be kind.\n\n[user]\n" + q1
		return first, first + "\n\n[assistant]\n" + a + "\n\n[user]\n" + q2
	},
	"chat markup": func(q1, a, q2 string) (string, string) {
		first := "Be kind.\n\n<|im_start|>user\n" + q1 + "<|im_end|>"
		return first, first + "\n\n<|im_start|>assistant\n" + a +
			"<|im_end|>\n\n<|im_start|>user\n" + q2 + "<|im_end|>"
	},
	"numbered turns": func(q1, a, q2 string) (string, string) {
		first := "Be kind.\n\n### User (turn 1):\n\n" + q1
		return first, first + "\n\n### Assistant (turn 1):\n\n" + a + "\n\n### User (turn 2):\n\n" +
			q2
	},
	"Q and A": func(q1, a, q2 string) (string, string) {
		first := "Be kind.\n\nQ: " + q1
		return first, first + "\n\nA: " + a + "\n\nQ: " + q2
	},
	"another name": func(q1, a, q2 string) (string, string) {
		first := "Be kind.\n\nMe: " + q1
		return first, first + "\n\nClaude: " + a + "\n\nMe: " + q2
	},
}

func TestTranscripts(t *testing.T) {
	const q1, a, q2 = "Draw a page.", "Here it is.\n\nIt has a footer.", "Make it blue."
	for name, write := range conversations {
		first, second := write(q1, a, q2)
		c := compare(first, second, a)
		if c.Relation != reason.Extends || !c.Transcript {
			t.Errorf("%s: %s, transcript %v", name, c.Relation, c.Transcript)
		}
		if text, _, _ := sentOf(New(second, testKey), c); !strings.Contains(text, q2) ||
			len(text) < len(second) && strings.Contains(text, "footer") {
			t.Errorf("%s: the new turn is %q", name, text)
		}
		for what, wrong := range map[string]string{"another answer": "It is done.",
			"a longer answer": a + " And more.",
			"half the answer": "Here it is."} {
			_, second := write(q1, wrong, q2)
			if c := compare(first, second, a); c.Relation != reason.HistoryEdited {
				t.Errorf("%s with %s: %s", name, what, c.Relation)
			}
		}
		_, edited := write("Draw two pages.", a, q2)
		if c := compare(first, edited, a); c.Relation != reason.HistoryEdited {
			t.Errorf("%s with an edited question: %s", name, c.Relation)
		}
	}
}

func TestTranscriptsOfMoreTurns(t *testing.T) {
	base := "Be kind.\n\nHuman: one\n\nAssistant: first answer\n\nHuman: two"
	sent := sentTo(base, "first answer", "second answer")
	sent.Transcript = true
	tests := []struct {
		name, prompt string
		want         reason.Code
	}{
		{"goes on", base + "\n\nAssistant: second answer\n\nHuman: three", reason.Extends},
		{"an answer is missing", base + "\n\nHuman: three", reason.HistoryEdited},
		{"an answer more", base +
			"\n\nAssistant: second answer\n\nAssistant: third\n\nHuman: three",
			reason.HistoryEdited},
		{"asked again", base, reason.Identical},
		{"taken back", "Be kind.\n\nHuman: one", reason.HistoryEdited},
		{"answers swapped", "Be kind.\n\nHuman: one\n\nAssistant: second answer\n\nHuman: " +
			"two\n\nAssistant: first answer\n\nHuman: three", reason.HistoryEdited},
		{"cut off in front", "Be kind.\n\nHuman: two\n\nAssistant: second answer\n\nHuman: three",
			reason.HistoryEdited},
	}
	for _, tt := range tests {
		if c := Compare(sent, New(tt.prompt, testKey)); c.Relation != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, c.Relation, tt.want)
		}
	}
}

// An example in the prompt, and a word that is also a name, are no conversation.
func TestNoTranscripts(t *testing.T) {
	example := "Answer as in the example.\n\nUser: 1+1\n\nAssistant: 2\n\nNow the task: clean up."
	if c := compare(example, example+"\n\nAlso the attic.", "done"); c.Relation != reason.Extends ||
		c.Transcript {
		t.Errorf("an example: %s, transcript %v", c.Relation, c.Transcript)
	}
	for _, line := range []string{"## User stories", "Your role: coder", "You are a CODER: do it",
		"Usage: run it", "the user said: no",
		"Users: 3", "## Agent-based design notes", "model -> view", "agent[0] = 1",
		"response => 401", "| Model | Size |", "answer - 42",
		"Agent", "- reply", "from: the start", "controls: role=admin", "at user.go:17",
		"Assistants: 3"} {
		if who, _ := opensTurn(line); who != noTurn {
			t.Errorf("%q opens a turn", line)
		}
	}
}

// longPrompt is worth a delta.
func longPrompt(news string) string {
	return "You are the coder.\n\n# Task\n\n## Rules\n\n" +
		strings.Repeat("- Keep it small.\n", 200) + "\n## Notes\n\n" + news +
		"\n\n## Contract\n\nPrint DONE."
}

func TestWhyWhole(t *testing.T) {
	before := longPrompt("first note")
	for name, tt := range map[string]struct {
		before, after, answer string
		want                  reason.Code
	}{
		"short":     {"a\n\nb", "a\n\nb\n\nc", "", reason.ShortPrompt},
		"unrelated": {"Another job.", before, "", reason.OtherTemplate},
		"the same":  {before, before, "", reason.NothingNew},
		"most is new": {before, before + strings.Repeat("\n\nnew words", 1000), "",
			reason.SavesTooLittle},
		"between answers": {"Be kind.\n\nAda: one",
			"Be kind.\n\nAda: one\n\nBob: first\n\nAda: two", "first", reason.NoCleanCut},
	} {
		_, whole, why := sentOf(New(tt.after, testKey), compare(tt.before, tt.after, tt.answer))
		if !whole || why != tt.want {
			t.Errorf("%s: whole %v, %q, want %q", name, whole, why, tt.want)
		}
	}
}

func TestBaseCountsWords(t *testing.T) {
	for text, want := range map[string]int{"": 0, "ab": 2, "ab   \n": 2, "   ab\n\n\n----\n": 2,
		"a\nb": 3, "```\nab\n```": 2, "é": 2} {
		if got := New(text, testKey).Footprint().Bytes; got != want {
			t.Errorf("%q: %d bytes, want %d", text, got, want)
		}
	}
}

func TestHugePrompts(t *testing.T) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "%s Step %d.\n\n", strings.Repeat("#", i%7), i)
	}
	steps := "Do this.\n\n" + text.String()
	line := strings.Repeat("word ", 100_000)
	for name, tt := range map[string]struct {
		before, after string
		want          reason.Code
	}{
		"a step more": {steps, steps + "And more.", reason.Extends},
		"a step changed": {steps, strings.Replace(steps, "Step 5000.", "Step 5000!", 1) +
			"And more.", reason.Revises},
		"all in other order": {steps, text.String() + "Do this.\n\nAnd more.", reason.Revises},
		"a line longer":      {line, line + "more", reason.Unrelated},
		"a line and more":    {line, line + "\n\nmore", reason.Extends},
	} {
		p := New(tt.after, testKey)
		c := Compare(sentTo(tt.before), p)
		text, whole, _ := sentOf(p, c)
		if c.Relation != tt.want || !strings.Contains(text, "more") || whole && text != tt.after {
			t.Errorf("%s: %s, want %s; %d bytes sent", name, c.Relation, tt.want, len(text))
		}
	}
}

// Whatever is done to a prompt: the session gets every block that it lacks, and a
// fresh session gets the whole prompt.
func TestDeltaLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		before := randomBlocks(r, 5+r.IntN(60))
		after := edit(r, slices.Clone(before))
		prompt := strings.Join(after, "\n\n")
		p := New(prompt, testKey)
		c := Compare(sentTo(strings.Join(before, "\n\n")), p)
		text, whole, _ := sentOf(p, c)
		if whole && text != prompt {
			t.Fatal("the whole prompt is not the prompt")
		}
		for _, b := range after {
			if !slices.Contains(before, b) && !strings.Contains(text, b) {
				t.Fatalf("the new block %q is not sent in %q", b, text)
			}
		}
		if c.Relation == reason.Extends && !inOrder(before, after) {
			t.Fatalf("extends although %q lacks some of %q", after, before)
		}
	}
}

func randomBlocks(r *rand.Rand, n int) []string {
	blocks := []string{"You are the one."}
	for i := range n {
		switch r.IntN(4) {
		case 0:
			blocks = append(blocks, fmt.Sprintf("%s part %d", strings.Repeat("#", 1+r.IntN(4)),
				r.IntN(9)))
		default:
			blocks = append(blocks, fmt.Sprintf("Block %d says %d.%s", i, r.IntN(1000),
				strings.Repeat(" and so on", r.IntN(30))))
		}
	}
	return blocks
}

func edit(r *rand.Rand, blocks []string) []string {
	for range r.IntN(4) {
		i := r.IntN(len(blocks))
		switch r.IntN(5) {
		case 0:
			blocks = slices.Insert(blocks, i, fmt.Sprintf("Inserted %d.", r.IntN(1000)))
		case 1:
			blocks = append(blocks, fmt.Sprintf("Appended %d.", r.IntN(1000)))
		case 2:
			blocks[i] = fmt.Sprintf("Replaced %d.", r.IntN(1000))
		case 3:
			if len(blocks) > 1 {
				blocks = slices.Delete(blocks, i, i+1)
			}
		case 4:
			j := r.IntN(len(blocks))
			blocks[i], blocks[j] = blocks[j], blocks[i]
		}
	}
	return blocks
}

func inOrder(base, all []string) bool {
	i := 0
	for _, b := range all {
		if i < len(base) && b == base[i] {
			i++
		}
	}
	return i == len(base)
}

// Under a name without a letter anybody can speak: somebody new above the turns is taken for one of
// the speakers.
func TestNamesWithoutLetters(t *testing.T) {
	for heading, want := range map[string]reason.Code{"## 2.": reason.HistoryEdited,
		"## Notes": reason.Extends} {
		before := "You are a coder.\nNone\n" + heading +
			"\n\nDev: do it\nDone.\n\nDev: do it again and mind the tests."
		after := "You are a coder.\nNone\n" + heading +
			"\n\nFeedback: do more\n\nDev: do it\nDone.\n\nDev: do it again and mind the " +
			"tests.\n\nDev: and once more, please."
		if c := compare(before, after, "Done with all of it."); c.Relation != want {
			t.Errorf("%s: %s, want %s", heading, c.Relation, want)
		}
	}
}

// The values that a prompt keeps between comparisons do not depend on the sessions that it was
// compared with.
func TestComparisonsAreIndependent(t *testing.T) {
	const text = "Read this first.\nYou are the coder.\nFix the bug.\nYou are careful.\nAdd a " +
		"test.\n\nAnd more:\n- src/a.go:3: unexpected indent\n"
	sessions := []Sent{sentTo("You are the coder.\nFix the bug.\nYou are careful.\nAdd a test.",
		"I changed src/a.go as you have asked me to."),
		sentTo("You are careful.\nAdd a test.", "I changed src/a.go as you have asked me to."),
		sentTo("Read this first.\nYou are the coder.", "Done.")}
	for i := range sessions {
		sessions[i].RootFirst, sessions[i].Root = New(
			[]string{"You are the coder.", "You are careful.", "Read this first."}[i],
			testKey).Footprint().First, sessions[i].Base.Blocks
	}
	one := New(text, testKey)
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}} {
		for _, i := range order {
			got, want := Compare(sessions[i], one), Compare(sessions[i], New(text, testKey))
			if got.Relation != want.Relation || !slices.Equal(got.Has, want.Has) ||
				!slices.Equal(got.Evidence.New(), want.Evidence.New()) {
				t.Errorf("session %d: %s %v, by itself %s %v", i, got.Relation, got.Has,
					want.Relation, want.Has)
			}
		}
	}
}

func BenchmarkCompare1MBWith16Chains(b *testing.B) {
	var text strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&text, "Paragraph %d of a long prompt, with a line of some eighty "+
			"characters in it.\n\n", i)
	}
	sent := make([]Sent, 16)
	for i := range sent {
		sent[i] = sentTo(text.String()+fmt.Sprintf("Job %d.", i),
			"An answer that is long enough to be told from others.")
	}
	prompt := text.String() + "Job 3.\n\nAnd more."
	b.SetBytes(int64(len(prompt)))
	for b.Loop() {
		p := New(prompt, testKey)
		for _, s := range sent {
			Compare(s, p)
		}
	}
}

func BenchmarkEvidence(b *testing.B) {
	base := "You are the coder.\n\n" +
		strings.Repeat("Keep functions small, and write a test for each case that you can think "+
			"of.\n", 400)
	sent := sentTo(base, "I changed the loop in src/retry.py.")
	prompt := base + "\n\n## Review\n\nYour change broke the build: src/retry.py:12: unexpected " +
		"indent. Please fix it."
	b.SetBytes(int64(len(prompt)))
	for b.Loop() {
		if c := Compare(sent, New(prompt, testKey)); c.Evidence.Failure() == "" {
			b.Fatal(c.Evidence)
		}
	}
}
