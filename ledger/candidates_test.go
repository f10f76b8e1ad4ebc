package ledger

import (
	"fmt"
	"slices"
	"testing"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// generations makes a session, a copy of it, and a copy of the copy; each was sent more.
func generations(t *testing.T, l *Ledger,
	call func(l *Ledger, prompt string, now decide.Millis) *Call) {
	t.Helper()
	prompt := fmt.Sprintf(base, 1)
	for n, id := range []string{sourceID, copyID, otherID} {
		now := decide.Millis(1000 + 1000*n)
		_, ticket := beginCall(t, l, call(l, prompt, now))
		finish(t, l, ticket, outcome(id, "/"+id, 10, "", now+500))
		prompt += fmt.Sprintf("\n\nRound %d.", n)
	}
}

// A long job has many sessions that others were copied from: they are read only where the ends of
// the branches do not tell which session to continue.
func TestWhichSessionsAreRead(t *testing.T) {
	inUse := proc.This()
	tests := []struct {
		name, prompt   string
		change         string // SQL
		limit          rewrite.Unnamed
		unnamed, named int
	}{
		{"goes on from the end", "\n\nRound 0.\n\nRound 1.\n\nRound 2.", "", rewrite.UnnamedExtends,
			1, 1},
		{"does not go on with its work", "\n\nRound 0.\n\nRound 1.\n\nRound 2.", "",
			rewrite.UnnamedEvidence, 1, 1},
		{"repeats the end", "\n\nRound 0.\n\nRound 1.", "", rewrite.UnnamedExtends, 1, 3},
		{"says another thing", "\n\nRound 7.", "", rewrite.UnnamedExtends, 3, 3},
		{"the end is in use", "\n\nRound 0.\n\nRound 1.\n\nRound 2.", fmt.Sprintf(
			"INSERT INTO leases (session_id, boot, pid, pid_start, taken) VALUES (3, '%s', %d, "+
				"%d, 0)", inUse.Boot, inUse.PID, inUse.Start), rewrite.UnnamedExtends, 3, 3},
		{"the end was never seen to end", "\n\nRound 0.\n\nRound 1.\n\nRound 2.",
			"UPDATE sessions SET state = 'running' WHERE id = 3", rewrite.UnnamedExtends, 3, 3},
		{"a session of another job is in use", "\n\nRound 0.\n\nRound 1.\n\nRound 2.",
			fmt.Sprintf(`INSERT INTO chains (id, tool, cwd, home, rule, task, role, created, updated,
					first_line, session_id, since)
				SELECT 9, tool, cwd, home, rule, task, role, created, updated, first_line, 9, 9
				FROM chains WHERE task = '';
			INSERT INTO sessions (id, chain_id, tool, state, created, last_used, settings, model,
					runtime, auth, base, base_opening, base_bytes)
				SELECT 9, 9, tool, 'running', created, last_used, settings, model, runtime, auth,
					zeroblob(16), 1, 0
				FROM sessions WHERE id = 1 AND EXISTS (SELECT 1 FROM chains WHERE id = 9);
			INSERT INTO leases (session_id, boot, pid, pid_start, taken)
				SELECT id, '%s', %d, %d, 0 FROM sessions WHERE id = 9`,
				inUse.Boot, inUse.PID, inUse.Start), rewrite.UnnamedEvidence, 2, 1},
		{"others ran at once", "\n\nRound 0.\n\nRound 1.\n\nRound 2.",
			"UPDATE chains SET concurrent = 1", rewrite.UnnamedExtends, 1, 3},
		{"another end", "\n\nRound 0.\n\nRound 1.\n\nRound 2.",
			"UPDATE sessions SET parent_id = NULL WHERE id = 2", rewrite.UnnamedExtends, 2, 3},
	}
	for _, tt := range tests {
		for _, call := range []func(*Ledger, string, decide.Millis) *Call{copyCall, namedCopyCall} {
			l, _ := newLedger(t)
			generations(t, l, call)
			if tt.change != "" {
				execute(t, l, tt.change)
			}
			c := call(l, fmt.Sprintf(base, 1)+tt.prompt, 9000)
			c.Limits.Unnamed = tt.limit
			want := tt.unnamed
			if c.Task != "" {
				want = tt.named
			}
			facts, err := l.readFacts(c)
			var read []int64
			for _, one := range facts.Chains {
				read = append(read, one.Session)
			}
			if err != nil || len(read) != want {
				t.Errorf("%s (task %q): sessions %v are read, want %d, %v", tt.name, c.Task, read,
					want, err)
			}
		}
	}
}

// A session that was an end when the ends were read, and inner when the others were, counts once.
func TestNoSessionCountsTwice(t *testing.T) {
	f := decide.Facts{Chains: []decide.ChainFacts{{Session: 5}}}
	add(&f, []decide.ChainFacts{{Session: 5}, {Session: 6}})
	if len(f.Chains) != 2 || f.Chains[1].Session != 6 {
		t.Errorf("%+v", f.Chains)
	}
}

// A session's file is looked at only where the call can go on with the session.
func TestFilesAreLookedAtSeldom(t *testing.T) {
	prompt := fmt.Sprintf(base, 1)
	for _, tt := range []struct {
		name, prompt, task string
		state              decide.State
		looked             int
	}{
		{"extends", prompt + "\n\nMore.", "", decide.Live, 1},
		{"extends what has failed", prompt + "\n\nMore.", "", decide.Failed, 0},
		{"revises", fmt.Sprintf(base, 1)[:60] + "\n\nMore.", "", decide.Live, 0},
		{"named, revises", fmt.Sprintf(base, 2), "task", decide.Live, 1},
		{"named, revises what has failed", fmt.Sprintf(base, 2), "task", decide.Failed, 0},
	} {
		l, _ := newLedger(t)
		c := testCall(l, prompt, 1000)
		c.Task = tt.task
		_, ticket := beginCall(t, l, c)
		finish(t, l, ticket, goodOutcome(someID, "done", 2000))
		execute(t, l, "UPDATE sessions SET state = ?", tt.state)
		c = testCall(l, tt.prompt, 3000)
		c.Task = tt.task
		looked := 0
		c.Stored = func(path, id string, stamp decide.Stamp) decide.StoredState {
			if path != "/f" || id != someID || stamp != "1" {
				t.Errorf("%s: %s in %s, %s", tt.name, id, path, stamp)
			}
			looked++
			return decide.StoredSame
		}
		if _, _, err := Preview(l, c); err != nil || looked != tt.looked {
			t.Errorf("%s: looked at %d times, want %d, %v", tt.name, looked, tt.looked, err)
		}
	}
}

// An unnamed call that does not say all of a session again is told so.
func TestReasonsOfUnnamedCalls(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1) + "\n\nThe first part.\n\nThe second part."
	_, ticket := begin(t, l, prompt, 1000)
	finish(t, l, ticket, goodOutcome(someID, "done", 2000))
	for text, want := range map[string]reason.Code{
		fmt.Sprintf(base, 1) + "\n\nThe first part.\n\nAnother part.": reason.BaseChanged,
		fmt.Sprintf(base, 1) + "\n\nThe first part.":                  reason.BaseChanged,
		prompt:               reason.Identical,
		prompt + "\n\nMore.": reason.Extends,
	} {
		if d, chains, err := Preview(l, testCall(l, text, 3000)); err != nil ||
			d.Reason != want || len(chains) != 1 {
			t.Errorf("%q: %s of %d chains, want %s, %v", text, d.Reason, len(chains), want, err)
		}
	}
}

// An earlier prompt is known by its lines and sections: the delta depends on both.
func TestDeltaAfterTheLedger(t *testing.T) {
	l, _ := newLedger(t)
	section := func(name, text string) string { return "## " + name + "\n\n" + text + "\n\n" }
	opening := "# Job\n\nYou are the coder.\n\n"
	rules := section("Rules",
		fmt.Sprintf(base, 1)+fmt.Sprintf(base, 2)+fmt.Sprintf(base, 3)+fmt.Sprintf(base,
			4)+fmt.Sprintf(base, 5)+fmt.Sprintf(base, 6)+fmt.Sprintf(base, 7))
	before := opening + rules + section("State", "Nothing is done.") +
		section("Answer", "Say what you did.")
	after := opening + rules + section("State", "The parser fails.") +
		section("Answer", "Say what you did.")
	c := testCall(l, before, 1000)
	c.Task, c.Captured = "task", true
	_, ticket := beginCall(t, l, c)
	finish(t, l, ticket, goodOutcome(someID, "done", 2000))
	c = testCall(l, after, 3000)
	c.Task, c.Captured = "task", true
	d, _ := beginCall(t, l, c)
	plan := rewrite.ToResume(d.NativeID, c.Prompt,
		d.Continuity, d.Whole).Plan(rewrite.CommandLine{})
	if d.Mode != rewrite.Resume || plan.Whole || len(plan.Prompt) >= len(after)/2 {
		t.Errorf("%s (%s), whole %v, %d of %d bytes are sent", d.Mode, d.Reason, plan.Whole,
			len(plan.Prompt), len(after))
	}
}

// Where there are as many chains as are looked at, all of them count; of one more only that it is
// there.
func TestAsManyAsAreLookedAt(t *testing.T) {
	for _, more := range []int{0, 1} {
		l, _ := newLedger(t)
		prompt := fmt.Sprintf(base, 1)
		_, ticket := begin(t, l, prompt, 1000)
		finish(t, l, ticket, goodOutcome(someID, "done", 2000))
		for n := range MaxCandidates - 1 + more {
			execute(t, l, `INSERT INTO chains (id, tool, cwd, home, rule, task, role, created, updated, first_line, session_id, since)
				SELECT ?1, tool, cwd, home, rule, task, role, created, updated + 1, first_line, ?1, ?1 FROM chains WHERE id = 1`, n+100)
			execute(t, l, `INSERT INTO sessions (id, chain_id, tool, state, created, last_used, settings, model, runtime, auth, base, base_opening, base_bytes)
				SELECT ?1, ?1, tool, state, created, last_used, settings, model, runtime, auth, zeroblob(16), 1, 0 FROM sessions WHERE id = 1`, n+100)
		}
		facts, err := l.readFacts(testCall(l, prompt+"\n\nMore.", 3000))
		oldest := slices.ContainsFunc(facts.Chains, func(c decide.ChainFacts) bool {
			return c.Session == 1
		})
		if err != nil || facts.More != (more > 0) || oldest != (more == 0) ||
			len(facts.Chains) != MaxCandidates {
			t.Errorf("%d more: more %v, %d chains, the oldest is there: %v, %v", more, facts.More,
				len(facts.Chains), oldest, err)
		}
	}
}

// An old chain has no note of the session that the job began with: the sessions count from the one
// that it had.
func TestSinceOfAnOldChain(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	_, first := beginCall(t, l, copyCall(l, prompt, 1000))
	finish(t, l, first, outcome(sourceID, "/source", 10, "", 1500))
	execute(t, l, "UPDATE chains SET since = NULL")
	_, second := beginCall(t, l, copyCall(l, prompt+"\n\nMore.", 2000))
	wantRow(t, "the chain", row(t, l, "chains", second.Chain),
		map[string]any{"since": first.Session, "session_id": second.Session})
	finish(t, l, second, outcome(copyID, "/copy", 10, "", 2500))
	d, _ := beginCall(t, l, copyCall(l, prompt+"\n\nElsewhere.", 3000))
	wantSource(t, "goes on from the first", d, sourceID)
}

// A call that has no chain is on no side of a comparison.
func TestNoArmWithoutAChain(t *testing.T) {
	l, _ := newLedger(t)
	c := testCall(l, "Alone.", 1000)
	c.Never, c.Limits.HoldOut = true, 0.5
	_, ticket, err := Begin(l, c)
	if err != nil {
		t.Fatal(err)
	}
	wantRow(t, "the call", row(t, l, "calls", ticket.ID),
		map[string]any{"arm": "", "chain_id": nil})
}

// A transcript with a changed beginning that shows the session's answer tells which session is
// meant.
func TestAnEditedTranscript(t *testing.T) {
	l, _ := newLedger(t)
	opening, answer := fmt.Sprintf(base, 1),
		"I have written the parser, with a table for its states."
	sent := opening + "\n\nUser: Write the parser.\n\nUser: And its tests, please."
	_, ticket := begin(t, l, sent, 1000)
	finish(t, l, ticket, goodOutcome(someID, answer, 2000))
	prompt := opening + "\n\nUser: Write the scanner.\n\nUser: And its tests, " +
		"please.\n\nAssistant: " + answer + "\n\nUser: It still fails."
	facts, err := l.readFacts(testCall(l, prompt, 3000))
	if err != nil || len(facts.Chains) != 1 {
		t.Fatalf("%d chains, %v", len(facts.Chains), err)
	}
	c := facts.Chains[0]
	if c.Continuity.Relation != reason.HistoryEdited || c.Continuity.Evidence.Answer == 0 ||
		c.NativeID != someID {
		t.Errorf("%s, shows %d bytes of the answer, %q", c.Continuity.Relation,
			c.Continuity.Evidence.Answer, c.NativeID)
	}
}

// A column of digests that no call has made so long is not read.
func TestLongColumnsAreNotRead(t *testing.T) {
	for _, column := range []string{"base", "base_lines", "shape", "root", "answers",
		"said", "things"} {
		l, _ := newLedger(t)
		_, first := begin(t, l, fmt.Sprintf(base, 1), 1000)
		finish(t, l, first, goodOutcome(someID, "done", 2000))
		for _, step := range []struct {
			length int
			found  int
		}{{maxBlob, 1}, {maxBlob + 1, 0}} {
			if _, err := l.db.Exec("UPDATE sessions SET "+column+" = zeroblob(?)",
				step.length); err != nil {
				t.Fatal(err)
			}
			chains, _, err := l.chains(testCall(l, fmt.Sprintf(base, 1), 3000), ends, "")
			if err != nil || len(chains) != step.found {
				t.Errorf("%s of %d bytes: %d sessions, want %d, %v", column, step.length,
					len(chains), step.found, err)
			}
		}
	}
}

// A prompt that extends several sessions continues the session with the longest part of it, also if
// two others are newer. Two sessions with the same part remain ambiguous.
func TestTheSessionThatWasSentMost(t *testing.T) {
	first := fmt.Sprintf(base, 1)
	for _, most := range []int{1, 2} {
		l, _ := newLedger(t)
		texts := slices.Concat(slices.Repeat([]string{first + "\n\nThe x.\n\nThe y."}, most),
			[]string{first + "\n\nThe x.", first})
		var tickets []*Ticket
		for i, text := range texts { // all at once: each begins a chain
			c := testCall(l, text, decide.Millis(1000+i))
			c.Limits.Unnamed = rewrite.UnnamedExtends
			_, ticket := beginCall(t, l, c)
			tickets = append(tickets, ticket)
		}
		for i, ticket := range tickets {
			finish(t, l, ticket, goodOutcome(
				fmt.Sprintf("%08d-2222-4333-8444-555555555555", i), "done", 2000))
		}
		c := testCall(l, texts[0]+"\n\nThe z.", 3000)
		c.Limits.Unnamed = rewrite.UnnamedExtends
		shown, _, err := Preview(l, c)
		if err != nil {
			t.Fatal(err)
		}
		d, _ := beginCall(t, l, c)
		want := map[int]string{1: "00000000-2222-4333-8444-555555555555"}[most]
		if d.NativeID != want || shown.NativeID != want || d.Reason != shown.Reason {
			t.Errorf("%d sent most: %s %q, shown %s %q", most, d.Reason, d.NativeID, shown.Reason,
				shown.NativeID)
		}
	}
}

// A prompt that shows the answer of two sessions continues neither, also if it has little in common
// with one of them.
func TestAnAnswerOfTwoSessions(t *testing.T) {
	l, _ := newLedger(t)
	first := fmt.Sprintf(base, 1)
	sent := first + "\n\nYour last report:\n\ndone"
	for i, text := range []string{
		first + "\n\nThe test of the scanner is green.\n\nThe x of the y.", sent,
	} {
		_, ticket := begin(t, l, text, decide.Millis(1000+i))
		finish(t, l, ticket, goodOutcome(nth(i), "done", 2000))
	}
	d, _ := begin(t, l, sent+"\n\nThe test is red.", 3000)
	if d.Reason != reason.Ambiguous {
		t.Errorf("%s (%s)", d.Mode, d.Reason)
	}
}

// The files of sessions that were sent the same are compared only if such a call can resume one:
// samplers leave hundreds, which some tools keep in a database.
func TestFilesOfSamples(t *testing.T) {
	l, _ := newLedger(t)
	prompt := fmt.Sprintf(base, 1)
	for i := range 3 { // all at once: each begins a chain
		_, ticket := begin(t, l, prompt, decide.Millis(1000+i))
		defer finish(t, l, ticket, goodOutcome(someID, "done", 2000))
	}
	execute(t, l, "UPDATE sessions SET state = 'live'")
	for same, want := range map[bool]int{false: 0, true: 3} {
		c, looks := testCall(l, prompt, 3000), 0
		c.Limits.ResumeSame = same
		c.Stored = func(string, string, decide.Stamp) decide.StoredState {
			looks++
			return decide.StoredSame
		}
		if _, _, err := Preview(l, c); err != nil || looks != want {
			t.Errorf("resume the same %v: %d looks, want %d, %v", same, looks, want, err)
		}
	}
}
