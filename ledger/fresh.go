package ledger

import (
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
)

// A FreshCall is a fresh call that nothing named, and the session that it began.
type FreshCall struct {
	Record
	Began Session
}

// Sent returns the last prompt of the session: the call's prompt, or a prompt that extends it.
func (c *FreshCall) Sent() prompt.Footprint { return c.Began.sent().Base }

// FreshCalls returns the fresh calls of a tool in a directory since then that nothing named, the
// latest first, at most so many.
func (l *Ledger) FreshCalls(since decide.Millis, tool, cwd string, most int) ([]FreshCall, error) {
	calls, err := List(l, "SELECT "+RecordColumns()+", "+sessions.columns("si")+" FROM "+RecordTables+`
		WHERE i.started >= ? AND i.tool = ? AND i.cwd = ? AND i.mode = ? AND i.fell_back IS NULL AND i.rule = ''
			AND ic.rule = '' AND ic.task = '' AND si.id NOT NULL
		ORDER BY i.started DESC, i.id DESC LIMIT ?`, func(c *FreshCall) []any {
		return append(RecordFields(&c.Record), sessions.fields(&c.Began)...)
	}, since, tool, cwd, rewrite.Fresh, most)
	return calls, Wrap("list fresh calls", err)
}
