package ledger

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"reprise/rewrite"
)

// maxCandidates bounds how many chains an unnamed call is compared with, of those of
// its directory that begin as it does. Where there are more, it is never known that only
// one fits.
const maxCandidates = 256

// A Call is what the ledger has to know of an invocation before it runs.
type Call struct {
	Tool, Cwd, Home string
	Task, Role      string   // Task is "" where continuity must find the chain
	Rule            string   // the rule that holds for the call
	Scope           string   // the rule whose names Task and Role are, "" where the caller gave them
	Attempt         int      // or rewrite.NoAttempt
	Never           bool     // it belongs to no chain
	Strict          bool     // Task keeps jobs apart, but continuity must prove the same one
	Resets          []string // roles whose chains of this task its prompt ends
	Format          rewrite.Format
	Prompt          *rewrite.Prompt
	Prints          Prints
	Place           Place // where the directory is in its history
	Limits          Limits
	Now             Millis
	Fresh           rewrite.Reason // why it must be fresh, "" if it need not
	Wait            bool           // a session that somebody holds will be waited for
	Disabled        bool
	NoResume        bool // this version is known not to resume; the ledger may know the same of the binary
	Copies          bool // this version is known to resume in a copy
	// File looks at what became of a session's file, whose path and size are as
	// our last run left them.
	File func(path string, size int64) FileState
	// Ancestor reports whether a commit is an ancestor of Place.Head. It is asked only
	// where the call would go on with a session that ended on that commit.
	Ancestor func(commit string) bool
	// ForkPoint finds the last message in so much of a session's file, or says why
	// there is none. It is nil where no copy is to be made of what somebody uses.
	ForkPoint func(path string, size int64) (message string, why rewrite.Reason)
}

// named tells of a call whose task is known to be that of all calls which name it.
func (c *Call) named() bool { return c.Task != "" && !c.Strict }

// A Ticket stands for an invocation that runs.
type Ticket struct {
	Invocation int64
	Session    int64
	Totals     rewrite.Totals // of the session before this call
	call       *Call
	key        rewrite.Key
	chain      int64
	transcript bool
	source     int64          // the session that its own is a copy of, 0 for none
	cut        bool           // of which not all was to be copied
	fellBack   rewrite.Reason // why its resume was given up, where that could not be recorded
}

// ErrHeld says that another process uses the session that a call would resume.
var ErrHeld = errors.New("the session is held by another process")

// errMoved says that a session is not any more as it was decided on.
var errMoved = errors.New("the session is in use by now, or was")

// maxDecisions is how often a call that may copy its session is decided on: others
// may take the session, or leave it, meanwhile.
const maxDecisions = 4

// Begin decides what becomes of a call, and records it: the chain, the session
// with its lease, the invocation. Facts are read without a lock; the write
// checks that the session is still free. Outcomes that wait in the spool are
// recorded first: they may be the session's own. Where the call is to wait for the
// session, it fails with ErrHeld, and nothing is recorded.
func (l *Ledger) Begin(c *Call) (d Decision, t *Ticket, err error) {
	if err := l.Settle(); isBusy(err) {
		return Decision{}, nil, err
	} // what can not be recorded for another reason leaves its session unfit to resume, no more
	for n := range maxDecisions {
		again := c.Copies && n < maxDecisions-1
		if d, t, err = l.begin(c, again); !errors.Is(err, errMoved) {
			break
		}
	}
	return d, t, err
}

// begin decides once. Where that is to be done again if the session has moved, it
// fails with errMoved then.
func (l *Ledger) begin(c *Call, again bool) (Decision, *Ticket, error) {
	facts, err := l.factsOf(c, false)
	if err != nil {
		return Decision{}, nil, fmt.Errorf("read chains: %w", err)
	}
	d := c.decide(facts)
	if c.Wait && d.Reason == rewrite.Leased {
		return d, nil, ErrHeld
	}
	t := &Ticket{call: c, key: l.key}
	err = l.write(func(tx *sql.Tx) error {
		switch holds, err := stillHolds(tx, d, facts); {
		case err != nil:
			return err
		case holds:
		case c.Wait:
			return ErrHeld
		case again:
			return errMoved
		default:
			d = Decision{Mode: rewrite.Fresh, Reason: rewrite.Leased, Chain: d.Chain}
		}
		if err := resetRoles(tx, c.Cwd, c.Task, c.Resets); err != nil {
			return err
		}
		return t.begin(tx, c, &d)
	})
	if err != nil {
		return Decision{}, nil, fmt.Errorf("record call: %w", err)
	}
	return d, t, nil
}

// Preview gives the decision that Begin would take now, and the chains that it was
// taken among; behind them, for who wants to see what has changed, others of the same
// directory. It records nothing.
func (l *Ledger) Preview(c *Call) (Decision, []ChainFacts, error) {
	facts, err := l.factsOf(c, true)
	chains := facts.Chains
	if err == nil && !facts.Named && !facts.Never {
		var others []ChainFacts
		others, _, err = l.chains(c, ends, ofJob+" AND c.first_line <> ?"+newest, append(c.job(), c.firstLine())...)
		chains = append(chains, others...)
	}
	if err != nil {
		return Decision{}, nil, fmt.Errorf("read chains: %w", err)
	}
	return c.decide(facts), chains, nil
}

// factsOf reads the facts. That needs no lock, but for a moment after another
// process was killed in the midst of a write. A session's row, its holder and its
// file are not read at once: what another call did in between must not look like a
// death, or like a change that we know nothing of. All chains are read in full only for
// who wants to see them.
func (l *Ledger) factsOf(c *Call, all bool) (f Facts, err error) {
	const tries = 3
	for range tries {
		err = retry(func() (error, bool) {
			f, err = l.facts(c, all)
			return err, isBusy(err)
		})
		if err != nil || !slices.ContainsFunc(f.Chains, l.outdated) {
			break
		}
	}
	return f, err
}

// outdated tells of a session that seems to have died, or to have been changed, and
// whose row is another one by now.
func (l *Ledger) outdated(c ChainFacts) bool {
	if c.File != FileChanged && (c.State != Running || c.Held) {
		return false
	}
	var state State
	var lastUsed Millis
	err := l.db.QueryRow("SELECT state, last_used FROM sessions WHERE id = ?", c.Session).Scan(&state, &lastUsed)
	return err == nil && (state != c.State || lastUsed != c.LastUsed)
}

func (l *Ledger) facts(c *Call, all bool) (f Facts, err error) {
	f = Facts{Now: c.Now, Disabled: c.Disabled, Never: c.Never, Fresh: c.Fresh, NoResume: c.NoResume,
		Copies: c.Copies, Fork: c.Copies && c.ForkPoint != nil, Named: c.named(), Attempt: c.Attempt, Prints: c.Prints, Place: c.Place,
		Limits: c.Limits}
	if c.Never {
		return f, nil
	}
	if f.Named {
		err = l.namedFacts(c, &f)
	} else {
		err = l.unnamedFacts(c, all, &f)
	}
	if err != nil {
		return f, err
	}
	if err := l.readPlaces(&f); err != nil {
		return f, err
	}
	for i := range f.Chains {
		if cf := &f.Chains[i]; cf.File == FileChanged && f.Fork {
			cf.ForkAt, cf.NoForkAt = c.ForkPoint(cf.file, cf.size)
		}
	}
	if !slices.ContainsFunc(f.Chains, func(cf ChainFacts) bool { return f.Named || cf.Continuity.Retains() }) {
		return f, nil
	}
	if f.Meters, err = meters(l.db, c.Rule, c.Tool, c.Prints.Model); err != nil {
		return f, err
	}
	// A binary that was never asked is taken at its word: its first refusal is caught, and
	// noted.
	probe, _, err := l.Probe(c.Prints.Runtime)
	f.NoResume = f.NoResume || err == nil && probe.Known && !probe.Resume
	return f, nil
}

// unnamedFacts finds the chains that begin as the call's prompt does: no other can have
// been sent the same, or what the prompt extends.
func (l *Ledger) unnamedFacts(c *Call, all bool, f *Facts) (err error) {
	read := l.related
	if all {
		read = l.chains
	}
	args := append(c.job(), c.firstLine())
	var n int
	if f.Chains, n, err = read(c, ends, beginningAlike+newest, args...); err != nil {
		return err
	}
	f.More = n > maxCandidates
	if n == 0 {
		var others int
		err = l.db.QueryRow("SELECT EXISTS (SELECT 1 FROM chains c "+ofJob+")", c.job()...).Scan(&others)
		f.Others = others > 0
		return err
	}
	if slices.ContainsFunc(f.Chains, func(cf ChainFacts) bool {
		return usable(cf) && (cf.Continuity.Relation == rewrite.Identical || cf.Continuity.Relation == rewrite.Extends && c.Limits.goesOn(&cf))
	}) {
		return nil // it goes on from an end, or repeats one
	}
	more, _, err := read(c, inner, beginningAlike+newest, args...)
	f.addInner(more)
	return err
}

// namedFacts reads the chain of a name: its ends, and where these do not tell what to go on from, the sessions that led to
// them. Of a long job there may be many of these.
func (l *Ledger) namedFacts(c *Call, f *Facts) (err error) {
	if f.Chains, _, err = l.chains(c, ends, ofJob+newest, c.job()...); err != nil {
		return err
	}
	if len(f.Chains) == 1 && usable(f.Chains[0]) && !f.Chains[0].Concurrent && f.Chains[0].Continuity.Relation == rewrite.Extends {
		return nil
	}
	more, _, err := l.chains(c, inner, ofJob+newest, c.job()...)
	f.addInner(more)
	return err
}

// usable reports whether a session has ended well and nobody uses it.
func usable(c ChainFacts) bool { return c.State == Live && !c.Held }

// addInner adds sessions that others were made of, without those that were ends a moment ago.
func (f *Facts) addInner(sessions []ChainFacts) {
	for _, one := range sessions {
		if !slices.ContainsFunc(f.Chains, func(c ChainFacts) bool { return c.Session == one.Session }) {
			f.Chains = append(f.Chains, one)
		}
	}
}

// The sessions of a chain since it was last begun anew, without the copies that ended
// badly: its ends, and those that were gone on from in copies, of which there may be
// many.
const (
	sinceBegun = `s.chain_id = c.id AND s.id >= coalesce(c.since, c.session_id) AND (s.parent_id IS NULL OR s.state IN ('live', 'running'))`
	ends       = sinceBegun + ` AND NOT ` + goneOnFrom
	inner      = sinceBegun + ` AND ` + goneOnFrom
	goneOnFrom = `EXISTS (SELECT 1 FROM sessions k WHERE k.parent_id = s.id AND k.state IN ('live', 'running'))`
)

// The chains of a call's job, whose arguments job gives, and those of them that begin
// with a line, which is an argument more. Of these there may be few where the job has
// many: an index of their own finds them, and the plus keeps SQLite from another.
const (
	ofJob = `WHERE c.tool = ? AND c.cwd = ? AND c.home = ? AND c.rule = ? AND c.task = ? AND c.role = ? AND c.updated >= ?`

	beginningAlike = `WHERE +c.tool = ? AND c.cwd = ? AND +c.home = ? AND +c.rule = ? AND +c.task = ? AND +c.role = ? AND c.updated >= ?
		AND c.first_line = ?`
)

// newest has as many of the sessions as are looked at, and one more. For a LIMIT that is
// bound SQLite plans twice.
var newest = " ORDER BY c.updated DESC, c.id DESC, s.id DESC LIMIT " + strconv.Itoa(maxCandidates+1)

func (c *Call) job() []any {
	return []any{c.Tool, c.Cwd, c.Home, c.Scope, c.Task, c.Role, oldest(c)}
}

func (c *Call) firstLine() []byte {
	return encodeDigests([]rewrite.Digest{c.Prompt.Footprint().First})
}

// A sentRow has the columns that say what a session was sent.
type sentRow struct {
	sent                              rewrite.Sent
	base, lines, shape, answers, said sql.RawBytes
	things, gist                      sql.RawBytes
}

const sentColumns = "s.base, s.base_opening, s.base_bytes, s.answers, s.said, s.transcript, s.base_lines, s.shape, s.things, s.gist"

func (r *sentRow) columns() []any {
	return []any{&r.base, &r.sent.Base.Opening, &r.sent.Base.Bytes, &r.answers, &r.said, &r.sent.Transcript, &r.lines, &r.shape,
		&r.things, &r.gist}
}

func (r *sentRow) compare(c *Call) rewrite.Continuity {
	r.sent.Base.Blocks, r.sent.Answers = decodeDigests(r.base), decodeAnswers(r.answers, r.said)
	r.sent.Base.Lines, r.sent.Base.Shape = decodeLines(r.lines), decodeShape(r.shape)
	r.sent.Things, r.sent.Gist = decodeMarks(r.things), decodeMarks(r.gist)
	r.sent.Named = c.named()
	return rewrite.Compare(r.sent, c.Prompt)
}

// A kinship is how a prompt is related to a session, as far as the choice of one depends on it.
type kinship struct {
	relation, verdict rewrite.Reason
	answer            bool
}

// related compares a prompt with sessions, and reads the rest only of those that it may
// continue: of the others a decision needs no more, and a directory may have hundreds. Of
// those that are related to it in the same way it returns the newest, and of those that it
// extends all of two chains, which says that there are several.
func (l *Ledger) related(c *Call, which, where string, args ...any) (chains []ChainFacts, n int, err error) {
	rows, err := l.db.Query("SELECT c.id, s.id, "+sentColumns+" FROM chains c JOIN sessions s ON "+which+" "+where, args...)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	var id, session int64
	var r sentRow
	columns := append([]any{&id, &session}, r.columns()...)
	alike := map[kinship]map[int64]bool{} // the chains of each kinship
	var wanted []string
	for ; rows.Next(); n++ {
		if n >= maxCandidates {
			continue // to the end: open rows would keep the connection
		}
		if err := rows.Scan(columns...); err != nil {
			return nil, 0, err
		}
		continuity := r.compare(c)
		kin := kinship{continuity.Relation, continuity.Evidence.Verdict, continuity.Evidence.Answer}
		if alike[kin] == nil {
			alike[kin] = map[int64]bool{}
		}
		known := len(alike[kin]) > 0
		if continuity.Relation == rewrite.Extends {
			known = len(alike[kin]) > 1 && !alike[kin][id]
		}
		alike[kin][id] = alike[kin][id] || !known
		switch {
		case known:
		case continuity.Retains() || kin.answer:
			wanted = append(wanted, strconv.FormatInt(session, 10))
		default:
			chains = append(chains, ChainFacts{Chain: id, Session: session, Continuity: continuity})
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(wanted) == 0 {
		return chains, n, err
	}
	full, _, err := l.chains(c, "s.chain_id = c.id", "WHERE s.id IN ("+strings.Join(wanted, ", ")+")"+newest)
	return append(full, chains...), n, err // without those that are gone by now
}

// chains reads all facts about some sessions, and tells how many there are.
func (l *Ledger) chains(c *Call, which, where string, args ...any) (chains []ChainFacts, n int, err error) {
	rows, err := l.db.Query(`
		SELECT c.id, coalesce(c.session_id, 0), c.concurrent, s.id, coalesce(s.parent_id, 0),
			coalesce(s.native_id, ''), s.state, s.state_why, s.settings, s.model, s.runtime, s.auth,
			s.created, s.last_used, s.errors, s.context_used, s.context_limit,
			s.compacted, coalesce(s.file, ''), coalesce(s.file_size, 0),
			coalesce(s.attempt, ?), s.reset, s.callers_own,
			coalesce(l.boot, ''), coalesce(l.pid, 0), coalesce(l.pid_start, 0), coalesce(l.child, 0), coalesce(l.child_start, 0), `+
		sentColumns+`
		FROM chains c JOIN sessions s ON `+which+` LEFT JOIN leases l ON l.session_id = s.id `+where, append([]any{rewrite.NoAttempt}, args...)...)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	tool, known := rewrite.Lookup(c.Tool)
	for ; rows.Next(); n++ {
		if n >= maxCandidates {
			continue
		}
		var cf ChainFacts
		var r sentRow
		var lease lease
		if err := rows.Scan(append([]any{&cf.Chain, &cf.Newest, &cf.Concurrent, &cf.Session, &cf.Parent,
			&cf.NativeID, &cf.State, &cf.StateWhy, &cf.Prints.Settings,
			&cf.Prints.Model, &cf.Prints.Runtime, &cf.Prints.Auth, &cf.Created, &cf.LastUsed, &cf.Errors,
			&cf.Context.Used, &cf.Context.Limit, &cf.Compacted, &cf.file, &cf.size, &cf.Attempt, &cf.Reset, &cf.CallersOwn,
			&lease.shim.Boot, &lease.shim.PID, &lease.shim.Start, &lease.child.PID, &lease.child.Start}, r.columns()...)...); err != nil {
			return nil, 0, err
		}
		if !known || !tool.ValidID(cf.NativeID) {
			cf.NativeID = "" // whoever has written it there: it must not get on a command line
		}
		cf.Continuity, cf.Held, cf.BaseBytes, cf.base = r.compare(c), lease.held(), r.sent.Base.Bytes, r.sent.Base.Blocks
		if c.Limits.HoldOut > 0 {
			cf.Share = share(l.key, cf.Chain)
		}
		if cf.State == Live && (c.named() || cf.Continuity.Retains()) {
			cf.File = c.File(cf.file, cf.size)
		}
		chains = append(chains, cf)
	}
	return chains, n, rows.Err()
}

// share places a chain somewhere from 0 to 1, always at the same place: which
// chains are held out does not depend on when they are looked at.
func share(key rewrite.Key, chain int64) float64 {
	d := key.Digester()(fmt.Sprintf("share of chain %d", chain))
	return float64(binary.BigEndian.Uint64(d[:])>>11) / (1 << 53)
}

// The arms of the comparison that a control group allows.
const (
	Control = "control" // held out
	Treated = "treated"
)

// arm is the side of the comparison that a chain is on, "" where all are treated
// alike.
func (t *Ticket) arm(holdOut float64) string {
	switch {
	case t.chain == 0 || holdOut <= 0 || holdOut >= 1:
		return ""
	case share(t.key, t.chain) < holdOut:
		return Control
	}
	return Treated
}

// oldest is the time before which an unnamed chain is not looked at any more. A
// named one keeps its name for ever.
func oldest(c *Call) Millis {
	if c.Task != "" {
		return 0
	}
	return c.Now - c.Limits.MaxAge
}

// stillHolds tells whether what was decided on is still so: the session is as it was
// and free, and where a name alone led to it, nobody else has begun under that name.
func stillHolds(tx *sql.Tx, d Decision, f Facts) (same bool, err error) {
	if !d.Mode.Continues() {
		return true, nil
	}
	c := f.session(d.Session)
	err = tx.QueryRow(`SELECT s.state = ? AND s.last_used = ? AND s.reset = 0 AND (? OR c.session_id = ? AND c.concurrent = ?)
		FROM sessions s JOIN chains c ON c.id = s.chain_id WHERE s.id = ?`,
		Live, c.LastUsed, c.Continuity.Retains(), c.Newest, c.Concurrent, d.Session).Scan(&same)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil || !same || d.Copy {
		return same, err
	}
	busy, err := held(tx, d.Session)
	return !busy, err
}

func (t *Ticket) begin(tx *sql.Tx, c *Call, d *Decision) error {
	if d.Reason != rewrite.Never {
		if err := t.join(tx, c, d); err != nil {
			return err
		}
	}
	err := insert(tx, &t.Invocation, `INSERT INTO invocations
		(id, chain_id, session_id, rule, tool, cwd, started, mode, reason, detail, resumed_from, format, prompt_bytes, sent_bytes, arm)
		VALUES (`+unusedID("invocations")+`, nullif(?, 0), nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?)`,
		t.chain, t.Session, c.Rule, c.Tool, c.Cwd, c.Now, d.Mode, d.Reason, d.Detail, d.NativeID, c.Format,
		len(c.Prompt.Text), len(c.Prompt.Text), t.arm(c.Limits.HoldOut))
	return errors.Join(err, keepChanged(tx, t.Invocation, d.Changed))
}

// join gives the call its place in a chain, and a session.
func (t *Ticket) join(tx *sql.Tx, c *Call, d *Decision) (err error) {
	if t.chain, err = ensureChain(tx, c, d.Chain); err != nil {
		return err
	}
	d.Chain = t.chain
	t.transcript = d.Continuity.Transcript
	alone, err := t.alone(tx)
	switch {
	case err != nil:
		return err
	case d.Copy:
		t.cut = d.ForkAt != ""
		return t.copySession(tx, d.Session)
	case d.Mode == rewrite.Resume:
		return t.resumeSession(tx, d.Session)
	}
	return t.beginAnew(tx, alone && d.Reason != rewrite.Ambiguous)
}

// beginAnew gives the call a session that nothing came before. Where the job begins anew
// with it, the sessions before are over; otherwise they are other ends of the chain.
func (t *Ticket) beginAnew(tx *sql.Tx, over bool) error {
	if err := t.newSession(tx); err != nil || !over {
		return err
	}
	_, err := tx.Exec("UPDATE chains SET since = ? WHERE id = ?", t.Session, t.chain)
	return err
}

// alone tells whether no two calls of the chain have ever run at once, and remembers
// where this is the first time.
func (t *Ticket) alone(tx *sql.Tx) (alone bool, err error) {
	busy, err := chainHeld(tx, t.chain)
	if err == nil && busy {
		_, err = tx.Exec("UPDATE chains SET concurrent = 1 WHERE id = ?", t.chain)
	}
	if err == nil {
		err = tx.QueryRow("SELECT NOT concurrent FROM chains WHERE id = ?", t.chain).Scan(&alone)
	}
	return alone, err
}

// resetRoles ends the sessions that these roles have in a task, in every
// tool and under every rule's name, whatever text the role has beside its name: one too many costs little.
func resetRoles(tx *sql.Tx, cwd, task string, roles []string) error {
	for _, role := range roles {
		_, err := tx.Exec(`UPDATE sessions SET reset = 1 WHERE reset = 0 AND chain_id IN
			(SELECT id FROM chains WHERE cwd = ? AND task = ? AND (role = ? COLLATE NOCASE OR substr(role, 1, ?) = ? COLLATE NOCASE))`,
			cwd, task, role, utf8.RuneCountInString(role+rewrite.RoleTextMark), role+rewrite.RoleTextMark)
		if err != nil {
			return err
		}
	}
	return nil
}

// unusedID is the number of a table's next row: one that no row has had before, also none that is gone. What a
// long call records at its end must not land on a row that somebody else has got in the meantime.
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

// ensureChain gives the chain, made new where there is none. A named chain may
// have been made by somebody else in the meantime.
func ensureChain(tx *sql.Tx, c *Call, chain int64) (int64, error) {
	if chain == 0 && c.Task != "" {
		err := tx.QueryRow("SELECT id FROM chains WHERE tool = ? AND cwd = ? AND home = ? AND rule = ? AND task = ? AND role = ?",
			c.Tool, c.Cwd, c.Home, c.Scope, c.Task, c.Role).Scan(&chain)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
	}
	if chain != 0 {
		return chain, nil
	}
	err := insert(tx, &chain, `INSERT INTO chains (id, tool, cwd, home, rule, task, role, created, updated)
		VALUES (`+unusedID("chains")+`, ?, ?, ?, ?, ?, ?, ?, ?)`, c.Tool, c.Cwd, c.Home, c.Scope, c.Task, c.Role, c.Now, c.Now)
	return chain, err
}

// newSession makes the session that a fresh run is going to have. It becomes the
// chain's newest at once; its id is not known yet.
func (t *Ticket) newSession(tx *sql.Tx) error {
	c, base := t.call, t.call.Prompt.Footprint()
	err := insert(tx, &t.Session, `INSERT INTO sessions
		(id, chain_id, tool, state, created, last_used, settings, model, runtime, auth, base, base_opening, base_bytes, base_lines, shape, attempt)
		VALUES (`+unusedID("sessions")+`, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		t.chain, c.Tool, Running, c.Now, c.Now, c.Prints.Settings, c.Prints.Model, c.Prints.Runtime, c.Prints.Auth,
		encodeDigests(base.Blocks), base.Opening, base.Bytes, encodeLines(base.Lines), encodeShape(base.Shape), c.attempt())
	if err != nil {
		return err
	}
	return t.takeSession(tx)
}

// copySession makes the session that a copy of another one is going to be. It has been
// sent and has answered the same, and is as old.
func (t *Ticket) copySession(tx *sql.Tx, source int64) error {
	t.source = source
	err := tx.QueryRow(`INSERT INTO sessions
		(id, chain_id, tool, state, created, last_used, settings, model, runtime, auth, base, base_opening, base_bytes, base_lines, shape,
			things, gist, answers, said, transcript, compacted, context_used, context_limit, totals, turns, first_model, attempt, parent_id)
		SELECT `+unusedID("sessions")+`, chain_id, tool, ?, created, ?, settings, model, runtime, auth, base, base_opening, base_bytes, base_lines, shape,
			things, gist, answers, said, transcript, compacted, context_used, context_limit, totals, turns, first_model, coalesce(?, attempt), id
		FROM sessions WHERE id = ? RETURNING id, totals`,
		Running, t.call.Now, t.call.attempt(), source).Scan(&t.Session, &t.Totals)
	if err != nil {
		return err
	}
	return t.takeSession(tx)
}

// takeSession makes the call's session its chain's newest, and takes its lease.
func (t *Ticket) takeSession(tx *sql.Tx) error {
	_, err := tx.Exec(`UPDATE chains SET since = coalesce(since, session_id), session_id = ?, first_line = ?, updated = max(updated, ?)
		WHERE id = ?`, t.Session, t.call.firstLine(), t.call.Now, t.chain)
	if err != nil {
		return err
	}
	if err := keepPlace(tx, t.Session, t.call.Place, ""); err != nil {
		return err
	}
	return takeLease(tx, t.Session, ThisProcess(), t.call.Now)
}

// resumeSession takes the lease. Until the run has ended well the session counts
// as running: whatever happens to us, it is not resumed again unseen.
func (t *Ticket) resumeSession(tx *sql.Tx, session int64) error {
	t.Session = session
	err := tx.QueryRow(`UPDATE sessions SET state = ?, last_used = ?, attempt = coalesce(?, attempt)
		WHERE id = ? RETURNING totals`, Running, t.call.Now, t.call.attempt(), session).Scan(&t.Totals)
	if err != nil {
		return err
	}
	return t.takeSession(tx)
}

// Pin notes the session's id and the tool's process as soon as they are known. A lease
// that is another's by now stays as it is. It is not urgent, and in a crowd it would keep
// others waiting: where somebody else has the turn it fails with ErrLocked.
func (l *Ledger) Pin(session int64, nativeID string, child int) error {
	return explain(l.writeIfFree(func(tx *sql.Tx) error {
		if _, err := tx.Exec("UPDATE sessions SET native_id = ? WHERE id = ? AND native_id IS NULL",
			nativeID, session); err != nil {
			return err
		}
		p := ProcessOf(child)
		_, err := tx.Exec("UPDATE leases SET child = ?, child_start = ? WHERE session_id = ? AND pid = ?",
			p.PID, p.Start, session, os.Getpid())
		return err
	}))
}

// longLog is how many pages SQLite's log may hold that are not in the ledger's file
// yet. Whoever opens the ledger alone reads all of the log; at 1000 pages SQLite
// folds it itself, and lets a caller wait for that.
const longLog = 100

// Fold takes a long log into the ledger's file. That is for a moment when nobody waits
// for us: it takes as long as the disk does.
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

// Observe records a call whose session the caller manages. It belongs to no chain. The
// session whose id the caller names, "" for none, is the caller's from then on.
func (l *Ledger) Observe(c *Call, reason rewrite.Reason, named string, promptBytes int) (*Ticket, error) {
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

// callersOwn notes that the caller has gone on with a session by itself.
func callersOwn(tx *sql.Tx, id string) error {
	if id == "" {
		return nil
	}
	_, err := tx.Exec("UPDATE sessions SET callers_own = 1 WHERE native_id = ?", id)
	return err
}

// FallBack gives a resume up: the session is dead for that reason, and the call
// goes on in a new one of the same chain. A session that is only busy stays
// alive. A copy that was refused is no session; what it was to be made of dies only of a
// reason that lies in it. Where that can not be recorded, the session stays as a run left
// it whose end nobody saw, so that it is not resumed again, and the call has none.
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

// unfit are the refusals that a session gives cause for: it would be refused again.
var unfit = map[rewrite.Reason]bool{
	rewrite.RefusedUnknown: true, rewrite.RefusedOtherID: true, rewrite.RefusedContext: true, rewrite.RefusedBroken: true,
}

func (t *Ticket) fallBack(tx *sql.Tx, refused int64, why rewrite.Reason) error {
	dies := func(session int64, dies bool) error {
		_, err := tx.Exec(`UPDATE sessions SET state = CASE WHEN ?1 THEN ?2 ELSE state END, state_why = CASE WHEN ?1 THEN ?3 ELSE state_why END,
			errors = errors + 1 WHERE id = ?4`, dies, Dead, why, session)
		return err
	}
	if t.source != 0 {
		if err := dies(t.source, unfit[why] && !t.cut); err != nil { // a cut may be what was refused
			return err
		}
	}
	if t.source == 0 && why == rewrite.RefusedBusy {
		if _, err := tx.Exec("UPDATE sessions SET state = ?, state_why = ? WHERE id = ?", Live, why, refused); err != nil {
			return err
		}
	}
	if err := dies(refused, t.source != 0 || why != rewrite.RefusedBusy); err != nil {
		return err
	}
	var alone bool
	if err := tx.QueryRow("SELECT NOT concurrent FROM chains WHERE id = ?", t.chain).Scan(&alone); err != nil {
		return err
	}
	over := t.source != 0 && unfit[why] && !t.cut || t.source == 0 && why != rewrite.RefusedBusy
	if _, err := tx.Exec("DELETE FROM leases WHERE session_id = ?", refused); err != nil {
		return err
	}
	t.source = 0
	if err := t.beginAnew(tx, alone && over); err != nil {
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
	Seen     rewrite.Seen
	IDFormat rewrite.Format // of the output that the id was read from
	Sent     int            // bytes of the prompt that the model was sent
	File     string         // where the session is kept, "" where it was not found
	FileSize int64
	Resets   []string // roles whose chains of the call's task the answer ends
	Place    Place    // where the run has left the directory
}

// Good tells whether a session may be gone on with after such a run: it exited 0,
// its final event was seen and was no error, and the last word was a model's.
func (o *Outcome) Good() bool {
	s := &o.Seen
	return o.Exit == 0 && o.Signal == 0 && s.Final && !s.Failed && !s.Synthetic && !s.WrongID && s.ID != ""
}

// Stopped reports whether the run failed for nothing but the turns that its caller allowed it. Its session may be gone on with.
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

// Finish records how the run ended, and gives the lease back. Where the ledger can
// not be written, the outcome is kept in the spool for whoever writes there next.
func (l *Ledger) Finish(t *Ticket, o *Outcome) error {
	e := t.ending(o)
	e.Ledger = l.name()
	err := l.write(e.record)
	if err == nil {
		return nil
	}
	if kept := l.spool.put(&e); kept != nil {
		return fmt.Errorf("record outcome: %w", errors.Join(err, kept))
	}
	return nil
}

// ending is all that a run leaves to record. What was said in it is there as digests
// alone.
func (t *Ticket) ending(o *Outcome) ending {
	e := ending{Invocation: t.Invocation, Session: t.Session, Chain: t.chain, Cwd: t.call.Cwd, Task: t.call.Task,
		FellBack: t.fellBack, Transcript: t.transcript, Outcome: *o}
	if t.Session != 0 {
		base := t.call.Prompt.Footprint()
		e.Opening, e.Bytes, e.Blocks = base.Opening, base.Bytes, encodeDigests(base.Blocks)
		e.First = t.call.firstLine()
		e.Lines, e.Shape = encodeLines(base.Lines), encodeShape(base.Shape)
		traces := rewrite.NewTraces(t.call.Prompt, o.Seen.Answer, o.Seen.Files, t.key)
		e.Things, e.Gist = encodeMarks(traces.Things), encodeMarks(traces.Gist)
		answer := rewrite.NewAnswer(o.Seen.Answer, o.Seen.Texts, t.key)
		e.Answer, e.Said = encodeAnswer(answer), encodeSaid(answer)
	}
	s := &o.Seen
	e.Outcome.Seen = rewrite.Seen{ID: s.ID, Source: s.Source, Version: s.Version, Model: s.Model,
		WrongID: s.WrongID, Final: s.Final, Failed: s.Failed, TurnLimit: s.TurnLimit, Synthetic: s.Synthetic, Refusal: s.Refusal,
		Compacted: s.Compacted, Usage: s.Usage, Totals: s.Totals, ContextUse: s.ContextUse}
	return e
}

func (e *ending) record(tx *sql.Tx) error {
	o := &e.Outcome
	if first, err := e.recordInvocation(tx); err != nil || !first {
		return err
	}
	if err := resetRoles(tx, e.Cwd, e.Task, o.Resets); err != nil {
		return err
	}
	if e.Session == 0 {
		return callersOwn(tx, o.Seen.ID) // of a call that was observed; any other has a new one
	}
	if err := e.recordSession(tx); err != nil {
		return err
	}
	if err := keepPlace(tx, e.Session, o.Place, o.Seen.Model); err != nil {
		return err
	}
	if o.Good() && o.Seen.Usage.Known {
		if err := e.meter(tx); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(`UPDATE chains SET updated = max(updated, ?),
		first_line = CASE session_id WHEN ? THEN coalesce(?, first_line) ELSE first_line END WHERE id = ?`,
		o.Now, e.Session, e.First, e.Chain); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM leases WHERE session_id = ?", e.Session)
	return err
}

// recordInvocation tells whether the invocation had no outcome yet.
func (e *ending) recordInvocation(tx *sql.Tx) (first bool, err error) {
	o := &e.Outcome
	_, outcome := o.state()
	s, u := &o.Seen, &o.Seen.Usage
	result, err := tx.Exec(`UPDATE invocations SET duration = ? - started, native_id = nullif(?, ''),
		id_source = nullif(?, ''), id_format = nullif(?, ''), model = nullif(?, ''), sent_bytes = ?,
		input = ?, cache_read = ?, cache_write = ?, output = ?, cost = ?,
		outcome = ?, exit_code = ?, signal = nullif(?, 0) WHERE id = ? AND outcome IS NULL`,
		o.Now, s.ID, s.Source, o.IDFormat, s.Model, o.Sent,
		known(u.Known, plausible(u.Input)), known(u.Known, plausible(u.CacheRead)), known(u.Known, plausible(u.CacheWrite)),
		known(u.Known, plausible(u.Output)), known(u.CostKnown, plausible(u.CostNano)), outcome, o.Exit, o.Signal, e.Invocation)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	if err != nil || n == 0 || e.FellBack == "" {
		return n > 0, err
	}
	_, err = tx.Exec("UPDATE invocations SET mode = ?, fell_back = ?, session_id = NULL WHERE id = ?",
		rewrite.Fresh, e.FellBack, e.Invocation)
	return true, err
}

func (c *Call) attempt() sql.NullInt64 {
	return known(c.Attempt != rewrite.NoAttempt, int64(c.Attempt))
}

// maxFigure is more than any call can take, in tokens and in nano-dollars: a million dollars. Nine thousand of them
// still add up.
const maxFigure = 1e15

// plausible keeps what a tool says of its usage to what can be added up.
func plausible(n int64) int64 { return min(max(n, 0), maxFigure) }

func known(ok bool, n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: ok} }

func (e *ending) recordSession(tx *sql.Tx) error {
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
		things = substr(coalesce(?, x'') || things, 1, ?), gist = coalesce(?, x''),
		answers = answers || ?, said = said || ?,
		transcript = transcript OR ?, compacted = compacted OR ?,
		context_used = ?, context_limit = ?, totals = ?, file = nullif(?, ''), file_size = ? WHERE id = ?`,
		state, why, s.ID, o.Now, turnsMore, errorsMore, s.Version,
		e.Blocks, e.Opening, e.Bytes, e.Lines, e.Shape, e.Things, rewrite.MaxThings*markSize, e.Gist, e.Answer, e.Said,
		e.Transcript, s.Compacted, s.ContextUse.Used, s.ContextUse.Limit, s.Totals, o.File, o.FileSize, e.Session)
	if err != nil || state == Live {
		return err
	}
	// What a copy was made of is gone on from again, but not for ever.
	_, err = tx.Exec("UPDATE sessions SET errors = errors + 1 WHERE id = (SELECT parent_id FROM sessions WHERE id = ?)", e.Session)
	return err
}
