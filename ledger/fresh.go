package ledger

import (
	"database/sql"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// maxFreshCalls bounds how many fresh calls are read: the latest.
const maxFreshCalls = 20_000

// A FreshCall is a fresh call that nothing named, and what its session was sent and answered last: the call's prompt, or one that
// extends it.
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
	Sent                  prompt.Sent
	prompt.Footprint      // of Sent's base
}

// FreshCalls returns the fresh calls since then that nothing named, at most the latest 20 000, in the order in which they
// began.
func (l *Ledger) FreshCalls(since decide.Millis) (calls []*FreshCall, err error) {
	var c FreshCall
	var r sentRow
	var caller decide.Caller
	p := &c.Fingerprints
	columns := append([]column{
		{"i.id", &c.ID}, {"i.tool", &c.Tool}, {"i.cwd", &c.Cwd}, {"c.home", &c.Home}, {"c.role", &c.Role}, {"i.started AS started", &c.Started},
		{"i.reason", &c.Reason}, {"i.prompt_bytes", &c.Bytes}, {"s.id AS session", &c.Session}, {"s.state = ? AND NOT s.reset AND NOT s.transcript", &c.Good},
		{"s.last_used", &c.LastUsed}, {"s.settings", &p.Settings}, {"s.model", &p.Model}, {"s.runtime", &p.Runtime}, {"s.auth", &p.Auth},
		{"s.repository", &c.Place.Repository}, {"s.branch", &c.Place.Branch}, {"i.caller", &caller}, {"coalesce(s.file, '')", &c.File},
	}, r.columns()...)
	err = Each(l.db, "SELECT * FROM (SELECT "+selectList(columns)+`
		FROM invocations i JOIN sessions s ON s.id = i.session_id JOIN chains c ON c.id = i.chain_id
		WHERE i.started >= ? AND i.mode = ? AND i.fell_back IS NULL AND i.rule = '' AND c.rule = '' AND c.task = ''
		ORDER BY i.started DESC, i.id DESC LIMIT ?) ORDER BY started, id`, func(rows *sql.Rows) error {
		if err := scanInto(rows, columns); err != nil {
			return err
		}
		r.decode()
		r.sent.Base.Opening = min(r.sent.Base.Opening, len(r.sent.Base.Blocks))
		one := c
		one.Sent, one.Footprint, one.Caller = r.sent, r.sent.Base, caller.Program()
		calls = append(calls, &one)
		return nil
	}, decide.Live, since, rewrite.Fresh, maxFreshCalls)
	return calls, Wrap("list fresh calls", err)
}
