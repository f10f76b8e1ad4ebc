package ledger

import (
	"database/sql"
	"fmt"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// maxFreshCalls bounds how many fresh calls are read: the latest.
const maxFreshCalls = 20_000

// A FreshCall is a fresh call that nothing named, and what its session was sent last: the call's prompt, or one that extends
// it.
type FreshCall struct {
	ID                    int64
	Tool, Cwd, Home, Role string
	Started               decide.Millis
	Reason                reason.Code
	Bytes                 int64 // of its prompt
	Session               int64
	Good                  bool          // the session could be continued
	LastUsed              decide.Millis // when the session was
	Fingerprints          decide.Fingerprints
	Place                 decide.Place // when the session was used last
	Caller                string       // name of the nearest process above the call, "" if it is not known
	File                  string       // of its session, "" if it is not known
	prompt.Footprint
}

// callerName returns the name of the nearest process of an encoded caller, "" if it is not known.
func callerName(encoded string) string {
	if processes := decide.ParseCaller(encoded).Processes; len(processes) > 0 {
		return processes[0].Name
	}
	return ""
}

// FreshCalls calls read for the fresh calls since then that nothing named, at most the latest 20 000, in the order in which they
// began.
func (l *Ledger) FreshCalls(since decide.Millis, read func(*FreshCall)) error {
	err := Each(l.db, `SELECT * FROM (
		SELECT i.id, i.tool, i.cwd, c.home, c.role, i.started, i.reason, i.prompt_bytes, s.id, s.state = ? AND NOT s.reset AND NOT s.transcript,
			s.last_used, s.settings, s.model, s.runtime, s.auth, s.repository, s.branch, s.base, s.base_opening, s.base_lines, s.shape,
			i.caller, coalesce(s.file, '')
		FROM invocations i JOIN sessions s ON s.id = i.session_id JOIN chains c ON c.id = i.chain_id
		WHERE i.started >= ? AND i.mode = ? AND i.fell_back IS NULL AND i.rule = '' AND c.rule = '' AND c.task = ''
		ORDER BY i.started DESC, i.id DESC LIMIT ?) ORDER BY started, id`, func(rows *sql.Rows) error {
		var c FreshCall
		var base, lines, shape []byte
		var caller string
		p := &c.Fingerprints
		if err := rows.Scan(&c.ID, &c.Tool, &c.Cwd, &c.Home, &c.Role, &c.Started, &c.Reason, &c.Bytes, &c.Session, &c.Good,
			&c.LastUsed, &p.Settings, &p.Model, &p.Runtime, &p.Auth, &c.Place.Repository, &c.Place.Branch, &base, &c.Opening, &lines, &shape,
			&caller, &c.File); err != nil {
			return err
		}
		c.Blocks, c.Lines, c.Shape, c.Caller = decodeDigests(base), decodeLines(lines), decodeShape(shape), callerName(caller)
		c.Opening = min(c.Opening, len(c.Blocks))
		read(&c)
		return nil
	}, decide.Live, since, rewrite.Fresh, maxFreshCalls)
	if err != nil {
		return fmt.Errorf("list fresh calls: %w", err)
	}
	return nil
}
