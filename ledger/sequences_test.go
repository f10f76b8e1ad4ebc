package ledger

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
)

// waiting are the sequences that need a preset, which is another issue's work.
var waiting = map[string]string{
	"steroids_coder_preset": "presets",
	"steroids_restarted":    "presets",
	"roles_apart":           "presets",
	"steroids_new_template": "presets",
	"steroids_judges":       "presets",
}

type sequence struct {
	Name   string
	Preset string
	Env    map[string]string
	Calls  []struct {
		Prompt, Answer, Expect, Why, Cwd string
	}
}

func TestSequences(t *testing.T) {
	for _, s := range slices.Concat(readSequences(t, "sequences.json"), readSequences(t, "adversarial.json")) {
		t.Run(s.Name, func(t *testing.T) {
			if why, ok := waiting[s.Name]; ok && s.Preset != "" {
				t.Skip("waits for " + why)
			}
			s.play(t)
		})
	}
}

func readSequences(t *testing.T, name string) (all []sequence) {
	text, err := os.ReadFile("../testdata/prompts/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// play makes the sequence's calls one minute apart; each ends well.
func (s sequence) play(t *testing.T) {
	l, err := Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	now := Millis(1_800_000_000_000)
	for i, call := range s.Calls {
		now += 60_000
		c := testCall(l, call.Prompt, now)
		c.Task, c.Role = s.Env["REPRISE_TASK"], s.Env["REPRISE_ROLE"]
		if call.Cwd != "" {
			c.Cwd = call.Cwd
		}
		d, ticket, err := l.Begin(c)
		if err != nil {
			t.Fatal(err)
		}
		if string(d.Mode) != call.Expect || string(d.Reason) != call.Why {
			t.Errorf("call %d: %s (%s), want %s (%s)", i+1, d.Mode, d.Reason, call.Expect, call.Why)
		}
		answer := call.Answer
		if answer == "" {
			answer = "done"
		}
		id := d.NativeID
		if id == "" {
			id = "00000000-0000-4000-8000-" + strings.Repeat("0", 11) + string(rune('a'+i))
		}
		if err := l.Finish(ticket, goodOutcome(id, answer, now+1000)); err != nil {
			t.Fatal(err)
		}
	}
}

func testCall(l *Ledger, prompt string, now Millis) *Call {
	return &Call{
		Tool: "claude", Cwd: "/project", Home: "/home/.claude", Format: rewrite.Text, Now: now,
		Prompt: rewrite.NewPrompt(prompt, l.Key()),
		Limits: Limits{TTL: 30 * 60_000, MaxAge: 24 * 3_600_000, ErrorLimit: 3, ContextShare: 0.8, MinBase: 200},
		File:   func(string, int64) FileState { return FileSame },
	}
}

func goodOutcome(id, answer string, now Millis) *Outcome {
	return &Outcome{Now: now, Seen: rewrite.Seen{ID: id, Final: true, Content: true, Answer: answer}, File: "/f", FileSize: 1}
}

// A chain that was not looked at could fit as well.
func TestManyChains(t *testing.T) {
	l, err := Open(filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	now := Millis(1_800_000_000_000)
	send := func(prompt string) {
		now++
		_, ticket, err := l.Begin(testCall(l, prompt, now))
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Finish(ticket, goodOutcome("00000000-0000-4000-8000-00000000000a", "done", now)); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want rewrite.Reason) {
		d, err := l.Preview(testCall(l, strings.Repeat("base ", 50)+"\n\nmore", now))
		if err != nil {
			t.Fatal(err)
		}
		if d.Reason != want {
			t.Errorf("%s (%s), want %s", d.Mode, d.Reason, want)
		}
	}
	for i := range maxCandidates - 1 {
		send(fmt.Sprintf("Item %d.", i))
	}
	send(strings.Repeat("base ", 50))
	expect(rewrite.Extends)
	send("One more item.")
	expect(rewrite.Ambiguous)
}
