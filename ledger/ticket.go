package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A Ticket represents a running invocation.
type Ticket struct {
	Invocation int64
	Chain      int64 // 0 for none
	Session    int64
	Source     int64          // the session that its own is to be a copy of, 0 for none
	Totals     rewrite.Totals // of the session before this call
	Left       string         // the session's Outcome.Left before this call
	call       *Call
	key        prompt.Key
	Hour       bool // the provider is asked to keep the prompt for an hour
	transcript bool
	crowded    bool        // another call of the chain is running
	cut        bool        // only part of Source was to be copied
	fellBack   reason.Code // why the resume was given up, if that could not be recorded
	finished   bool        // FinishEarly has recorded the outcome
	late       pendingTurn // the start of a call that could not be recorded, written with the end; Invocation is 0 until then
	Loan       *Loan       // the session that the call has taken from another book, nil for none
}

// stillHolds reports whether the facts behind the decision are unchanged: the session is as it was
// and free, and if only a name led to it, no other call has begun under that name.
func stillHolds(tx *sql.Tx, d decide.Decision, f decide.Facts) (same bool, err error) {
	if !d.Mode.Continues() {
		return true, nil
	}
	c := f.Session(d.Session)
	byItself := c.Continuity.Retains() || d.Reason == reason.StartedFrom // another call might have gone on with it
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM sessions s JOIN chains c ON c.id = s.chain_id
		WHERE s.id = ? AND s.state = ? AND s.last_used = ? AND s.reset = 0 AND (? OR c.session_id = ? AND c.concurrent = ?))`,
		d.Session, decide.Live, c.LastUsed, byItself, c.Newest, c.Concurrent).Scan(&same)
	if err != nil || !same || d.Copy {
		return same, err
	}
	busy, err := sessionHeld(tx, d.Session)
	return !busy, err
}

func (t *Ticket) begin(tx *sql.Tx, c *Call, d *decide.Decision) error {
	if d.Reason != reason.Never {
		if err := t.join(tx, c, d); err != nil {
			return err
		}
	}
	idle, held := known(d.Mode.Continues(), int64(max(0, c.Now-d.LastUsed))), known(d.Mode.Continues(), d.Context.Used)
	if c.MayKeepHour && t.Chain != 0 {
		var err error
		if t.Hour, err = hourPays(tx, t.Chain, idle, held); err != nil {
			return err
		}
	}
	sent, whole := c.sends(*d)
	return insert(tx, &t.Invocation, `INSERT INTO invocations
		(id, chain_id, session_id, rule, tool, cwd, started, mode, reason, detail, resumed_from, format, prompt_bytes, sent_bytes, why_whole, arm, changed, idle, held, caller, proof, unshared, cache_hour)
		VALUES (`+unusedID("invocations")+`, nullif(?, 0), nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.Chain, t.Session, c.Rule, c.Tool, c.Cwd, c.Now, d.Mode, d.Reason, d.Detail, d.NativeID, c.Format,
		len(c.Prompt.Text), sent, whole, t.Arm(), strings.Join(d.Changed, "\t"),
		idle, held, c.Caller.String(), EncodeJSON(d.Proof), c.Unshared, t.Hour)
}

// join assigns the call a place in a chain, and a session.
func (t *Ticket) join(tx *sql.Tx, c *Call, d *decide.Decision) (err error) {
	if t.Loan != nil {
		if d.Chain, d.Session, err = findLent(tx, d.NativeID); err != nil {
			return err
		}
	}
	created, err := t.ensureChain(tx, c, d.Chain)
	if err == nil && !created {
		t.crowded, err = chainHeld(tx, t.Chain)
	}
	if err != nil {
		return err
	}
	d.Chain = t.Chain
	t.transcript = d.Continuity.Transcript
	own := &storedSession{chain: t.Chain, tool: c.Tool, format: Format}
	var from *Session
	if d.Mode.Continues() && d.Session != 0 { // else another machine has begun it
		source, err := readSession(tx, d.Session)
		if err != nil {
			return err
		}
		if source == nil {
			return sql.ErrNoRows
		}
		from, t.Totals, t.Left = &source.Session, source.Totals, source.LeftFiles
		if d.Copy {
			t.Source, t.cut = source.id, d.ForkAt != "" && d.Reason != reason.StartedFrom
			own.parent, own.format = &source.id, source.format
		} else {
			own = source
		}
	}
	anew, continued := joins(d, from)
	own.Session = sessionFor(c, d, from)
	return t.take(tx, own, anew, continued)
}

// ensureChain sets the call's chain and creates it if there is none. Another process might have
// created a named chain in the meantime.
func (t *Ticket) ensureChain(tx *sql.Tx, c *Call, chain int64) (created bool, err error) {
	t.Chain = chain
	if chain == 0 && c.Task != "" {
		err := tx.QueryRow(namedChain,
			c.Tool, c.Cwd, c.Home, c.Scope, c.Task, c.Role).Scan(&t.Chain)
		if !errors.Is(err, sql.ErrNoRows) {
			return false, err
		}
	}
	if t.Chain != 0 {
		return false, nil
	}
	anew := NewChain(c)
	t.Chain, err = insertRow(tx, "chains", anew.columns())
	return true, err
}

// take makes a session the call's, and takes its lease.
func (t *Ticket) take(tx *sql.Tx, own *storedSession, anew, continued bool) error {
	if t.Loan != nil {
		own.shared = t.Loan.Kind
	}
	if err := own.write(tx); err != nil {
		return err
	}
	if err := own.take(tx, t.call, t.crowded, anew, continued); err != nil {
		return err
	}
	t.Session = own.id
	return takeLease(tx, t.Session, proc.This(), t.call.Now)
}

// FallBack implements Book. If it cannot be recorded, the session stays like one after a last run that ended
// unseen, so that it is not resumed again, and the call has none.
func (l *Ledger) FallBack(t *Ticket, why reason.Code) error {
	refused := t.Session
	err := l.write(func(tx *sql.Tx) error { return t.fallBack(tx, refused, why) })
	t.Totals, t.Left = "", ""
	if err != nil {
		t.GiveUp(why)
		return fmt.Errorf("record refusal: %w", err)
	}
	return nil
}

// GiveUp is FallBack without a record: the call goes on without a session.
func (t *Ticket) GiveUp(why reason.Code) {
	t.Totals, t.Left, t.Session, t.fellBack = "", "", 0, why
}

func (t *Ticket) fallBack(tx *sql.Tx, refused int64, why reason.Code) error {
	s, err := readSession(tx, refused)
	if err != nil {
		return err
	}
	if s == nil {
		return sql.ErrNoRows
	}
	source, err := s.source(tx)
	if err != nil {
		return err
	}
	if t.Source == 0 { // the session is a copy, but this call has not made it
		source = nil
	}
	r := refusal{why, t.Source != 0, t.cut}
	s.refuse(r, source.value())
	if err := errors.Join(s.write(tx), source.write(tx)); err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM leases WHERE session_id = ?", refused); err != nil {
		return err
	}
	own := &storedSession{Session: newSession(t.call), chain: t.Chain, tool: t.call.Tool, format: Format}
	if err := t.take(tx, own, r.anew(), false); err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE invocations SET mode = ?, fell_back = ?, session_id = ?, sent_bytes = prompt_bytes, why_whole = '' WHERE id = ?",
		rewrite.Fresh, why, t.Session, t.Invocation)
	return err
}

// namedChain finds the chain of a call with a task.
const namedChain = "SELECT id FROM chains WHERE tool = ? AND cwd = ? AND home = ? AND rule = ? AND task = ? AND role = ?"

// resetRoles ends these roles' sessions in a task: in every tool, under every rule's name, and with
// any text of the role. Ending one too many costs little.
func resetRoles(tx *sql.Tx, cwd, task string, roles []string) error {
	for _, role := range roles {
		_, err := tx.Exec(`UPDATE sessions SET reset = 1 WHERE reset = 0 AND chain_id IN
			(SELECT id FROM chains WHERE cwd = ? AND task = ? AND (role = ? COLLATE NOCASE OR substr(role, 1, ?) = ? COLLATE NOCASE))`,
			cwd, task, role, utf8.RuneCountInString(role+prompt.RoleTextMark), role+prompt.RoleTextMark)
		if err != nil {
			return err
		}
	}
	return nil
}

// Observe records a call of a session that the caller manages. The call belongs to no chain. The
// session that the caller names, "" for none, is the caller's from then on. If the ledger is locked,
// the call is recorded when it ends.
func (l *Ledger) Observe(c *Call, why reason.Code, named string, promptBytes int) (*Ticket, error) {
	t := l.ObserveLate(c, why, named, promptBytes)
	err := l.write(func(tx *sql.Tx) (err error) {
		t.Invocation, err = t.late.begin(tx, &Ending{Cwd: c.Cwd})
		return err
	})
	if err != nil {
		t.Invocation = 0
	}
	if err != nil && !IsLocked(err) {
		return nil, fmt.Errorf("record call: %w", err)
	}
	return t, nil
}

// ObserveLate is Observe for a call that found the ledger locked. It does not try again.
func (l *Ledger) ObserveLate(c *Call, why reason.Code, named string, promptBytes int) *Ticket {
	return &Ticket{call: c, key: l.key, late: pendingTurn{Turn: Turn{Started: c.Now, Bytes: promptBytes}, Tool: c.Tool, Rule: c.Rule, Format: c.Format, Reason: why, Named: named}}
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
	return Explain(l.writeIfFree(func(tx *sql.Tx) error {
		if _, err := tx.Exec("UPDATE sessions SET native_id = ? WHERE id = ? AND native_id IS NULL",
			nativeID, session); err != nil {
			return err
		}
		p := proc.ByPID(child)
		_, err := tx.Exec("UPDATE leases SET child = ?, child_start = ? WHERE session_id = ? AND pid = ?",
			p.PID, p.Start, session, os.Getpid())
		return err
	}))
}
