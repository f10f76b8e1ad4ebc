package replay

import (
	"fmt"
	"strings"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
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
		{prompt: prompt("x", "z", "v"), change: func(c *ledger.Call) { c.Fingerprints.Model = "big" }, want: reason.ModelChanged},
		{prompt: prompt("q"), change: func(c *ledger.Call) { c.Fingerprints.Model = "big"; c.Now += c.Limits.TTL + 1 }, want: reason.Idle},
		{prompt: prompt("r"), change: func(c *ledger.Call) { c.Fingerprints.Model = "big" }, fails: true, want: reason.Unrelated},
		{prompt: prompt("s"), change: func(c *ledger.Call) { c.Fingerprints.Model = "big" }, want: reason.PreviousFailed},
		{prompt: prompt("t"), change: func(c *ledger.Call) { c.Cwd = "/elsewhere" }, want: ""},
	}
	play := func(task string) (l *ledger.Ledger, reasons []reason.Code) {
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
			reasons = append(reasons, d.Reason)
		}
		return l, reasons
	}
	_, named := play("job")
	l, _ := play("")
	policy := testCall(l, "", 0).Limits
	calls, err := Replay(l, 0, func(c *ledger.FreshCall) (Naming, bool) {
		return Naming{Scope: "rule", Task: "job", Role: "coder", Unrelated: true, TTL: policy.TTL, MaxAge: policy.MaxAge}, c.Cwd == "/project"
	})
	if err != nil || len(calls) != len(steps)-1 {
		t.Fatalf("%d calls, %v", len(calls), err)
	}
	for i, c := range calls {
		if c.Reason != steps[i].want || c.Reason != named[i] || c.Mode.Continues() != (c.Reason == reason.Revises || c.Reason == reason.Extends || c.Reason == reason.Unrelated) {
			t.Errorf("call %d: %s (%s), want %s; with the name it is %s", i+1, c.Mode, c.Reason, steps[i].want, named[i])
		}
	}
	if saved := calls[1].Saved; saved < calls[1].Bytes/3 || saved > calls[1].Bytes || calls[0].Saved != 0 || calls[3].Saved != 0 {
		t.Errorf("saved %d of %d bytes, %d, %d", saved, calls[1].Bytes, calls[0].Saved, calls[3].Saved)
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
