package ledger

import (
	"cmp"
	"database/sql"
	"os"
	"slices"
	"unicode/utf8"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A Ticket is a running call, as far as it is known.
type Ticket struct {
	Record
	Source int64          // the session that its own is to be a copy of, 0 for none
	Totals rewrite.Totals // of the session before this call
	Left   string         // the session's Outcome.Left before this call
	// the tokens of the first request of the session's last run that ended well, 0 if not known
	FirstBefore int64
	Loan        *Loan // the session that the call has taken from another book, nil for none
	call        *Call
	key         prompt.Key
	transcript  bool
	cut         bool // only part of Source was to be copied
	Recorded    int  // how many turns FinishEarly has recorded
}

func (t *Ticket) begin(tx *sql.Tx, d decide.Decision) (err error) {
	c := t.call
	if d.Reason != reason.Never {
		err = t.join(tx, &d)
	} else {
		err = resetRoles(tx, c.Cwd, c.Task, c.Resets)
	}
	if err != nil {
		return err
	}
	continues := d.Mode.Continues()
	t.Started, t.PromptBytes = c.Now, int64(len(c.Prompt.Text))
	t.Mode, t.Reason, t.Detail, t.Changed, t.Evidence = d.Mode, d.Reason, d.Detail, d.Changed,
		d.Evidence
	t.ResumedFrom, t.Arm = d.NativeID, t.arm()
	t.Idle, t.HeldTokens = known(continues, int64(max(0, c.Now-d.Of.LastUsed))),
		known(continues, d.Of.ContextUsed)
	if c.MayKeepHour && t.Chain != 0 {
		if t.Hour, err = hourPays(tx, t.Chain, t.Idle, t.HeldTokens); err != nil {
			return err
		}
	}
	if err := tx.QueryRow(`SELECT coalesce((SELECT first_prompt FROM calls WHERE session_id = ?1
		AND chain_id = (SELECT chain_id FROM sessions WHERE id = ?1) AND outcome = 'ok'
		ORDER BY id DESC LIMIT 1), 0)`, d.Session).Scan(&t.FirstBefore); err != nil {
		return err
	}
	t.SentBytes = t.PromptBytes
	if continues && c.Sends != nil {
		sent, whole := c.Sends(d)
		t.SentBytes, t.WholeReason = int64(sent), whole
	}
	_, err = t.save(tx)
	return err
}

// join assigns the call a place in a chain, and a session.
func (t *Ticket) join(tx *sql.Tx, d *decide.Decision) (err error) {
	c := t.call
	if t.Loan != nil {
		if d.Chain, d.Session, err = findLent(tx, d.NativeID); err != nil {
			return err
		}
	}
	chain, err := chainFor(tx, c, d)
	if err != nil {
		return err
	}
	var held []lease
	if chain.ID != 0 {
		if held, err = clearLeases(tx, "WHERE s.chain_id = ?", chain.ID); err != nil {
			return err
		}
	}
	from, err := t.source(tx, d, chain, held)
	if err != nil {
		return err
	}
	if from != nil {
		t.Totals, t.Left, t.cut = from.Totals, from.LeftFiles, d.ForkAt != ""
	}
	if t.Loan == nil {
		if err := resetRoles(tx, c.Cwd, c.Task, c.Resets); err != nil {
			return err
		}
		chain.ResetRoles(c.Cwd, c.Task, c.Resets)
	}
	t.transcript = d.Continuity.Transcript
	if err := chain.readLast(tx); err != nil {
		return err
	}
	chain.crowded = len(held) > 0
	t.Session, t.Source = chain.Begin(c, *d, from)
	err = t.take(tx, chain)
	t.Chain, d.Chain = chain.ID, chain.ID
	return err
}

// source returns the session that the call continues; nil if it is fresh, or another machine has
// begun the session. It fails with ErrMoved if the decision does not hold any more.
func (t *Ticket) source(tx *sql.Tx, d *decide.Decision, chain *Chain, held []lease) (
	from *Session, err error) {
	if d.Session == 0 {
		return nil, nil
	}
	if from = chain.at(d.Session); from == nil { // it is another chain's, to be copied
		from, err = sessions.get(tx, "id = ?", d.Session)
	}
	if err == nil && (from == nil || t.Loan == nil && !stillHolds(d, from, chain, held)) {
		err = ErrMoved
	}
	return from, err
}

// stillHolds reports whether the facts behind a decision are unchanged: the session is as it was
// and free, also of its caller, and if only a name led to it, no other call has begun under that
// name.
func stillHolds(d *decide.Decision, s *Session, c *Chain, held []lease) bool {
	// another call might have gone on with it
	byItself := d.Continuity.Retains() || d.Reason == reason.StartedFrom
	return s.State == decide.Live && s.LastUsed == d.Of.LastUsed && !s.Reset &&
		(byItself || c.Newest == d.Newest && c.Concurrent == d.Concurrent) &&
		(d.Copy || !s.CallersOwn &&
			!slices.ContainsFunc(held, func(l lease) bool { return l.session == s.ID }))
}

// chainFor returns the chain of a decision, or else of the call's name, a new one if there is none.
// Another process can have created a named chain in the meantime.
func chainFor(tx *sql.Tx, c *Call, d *decide.Decision) (chain *Chain, err error) {
	if d.Chain != 0 {
		chain, err = loadChain(tx, d.Session, "id = ?", d.Chain)
	} else if c.Task != "" {
		chain, err = loadChain(tx, d.Session, ofName, c.name()...)
	}
	if chain == nil && err == nil {
		chain = new(NewChain(c))
	}
	return chain, err
}

// take saves the chain with the call's session, and takes the lease.
func (t *Ticket) take(tx *sql.Tx, chain *Chain) error {
	shared := ""
	if t.Loan != nil {
		shared = t.Loan.Kind
	}
	if err := chain.save(tx, shared); err != nil {
		return err
	}
	return takeLease(tx, t.Session, proc.This(), t.call.Now)
}

// FallBack implements Book. If it cannot be recorded, the session stays like one after a last run
// that ended unseen, so that it is not resumed again, and the call has none.
func (l *Ledger) FallBack(t *Ticket, why reason.Code) error {
	refused := t.Session
	t.GiveUp(why)
	err := l.write(func(tx *sql.Tx) error { return t.fallBack(tx, refused, why) })
	if err != nil {
		t.Session = 0
	}
	return Wrap("record refusal", err)
}

// GiveUp is FallBack without a record: the call goes on without a session.
func (t *Ticket) GiveUp(why reason.Code) {
	t.Totals, t.Left, t.Session, t.Mode, t.FellBack = "", "", 0, rewrite.Fresh, why
}

func (t *Ticket) fallBack(tx *sql.Tx, refused int64, why reason.Code) error {
	chain, err := loadChain(tx, refused, "id = ?", t.Chain)
	if chain == nil || chain.at(refused) == nil {
		return cmp.Or(err, sql.ErrNoRows)
	}
	if err := chain.readLast(tx); err != nil {
		return err
	}
	t.Session = chain.FallBack(t, refused, t.Source, why)
	if _, err := tx.Exec("DELETE FROM leases WHERE session_id = ?", refused); err != nil {
		return err
	}
	if err := t.take(tx, chain); err != nil {
		return err
	}
	t.SentBytes, t.WholeReason = t.PromptBytes, ""
	_, err = t.save(tx)
	return err
}

// ofName finds the chain of a call with a task.
const ofName = "tool = ? AND cwd = ? AND home = ? AND rule = ? AND task = ? AND role = ?"

// resetRoles ends these roles' sessions in a task: in every tool, under every rule's name, and with
// any text of the role. Ending one too many costs little.
func resetRoles(tx *sql.Tx, cwd, task string, roles []string) error {
	for _, role := range roles {
		_, err := tx.Exec(`UPDATE sessions SET reset = 1 WHERE reset = 0 AND chain_id IN
			(SELECT id FROM chains WHERE cwd = ? AND task = ? AND (role = ? COLLATE NOCASE OR substr(role, 1,
			?) = ? COLLATE NOCASE))`,
			cwd, task, role, utf8.RuneCountInString(role+prompt.RoleTextMark),
			role+prompt.RoleTextMark)
		if err != nil {
			return err
		}
	}
	return nil
}

// Observe records a call of a session that the caller manages. The call belongs to no chain. The
// session that the caller names, "" for none, is the caller's from then on. If the ledger is
// locked, the call is recorded when it ends.
func (l *Ledger) Observe(c *Call, why reason.Code, named string, promptBytes int) (*Ticket, error) {
	t := l.ObserveLate(c, why, promptBytes)
	err := l.write(func(tx *sql.Tx) error {
		err := callersOwn(tx, named)
		if err == nil {
			t.ID, err = records.put(tx, &t.Record)
		}
		return err
	})
	switch {
	case IsLocked(err):
		t.ID = 0
		if named != "" { // the session is the caller's at once, not only when the run ends
			of := Outcome{Seen: rewrite.StreamState{ID: named}}
			_ = l.spool.put(c.Now, EncodeJSON(Ending{Ledger: l.name(), Outcome: of}))
		}
	case err != nil:
		return nil, Wrap("record call", err)
	}
	return t, nil
}

// ObserveLate is Observe for a call that found the ledger locked. It does not try again.
func (l *Ledger) ObserveLate(c *Call, why reason.Code, promptBytes int) *Ticket {
	return &Ticket{Record: c.Record.observed(why, c.Now, promptBytes), call: c, key: l.key}
}

// callersOwn records that the caller itself has continued a session.
func callersOwn(tx *sql.Tx, id string) error {
	if id == "" {
		return nil
	}
	_, err := tx.Exec("UPDATE sessions SET callers_own = 1 WHERE native_id = ?", id)
	return err
}

// Pin records the session's ID and the tool's process as soon as they are known. A lease that
// another process has taken stays as it is. Pin is not urgent: if another process holds the ledger
// lock, it returns ErrLocked instead of delaying others.
func (l *Ledger) Pin(session int64, nativeID string, child int) error {
	return Explain(l.writeWithin(0, func(tx *sql.Tx) error {
		p := proc.ByPID(child)
		_, err := tx.Exec(`UPDATE sessions SET native_id = ? WHERE id = ? AND native_id IS NULL;
			UPDATE leases SET child = ?, child_start = ? WHERE session_id = ? AND pid = ?`,
			nativeID, session, p.PID, p.Start, session, os.Getpid())
		return err
	}))
}
