package ledger

import (
	"fmt"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
)

const (
	review = "The parser still reads one byte past the end of its buffer.\n\nThe list is in " +
		"notes/review_findings.md."
	notWritten = "The printer writes its colours even where nobody can see them."
)

// A project has calls, one after the other, and each ends well.
type project struct {
	t *testing.T
	l *Ledger
}

// run makes a call that begins and ends at two times, and returns its number.
func (j project) run(where, prompt, answer string, began, ended decide.Millis) int64 {
	j.t.Helper()
	_, ticket, err := Begin(j.l, j.call(where, prompt, began))
	if err != nil {
		j.t.Fatal(err)
	}
	finish(j.t, j.l, ticket,
		goodOutcome(fmt.Sprintf("00000000-0000-4000-8000-%012d", ticket.Session), answer, ended))
	return ticket.ID
}

func (j project) call(where, prompt string, now decide.Millis) *Call {
	c := testCall(j.l, prompt, now)
	c.Project, c.Caller, c.Limits.Unnamed = where, callerOf(7), rewrite.UnnamedEvidence
	c.Limits.MaxAge = 2 * answersKept
	return c
}

// proof returns the evidence that a prompt continues the session of the coder, which was sent base
// 1.
func (j project) proof(where, more string, now decide.Millis) decide.ChainFacts {
	j.t.Helper()
	_, chains, err := Preview(j.l, j.call(where, fmt.Sprintf(base, 1)+"\n\n"+more, now))
	if err != nil || len(chains) == 0 {
		j.t.Fatalf("%d chains, %v", len(chains), err)
	}
	return chains[0]
}

// A line of another call's answer since the session's latest run is known in the next prompt. A
// file that it names says nothing.
func TestAnswersOfOthers(t *testing.T) {
	const coder, reviewer, other = 1, 2, 3
	quoted := "The review says:\n\nThe parser still reads one byte past the end of its buffer."
	named := "Read notes/review_findings.md and do what it asks for."
	for name, tt := range map[string]struct {
		before func(j project) // calls beside the coder's, which runs from 1000 to 2000
		more   string
		now    decide.Millis
		want   func(call int64) decide.Evidence
	}{
		"a line of it": {nil, quoted, 9000, func(call int64) decide.Evidence {
			return decide.Evidence{Flow: call}
		}},
		"a file of it": {nil, named, 9000, func(int64) decide.Evidence {
			return decide.Evidence{}
		}},
		"neither": {nil, notWritten, 9000, func(int64) decide.Evidence {
			return decide.Evidence{}
		}},
		"a day later": {nil, quoted, 4000 + answersKept, func(call int64) decide.Evidence {
			return decide.Evidence{Flow: call}
		}},
		"too late": {nil, quoted, 4001 + answersKept, func(int64) decide.Evidence {
			return decide.Evidence{}
		}},
		"that two have given": {func(j project) { j.run("/project", fmt.Sprintf(base, other), review, 5000, 6000) }, quoted + "\n\n" + named, 9000,
			func(int64) decide.Evidence { return decide.Evidence{} }},
		"and another answer": {func(j project) { j.run("/project", fmt.Sprintf(base, other), notWritten, 5000, 6000) }, quoted, 9000,
			func(call int64) decide.Evidence { return decide.Evidence{Flow: call} }},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := newLedger(t)
			j := project{t, l}
			j.run("/project", fmt.Sprintf(base, coder),
				"The parser refuses empty frames before it allocates anything.", 1000, 2000)
			call := j.run("/project", fmt.Sprintf(base, reviewer), review, 3000, 4000)
			if tt.before != nil {
				tt.before(j)
			}
			got, want := j.proof("/project", tt.more, tt.now), tt.want(call)
			if want.Caller = "program 7.sh"; got.Evidence != want {
				t.Errorf("%+v, want %+v", got.Evidence, want)
			}
		})
	}
}

// An answer says nothing that came before the session's latest run, in another project, or from the
// session's own chain.
func TestAnswersThatSayNothing(t *testing.T) {
	l, _ := newLedger(t)
	j := project{t, l}
	quoted := "The review says:\n\nThe parser still reads one byte past the end of its buffer."
	j.run("/project", fmt.Sprintf(base, 2), review, 100, 900)
	j.run("/project", fmt.Sprintf(base, 1),
		"The parser refuses empty frames before it allocates anything.", 1000, 2000)
	if got := j.proof("/project", quoted, 9000).Evidence; got.Flow != 0 {
		t.Errorf("before the latest run: %+v", got)
	}
	j.run("/elsewhere", fmt.Sprintf(base, 2), review, 3000, 4000)
	if got := j.proof("/project", quoted, 9000).Evidence; got.Flow != 0 {
		t.Errorf("in another project: %+v", got)
	}
	own := j.proof("/project",
		"Your last report:\n\nThe parser refuses empty frames before it allocates anything.", 9000)
	if own.Evidence.Flow != 0 || !own.Evidence.Answer || own.AnswerShared {
		t.Errorf("its own: %+v, shared %v", own.Evidence, own.AnswerShared)
	}
	j.run("/project", fmt.Sprintf(base, 3),
		"The parser refuses empty frames before it allocates anything.", 5000, 6000)
	if shared := j.proof("/project",
		"Your last report:\n\nThe parser refuses empty frames before it allocates anything.",
		9000); !shared.AnswerShared {
		t.Errorf("given twice: %+v, shared %v", shared.Evidence, shared.AnswerShared)
	}
}

// The answers of a project are forgotten a day after they were given, once others follow.
func TestAnswersAreForgotten(t *testing.T) {
	l, _ := newLedger(t)
	j := project{t, l}
	kept := func() (n int) {
		if err := l.db.QueryRow("SELECT count(*) FROM answers").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	j.run("/project", fmt.Sprintf(base, 1), review, 1000, 2000)
	// says nothing that could be recognized
	j.run("/project", fmt.Sprintf(base, 2), "done", 3000, 4000)
	if n := kept(); n != 1 {
		t.Errorf("%d answers", n)
	}
	j.run("", fmt.Sprintf(base, 3), notWritten, 5000, 6000) // of no project
	if n := kept(); n != 1 {
		t.Errorf("%d answers", n)
	}
	j.run("/project", fmt.Sprintf(base, 4), notWritten, 2000+answersKept, 2000+answersKept)
	if n := kept(); n != 2 {
		t.Errorf("%d answers after a day", n)
	}
	j.run("/project", fmt.Sprintf(base, 5), review, 2001+answersKept, 2001+answersKept)
	if n := kept(); n != 2 {
		t.Errorf("%d answers after more than a day", n)
	}
}

// Words against a resume count if they are the caller's own, not if another call's answer has them.
func TestQuotedWords(t *testing.T) {
	const words = "You are an independent reviewer of the parser and of all that reads from it."
	for _, quoted := range []bool{true, false} {
		l, _ := newLedger(t)
		j := project{t, l}
		j.run("/project", fmt.Sprintf(base, 1),
			"The parser refuses empty frames before it allocates anything.", 1000, 2000)
		if quoted {
			j.run("/project", fmt.Sprintf(base, 2), words, 3000, 4000)
		}
		if got := j.proof("/project", words, 9000); (len(got.Against()) == 0) != quoted {
			t.Errorf("quoted %v: against %v", quoted, got.Against())
		}
	}
}

// Of a prompt that repeats nothing but a session's answer that answer is known.
func TestAnswerAlone(t *testing.T) {
	l, _ := newLedger(t)
	j := project{t, l}
	answer := "The parser refuses empty frames before it allocates anything, and the printer " +
		"writes each colour once. " +
		"What is left is the queue between them: it drops the oldest frame where it should wait " +
		"for the reader, and says nothing of it."
	for n := range 12 { // their numbers have two digits
		j.run("/project", fmt.Sprintf(base, n), fmt.Sprintf("Frame %d was read.", n),
			decide.Millis(10*n), decide.Millis(10*n+5))
	}
	j.run("/project", fmt.Sprintf(base, 20), answer, 1000, 2000)
	for prompt, want := range map[string]bool{
		"Your last report:\n\n" + answer + "\n\nGo on with the queue.": true,
		"Go on with the queue.": false,
	} {
		_, chains, err := Preview(l, j.call("/project", prompt, 3000))
		if err != nil {
			t.Fatal(err)
		}
		known := false
		for _, c := range chains {
			known = known || c.Evidence.Answer && c.Session == 13
		}
		if known != want {
			t.Errorf("%q: %+v", prompt, chains)
		}
	}
}

// The files that commands of a run changed are looked for if the same caller goes on with the
// session. Where none stands, its names are no trace.
func TestCommandsWork(t *testing.T) {
	const log = "FAILED src/parser.go:12: the buffer is too short"
	for _, tt := range []struct {
		name, left, found string
		caller            int // 0 for a person who typed both calls into one shell
		asked             bool
		want              decide.Evidence
	}{
		{"typed", `[{"run":{}}]`, `[{"path":"src/parser.go"},{"run":{}}]`, 0, true,
			decide.Evidence{Work: true, Trace: true, Terminal: true}},
		{"found", `[{"run":{}}]`, `[{"path":"src/parser.go"},{"run":{}}]`, 7, true,
			decide.Evidence{Work: true, Trace: true}},
		{"another file", `[{"run":{}}]`, `[{"path":"src/printer.go"},{"run":{}}]`, 7, true,
			decide.Evidence{Work: true, Trace: true}},
		{"gone", `[{"run":{}}]`, `[{"run":{}}]`, 7, true, decide.Evidence{}},
		{"known", `[{"path":"x"},{"run":{}}]`, "", 7, false,
			decide.Evidence{Work: true, Trace: true}},
		{"no commands", "", "", 7, false, decide.Evidence{Trace: true}},
		{"another caller", `[{"run":{}}]`, `[{"path":"x"}]`, 8, false,
			decide.Evidence{Trace: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, _ := newLedger(t)
			j := project{t, l}
			first, person := j.call("/project", fmt.Sprintf(base, 1), 1000), decide.Caller{}
			if tt.caller == 0 {
				person = decide.Caller{Person: true, Shell: callerProcess(7)}
				first.Caller = person
			}
			_, ticket, err := Begin(l, first)
			if err != nil {
				t.Fatal(err)
			}
			o := goodOutcome(someID, "The change is in src/parser.go.", 2000)
			o.Left = tt.left
			finish(t, l, ticket, o)
			c, asked := j.call("/project", fmt.Sprintf(base, 1)+"\n\n"+log, 9000), false
			if c.Caller = person; tt.caller != 0 {
				c.Caller = callerOf(tt.caller)
			}
			c.FindWork = func(left, id string) string {
				asked = true
				if left != tt.left || id != someID {
					t.Errorf("asked about %s of %s", left, id)
				}
				return tt.found
			}
			_, chains, err := Preview(l, c)
			if err != nil || len(chains) != 1 {
				t.Fatalf("%d chains, %v", len(chains), err)
			}
			got := chains[0].Evidence
			if got.Caller = ""; got != tt.want || asked != tt.asked {
				t.Errorf("%+v, want %+v; asked: %v", got, tt.want, asked)
			}
		})
	}
}

// A run ran beside another if it overlaps in the directory or below.
func TestBeside(t *testing.T) {
	l, _ := newLedger(t)
	ran := func(cwd string, began, ended decide.Millis) {
		t.Helper()
		c := testCall(l, fmt.Sprintf(base, began), began)
		c.Cwd = cwd
		_, ticket, err := Begin(l, c)
		if err != nil {
			t.Fatal(err)
		}
		if ended > 0 {
			finish(t, l, ticket,
				goodOutcome(fmt.Sprintf("00000000-0000-4000-8000-%012d", ticket.Session),
					"done", ended))
		}
	}
	ran("/project", 1000, 2000)
	ran("/project/sub", 3000, 4000)
	ran("/projects", 3000, 4000)
	ran("/project", 5000, 0)
	for _, tt := range []struct {
		dir      string
		from, to decide.Millis
		want     int
	}{
		{"/project", 1000, 2000, 1}, {"/project", 2000, 3000, 0}, {"/project", 1999, 3001, 2},
		{"/project", 2001, 2999, 0}, {"/project", 3500, 9000, 2},
		{"/project/sub", 0, 9000, 1}, {"/", 0, 9000, 4}, {"/project", 5000 + day, 5000 +
			day, 1}, {"/project", 5001 + day, 6000 + day, 0},
	} {
		if n, err := l.Beside(tt.dir, tt.from, tt.to); n != tt.want || err != nil {
			t.Errorf("%s from %d to %d: %d, %v, want %d", tt.dir, tt.from, tt.to, n, err, tt.want)
		}
	}
}
