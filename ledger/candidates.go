package ledger

import (
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	_ "reprise/rewrite/tool" // registers the tools
)

// MaxCandidates bounds how many chains of the directory with the same beginning an unnamed call is
// compared with. If there are more, the call can never be shown to fit only one.
const MaxCandidates = 256

// readFacts reads the facts. It takes no lock, except to record outcomes in the spool, and briefly
// after another process was killed during a write. A session's row, the holder and its file are
// read one after the other: a change by another call in between must not look like a crash or an
// unknown change. A session that others change again and again is held.
func (l *Ledger) readFacts(c *Call) (f decide.Facts, err error) {
	const tries = 3
	for range tries {
		err = retry(LockTimeout, func() (error, bool) {
			f, err = l.facts(c)
			return err, IsLocked(err)
		})
		moved, settle := false, sync.OnceFunc(func() {
			_, _ = l.settleSome() // an outcome that is not recorded leaves its session unfit to resume
		})
		for _, list := range [][]decide.ChainFacts{f.Chains, f.Start} {
			for i := range list {
				if cf := &list[i]; err == nil && l.outdated(cf, settle) {
					cf.Held, moved = true, true
				}
			}
		}
		if !moved {
			break
		}
	}
	l.addOwn(c, &f, func(cf *decide.ChainFacts) int64 { return cf.Chain })
	return f, err
}

// outdated reports whether a session seems to have died or changed only because the row has changed
// since it was read, or because the outcome was still in the spool: settle records it.
func (l *Ledger) outdated(c *decide.ChainFacts, settle func()) bool {
	if c.Stored != decide.StoredChanged && (c.State != decide.Running || c.Held) {
		return false
	}
	settle()
	changed, err := l.exists("FROM sessions WHERE id = ? AND (state <> ? OR last_used <> ?)",
		c.Session, c.State, c.LastUsed)
	return err == nil && changed
}

func (l *Ledger) facts(c *Call) (f decide.Facts, err error) {
	f = decide.Facts{Request: c.Request, Named: c.named(), Strong: c.strong(),
		SameTask: c.Strict && c.Task != "", PromptBytes: len(c.Prompt.Text)}
	if c.Never {
		return f, nil
	}
	if c.Tree != nil {
		f.Given = c.Prompt.Given
	}
	err = l.addChains(c, &f)
	return f, err
}

// addOwn adds the facts that only the ledger of this machine knows: about the costs of runs, and
// about the binary. here returns the number that a chain has in the ledger, 0 for none.
func (l *Ledger) addOwn(c *Call, f *decide.Facts, here func(*decide.ChainFacts) int64) {
	f.Past = func(cf *decide.ChainFacts) []decide.Run { return l.past(here(cf)) }
	f.Learned = func() []decide.Run { return l.learned(c) }
	// A binary that was never probed is assumed to resume: the first refusal is caught and
	// recorded.
	b, err := l.Binary(c.Tool, c.Fingerprints.Runtime)
	f.NoResume = f.NoResume || err == nil && (b.NoResume || b.Probe.Known && !b.Probe.Resume)
}

// addChains adds the sessions that the call can continue: the ends of the branches and, if these do
// not show the session, the sessions that led to them and others that the prompt shows. A long job
// might have many sessions. Without a name the chains begin like the prompt: no other chain can have
// been sent the same prompt, or a prompt that this one extends.
func (l *Ledger) addChains(c *Call, f *decide.Facts) (err error) {
	s := search{Ledger: l, call: c, facts: f}
	if err := s.addEnds(); err != nil || len(f.Start) > 0 {
		return err
	}
	answers, err := l.answers(c)
	if err != nil {
		return err
	}
	addEvidence(c, f.Chains, answers)
	if isClear(f) {
		return nil
	}
	found := len(f.Chains)
	s.shown = shownSessions(answers)
	err = s.addInner()
	if err == nil && (!f.Named ||
		c.DerivedRole() && !slices.ContainsFunc(f.Chains, decide.ChainFacts.HasFirstPrompt)) {
		err = s.addOthers()
	}
	addEvidence(c, f.Chains[found:], answers)
	return err
}

// A search finds the sessions that a call can continue, step by step.
type search struct {
	*Ledger
	call  *Call
	facts *decide.Facts
	// chains of the call's directory begin like the prompt, and like a later line of it
	alike, later bool
	shown        string // the sessions with an answer that the prompt shows, for SQL
}

// addEnds adds the ends of the branches. A role without any begins from the role that the rule
// names.
func (s *search) addEnds() (err error) {
	c, f := s.call, s.facts
	if !f.Named || c.DerivedRole() {
		if s.alike, s.later, err = s.beginnings(c); err != nil {
			return err
		}
	}
	if f.Named && c.Role != "" && !c.DerivedRole() {
		if c.otherRoles, err = Column[string](s, "SELECT c.role FROM chains c "+ofTask+
			"AND c.role NOT IN ('', ?) LIMIT 16", c.name()...); err != nil {
			return err
		}
	}
	f.Chains, f.More, err = s.read(ends)
	if err != nil || !f.Named || len(f.Chains) > 0 {
		return err
	}
	if f.Unseen, err = s.unseen(c, false); err == nil && f.Unseen == "" {
		err = s.addStart(c, f)
	}
	return err
}

// read reads the sessions of the call's name, or of the chains that begin like the prompt.
func (s *search) read(which string) (chains []decide.ChainFacts, more bool, err error) {
	switch {
	case s.facts.Named:
		return s.chains(s.call, which, ofJob+newest, s.call.job()...)
	case s.alike:
		return s.chains(s.call, which, beginningAlike+newest,
			append(s.call.job(), s.call.FirstLine())...)
	}
	return nil, false, nil
}

// addInner adds the sessions that led to the ends.
func (s *search) addInner() error {
	f := s.facts
	if len(f.Chains) == 0 {
		return nil
	}
	more, _, err := s.read(inner)
	if err != nil {
		return err
	}
	if !f.Named {
		add(f, stillOpen(f, more))
		return nil
	}
	add(f, more)
	if s.shown != "" {
		more, _, err = s.read(ofFormat + " AND s.chain_id = c.id AND s.id IN (" + s.shown + ")")
		add(f, more)
	}
	return err
}

// addOthers adds the chains that begin like a later line of the prompt, and those with a newest
// answer that the prompt shows. It notes whether there are chains that the call cannot continue.
func (s *search) addOthers() (err error) {
	c, f := s.call, s.facts
	if s.shown != "" || s.later {
		others, err := s.others()
		if err != nil {
			return err
		}
		add(f, others)
	}
	none, of := len(f.Chains) == 0, ofRoles
	if !f.Named {
		of = ofJob
		if f.Unseen, err = s.unseen(c, s.alike && none); err != nil {
			return err
		}
	}
	if none {
		f.Others, err = s.exists("FROM chains c "+of, c.job()...)
	}
	return err
}

// isClear reports whether the ends show which session the call continues or repeats.
func isClear(f *decide.Facts) bool {
	return slices.ContainsFunc(f.Chains, func(cf decide.ChainFacts) bool {
		relation := cf.Continuity.Relation
		switch {
		case cf.State != decide.Live || cf.Held:
			return false
		case f.Named:
			return len(f.Chains) == 1 && !cf.Concurrent && relation == reason.Extends
		}
		return relation == reason.Identical || f.GoesOn(&cf)
	})
}

// stillOpen returns the sessions that the call can still continue although copies have: an end is
// busy or lost, or the limits allow the call to go back.
func stillOpen(f *decide.Facts, inner []decide.ChainFacts) []decide.ChainFacts {
	busy := slices.ContainsFunc(f.Chains, func(cf decide.ChainFacts) bool {
		return cf.Held && related(&cf)
	})
	copies := map[int64]int{}
	for _, cf := range slices.Concat(f.Chains, inner) {
		copies[cf.Parent]++
	}
	return slices.DeleteFunc(inner, func(cf decide.ChainFacts) bool {
		lost := f.Lost(cf.Session)
		onlyLost := lost > 0 && lost == copies[cf.Session] // then it is still an end
		return !busy && !f.Limits.GoesBack(&cf) && !onlyLost
	})
}

// beginnings reports whether chains of the call's directory begin like the prompt, and like a later
// line of it. It is one short question, since most calls begin like no other, and SQLite takes
// longer to compile the long ones than to answer them.
func (l *Ledger) beginnings(c *Call) (alike, later bool, err error) {
	lines := c.firstLines()
	err = l.db.QueryRow("SELECT coalesce(max(first_line = ?2), 0), "+
		"coalesce(max(first_line <> ?2), 0) FROM chains "+
		"WHERE cwd = ?1 AND first_line IN (?2"+strings.Repeat(", ?", len(lines))+")",
		append([]any{c.Cwd, c.FirstLine()}, lines...)...).Scan(&alike, &later)
	return alike, later, err
}

// others reads the chains that addOthers adds.
func (s *search) others() ([]decide.ChainFacts, error) {
	c, lines := s.call, s.call.firstLines()
	where := ofRoles + " AND c.first_line <> ?8 AND (c.first_line IN (?8" +
		strings.Repeat(", ?", len(lines)) + ")"
	if s.shown != "" {
		where += " OR s.id IN (" + s.shown + ")"
	}
	others, _, err := s.chains(c, ends, where+")"+newest,
		slices.Concat(c.job(), []any{c.FirstLine()}, lines)...)
	return slices.DeleteFunc(others, func(cf decide.ChainFacts) bool {
		return !cf.HasFirstPrompt() && !cf.QuotesLong() &&
			!(s.facts.Named && cf.Continuity.Evidence.Own)
	}), err
}

// addStart reads the ends of the role that the call's role begins from, if that has had no call
// yet. A prompt that ends a role does not begin from it. As where roles are ended, a name's letters
// can be large or small.
func (l *Ledger) addStart(c *Call, f *decide.Facts) error {
	isStart := func(role string) bool { return strings.EqualFold(role, c.StartFrom) }
	if c.StartFrom == "" || c.Role == "" || c.DerivedRole() || isStart(c.Role) ||
		slices.ContainsFunc(c.Resets, isStart) {
		return nil
	}
	if begun, err := l.exists("FROM chains WHERE "+ofName, c.name()...); err != nil || begun {
		return err
	}
	other := *c
	other.Role = c.StartFrom
	var err error
	f.Start, _, err = l.chains(c, ends+" AND s.reset = 0",
		ofTask+"AND c.role = ? COLLATE NOCASE AND c.updated >= ?"+newest, other.job()...)
	return err
}

// unseen returns why a session that the call might continue is not among the candidates: it is of
// another format, and of the call's task or without a name not idle; or, looked for if aged, the
// chain is older than max_age.
func (l *Ledger) unseen(c *Call, aged bool) (why reason.Code, err error) {
	since := decide.Millis(0)
	if c.Task == "" {
		since = c.Now - min(c.Limits.TTL, c.Limits.MaxAge)
	}
	found, err := l.exists("FROM chains c JOIN sessions s ON s.id = c.session_id "+ofRoles+
		" AND NOT ("+ofFormat+")", append(c.name(), since)...)
	switch {
	case found:
		return reason.Updated, nil
	case err != nil || !aged:
		return "", err
	}
	old := *c
	old.Limits.MaxAge = c.Now
	chains, _, err := l.chains(&old, ends, beginningAlike+newest,
		append(old.job(), c.FirstLine())...)
	if slices.ContainsFunc(chains, func(cf decide.ChainFacts) bool {
		return cf.Continuity.Relation == reason.Extends
	}) {
		why = reason.TooOld
	}
	return why, err
}

// add adds sessions, unless they are there already: the source of a copy might have been an end when
// the ends were read.
func add(f *decide.Facts, sessions []decide.ChainFacts) {
	for _, one := range sessions {
		if !slices.ContainsFunc(f.Chains, func(c decide.ChainFacts) bool {
			return c.Session == one.Session
		}) {
			f.Chains = append(f.Chains, one)
		}
	}
}

// maxBlob bounds the length of a column of digests that is read. No call makes one as long: a
// longer one is damaged, and would take a call many seconds.
const maxBlob = 2 << 20

// The sessions that can be compared with.
var ofFormat = fmt.Sprintf("s.format = %d AND max(length(s.base), length(s.base_lines), "+
	"length(s.shape), "+
	"length(s.root), "+
	"length(s.answers), length(s.said), length(s.things)) <= %d", Format, maxBlob)

// sinceBegun selects the sessions s of a chain c since it last began anew, without the copies that
// ended badly: the ends, and the sources of copies, which can be many.
var (
	sinceBegun = ofFormat + ` AND s.chain_id = c.id AND s.id >= coalesce(c.since, c.session_id) AND (s.parent_id IS NULL
		OR s.state IN ('live', 'running'))`
	ends       = sinceBegun + ` AND NOT ` + goneOnFrom
	inner      = sinceBegun + ` AND ` + goneOnFrom
	goneOnFrom = `EXISTS (SELECT 1 FROM sessions k WHERE k.parent_id = s.id AND k.chain_id = s.chain_id
		AND k.state IN ('live', 'running'))`
)

// The chains of a call's job, with the arguments of job. beginningAlike has one more argument, the
// line that the chains begin with. A job with many chains might have few that do: an index of their
// own finds them, and the plus keeps SQLite from using another index.
const (
	ofTask = `WHERE c.tool = ? AND c.cwd = ? AND c.home = ? AND c.rule = ? AND c.task = ? `
	ofJob  = ofTask + `AND c.role = ? AND c.updated >= ?`

	// The same with all roles of the task that nothing names, if nothing names the call's.
	ofRoles = ofTask + `
		AND (c.role = ?6 OR substr(?6, 1, 2) = '` + prompt.RoleTextMark + `'
			AND substr(c.role, 1, 2) = '` + prompt.RoleTextMark + `') AND c.updated >= ?7`

	beginningAlike = `WHERE +c.tool = ? AND c.cwd = ? AND +c.home = ? AND +c.rule = ? AND +c.task = ? AND +c.role = ?
		AND c.updated >= ?
		AND c.first_line = ?`
)

// newest selects as many sessions as are compared, and one more. The limit is a literal since
// SQLite plans a query with a bound LIMIT twice.
var newest = " ORDER BY c.updated DESC, c.id DESC, s.id DESC LIMIT " + strconv.Itoa(MaxCandidates+1)

func (c *Call) job() []any {
	oldest := c.Now - c.Limits.MaxAge
	if c.Task != "" { // a named chain keeps the name forever
		oldest = 0
	}
	return append(c.name(), oldest)
}

// name returns the arguments of ofName.
func (c *Call) name() []any { return []any{c.Tool, c.Cwd, c.Home, c.Scope, c.Task, c.Role} }

func (s *Session) sent() prompt.Sent {
	sent := prompt.Sent{
		Base: prompt.Footprint{Opening: int(s.BaseOpening), Bytes: s.BaseBytes,
			Blocks: decodeDigests(s.Base), Shape: decodeShape(s.Shape)},
		Answers: decodeAnswers(s.Answers, s.Said), Transcript: s.Transcript,
		Things: decodeMarks(s.Things),
	}
	sent.Base.Lines, _, _ = cutNumbers(s.BaseLines, len(sent.Base.Blocks))
	if root := decodeDigests(s.Root); len(root) > 0 {
		sent.RootFirst, sent.Root = root[0], root[1:]
	}
	return sent
}

// related reports whether the prompt repeats some of the session's prompt, or shows an answer.
func related(c *decide.ChainFacts) bool {
	return c.Continuity.Retains() || c.Continuity.Relation == reason.Revises ||
		c.Continuity.Evidence.Answer > 0
}

// chains reads the facts about some sessions. more reports that there are others.
func (l *Ledger) chains(c *Call, which, where string, args ...any) (
	found []decide.ChainFacts, more bool, err error,
) {
	var chain Chain
	var session Session
	var holder lease
	fields := slices.Concat(chains.fields(&chain), sessions.fields(&session), holder.fields())
	tool, known := rewrite.Lookup(c.Tool)
	err = Each(l, "SELECT "+chains.columns("c")+", "+sessions.columns("s")+`, coalesce(l.session_id, 0), c.id,
		coalesce(l.boot, ''), coalesce(l.namespace, ''), coalesce(l.pid, 0), coalesce(l.pid_start, 0),
		coalesce(l.child, 0), coalesce(l.child_start, 0), coalesce(l.taken, 0)
		FROM chains c JOIN sessions s ON `+which+`
		LEFT JOIN leases l ON l.session_id = s.id `+where, func(rows *sql.Rows) error {
		if more = len(found) == MaxCandidates; more {
			return nil // read on to the end: open rows would keep the connection
		}
		if err := rows.Scan(fields...); err != nil {
			return err
		}
		sent := session.sent()
		sent.Named, sent.Others = c.strong(), c.otherRoles
		cf := decide.ChainFacts{Chain: chain.ID, Newest: chain.Newest, Concurrent: chain.Concurrent,
			Session: session.ID, SessionRecord: session.SessionRecord, Shared: session.Shared != "",
			Base: decodeDigests(session.Base), Continuity: prompt.Compare(sent, c.Prompt)}
		if !known || !tool.ValidID(cf.NativeID) {
			cf.NativeID = "" // an invalid ID must never get onto a command line
		}
		cf.Held, cf.Share = holder.held(), bucket(l.key, cf.Chain)
		if c.Stored != nil && cf.State == decide.Live && (c.named() || related(&cf) &&
			(c.Limits.ResumeSame || cf.Continuity.Relation != reason.Identical)) {
			cf.Stored = c.Stored(cf.File, cf.NativeID, cf.Stamp)
		}
		found = append(found, cf)
		return nil
	}, args...)
	return found, more, err
}
