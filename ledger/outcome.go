package ledger

import (
	"database/sql"
	"errors"
	"fmt"

	"reprise/rewrite"
)

// FallBack abandons a resume: the session is dead for that reason, and the call continues in a new
// one of the same chain. A session that is only busy stays alive. A refused copy is no session; its
// source dies only if the reason lies in it. If FallBack cannot be recorded, the session stays like
// one whose last run ended unseen, so that it is not resumed again, and the call has none.
func (l *Ledger) FallBack(t *Ticket, why rewrite.Reason) error {
	refused := t.Session
	err := l.write(func(tx *sql.Tx) error { return t.fallBack(tx, refused, why) })
	t.Totals = ""
	if err != nil {
		t.Session, t.fellBack = 0, why
		return fmt.Errorf("record refusal: %w", err)
	}
	return nil
}

// unfit are the refusals caused by the session itself: it would be refused again.
var unfit = map[rewrite.Reason]bool{
	rewrite.RefusedUnknown: true, rewrite.RefusedOtherID: true, rewrite.RefusedContext: true, rewrite.RefusedBroken: true,
}

func (t *Ticket) fallBack(tx *sql.Tx, refused int64, why rewrite.Reason) error {
	copied := t.source != 0
	sourceDies := copied && unfit[why] && !t.cut // the cut itself may have been refused
	onlyBusy := !copied && (why == rewrite.RefusedBusy || why == rewrite.LateStdin)
	state := Dead
	if onlyBusy {
		state = Live
	}
	if _, err := tx.Exec("UPDATE sessions SET state = ?, state_why = ?, errors = errors + 1 WHERE id = ?", state, why, refused); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE sessions SET state = CASE WHEN ?1 THEN ?2 ELSE state END, state_why = CASE WHEN ?1 THEN ?3 ELSE state_why END,
		errors = errors + 1 WHERE id = ?4`, sourceDies, Dead, why, t.source); err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM leases WHERE session_id = ?", refused); err != nil {
		return err
	}
	if err := t.newSession(tx, sourceDies || !copied && !onlyBusy); err != nil {
		return err
	}
	_, err := tx.Exec("UPDATE invocations SET mode = ?, fell_back = ?, session_id = ? WHERE id = ?",
		rewrite.Fresh, why, t.Session, t.Invocation)
	return err
}

// An Outcome is how a run ended.
type Outcome struct {
	Now      Millis
	Exit     int
	Signal   int // 0 unless it died by one
	Seen     rewrite.StreamState
	IDFormat rewrite.Format // of the output that the ID was read from
	Sent     int            // bytes of the prompt that the model was sent
	File     string         // in which the session is stored, "" if it was not found
	Stamp    Stamp          // of the session after the run
	Resets   []string       // roles whose chains of the call's task the answer ends
	Place    Place          // of the directory after the run
}

// Good reports whether a session may be continued after such a run: the exit code was 0, the final
// event was seen and was no error, and the last message was the model's.
func (o *Outcome) Good() bool {
	s := &o.Seen
	return o.Exit == 0 && o.Signal == 0 && s.Final && !s.Failed && !s.Synthetic && !s.WrongID && s.ID != ""
}

// Stopped reports whether the run failed only because of its caller's turn limit. Its session may
// be continued.
func (o *Outcome) Stopped() bool {
	s := &o.Seen
	return s.TurnLimit && o.Signal == 0 && s.Final && !s.Synthetic && !s.WrongID && s.Refusal == "" && s.ID != ""
}

func (o *Outcome) state() (state State, outcome string) {
	switch {
	case o.Signal != 0:
		return Killed, "killed"
	case o.Stopped():
		return Live, "failed"
	case !o.Good():
		return Failed, "failed"
	}
	return Live, "ok"
}

// A Turn is a later turn of a run whose caller has gone on with its session in the same process.
type Turn struct {
	Started Millis
	Bytes   int             // of what the caller sent
	Prompt  *rewrite.Prompt // all that the session had been sent by then
	Outcome Outcome
}

// Finish records how the run ended and releases the lease. It records each later turn as an
// observed call of the same session. If the ledger cannot be written, it
// keeps the outcome in the spool for the next process that writes.
func (l *Ledger) Finish(t *Ticket, o *Outcome, later ...Turn) error {
	e := t.pendingOutcome(t.call.Prompt, o)
	e.Ledger = l.name()
	for i := range later {
		turn := &later[i]
		e.Later = append(e.Later, pendingTurn{
			Started: turn.Started, Bytes: turn.Bytes, Tool: t.call.Tool, Rule: t.call.Rule, Format: t.call.Format,
			Ending: t.pendingOutcome(turn.Prompt, &turn.Outcome),
		})
	}
	err := l.write(e.record)
	if err == nil {
		return nil
	}
	if kept := l.spool.put(&e); kept != nil {
		return fmt.Errorf("record outcome: %w", errors.Join(err, kept))
	}
	return nil
}

// pendingOutcome returns everything that a run leaves to record. Its texts are in it only as digests.
func (t *Ticket) pendingOutcome(prompt *rewrite.Prompt, o *Outcome) pendingOutcome {
	e := pendingOutcome{Invocation: t.Invocation, Session: t.Session, Chain: t.chain, Cwd: t.call.Cwd, Task: t.call.Task,
		FellBack: t.fellBack, Transcript: t.transcript, Outcome: *o}
	if t.Session != 0 {
		base := prompt.Footprint()
		e.Opening, e.Bytes, e.Blocks = base.Opening, base.Bytes, encodeDigests(base.Blocks)
		e.Lines, e.Shape = encodeLines(base.Lines), encodeShape(base.Shape)
		traces := rewrite.NewTraces(prompt, o.Seen.Answer, o.Seen.Files, t.key)
		e.Things, e.Gist = encodeMarks(traces.Things), encodeMarks(traces.Gist)
		answer := rewrite.NewAnswer(o.Seen.Answer, o.Seen.Texts, t.key)
		e.Answer, e.Said = encodeAnswer(answer), encodeSaid(answer)
	}
	s := &o.Seen
	e.Outcome.Seen = rewrite.StreamState{ID: s.ID, Source: s.Source, Version: s.Version, Model: s.Model,
		WrongID: s.WrongID, Final: s.Final, Failed: s.Failed, TurnLimit: s.TurnLimit, Synthetic: s.Synthetic, Refusal: s.Refusal,
		Compacted: s.Compacted, Usage: s.Usage, Totals: s.Totals, ContextUse: s.ContextUse, First: s.First}
	return e
}

func (e *pendingOutcome) record(tx *sql.Tx) error {
	o := &e.Outcome
	if err := e.recordRefusal(tx); err != nil {
		return err
	}
	if first, err := e.recordInvocation(tx); err != nil || !first {
		return err
	}
	if err := resetRoles(tx, e.Cwd, e.Task, o.Resets); err != nil {
		return err
	}
	if e.Session == 0 {
		return callersOwn(tx, o.Seen.ID) // of an observed call; any other has a new session
	}
	if err := e.recordSession(tx); err != nil {
		return err
	}
	if o.Good() && o.Seen.Usage.Known {
		if err := e.meter(tx); err != nil {
			return err
		}
	}
	for i := range e.Later {
		if err := e.Later[i].record(tx); err != nil {
			return err
		}
	}
	if _, err := tx.Exec("UPDATE chains SET updated = max(updated, ?) WHERE id = ?", o.Now, e.Chain); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM leases WHERE session_id = ?", e.Session)
	return err
}

// record records a turn of the session that has been recorded up to the one before.
func (p *pendingTurn) record(tx *sql.Tx) error {
	e := &p.Ending
	err := insert(tx, &e.Invocation, `INSERT INTO invocations
		(id, chain_id, session_id, rule, tool, cwd, started, mode, reason, format, prompt_bytes, sent_bytes)
		VALUES (`+unusedID("invocations")+`, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.Chain, e.Session, p.Rule, p.Tool, e.Cwd, p.Started, rewrite.Observe, rewrite.NextTurn, p.Format, p.Bytes, p.Bytes)
	if err != nil {
		return err
	}
	if _, err := e.recordInvocation(tx); err != nil {
		return err
	}
	if err := resetRoles(tx, e.Cwd, e.Task, e.Outcome.Resets); err != nil {
		return err
	}
	return e.recordSession(tx)
}

// recordInvocation reports whether the invocation had no outcome yet.
func (e *pendingOutcome) recordInvocation(tx *sql.Tx) (first bool, err error) {
	o := &e.Outcome
	_, outcome := o.state()
	s, u, request := &o.Seen, &o.Seen.Usage, &o.Seen.First
	result, err := tx.Exec(`UPDATE invocations SET duration = ? - started, native_id = nullif(?, ''),
		id_source = nullif(?, ''), id_format = nullif(?, ''), model = nullif(?, ''), sent_bytes = ?,
		input = ?, cache_read = ?, cache_write = ?, output = ?, cost = ?, first_prompt = ?, first_read = ?,
		outcome = ?, exit_code = ?, signal = nullif(?, 0) WHERE id = ? AND outcome IS NULL`,
		o.Now, s.ID, s.Source, o.IDFormat, s.Model, o.Sent,
		known(u.Known, plausible(u.Input)), known(u.Known, plausible(u.CacheRead)), known(u.Known, plausible(u.CacheWrite)),
		known(u.Known, plausible(u.Output)), known(u.CostKnown, plausible(u.CostNano)),
		known(request.Known, plausible(request.Input+request.CacheRead+request.CacheWrite)), known(request.Known, plausible(request.CacheRead)), outcome, o.Exit, o.Signal, e.Invocation)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// recordRefusal records a refusal that could not be recorded when it came.
func (e *pendingOutcome) recordRefusal(tx *sql.Tx) error {
	if e.FellBack == "" {
		return nil
	}
	_, err := tx.Exec("UPDATE invocations SET mode = ?, fell_back = ?, session_id = NULL WHERE id = ? AND outcome IS NULL",
		rewrite.Fresh, e.FellBack, e.Invocation)
	return err
}

// maxFigure exceeds what any call can use, in tokens and in nano-dollars: a million dollars. Nine
// thousand of them still add up without overflow.
const maxFigure = 1e15

// plausible limits a figure reported by a tool, so that sums cannot overflow.
func plausible(n int64) int64 { return min(max(n, 0), maxFigure) }

func known(ok bool, n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: ok} }

func (e *pendingOutcome) recordSession(tx *sql.Tx) error {
	o := &e.Outcome
	state, _ := o.state()
	s := &o.Seen
	errorsMore, turnsMore := 0, 1
	if state != Live {
		errorsMore, turnsMore = 1, 0
	}
	why := s.Refusal
	if why != "" {
		state = Dead
	}
	if o.Stopped() {
		why = rewrite.TurnLimit
	}
	_, err := tx.Exec(`UPDATE sessions SET state = ?, state_why = ?, native_id = nullif(?, ''), last_used = ?,
		turns = turns + ?, errors = errors + ?, version = coalesce(nullif(?, ''), version),
		base = ?, base_opening = ?, base_bytes = ?, base_lines = coalesce(?, x''), shape = coalesce(?, x''),
		things = coalesce(substr(CAST(coalesce(?, x'') || things AS BLOB), 1, ?), x''), gist = coalesce(?, x''),
		answers = answers || ?, said = said || ?,
		transcript = transcript OR ?, compacted = compacted OR ?,
		context_used = ?, context_limit = ?, totals = ?, file = nullif(?, ''), stamp = nullif(?, ''),
		repository = ?, branch = ?, head = ?, first_model = CASE first_model WHEN '' THEN ? ELSE first_model END WHERE id = ?`,
		state, why, s.ID, o.Now, turnsMore, errorsMore, s.Version,
		e.Blocks, e.Opening, e.Bytes, e.Lines, e.Shape, e.Things, rewrite.MaxThings*markSize, e.Gist, e.Answer, e.Said,
		e.Transcript, s.Compacted, s.ContextUse.Used, s.ContextUse.Limit, s.Totals, o.File, o.Stamp,
		o.Place.Repository, o.Place.Branch, o.Place.Head, s.Model, e.Session)
	if err != nil || state == Live {
		return err
	}
	// A copy's source is continued again, but not forever.
	_, err = tx.Exec("UPDATE sessions SET errors = errors + 1 WHERE id = (SELECT parent_id FROM sessions WHERE id = ?)", e.Session)
	return err
}
