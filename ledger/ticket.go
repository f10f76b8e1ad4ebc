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
	late       pendingTurn // recorded with the end of a call if the beginning could not be, Invocation being 0
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
	switch {
	case d.Mode.Continues() && d.Session == 0: // another machine began it
		return t.newSession(tx, true)
	case d.Reason == reason.StartedFrom:
		return t.startFrom(tx, d.Session)
	case d.Copy:
		t.cut = d.ForkAt != ""
		return t.copySession(tx, d.Session, d.Rounds)
	case d.Mode == rewrite.Resume:
		return t.resumeSession(tx, d.Session, d.Rounds)
	}
	return t.newSession(tx, d.Reason != reason.Ambiguous && d.Detail != reason.Unrelated)
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
	err = insert(tx, &t.Chain, `INSERT INTO chains (id, tool, cwd, home, rule, task, role, created, updated)
		VALUES (`+unusedID("chains")+`, ?, ?, ?, ?, ?, ?, ?, ?)`, c.Tool, c.Cwd, c.Home, c.Scope, c.Task, c.Role, c.Now, c.Now)
	return true, err
}

// newSession creates the session of a fresh run. It immediately becomes the chain's newest, before
// the ID is known. If the job begins anew with it, earlier sessions are over; otherwise they remain
// as other ends of the chain.
func (t *Ticket) newSession(tx *sql.Tx, anew bool) error {
	c, base := t.call, t.call.Prompt.Footprint()
	err := insert(tx, &t.Session, `INSERT INTO sessions
		(id, chain_id, tool, state, created, last_used, settings, model, runtime, auth, base, base_opening, base_bytes, base_lines, shape, root, attempt,
			repository, branch, head, caller, format)
		VALUES (`+unusedID("sessions")+`, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.Chain, c.Tool, decide.Running, c.Now, c.Now, c.Fingerprints.Settings, c.Fingerprints.Model, c.Fingerprints.Runtime, c.Fingerprints.Auth,
		encodeDigests(base.Blocks), base.Opening, base.Bytes, encodeLines(base.Lines), encodeShape(base.Shape), encodeDigests(append([]prompt.Digest{base.First}, base.Blocks...)), c.attempt(),
		c.Place.Repository, c.Place.Branch, c.Place.Head, c.Caller.String(), Format)
	if err != nil {
		return err
	}
	return t.takeSession(tx, anew, false)
}

// copySession creates the session that a copy of another one will be. It was sent and answered the
// same, and has the same age.
func (t *Ticket) copySession(tx *sql.Tx, source int64, rounds decide.Rounds) error {
	t.Source = source
	place := t.call.Place
	err := tx.QueryRow(`INSERT INTO sessions
		(id, chain_id, tool, state, created, last_used, settings, model, runtime, auth, base, base_opening, base_bytes, base_lines, shape,
			root, things, answers, said, transcript, compacted, context_used, context_limit, totals, turns, first_model, attempt, parent_id,
			repository, branch, head, caller, left_files, rounds, format)
		SELECT `+unusedID("sessions")+`, chain_id, tool, ?, created, ?, settings, model, runtime, auth, base, base_opening, base_bytes, base_lines, shape,
			root, things, answers, said, transcript, compacted, context_used, context_limit, totals, turns, first_model, coalesce(?, attempt), id,
			?, ?, ?, ?, left_files, ?, format
		FROM sessions WHERE id = ? RETURNING id, totals, left_files`,
		decide.Running, t.call.Now, t.call.attempt(), place.Repository, place.Branch, place.Head, t.call.Caller.String(), encodeRounds(rounds), source).Scan(&t.Session, &t.Totals, &t.Left)
	if err != nil {
		return err
	}
	return t.takeSession(tx, false, true)
}

// startFrom creates the session of a role's first call as a copy of another role's. The prompts and answers are
// not this role's: later calls must show what belongs to their own.
func (t *Ticket) startFrom(tx *sql.Tx, source int64) error {
	if err := t.newSession(tx, true); err != nil {
		return err
	}
	t.Source = source
	return tx.QueryRow(`UPDATE sessions AS s SET parent_id = p.id, created = p.created, compacted = p.compacted, context_used = p.context_used,
		context_limit = p.context_limit, totals = p.totals, turns = p.turns, first_model = p.first_model, left_files = p.left_files
		FROM sessions p WHERE p.id = ? AND s.id = ? RETURNING totals, left_files`, source, t.Session).Scan(&t.Totals, &t.Left)
}

// takeSession makes the call's session the chain's newest, and takes the lease. The chain begins anew
// with it only if no two of the calls have ever run at once. Where a session is continued, the chain is
// still found by the line that it began with.
func (t *Ticket) takeSession(tx *sql.Tx, anew, continued bool) error {
	_, err := tx.Exec(`UPDATE chains SET concurrent = concurrent OR ?1,
		since = CASE WHEN ?2 AND NOT (concurrent OR ?1) THEN ?3 ELSE coalesce(since, session_id) END,
		session_id = ?3, first_line = CASE WHEN ?4 THEN first_line ELSE ?5 END, updated = max(updated, ?6) WHERE id = ?7`,
		t.crowded, anew, t.Session, continued, t.call.FirstLine(), t.call.Now, t.Chain)
	if err == nil && t.Loan != nil {
		_, err = tx.Exec("UPDATE sessions SET shared = ? WHERE id = ?", t.Loan.Kind, t.Session)
	}
	if err != nil {
		return err
	}
	return takeLease(tx, t.Session, proc.This(), t.call.Now)
}

// resumeSession takes the lease. The session counts as running until the run has ended well: if the
// shim dies, the session is not resumed.
func (t *Ticket) resumeSession(tx *sql.Tx, session int64, rounds decide.Rounds) error {
	t.Session = session
	place := t.call.Place
	err := tx.QueryRow(`UPDATE sessions SET state = ?, last_used = ?, attempt = coalesce(?, attempt), repository = ?, branch = ?, head = ?, caller = ?, rounds = ?
		WHERE id = ? RETURNING totals, left_files`, decide.Running, t.call.Now, t.call.attempt(), place.Repository, place.Branch, place.Head, t.call.Caller.String(), encodeRounds(rounds), session).Scan(&t.Totals, &t.Left)
	if err != nil {
		return err
	}
	return t.takeSession(tx, false, true)
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

// unfit are the refusals with a cause in the session itself, or can be: it would be refused again, or a
// store cannot bring it.
var unfit = map[reason.Code]bool{
	reason.SessionMoved: true, reason.SessionGone: true,
	reason.RefusedUnknown: true, reason.RefusedOtherID: true, reason.RefusedContext: true, reason.RefusedBroken: true, reason.RefusedSilent: true, reason.NoAnswer: true, reason.Forgotten: true,
}

func (t *Ticket) fallBack(tx *sql.Tx, refused int64, why reason.Code) error {
	copied := t.Source != 0
	sourceDies := copied && unfit[why] && !t.cut // the cut itself might have been refused
	onlyBusy := !copied && (why == reason.RefusedBusy || why == reason.LateStdin)
	state := decide.Dead
	if onlyBusy {
		state = decide.Live
	}
	if _, err := tx.Exec("UPDATE sessions SET state = ?, state_why = ?, errors = errors + 1 WHERE id = ?", state, why, refused); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE sessions SET state = CASE WHEN ?1 THEN ?2 ELSE state END, state_why = CASE WHEN ?1 THEN ?3 ELSE state_why END,
		errors = errors + 1 WHERE id = ?4 AND chain_id = ?5`, sourceDies, decide.Dead, why, t.Source, t.Chain); err != nil { // not another role's
		return err
	}
	if _, err := tx.Exec("DELETE FROM leases WHERE session_id = ?", refused); err != nil {
		return err
	}
	if err := t.newSession(tx, sourceDies || !copied && !onlyBusy); err != nil {
		return err
	}
	_, err := tx.Exec("UPDATE invocations SET mode = ?, fell_back = ?, session_id = ?, sent_bytes = prompt_bytes, why_whole = '' WHERE id = ?",
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
