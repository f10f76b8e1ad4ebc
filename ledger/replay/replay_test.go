package replay

import (
	"fmt"
	"strings"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	words "reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// What the replay says of calls without a name is what the ledger decides on the same calls with the name.
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
		calls, err := Replay(l, 0, func(c *ledger.FreshCall) (Naming, bool) {
			n := Naming{Scope: "rule", Task: "job", Role: "coder", Unrelated: true, TTL: policy.TTL, MaxAge: policy.MaxAge}
			if at++; known {
				n.Prompt = words.New(steps[at].prompt, l.Key())
			}
			return n, c.Cwd == "/project"
		})
		if err != nil || len(calls) != len(steps)-1 {
			t.Fatalf("%d calls, %v", len(calls), err)
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
		calls, err := Replay(l, 0, func(*ledger.FreshCall) (Naming, bool) { return n, true })
		if err != nil || len(calls) != len(steps) || calls[1].Mode.Continues() {
			t.Errorf("%+v: %+v, %v", n, calls, err)
		}
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
