package ledger

import (
	"database/sql"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
)

// maxFreshCalls bounds how many fresh calls are read: the latest.
const maxFreshCalls = 20_000

// A FreshCall is a fresh call that nothing named, and the last prompt of the session: the call's
// prompt, or a prompt that extends it.
type FreshCall struct {
	ID        int64
	Tool, Cwd string
	Run       decide.CallerProcess // of the program that made the call
	File      string               // of the session, "" if it is not known
	prompt.Footprint
}

// FreshCalls returns the fresh calls of a tool in a directory since then that nothing named, in the
// order of their beginning: at most the latest 20,000.
func (l *Ledger) FreshCalls(since decide.Millis, tool, cwd string) (calls []*FreshCall, err error) {
	var c FreshCall
	var s Session
	var caller decide.Caller
	fields := append([]any{&c.ID, &c.Tool, &c.Cwd, jsonColumn{&caller}}, sessions.fields(&s)...)
	err = Each(l.db, "SELECT i.id, i.tool, i.cwd, i.caller, "+sessions.columns("s")+`
		FROM calls i JOIN sessions s ON s.id = i.session_id JOIN chains c ON c.id = i.chain_id
		WHERE i.id IN (SELECT id FROM calls WHERE started >= ? AND tool = ? AND cwd = ? AND mode = ?
			AND fell_back IS NULL AND rule = '' ORDER BY started DESC, id DESC LIMIT ?) AND c.rule = '' AND c.task = ''
		ORDER BY i.started, i.id`, func(rows *sql.Rows) error {
		if err := rows.Scan(fields...); err != nil {
			return err
		}
		one := c
		one.File, one.Footprint, one.Run = s.File, s.sent().Base, caller.Run()
		one.Opening = min(one.Opening, len(one.Blocks))
		calls = append(calls, &one)
		return nil
	}, since, tool, cwd, rewrite.Fresh, maxFreshCalls)
	return calls, Wrap("list fresh calls", err)
}
