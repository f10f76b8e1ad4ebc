package ledger

import (
	"database/sql"
	"fmt"
	"reflect"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// valueCall returns a call for chains that no database has.
func valueCall(text string, now decide.Millis) *Call {
	key := prompt.Key("some key")
	return &Call{Record: Record{Tool: "claude", Cwd: "/project", Task: "parser", Role: "coder"},
		Home:   "/home/.claude",
		Prompt: prompt.New(text, key), Request: decide.Request{Now: now, Attempt: rewrite.NoAttempt,
			Revision: decide.Revision{Repository: "r", Branch: "main", Head: "h"},
			Fingerprints: decide.Fingerprints{Settings: "s", Model: "m",
				Runtime: "2.1", Auth: "a"}}}
}

func valueEnding(o *Outcome, blocks []byte) *Ending {
	e := &Ending{Cwd: "/project", Task: "parser", News: Session{Base: blocks}, Outcome: *o,
		Resets: o.Resets}
	e.News.BaseBytes = 10
	if o.Good() || o.Stopped() {
		e.Ended++
	} else {
		e.Failed++
	}
	return e
}

func TestAChainGoesThroughItsStates(t *testing.T) {
	c := NewChain(valueCall("Write the parser.", 1000))
	call := valueCall("Write the parser.", 1000)
	call.Attempt = 2
	first, source := c.Begin(call, decide.Decision{Mode: rewrite.Fresh, Reason: reason.FirstCall},
		nil)
	if first != 1 || source != 0 || c.Newest != 1 || c.Since != 1 || c.Concurrent {
		t.Fatalf("%d from %d: %+v", first, source, c)
	}
	s := &c.Sessions[0]
	if s.State != decide.Running || s.Attempt == nil || *s.Attempt != 2 || s.Head != "h" ||
		s.Created != 1000 || s.NativeID != "" || s.Runtime != "2.1" {
		t.Errorf("%+v", s)
	}
	o := goodOutcome("id", "done", 2000)
	o.Seen.Model, o.Seen.Version, o.Seen.Totals, o.Revision.Head, o.Left = "opus", "2.1.3",
		"totals", "h2", "left"
	o.Seen.ContextUse.Used = 7
	if err := c.Finish(first, valueEnding(o, []byte("base"))); err != nil {
		t.Fatal(err)
	}
	if s.State != decide.Live || s.NativeID != "id" || s.ToolVersion != "2.1.3" ||
		s.FirstModel != "opus" || s.Turns != 1 || s.Errors != 0 ||
		s.Head != "h2" || string(s.Base) != "base" || s.LeftFiles != "left" || s.ContextUsed != 7 ||
		s.File != "/f" || c.Updated != 2000 {
		t.Errorf("%+v", s)
	}

	// A copy is another session of the same age; its source stays as it is.
	before := *s
	copied, source := c.Begin(valueCall("Write the parser.\n\nMore.", 3000),
		decide.Decision{Mode: rewrite.Resume, Copy: true}, c.at(first))
	k := &c.Sessions[1]
	if copied != 2 || source != 1 || k.Parent != 1 || c.Newest != 2 || c.Since != 1 {
		t.Fatalf("%d from %d: %+v", copied, source, c)
	}
	if k.State != decide.Running || k.Created != 1000 || k.LastUsed != 3000 || k.NativeID != "" ||
		k.File != "" || k.ToolVersion != "" || k.Turns != 1 || k.Totals != "totals" {
		t.Errorf("%+v", k)
	}
	if !reflect.DeepEqual(c.Sessions[0], before) {
		t.Errorf("the source is %+v", c.Sessions[0])
	}
	// It fails: its source is continued again, with a mark.
	if err := c.Finish(copied,
		valueEnding(&Outcome{Now: 4000, Exit: 1, Seen: rewrite.StreamState{ID: "copy",
			Final: true, Failed: true}}, []byte("base"))); err != nil {
		t.Fatal(err)
	}
	if k.State != decide.Failed || k.Errors != 1 || c.Sessions[0].Errors != 1 ||
		c.Sessions[0].State != decide.Live || c.Sessions[0].StateWhy != reason.Unexplained {
		t.Errorf("%+v after %+v", c.Sessions[0], k)
	}

	// Resumed in place it runs again, and keeps its base until it has ended.
	again, source := c.Begin(valueCall("Write the parser.\n\nAgain.", 5000),
		decide.Decision{Mode: rewrite.Resume, Rounds: decide.Rounds{Given: "g"}}, c.at(first))
	if again != first || source != 0 || c.Newest != 1 || c.Sessions[0].State != decide.Running ||
		c.Sessions[0].Rounds.Given == "" || string(c.Sessions[0].Base) != "base" {
		t.Errorf("%d: %+v", again, c.Sessions[0])
	}
	if err := c.Finish(first, &Ending{Outcome: *o}); err != errDamaged {
		t.Errorf("an ending without a prompt: %v", err)
	}

	// Another role begins as a copy, and is not that role's session.
	other := NewChain(valueCall("", 6000))
	other.Sessions = []Session{before}
	begun, source := other.Begin(valueCall("Review it.", 6000),
		decide.Decision{Mode: rewrite.Resume, Copy: true, Reason: reason.StartedFrom}, other.at(1))
	b := &other.Sessions[1]
	if begun != 2 || source != 1 || b.Created != 1000 || b.Turns != 1 || b.LeftFiles != "left" ||
		string(b.Base) == "base" || b.Answers != nil || other.Since != 2 {
		t.Errorf("%+v", b)
	}
}

func TestWhereAChainBeginsAnew(t *testing.T) {
	fresh := func(why, detail reason.Code) decide.Decision {
		return decide.Decision{Mode: rewrite.Fresh, Reason: why, Detail: detail}
	}
	for _, test := range []struct {
		d          decide.Decision
		concurrent bool
		inUse      bool
		since      int64
	}{
		{fresh(reason.TooOld, ""), false, false, 2},
		{fresh(reason.Ambiguous, ""), false, false, 1},
		{fresh(reason.NoEvidence, reason.Unrelated), false, false, 1},
		{fresh(reason.TooOld, ""), true, false, 1},
		{fresh(reason.TooOld, ""), false, true, 1},
	} {
		c := NewChain(valueCall("", 0))
		c.Sessions, c.Newest, c.Since, c.Concurrent = []Session{{ID: 1, InUse: test.inUse}}, 1, 1,
			test.concurrent
		c.Begin(valueCall("Write it.", 1000), test.d, nil)
		if c.Newest != 2 || c.Since != test.since || c.Concurrent != (test.concurrent ||
			test.inUse) || c.Updated != 1000 || len(c.FirstLine) == 0 {
			t.Errorf("%+v: %+v", test, c)
		}
	}
}

func TestARefusalEndsWhatItIsAbout(t *testing.T) {
	for _, test := range []struct {
		why         reason.Code
		copied, cut bool
		state       decide.State
		source      decide.State // "" where there is none
		since       int64
	}{
		{reason.RefusedUnknown, false, false, decide.Dead, "", 3},
		{reason.RefusedBusy, false, false, decide.Live, "", 1},
		{reason.LateStdin, false, false, decide.Live, "", 1},
		{reason.RefusedBusy, true, false, decide.Dead, decide.Live, 1},
		{reason.RefusedUnknown, true, false, decide.Dead, decide.Dead, 3},
		{reason.NoAnswer, true, false, decide.Dead, decide.Dead, 3},
		{reason.RefusedUnknown, true, true, decide.Dead, decide.Live, 1},
	} {
		c := NewChain(valueCall("", 0))
		c.Sessions, c.Newest,
			c.Since = []Session{{ID: 1, SessionRecord: decide.SessionRecord{State: decide.Live}},
			{ID: 2, SessionRecord: decide.SessionRecord{State: decide.Running, Parent: 1}}}, 2, 1
		source := int64(0)
		if test.copied {
			source = 1
		}
		number := c.FallBack(&Ticket{call: valueCall("Write it.", 1000), cut: test.cut}, 2, source,
			test.why)
		refused, from := c.Sessions[1], c.Sessions[0]
		if number != 3 || refused.State != test.state || refused.StateWhy != test.why ||
			refused.Errors != 1 || c.Since != test.since || c.Sessions[2].State != decide.Running {
			t.Errorf("%+v: %+v", test, c)
		}
		if test.source == "" &&
			!reflect.DeepEqual(from,
				Session{ID: 1, SessionRecord: decide.SessionRecord{State: decide.Live}}) ||
			test.source != "" && (from.State != test.source || from.Errors != 1) {
			t.Errorf("%+v: the source is %+v", test, from)
		}
	}
}

func TestTheStateAfterARun(t *testing.T) {
	seen := func(change func(*rewrite.StreamState)) rewrite.StreamState {
		s := rewrite.StreamState{ID: "id", Final: true, Content: true}
		change(&s)
		return s
	}
	for name, test := range map[string]struct {
		o     Outcome
		state decide.State
		why   reason.Code
	}{
		"good": {Outcome{Seen: seen(func(*rewrite.StreamState) {})}, decide.Live, ""},
		"background": {Outcome{Seen: seen(func(s *rewrite.StreamState) { s.Background = true })},
			decide.Live, reason.BackgroundLeft},
		"turn limit": {Outcome{Exit: 1,
			Seen: seen(func(s *rewrite.StreamState) { s.Failed, s.TurnLimit = true, true })},
			decide.Live, reason.TurnLimit},
		"refused": {Outcome{Seen: seen(func(s *rewrite.StreamState) {
			s.Refusal = reason.Forgotten
		})}, decide.Dead, reason.Forgotten},
		"killed": {Outcome{Signal: 9,
			Seen: seen(func(s *rewrite.StreamState) { s.Outside = reason.Interrupted })},
			decide.Killed, ""},
		"unread": {Outcome{Printed: true,
			Seen: seen(func(s *rewrite.StreamState) { s.Final = false })}, decide.Failed,
			reason.Unread},
		"no answer": {Outcome{Seen: seen(func(s *rewrite.StreamState) { s.Content = false })},
			decide.Failed, reason.NoAnswer},
		"outside": {Outcome{Exit: 1,
			Seen: seen(func(s *rewrite.StreamState) {
				s.Failed, s.Outside = true, reason.Interrupted
			})}, decide.Failed, reason.Interrupted},
	} {
		if state, why, _ := test.o.State(); state != test.state || why != test.why {
			t.Errorf("%s: %s (%s), want %s (%s)", name, state, why, test.state, test.why)
		}
	}
}

func TestRolesAreEnded(t *testing.T) {
	for _, test := range []struct {
		role  string
		ended bool
	}{
		{"coder", true}, {"Coder", true}, {"coder" + prompt.RoleTextMark + "0123", true},
		{"coder 2", false}, {"reviewer", false}, {"", false},
	} {
		for _, task := range []string{"parser", "lexer"} {
			c := Chain{Cwd: "/project", Task: task, Role: test.role, Sessions: make([]Session, 2)}
			c.ResetRoles("/project", "parser", []string{"other", "coder"})
			if want := test.ended && task == "parser"; c.Sessions[0].Reset != want ||
				c.Sessions[1].Reset != want {
				t.Errorf("%q of %s: %+v", test.role, task, c.Sessions)
			}
		}
	}
}

// A session is read as it was written, with each of its fields.
func TestSessionsAreKeptWhole(t *testing.T) {
	l, _ := newLedger(t)
	_, ticket := begin(t, l, fmt.Sprintf(base, 1), 1000)
	err := l.transact(func(tx *sql.Tx) error {
		s, err := sessions.get(tx, "id = ?", ticket.Session)
		if err != nil {
			return err
		}
		setFields(reflect.ValueOf(s).Elem())
		s.Chain, s.InUse, s.Caller = ticket.Chain, false, callerOf(7)
		s.Rounds = decide.Rounds{Count: 1, Given: "g"}
		s.Stamp, s.Shared = "12", "task"
		if s.ID, err = sessions.put(tx, s); err != nil {
			return err
		}
		read, err := sessions.get(tx, "id = ?", s.ID)
		if !reflect.DeepEqual(read, s) {
			t.Errorf("%+v, was %+v", read, s)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// setFields gives each field of a struct a value.
func setFields(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() == reflect.Pointer {
			f.Set(reflect.New(f.Type().Elem()))
			f = f.Elem()
		}
		switch f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.String:
			f.SetString(v.Type().Field(i).Name)
		case reflect.Int64:
			f.SetInt(int64(i) + 1)
		case reflect.Slice:
			f.SetBytes([]byte(v.Type().Field(i).Name))
		}
	}
}
