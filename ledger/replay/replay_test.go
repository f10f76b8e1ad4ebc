package replay

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	words "reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// What the replay says of calls without a name is what the ledger decides on the same calls with the name.
func freshCalls(t *testing.T, l *ledger.Ledger, since decide.Millis) []*ledger.FreshCall {
	t.Helper()
	calls, err := l.FreshCalls(since)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

func TestReplay(t *testing.T) {
	part := func(name string) string { return name + ": " + strings.Repeat("keep functions small; ", 40) }
	prompt := func(parts ...string) string {
		for i := range parts {
			parts[i] = part(parts[i])
		}
		return strings.Join(parts, "\n\n")
	}
	sections := func(notes string) string {
		return "You are the coder.\n\n## Rules\n\n" + part("rules") + "\n\n" + part("more") + "\n\n" + part("yet more") + "\n\n## Notes\n\n" + notes + "\n\n## Contract\n\nPrint DONE."
	}
	big := func(c *ledger.Call) { c.Fingerprints.Model = "big" }
	steps := []struct {
		prompt string
		change func(*ledger.Call)
		fails  bool
		want   reason.Code
	}{
		{prompt: prompt("a", "b", "c", "d", "one"), want: reason.FirstCall},
		{prompt: prompt("a", "b", "c", "d", "two"), want: reason.Revises},
		{prompt: prompt("a", "b", "c", "d", "two"), want: reason.Identical},
		{prompt: prompt("x", "y"), want: reason.Unrelated},
		{prompt: prompt("x"), want: reason.BaseChanged},
		{prompt: prompt("x", "z"), want: reason.Extends},
		{prompt: prompt("x", "z", "v"), change: big, want: reason.ModelChanged},
		{prompt: prompt("q"), change: func(c *ledger.Call) { c.Fingerprints.Model = "big"; c.Now += c.Limits.TTL + 1 }, want: reason.Idle},
		{prompt: prompt("r"), change: big, fails: true, want: reason.Unrelated},
		{prompt: prompt("s"), change: big, want: reason.PreviousFailed},
		{prompt: sections("None."), change: big, want: reason.Unrelated},
		{prompt: sections("Rename it."), change: big, want: reason.Revises},
		{prompt: sections("Rename it.") + "\n\nThe tests fail.", change: big, want: reason.Extends},
		{prompt: prompt("t"), change: func(c *ledger.Call) { c.Cwd = "/elsewhere" }, want: ""},
	}
	play := func(task string) (l *ledger.Ledger, reasons []reason.Code, leftOut []int64) {
		l = newLedger(t)
		now := decide.Millis(1_800_000_000_000)
		for i, step := range steps {
			c := testCall(l, step.prompt, now)
			c.Task, c.Role, c.Limits.Unrelated, c.Limits.Unnamed = task, "coder", true, decide.UnnamedOff
			if step.change != nil {
				step.change(c)
			}
			now = max(now, c.Now) + 1000
			d, ticket, err := ledger.Begin(l, c)
			if err != nil {
				t.Fatal(err)
			}
			sent, _ := rewrite.ToResume(d.NativeID, c.Prompt, d.Continuity, d.Whole).Prompt()
			id := d.NativeID
			if id == "" {
				id = fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
			}
			outcome := goodOutcome(id, "done", now)
			if step.fails {
				outcome.Exit = 1
			}
			if err := l.Finish(ticket, outcome); err != nil {
				t.Fatal(err)
			}
			reasons, leftOut = append(reasons, d.Reason), append(leftOut, int64(len(step.prompt)-len(sent)))
		}
		return l, reasons, leftOut
	}
	_, named, leftOut := play("job")
	l, _, _ := play("")
	policy := testCall(l, "", 0).Limits
	for _, known := range []bool{true, false} {
		at := -1
		calls := Replay(freshCalls(t, l, 0), func(c *ledger.FreshCall) (Naming, bool) {
			n := Naming{Scope: "rule", Task: "job", Role: "coder", Unrelated: true, TTL: policy.TTL, MaxAge: policy.MaxAge}
			if at++; known {
				n.Prompt = words.New(steps[at].prompt, l.Key())
			}
			return n, c.Cwd == "/project"
		})
		if len(calls) != len(steps)-1 {
			t.Fatalf("%d calls", len(calls))
		}
		for i, c := range calls {
			if c.Reason != steps[i].want || c.Reason != named[i] || c.Mode.Continues() != (c.Reason == reason.Revises || c.Reason == reason.Extends || c.Reason == reason.Unrelated) {
				t.Errorf("call %d: %s (%s), want %s; with the name it is %s", i+1, c.Mode, c.Reason, steps[i].want, named[i])
			}
			if known && c.LeftOut != leftOut[i] {
				t.Errorf("call %d: %d bytes are left out; with the name it is %d", i+1, c.LeftOut, leftOut[i])
			}
			if share := float64(c.LeftOut-leftOut[i]) / float64(c.Bytes); (c.LeftOut > 0) != (leftOut[i] > 0) || share > 0.25 {
				t.Errorf("call %d: an estimate of %d bytes left out; with the name it is %d", i+1, c.LeftOut, leftOut[i])
			}
			if (c.WhyWhole == "") != (c.LeftOut > 0 || !c.Mode.Continues()) {
				t.Errorf("call %d: sent whole for %q", i+1, c.WhyWhole)
			}
		}
	}
	for _, n := range []Naming{{Never: true, Task: "job"}, {Prove: true, Task: "job"}, {Fresh: true, Task: "job"}, {}} {
		calls := Replay(freshCalls(t, l, 0), func(*ledger.FreshCall) (Naming, bool) { return n, true })
		if len(calls) != len(steps) || calls[1].Mode.Continues() {
			t.Errorf("%+v: %+v", n, calls)
		}
	}
}

// Whatever a prompt shows or says, the replay decides as the ledger does on the same calls with the name, if the tool resumes in
// copies. If it does not, the calls that the replay resumes are resumed too.
func TestReplayKnowsWhatPromptsShow(t *testing.T) {
	const answer = "I have added the store in src/store.go and all of its tests pass now."
	rules := strings.Repeat("Keep every function small, and test what you change in it.\n\n", 12)
	as := func(role, notes string) string {
		return "You are the " + role + " of issue TIX-7.\n\n" + rules + "## Notes\n\n" + notes + "\n\n## Contract\n\nPrint DONE."
	}
	grown := func(sections ...string) string {
		return strings.Join(append([]string{"Build the store.\n\n" + rules}, sections...), "\n\n")
	}
	type step struct {
		prompt, role string
		early        bool // it begins before the call before it has ended
	}
	steps := func(prompts ...string) (list []step) {
		for _, p := range prompts {
			list = append(list, step{prompt: p, role: "any"})
		}
		return list
	}
	derived := steps(as("coder", "One."), as("reviewer", "One."), as("coder", "Two."), as("reviewer", "Two."))
	for i := range derived {
		derived[i].role = words.RoleTextMark + strings.Fields(derived[i].prompt)[3]
	}
	crowded := steps(as("coder", "One."), as("coder", "Two."), as("coder", "Three."), as("coder", "Four."))
	crowded[1].early = true
	told := steps("You are the coder. "+rules, "Review. "+rules, "Review. "+rules+"## Round 1\n\nThe coder said: it changed src/store.go.",
		"Review. "+rules+"## Round 1\n\nThe coder said: it changed src/store.go.\n\nYour last report: all is well.")
	for i, role := range []string{"coder", "reviewer", "reviewer", "reviewer"} {
		told[i].role = role
	}
	sequences := map[string][]step{
		"another role's words": told,
		"two roles":            steps(as("coder", "One."), as("reviewer", "One."), as("coder", "Two."), as("reviewer", "Two.")),
		"one role":             steps(as("coder", "One."), as("coder", "Two."), as("coder", "Three.")),
		"nobody's words":       steps(grown(), grown("## Round 1\n\nThe coder said: it changed src/store.go."), grown("## Round 2\n\nCoder: it changed src/store.go.")),
		"its answer":           steps(grown(), grown("Assistant: "+answer, "User: Go on."), grown("Assistant: "+answer, "User: Go on.", "Assistant: "+answer, "User: More.")),
		"an edited answer":     steps(grown(), grown("Assistant: I have done nothing.", "User: Go on.")),
		"its last report":      steps(grown(), grown("Your last report:\n\n"+answer), grown("Your last report:\n\nNothing was done.")),
		"a clean start":        steps(grown(), grown("Start over from scratch."), grown("Start over from scratch.", "Do more.")),
		"two templates":        steps(as("coder", "One."), grown(), as("coder", "Two."), grown("More."), as("coder", "Three.")),
		"an earlier prompt":    steps(grown(), grown("One."), grown(), grown("One.", "Two.")),
		"roles by beginning":   derived,
		"two at once":          crowded,
	}
	seed := rand.New(rand.NewPCG(1, 2))
	some := slices.Concat(slices.Collect(maps.Values(sequences))...)
	slices.SortFunc(some, func(a, b step) int { // in any order of the map
		return strings.Compare(fmt.Sprint(a.prompt, a.role, a.early), fmt.Sprint(b.prompt, b.role, b.early))
	})
	for n := range 60 {
		for range 6 {
			name := fmt.Sprint("any ", n)
			sequences[name] = append(sequences[name], some[seed.IntN(len(some))])
		}
	}
	play := func(steps []step, task string, copies bool) (*ledger.Ledger, []decide.Decision) {
		l, now, end := newLedger(t), decide.Millis(1_800_000_000_000), func() {}
		var decisions []decide.Decision
		for i, s := range steps {
			if !s.early {
				end()
				end = func() {}
			}
			c := testCall(l, s.prompt, now)
			c.Task, c.Role, c.Attempt, c.Copies, c.Limits.Unnamed = task, s.role, rewrite.NoAttempt, copies, decide.UnnamedOff
			if task == "" {
				c.Role = ""
			}
			d, ticket, err := ledger.Begin(l, c)
			if err != nil {
				t.Fatal(err)
			}
			id, ended, before := d.NativeID, now+10_000, end
			if id == "" || d.Copy {
				id = fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
			}
			end = func() {
				before()
				if err := l.Finish(ticket, goodOutcome(id, answer, ended)); err != nil {
					t.Fatal(err)
				}
			}
			now, decisions = now+1000, append(decisions, d)
			if i+1 == len(steps) || !steps[i+1].early {
				now = ended + 1000
			}
		}
		end()
		return l, decisions
	}
	resumed := 0
	if _, d := play(told, "job", true); d[2].Reason != reason.Extends || d[3].Reason != reason.HistoryEdited {
		t.Errorf("a line of what another role said: %s (%s), and then a report that is not the session's: %s (%s)", d[2].Mode, d[2].Reason, d[3].Mode, d[3].Reason)
	}
	for name, steps := range sequences {
		l, _ := play(steps, "", false)
		at := -1
		calls := Replay(freshCalls(t, l, 0), func(c *ledger.FreshCall) (Naming, bool) {
			at++
			limits := testCall(l, "", 0).Limits
			return Naming{Task: "job", Role: steps[at].role, Attempt: rewrite.NoAttempt, TTL: limits.TTL, MaxAge: limits.MaxAge, Prompt: words.New(steps[at].prompt, l.Key())}, true
		})
		if len(calls) != len(steps) {
			t.Fatalf("%s: %d calls", name, len(calls))
		}
		_, named := play(steps, "job", false)
		_, copied := play(steps, "job", true)
		for i, c := range calls {
			if c.Mode.Continues() {
				resumed++
			}
			// Of a call that begins beside another, the replay may have another reason why it is fresh.
			beside := steps[i].early && copied[i].Reason == reason.Leased && name != "two at once"
			if c.Mode != copied[i].Mode || c.Reason != copied[i].Reason && !beside || c.Mode.Continues() && !named[i].Mode.Continues() {
				t.Errorf("%s: call %d is said to be %s (%s); with the name it is %s (%s), in copies %s (%s)",
					name, i+1, c.Mode, c.Reason, named[i].Mode, named[i].Reason, copied[i].Mode, copied[i].Reason)
			}
		}
	}
	if resumed < len(sequences) {
		t.Errorf("only %d calls of %d sequences are resumed", resumed, len(sequences))
	}
}

// A variable that names a CI job keeps calls apart only as long as they have no name.
func TestReplayIgnoresJobVariables(t *testing.T) {
	with := func(list ...decide.Digest) decide.Fingerprints {
		return decide.Fingerprints{Settings: decide.NewDigests(list)}
	}
	job, option := decide.Digest{Guard: reason.JobChanged, Name: "CI_JOB_ID", Value: "1"}, decide.Digest{Guard: reason.SettingsChanged, Name: "--agents", Value: "2"}
	if with(job, option).Named() != with(option) || with(job).Named() != with() || with().Named() != with() {
		t.Errorf("%q, %q", with(job, option).Named(), with(job).Named())
	}
	if old := (decide.Fingerprints{Settings: "a digest without names"}); old.Named() != old {
		t.Errorf("%q", old.Named())
	}
}
