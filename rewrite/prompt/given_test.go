package prompt

import (
	"strings"
	"testing"

	"reprise/rewrite/reason"
)

// Two rounds are given the same if their prompts add the same, however the caller keeps the earlier
// rounds.
func TestGiven(t *testing.T) {
	const task, contract = "You are a coder.\n\n# Task\n\nWrite the parser.",
		"\n\n# Contract\n\nEnd with DONE."
	first := task + contract
	for _, tt := range []struct {
		name        string
		second      string
		third       string
		secondOf    reason.Code // how the second relates to the first
		thirdOf     reason.Code // and the third to the second
		wantTheSame bool
	}{
		{"appended", first + "\n\nThe tests fail.",
			first + "\n\nThe tests fail.\n\nThe tests fail.", reason.Extends, reason.Extends, true},
		{"appended under numbered headings", first + "\n\n## Rejection 1\n\nThe tests fail.",
			first + "\n\n## Rejection 1\n\nThe tests fail.\n\n## Rejection 2\n\nThe tests fail.",
			reason.Extends, reason.Extends, true},
		{"replaced under a numbered heading", first + "\n\n## Rejection 1\n\nThe tests fail.",
			first + "\n\n## Rejection 2\n\nThe tests fail.", reason.Extends, reason.Revises, true},
		{"other words", first + "\n\nThe tests fail.",
			first + "\n\nThe tests fail.\n\nThe linter fails.", reason.Extends, reason.Extends,
			false},
		{"the same and something else", first + "\n\nThe tests fail.",
			first + "\n\nThe tests fail.\n\nThe tests fail.\n\nThe linter fails.",
			reason.Extends, reason.Extends, false},
		{"another number in the text", first + "\n\n## Rejection 1\n\nTest 7 fails.",
			first + "\n\n## Rejection 2\n\nTest 8 fails.", reason.Extends, reason.Revises, false},
	} {
		at := func(text string) *Prompt { return New(text, Key("key")) }
		sent := func(text string) Sent {
			root := at(first).Footprint()
			return Sent{Base: at(text).Footprint(), Root: root.Blocks, RootFirst: root.First,
				Named: true}
		}
		second, third := at(tt.second), at(tt.third)
		one, two := Compare(sent(first), second), Compare(sent(tt.second), third)
		if one.Relation != tt.secondOf || two.Relation != tt.thirdOf {
			t.Errorf("%s: %s and %s, want %s and %s", tt.name, one.Relation, two.Relation,
				tt.secondOf, tt.thirdOf)
		}
		if same := second.Given(one) == third.Given(two); same != tt.wantTheSame {
			t.Errorf("%s: given the same: %v, want %v", tt.name, same, tt.wantTheSame)
		}
	}
}

// A repeated prompt gives the same text as before; another template gives all of its own.
func TestGivenByRepeatedPrompt(t *testing.T) {
	const text = "Do the next step of the plan."
	p := New(text, Key("key"))
	f := p.Footprint()
	again := Compare(Sent{Base: f, Root: f.Blocks, RootFirst: f.First}, p)
	other := New(strings.Repeat("Something else. ", 9), Key("key"))
	unrelated := Compare(Sent{Base: f, Root: f.Blocks, RootFirst: f.First}, other)
	if again.Relation != reason.Identical || unrelated.Relation != reason.Unrelated ||
		p.Given(again) == other.Given(unrelated) ||
		p.Given(again) != New(text, Key("key")).Given(again) {
		t.Errorf("%s, %s", again.Relation, unrelated.Relation)
	}
}
