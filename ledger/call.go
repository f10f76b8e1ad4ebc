package ledger

import (
	"database/sql"
	"encoding/binary"
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

// A Call is what the ledger needs to know about an invocation before it runs.
type Call struct {
	Tool, Cwd, Home string
	Task, Role      string   // Task is "" if continuity must find the chain
	Rule            string   // the rule that applies to the call
	Scope           string   // the rule whose names Task and Role are, "" if the caller set them
	Attempt         int      // or rewrite.NoAttempt
	Never           bool     // it belongs to no chain
	Strict          bool     // Task separates jobs, but continuity must prove the same one
	Unshared        string   // why its session is not shared, although there is a store
	Resets          []string // roles whose chains of this task its prompt ends
	StartFrom       string   // the role of the task as a copy of whose session the call's role begins, "" for none
	Format          rewrite.Format
	Prompt          *prompt.Prompt
	Fingerprints    decide.Fingerprints
	Place           decide.Place // the directory's place in its history
	Limits          decide.Limits
	Now             decide.Millis
	Fresh           reason.Code // why it must be fresh, "" if it need not
	Wait            bool        // the call waits for a session that another process holds
	WaitForRecord   bool        // it waits if its caller may know the answer of a run that is not recorded yet
	Disabled        bool
	NoResume        bool // this version is known not to resume; the ledger may know the same of the binary
	Copies          bool // this version is known to resume in a copy
	Login           bool // the tool is logged in to an account, and given no key: no single call is paid for
	MayKeepHour     bool // the provider may be asked to keep the prompt for an hour
	Caller          decide.Caller
	Project         string // the root of the directory's repository, or the directory
	// WorkGone reports whether files that a session changed have been thrown away since, given how its
	// runs left them and the commit that was checked out then. It may be nil.
	WorkGone func(left, head string) bool
	// Stored compares a session with the stamp that our last run left, given its file and its ID.
	Stored func(path, id string, stamp decide.Stamp) decide.StoredState
	// Ancestor reports whether a commit is an ancestor of Place.Head. It is called only if the call
	// would continue a session that ended on that commit.
	Ancestor func(commit string) bool
	// Checkout reports whether the directory has what another book's session has left in its own, as ChainFacts
	// name it. It may be nil.
	Checkout func(tree, directory string) bool
	// Tree returns git's name of the directory's content, "" if it has none. It may be nil.
	Tree func() string
	// ForkPoint returns the last message of a session's file when it had that stamp, or why there is
	// none. It is nil if sessions in use must not be copied.
	ForkPoint func(path string, stamp decide.Stamp) (message string, why reason.Code)
}

// named reports whether the name alone identifies the call's task.
func (c *Call) named() bool { return c.Task != "" && !c.Strict }

// DerivedRole reports whether nothing names the role of the call's task.
func (c *Call) DerivedRole() bool { return strings.HasPrefix(c.Role, prompt.RoleTextMark) }

// A Ticket represents a running invocation.
type Ticket struct {
	Invocation int64
	Session    int64
	Totals     rewrite.Totals // of the session before this call
	Left       string         // the session's Outcome.Left before this call
	call       *Call
	key        prompt.Key
	chain      int64
	Hour       bool // the provider is asked to keep the prompt for an hour
	transcript bool
	crowded    bool        // another call of the chain is running
	source     int64       // the session that its own is a copy of, 0 for none
	cut        bool        // only part of source was to be copied
	fellBack   reason.Code // why its resume was given up, if that could not be recorded
	finished   bool        // FinishEarly has recorded its outcome
	loan       *Loan       // what the call has taken from another book, nil for nothing
}

// Preview implements Book. The chains are followed by other chains of the directory, to show what has
// changed.
func (l *Ledger) Preview(c *Call) (decide.Decision, []decide.ChainFacts, error) {
	facts, err := l.readFacts(c, true)
	chains := facts.Chains
	if err == nil && !facts.Named && !facts.Never {
		var others []decide.ChainFacts
		others, _, err = l.chains(c, ends, ofJob+" AND c.first_line <> ?"+newest, append(c.job(), c.FirstLine())...)
		chains = append(chains, others...)
	}
	if err != nil {
		return decide.Decision{}, nil, fmt.Errorf("read chains: %w", err)
	}
	return Foresee(l, c, facts), chains, nil
}

// bucket maps a chain to a fixed number from 0 to 1, so that the choice of held-out chains does not
// depend on when they are read.
func bucket(key prompt.Key, chain int64) float64 {
	d := key.Digester()(fmt.Sprintf("share of chain %d", chain))
	return float64(binary.BigEndian.Uint64(d[:])>>11) / (1 << 53)
}

// The arms of the comparison that a control group allows.
const (
	Control = "control" // held out
	Treated = "treated"
)

// experimentArm returns the chain's side of the comparison, "" if there is no control group.
func (t *Ticket) experimentArm(holdOut float64) string {
	switch {
	case t.chain == 0 || holdOut <= 0 || holdOut >= 1:
		return ""
	case t.share() < holdOut:
		return Control
	}
	return Treated
}

// share returns the fixed number from 0 to 1 of the call's chain.
func (t *Ticket) share() float64 {
	if t.loan != nil {
		return t.loan.Share
	}
	return bucket(t.key, t.chain)
}

// stillHolds reports whether the facts behind the decision are unchanged: the session is as it was
// and free, and if only a name led to it, no other call has begun under that name.
func stillHolds(tx *sql.Tx, d decide.Decision, f decide.Facts) (same bool, err error) {
	if !d.Mode.Continues() {
		return true, nil
	}
	c := f.Session(d.Session)
	byItself := c.Continuity.Retains() || d.Reason == reason.StartedFrom // another call may have gone on with it
	err = tx.QueryRow(`SELECT s.state = ? AND s.last_used = ? AND s.reset = 0 AND (? OR c.session_id = ? AND c.concurrent = ?)
		FROM sessions s JOIN chains c ON c.id = s.chain_id WHERE s.id = ?`,
		decide.Live, c.LastUsed, byItself, c.Newest, c.Concurrent, d.Session).Scan(&same)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
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
	if c.MayKeepHour && t.chain != 0 {
		var err error
		if t.Hour, err = hourPays(tx, t.chain, idle, held); err != nil {
			return err
		}
	}
	return insert(tx, &t.Invocation, `INSERT INTO invocations
		(id, chain_id, session_id, rule, tool, cwd, started, mode, reason, detail, resumed_from, format, prompt_bytes, sent_bytes, arm, delta_arm, changed, idle, held, caller, proof, unshared, cache_hour, login)
		VALUES (`+unusedID("invocations")+`, nullif(?, 0), nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.chain, t.Session, c.Rule, c.Tool, c.Cwd, c.Now, d.Mode, d.Reason, d.Detail, d.NativeID, c.Format,
		len(c.Prompt.Text), len(c.Prompt.Text), t.experimentArm(c.Limits.HoldOut), t.deltaArm(c.Limits), strings.Join(d.Changed, "\t"),
		idle, held, c.Caller.String(), encodeJSON(d.Proof), c.Unshared, t.Hour, c.Login)
}

// join assigns the call its place in a chain, and a session.
func (t *Ticket) join(tx *sql.Tx, c *Call, d *decide.Decision) (err error) {
	if t.loan != nil {
		if err := findLent(tx, d); err != nil {
			return err
		}
	}
	created, err := t.ensureChain(tx, c, d.Chain)
	if err == nil && !created {
		t.crowded, err = chainHeld(tx, t.chain)
	}
	if err != nil {
		return err
	}
	d.Chain = t.chain
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

// unusedID returns SQL for the number of a table's next row. No row has ever had it, deleted ones
// included: what a long call records at its end must not reach another call's row.
func unusedID(table string) string {
	return `(SELECT max(coalesce((SELECT max(id) FROM ` + table + `), 0),
		coalesce((SELECT id FROM last_ids WHERE name = '` + table + `'), 0)) + 1)`
}

func insert(tx *sql.Tx, id *int64, query string, args ...any) error {
	result, err := tx.Exec(query, args...)
	if err != nil {
		return err
	}
	*id, err = result.LastInsertId()
	return err
}

// namedChain finds the chain of a call with a task.
const namedChain = "SELECT id FROM chains WHERE tool = ? AND cwd = ? AND home = ? AND rule = ? AND task = ? AND role = ?"

// ensureChain sets the call's chain and creates it if there is none. Another process may have
// created a named chain in the meantime.
func (t *Ticket) ensureChain(tx *sql.Tx, c *Call, chain int64) (created bool, err error) {
	t.chain = chain
	if chain == 0 && c.Task != "" {
		err := tx.QueryRow(namedChain,
			c.Tool, c.Cwd, c.Home, c.Scope, c.Task, c.Role).Scan(&t.chain)
		if !errors.Is(err, sql.ErrNoRows) {
			return false, err
		}
	}
	if t.chain != 0 {
		return false, nil
	}
	err = insert(tx, &t.chain, `INSERT INTO chains (id, tool, cwd, home, rule, task, role, created, updated)
		VALUES (`+unusedID("chains")+`, ?, ?, ?, ?, ?, ?, ?, ?)`, c.Tool, c.Cwd, c.Home, c.Scope, c.Task, c.Role, c.Now, c.Now)
	return true, err
}

// newSession creates the session of a fresh run. It immediately becomes the chain's newest, before
// its ID is known. If the job begins anew with it, earlier sessions are over; otherwise they remain
// as other ends of the chain.
func (t *Ticket) newSession(tx *sql.Tx, anew bool) error {
	c, base := t.call, t.call.Prompt.Footprint()
	err := insert(tx, &t.Session, `INSERT INTO sessions
		(id, chain_id, tool, state, created, last_used, settings, model, runtime, auth, base, base_opening, base_bytes, base_lines, shape, root, attempt,
			repository, branch, head, caller, format)
		VALUES (`+unusedID("sessions")+`, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.chain, c.Tool, decide.Running, c.Now, c.Now, c.Fingerprints.Settings, c.Fingerprints.Model, c.Fingerprints.Runtime, c.Fingerprints.Auth,
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
	t.source = source
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

// startFrom creates the session of a role's first call as a copy of another role's. What that one was sent and answered is
// not this role's: later calls must show what belongs to their own.
func (t *Ticket) startFrom(tx *sql.Tx, source int64) error {
	if err := t.newSession(tx, true); err != nil {
		return err
	}
	t.source = source
	return tx.QueryRow(`UPDATE sessions AS s SET parent_id = p.id, created = p.created, compacted = p.compacted, context_used = p.context_used,
		context_limit = p.context_limit, totals = p.totals, turns = p.turns, first_model = p.first_model, left_files = p.left_files
		FROM sessions p WHERE p.id = ? AND s.id = ? RETURNING totals, left_files`, source, t.Session).Scan(&t.Totals, &t.Left)
}

// takeSession makes the call's session its chain's newest, and takes its lease. The chain begins anew
// with it only if no two of its calls have ever run at once. Where a session is continued, the chain is
// still found by the line that it began with.
func (t *Ticket) takeSession(tx *sql.Tx, anew, continued bool) error {
	_, err := tx.Exec(`UPDATE chains SET concurrent = concurrent OR ?1,
		since = CASE WHEN ?2 AND NOT (concurrent OR ?1) THEN ?3 ELSE coalesce(since, session_id) END,
		session_id = ?3, first_line = CASE WHEN ?4 THEN first_line ELSE ?5 END, updated = max(updated, ?6) WHERE id = ?7`,
		t.crowded, anew, t.Session, continued, t.call.FirstLine(), t.call.Now, t.chain)
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

// Pin records the session's ID and the tool's process as soon as they are known. A lease that
// another process has taken stays as it is. Pin is not urgent: if another process holds the ledger
// lock, it returns ErrLocked instead of delaying others.
func (l *Ledger) Pin(session int64, nativeID string, child int) error {
	return explain(l.writeIfFree(func(tx *sql.Tx) error {
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

// longLog is the length of SQLite's log, in pages, from which it is folded into the ledger's file.
// A process that opens the ledger alone reads all of the log. At 1000 pages SQLite folds it itself
// while a caller waits.
const longLog = 100

// Fold merges a long log into the ledger's file. It takes as long as the disk does, so it is called
// when no caller waits.
func (l *Ledger) Fold() error {
	var busy, log, folded int
	err := l.db.QueryRow("PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &log, &folded)
	if err == nil && log-folded > longLog {
		_, err = l.db.Exec("PRAGMA wal_checkpoint(PASSIVE)")
	}
	if err != nil {
		return fmt.Errorf("fold log: %w", explain(err))
	}
	return nil
}

// Observe records a call whose session the caller manages. The call belongs to no chain. The
// session that the caller names, "" for none, is the caller's from then on.
func (l *Ledger) Observe(c *Call, reason reason.Code, named string, promptBytes int) (*Ticket, error) {
	t := &Ticket{call: c}
	err := l.write(func(tx *sql.Tx) error {
		if err := callersOwn(tx, named); err != nil {
			return err
		}
		return insert(tx, &t.Invocation, `INSERT INTO invocations
			(id, tool, cwd, started, mode, reason, format, prompt_bytes, sent_bytes) VALUES (`+unusedID("invocations")+`, ?, ?, ?, ?, ?, ?, ?, ?)`,
			c.Tool, c.Cwd, c.Now, rewrite.Observe, reason, c.Format, promptBytes, promptBytes)
	})
	if err != nil {
		return nil, fmt.Errorf("record call: %w", err)
	}
	return t, nil
}

// callersOwn records that the caller itself has continued a session.
func callersOwn(tx *sql.Tx, id string) error {
	if id == "" {
		return nil
	}
	_, err := tx.Exec("UPDATE sessions SET callers_own = 1 WHERE native_id = ?", id)
	return err
}

func (c *Call) attempt() sql.NullInt64 {
	return known(c.Attempt != rewrite.NoAttempt, int64(c.Attempt))
}
