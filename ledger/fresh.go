package ledger

import (
	"database/sql"
	"fmt"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A FreshCall is a fresh call that nothing named, and the digests of what its session was sent last: the call's prompt,
// or one that extends it.
type FreshCall struct {
	ID             int64
	Tool, Cwd      string
	Started, Ended decide.Millis // Ended is when the session was last used
	Reason         reason.Code
	Caller         string // name of the nearest process above the call, "" if it is not known
	File           string // of its session, "" if it is not known
	Opening        []prompt.Digest
	Blocks         []prompt.Digest
}

// FreshCalls returns the fresh calls of a tool in a directory since then that nothing named, the latest last. It reads at
// most the latest 20 000 of all.
func (l *Ledger) FreshCalls(since decide.Millis, tool, cwd string) (list []FreshCall, err error) {
	err = l.freshCalls(since, func(c *freshCall) {
		if c.tool == tool && c.cwd == cwd {
			list = append(list, c.exported())
		}
	})
	return list, err
}

// exported returns what other packages may know about a call.
func (c *freshCall) exported() FreshCall {
	return FreshCall{ID: c.id, Tool: c.tool, Cwd: c.cwd, Started: c.started, Ended: c.lastUsed, Reason: c.reason,
		Caller: callerName(c.caller), File: c.file, Opening: c.blocks[:c.opening], Blocks: c.blocks}
}

// callerName returns the name of the nearest process of an encoded caller, "" if it is not known.
func callerName(encoded string) string {
	if processes := decide.ParseCaller(encoded).Processes; len(processes) > 0 {
		return processes[0].Name
	}
	return ""
}

// freshCalls reads the fresh calls since then that no rule named, at most the latest 20 000, in the order in which they began.
func (l *Ledger) freshCalls(since decide.Millis, read func(*freshCall)) error {
	err := each(l.db, `SELECT * FROM (
		SELECT i.id, i.tool, i.cwd, c.home, c.role, i.started, i.reason, i.prompt_bytes, s.id, s.state = ? AND NOT s.reset AND NOT s.transcript,
			s.last_used, s.settings, s.model, s.runtime, s.auth, s.repository, s.branch, s.base, s.base_opening, s.base_lines,
			i.caller, coalesce(s.file, '')
		FROM invocations i JOIN sessions s ON s.id = i.session_id JOIN chains c ON c.id = i.chain_id
		WHERE i.started >= ? AND i.mode = ? AND i.fell_back IS NULL AND i.rule = '' AND c.rule = '' AND c.task = ''
		ORDER BY i.started DESC, i.id DESC LIMIT ?) ORDER BY started, id`, func(rows *sql.Rows) error {
		var c freshCall
		var base, lines []byte
		p := &c.fingerprints
		if err := rows.Scan(&c.id, &c.tool, &c.cwd, &c.home, &c.role, &c.started, &c.reason, &c.bytes, &c.session, &c.good,
			&c.lastUsed, &p.Settings, &p.Model, &p.Runtime, &p.Auth, &c.place.Repository, &c.place.Branch, &base, &c.opening, &lines,
			&c.caller, &c.file); err != nil {
			return err
		}
		c.blocks = decodeDigests(base)
		c.lines = decodeLines(lines)
		c.opening = min(c.opening, len(c.blocks))
		read(&c)
		return nil
	}, decide.Live, since, rewrite.Fresh, maxFreshCalls)
	if err != nil {
		return fmt.Errorf("list fresh calls: %w", err)
	}
	return nil
}

// A freshCall is a call with a session of its own, and what that session was sent last: the call's
// prompt, or one that extends it.
type freshCall struct {
	id                    int64
	tool, cwd, home, role string
	started               decide.Millis
	reason                reason.Code
	bytes                 int64
	session               int64
	good                  bool // the session could be continued
	lastUsed              decide.Millis
	fingerprints          decide.Fingerprints
	place                 decide.Place // when its session was used last
	blocks                []prompt.Digest
	lines                 []int // of each block, 0 for a heading; nil if they are not known
	opening               int
	caller                string // encoded
	file                  string // of its session
	continued             []int  // the places of templates in which a later call continues it
}

// footprint returns what the blocks show of the prompt.
func (c *freshCall) footprint() prompt.Footprint {
	return prompt.Footprint{Blocks: c.blocks, Lines: c.lines, Opening: c.opening}
}
