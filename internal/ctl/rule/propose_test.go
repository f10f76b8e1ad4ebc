package rule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
)

const (
	manyRules = "\n\n## Rules\n\nKeep functions small.\n\nWrite tests.\n\nName things.\n\n"
	contract  = "\n\n## Contract\n\nPrint DONE.\n"
)

// sentCalls makes calls of one caller, each after the one before it has ended.
func sentCalls(caller string, prompts ...string) []sentCall {
	key := prompt.Key("a key for tests")
	var calls []sentCall
	for n, text := range prompts {
		calls = append(calls, sentCall{prompt: prompt.New(text, key), FreshCall: ledger.FreshCall{ID: int64(n + 1), Tool: "claude",
			Cwd: "/work/shop", Caller: caller, Started: decide.Millis(1000 * n), LastUsed: decide.Millis(1000*n + 500)}})
	}
	findOpenings(calls, key)
	return calls
}

// A rule is made from calls that look like rounds of one job, and matches each of them in its own task and role.
func TestPropose(t *testing.T) {
	round := func(opening, section string, n int) string {
		return fmt.Sprintf("%s%s## %s\n\nText %d.\n\nAnd more of %d.%s", opening, manyRules, section, n, n, contract)
	}
	for name, tt := range map[string]struct {
		prompts []string
		lines   []string // of the rule
		names   []string // task and role of each call, "" if the rule does not match it
	}{
		"one role": {
			[]string{round("You are the coder.", "Notes", 1), round("You are the coder.", "Notes", 2), "What is this?", "You are the coder.s judge."},
			[]string{"# loop.sh: 2 calls, the same but for `## Notes`.", `prompt = '^You are the coder\.\s*?(?:\n|$)'`, `task = "loop"`, `role = "coder"`},
			[]string{"loop coder", "loop coder", "", ""},
		},
		"a role with more about it": {
			[]string{round("You are the coder of a small Go project.", "Notes", 1), round("You are the coder of a small Go project.", "Notes", 2)},
			[]string{`role = "coder"`},
			[]string{"loop coder", "loop coder"},
		},
		"a long line": {
			[]string{round(strings.Repeat("Long ", 30), "Notes", 1), round(strings.Repeat("Long ", 30), "Notes", 2)},
			[]string{`role = "long long long"`},
			[]string{"loop long long long", "loop long long long"},
		},
		"roles in the first line": {
			[]string{round("# SCAN — find bugs", "Found", 1), round("# ETCH — mend them", "Found", 1), "# BREAK — try it\n\nFresh eyes.", round("# SCAN — find bugs", "Found", 2),
				round("# ETCH — mend them", "Found", 2), "# BREAK — try it\n\nFresh eyes."},
			[]string{`prompt = '^# (?P<role>BREAK|ETCH|SCAN)\b'`, `task = "loop"`},
			[]string{"loop scan", "loop etch", "loop break", "loop scan", "loop etch", "loop break"},
		},
		"roles below the first line": {
			[]string{round("# Job\n\nYou are the coder.", "Notes", 1), round("# Job\n\nYou are the reviewer.", "Diff", 1), round("# Job\n\nYou are the coder.", "Notes", 2),
				round("# Job\n\nYou are the reviewer.", "Diff", 2)},
			[]string{`prompt = '(?m)^\s*You are the (?P<role>reviewer|coder)\b'`},
			[]string{"loop coder", "loop reviewer", "loop coder", "loop reviewer"},
		},
		"roles that are not ASCII": {
			[]string{round("Für Prüfkräfté hier", "Notes", 1), round("Für Köch hier", "Notes", 1), round("Für Prüfkräfté hier", "Notes", 2), round("Für Köch hier", "Notes", 2)},
			[]string{`prompt = '^Für (?P<role>Prüfkräfté|Köch)(?:[^\pL\pN]|$)'`},
			[]string{"loop prüfkräfté", "loop köch", "loop prüfkräfté", "loop köch"},
		},
		"a lead-in": {
			[]string{round("Write a poem.", "Form", 1), "Original task:\n" + round("Write a poem.", "Form", 1) + "\n\n## Feedback\n\nOne.",
				"Original task:\n" + round("Write a poem.", "Form", 1) + "\n\n## Feedback\n\nTwo.\n\nAnd three."},
			[]string{`prompt = '^(?:(?:Original task:)\s+)?Write a poem\.\s*?(?:\n|$)'`, `role = "write a poem"`},
			[]string{"loop write a poem", "loop write a poem", "loop write a poem"},
		},
		"a prompt that grows": {
			[]string{"You are the scanner." + manyRules + "> one", "You are the scanner." + manyRules + "> one\n\n> two", "You are the scanner." + manyRules + "> one\n\n> two\n\n> three"},
			[]string{`role = "scanner"`},
			[]string{"loop scanner", "loop scanner", "loop scanner"},
		},
		"a task in the opening": {
			[]string{round("Ticket SHOP-17: the coder", "Notes", 1), round("Ticket SHOP-17: the coder", "Notes", 2), round("Ticket SHOP-18: the coder", "Notes", 1),
				round("Ticket SHOP-18: the coder", "Notes", 2)},
			[]string{`prompt = '^Ticket (?P<task>[\pL\pN_./#-]+): the coder'`, `role = "ticket the coder"`},
			[]string{"SHOP-17 ticket the coder", "SHOP-17 ticket the coder", "SHOP-18 ticket the coder", "SHOP-18 ticket the coder"},
		},
		"task and role in the opening": {
			[]string{round("Ticket 7, coder", "Notes", 1), round("Ticket 7, reviewer", "Notes", 1), round("Ticket 7, coder", "Notes", 2), round("Ticket 7, reviewer", "Notes", 2),
				round("Ticket 8, coder", "Notes", 1), round("Ticket 8, coder", "Notes", 2)},
			[]string{`prompt = '^Ticket (?P<task>[\pL\pN_./#-]+), (?P<role>reviewer|coder)\b'`},
			[]string{"7 coder", "7 reviewer", "7 coder", "7 reviewer", "8 coder", "8 coder"},
		},
		"a task behind the role": {
			[]string{round("You are the coder of issue TIX-1.", "Notes", 1), round("You are the reviewer of issue TIX-1.", "Notes", 1), round("You are the coder of issue TIX-1.", "Notes", 2),
				round("You are the reviewer of issue TIX-1.", "Notes", 2), round("You are the coder of issue TIX-2.", "Notes", 1), round("You are the coder of issue TIX-2.", "Notes", 2)},
			[]string{"# loop.sh: 6 calls, the same but for `## Notes`.", `prompt = '^You are the (?P<role>reviewer|coder) of issue (?P<task>[\pL\pN_./#-]+)\.'`},
			[]string{"TIX-1 coder", "TIX-1 reviewer", "TIX-1 coder", "TIX-1 reviewer", "TIX-2 coder", "TIX-2 coder"},
		},
		"a name behind the role": {
			[]string{round("You are the coder for alpha now.", "Notes", 1), round("You are the coder for alpha now.", "Notes", 2), round("You are the reviewer for alpha now.", "Notes", 1),
				round("You are the reviewer for alpha now.", "Notes", 2), round("You are the coder for beta now.", "Notes", 1), round("You are the coder for beta now.", "Notes", 2)},
			[]string{`prompt = '^You are the (?P<role>reviewer|coder) for (?P<task>[\pL\pN_./#-]+) now\.'`},
			[]string{"alpha coder", "alpha coder", "alpha reviewer", "alpha reviewer", "beta coder", "beta coder"},
		},
		"a task where the roles are not told apart": {
			[]string{round("Check TIX-1: security!", "Notes", 1), round("Check TIX-1: security!", "Notes", 2), round("Check TIX-2: security!", "Notes", 1),
				round("Check TIX-2: security!", "Notes", 2), round("Check? (style)", "Diff", 1), round("Check? (style)", "Diff", 2)},
			[]string{`prompt = '^Check (?P<task>[\pL\pN_./#-]+): security!'`, `role = "check security"`},
			[]string{"TIX-1 check security", "TIX-1 check security", "TIX-2 check security", "TIX-2 check security", "", ""},
		},
		"a count in the opening": {
			[]string{round("You are the coder.\nRound 1 of 9", "Notes", 1), round("You are the coder.\nRound 2 of 9", "Notes", 2)},
			[]string{`prompt = ['^You are the coder\.\s*?(?:\n|$)', '(?m)^\s*Round [\pL\pN_./#-]+ of 9']`, `role = "coder"`},
			[]string{"loop coder", "loop coder"},
		},
		"a task below the opening": {
			[]string{round("You are the coder.\n\n## Ticket\n\nTicket: A1", "Notes", 1), round("You are the coder.\n\n## Ticket\n\nTicket: A1", "Notes", 2),
				round("You are the coder.\n\n## Ticket\n\nTicket: B2", "Notes", 3), round("You are the coder.\n\n## Ticket\n\nTicket: B2", "Notes", 4)},
			[]string{`prompt = ['^You are the coder\.\s*?(?:\n|$)', '(?m)^\s*Ticket: (?P<task>\S.*?)\s*$']`, `role = "coder"`},
			[]string{"A1 coder", "A1 coder", "B2 coder", "B2 coder"},
		},
		"roles that cannot be told apart by a word": {
			[]string{round("Check: security!", "Diff", 1), round("Check? (style)", "Diff", 1), round("Check: security!", "Diff", 2), round("Check? (style)", "Diff", 2)},
			[]string{"# loop.sh: 2 calls, the same but for `## Diff`.", `prompt = '^Check: security!\s*?(?:\n|$)'`, `role = "check security"`},
			[]string{"loop check security", "", "loop check security", ""},
		},
		"two reviewers of one word": {
			[]string{round("Review the security.", "Diff", 1), round("Review the style.", "Diff", 1), round("Write the code.", "Notes", 1), round("Review the security.", "Diff", 2),
				round("Review the style.", "Diff", 2), round("Write the code.", "Notes", 2)},
			[]string{`prompt = '^Review the security\.\s*?(?:\n|$)'`},
			[]string{"loop review the security", "", "", "loop review the security", "", ""},
		},
	} {
		calls := sentCalls("loop.sh", tt.prompts...)
		p, err := propose(calls[0], calls, "loop")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		lines := strings.Split(p.Text, "\n")
		for _, line := range append(tt.lines, `name = "loop"`, `tool = "claude"`, `cwd = "/work/shop"`) {
			if !slices.Contains(lines, line) {
				t.Errorf("%s: no line %s in\n%s", name, line, p.Text)
			}
		}
		begins := map[string]string{}
		for n, text := range tt.prompts {
			m, ok := p.rules[0].MatchSent(config.Subject{Tool: "claude", Cwd: "/work/shop", Prompt: text})
			got := ""
			if ok {
				got = m.Task + " " + m.Role
				if before, seen := begins[got]; seen && before != calls[n].begins {
					t.Errorf("%s: two openings are %s", name, got)
				}
				begins[got] = calls[n].begins
			}
			if got != tt.names[n] {
				t.Errorf("%s: call %d is %q, want %q, by\n%s", name, n+1, got, tt.names[n], p.Text)
			}
		}
	}
}

// There is no rule for a call like no other, and none that would join two jobs or two roles.
func TestProposeRefuses(t *testing.T) {
	job := func(what string, n int) string {
		return fmt.Sprintf("You are the coder.\n\n## Task\n\n%s%s## Notes\n\nText %d.%s", what, manyRules, n, contract)
	}
	long := "You are the agent.\n" + strings.Repeat("The same line.\n", longestStart)
	for name, tt := range map[string]struct {
		prompts []string
		want    error
	}{
		"a call like no other":        {[]string{job("Build.", 1), "Something else."}, errNoRounds},
		"jobs without a name":         {[]string{job("Build it.", 1), job("Build it.", 2), job("Paint it.", 3), job("Paint it.", 4)}, errManyJobs},
		"a name that not all have":    {[]string{job("Job: one", 1), job("Job: one", 2), job("Job: two", 3), job("Job: two", 4), job("No name.", 5), job("No name.", 6)}, errManyJobs},
		"a name that changes":         {[]string{job("Job: a\n\nDay: 1", 1), job("Job: b\n\nDay: 1", 2), job("Job: a\n\nDay: 1", 3), "You are the coder.\n\nBe quick.", "You are the coder.\n\nBe quick."}, errManyJobs},
		"openings that begin so long": {[]string{long + "Code.\n\n## Notes\n\nOne.", long + "Code.\n\n## Notes\n\nTwo.", long + "!Judge.", long + "?"}, errMixes},
	} {
		calls := sentCalls("", tt.prompts...)
		p, err := propose(calls[0], calls, "loop")
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v\n%s", name, err, tt.want, p.Text)
		}
	}
	// Calls that ran at the same time are no rounds of one job.
	calls := sentCalls("", job("Build.", 1), job("Build.", 2))
	calls[0].LastUsed = calls[1].Started + 1
	if _, err := propose(calls[0], calls, "loop"); !errors.Is(err, errManyJobs) {
		t.Errorf("at the same time: %v", err)
	}
	// Another caller's calls do not count.
	calls = append(sentCalls("a.sh", job("Build.", 1)), sentCalls("b.sh", job("Build.", 2))...)
	if _, err := propose(calls[0], calls, "loop"); !errors.Is(err, errNoRounds) {
		t.Errorf("another caller: %v", err)
	}
}

func TestRuleName(t *testing.T) {
	for _, tt := range []struct{ caller, cwd, want string }{
		{"loop.sh", "/work/shop", "loop"}, {"", "/work/my shop", "my-shop"}, {"", "/", "job"}, {"taken.py", "/work", "taken-2"}, {"…", "/x", "job"},
	} {
		c := sentCall{FreshCall: ledger.FreshCall{Caller: tt.caller, Cwd: tt.cwd}}
		if got := ruleName(c, []string{"taken"}); got != tt.want {
			t.Errorf("%q in %q: %q, want %q", tt.caller, tt.cwd, got, tt.want)
		}
	}
}

func TestPlaceWords(t *testing.T) {
	p := prompt.New("Do it.\nNow: \n\n## Notes\n\nNone.\n\nA line that is much longer than any that a sentence in a warning should contain\n\nEnd.", prompt.Key("k"))
	for place, want := range map[int]string{0: "one place", 9: "one place", 1: `what follows "Now:"`, 2: "`## Notes`",
		4: `what follows "A line that is much longer than any that a sentence in a ..."`} {
		if got := placeWords(p, place); got != want {
			t.Errorf("place %d: %s, want %s", place, got, want)
		}
	}
	if got := placeWords(nil, 1); got != "one place" {
		t.Error(got)
	}
}
