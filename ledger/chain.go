package ledger

import (
	"database/sql"
	"reflect"
	"slices"

	"reprise/ledger/decide"
	"reprise/rewrite"
)

// A Chain is a chain with sessions in the order of their beginning, as a value that any book can
// keep. The sessions have numbers; 0 is none. The JSON names are the format of stores, and never
// change. The fields without one are the ledger's.
type Chain struct {
	ID   int64  `db:"id INTEGER PRIMARY KEY AUTOINCREMENT" json:"-"`
	Tool string `db:"tool" json:"tool"`
	Cwd  string `db:"cwd" json:"cwd"`
	Home string `db:"home" json:"home"`
	// that names task and role, "" where the caller did
	Rule string `db:"rule" json:"rule,omitempty"`
	Task string `db:"task" json:"task,omitempty"` // "" where continuity alone made the chain
	Role string `db:"role" json:"role,omitempty"`
	// A digest of the newest session's prompts.
	FirstLine []byte `db:"first_line" json:"first_line,omitempty"`
	// two of its calls have run at once
	Concurrent bool  `db:"concurrent" json:"concurrent,omitempty"`
	Newest     int64 `db:"session_id INTEGER" json:"newest,omitempty"`
	// The session that it last began anew with, 0 for the newest.
	Since    int64         `db:"since INTEGER" json:"since,omitempty"`
	Created  decide.Millis `db:"created" json:"created"`
	Updated  decide.Millis `db:"updated" json:"updated"`
	Sessions []Session     `json:"-"`

	read    []Session // the sessions as they were read
	last    int64     // the highest number of a session in the book, if there are others
	crowded bool      // another session is in use
}

// A Session is a session of a Chain.
type Session struct {
	Chain int64 `db:"chain_id INTEGER NOT NULL REFERENCES chains (id) ON DELETE CASCADE" json:"-"`
	ID    int64 `db:"id INTEGER PRIMARY KEY AUTOINCREMENT" json:"-"` // the number
	decide.SessionRecord
	Turns       int    `db:"turns" json:"turns,omitempty"`
	ToolVersion string `db:"version TEXT" json:"tool_version,omitempty"`

	// Digests of the prompts and answers. Root has the first line and the blocks of the first whole
	// prompt.
	Root []byte `db:"root" json:"root,omitempty"`
	// of the blocks of the newest prompt
	Base []byte `db:"base" json:"base"`
	// how many lines each of these blocks has
	BaseLines   []byte `db:"base_lines" json:"base_lines,omitempty"`
	BaseOpening int64  `db:"base_opening" json:"base_opening"`
	Shape       []byte `db:"shape" json:"shape,omitempty"` // of the exact text, by sections
	// the names that runs touched or said first
	Things  []byte `db:"things" json:"things,omitempty"`
	Answers []byte `db:"answers" json:"answers,omitempty"`
	Said    []byte `db:"said" json:"said,omitempty"` // the other forms of the answers

	// a prompt was a conversation
	Transcript bool           `db:"transcript" json:"transcript,omitempty"`
	Totals     rewrite.Totals `db:"totals" json:"totals,omitempty"`
	Tool       string         `db:"tool" json:"-"`
	// the Format of the digests
	Format int `db:"format INTEGER NOT NULL DEFAULT 1" json:"-"`
	// The kind of the store's register, "" if no store has it.
	Shared string `db:"shared" json:"-"`
	// The digest of the files, as our last run left them for a store.
	Bundle string `db:"bundle_digest" json:"-"`
	// A run has it now; FactsOf and Begin read it.
	InUse bool `json:"-"`
}

// Consistent reports whether the chain has all sessions that it names.
func (c *Chain) Consistent() bool {
	count := int64(len(c.Sessions))
	if count == 0 || c.Newest < 0 || c.Newest > count || c.Since < 0 || c.Since > count {
		return false
	}
	for n := range c.Sessions {
		if parent := c.Sessions[n].Parent; parent < 0 || parent > int64(n) {
			return false
		}
	}
	return true
}

var (
	chains   = newTable[Chain]("chains")
	sessions = newTable[Session]("sessions")
)

// loadChain reads the chain that a condition selects, nil for none, with a session and the source
// of the session.
func loadChain(tx *sql.Tx, session int64, where string, args ...any) (*Chain, error) {
	c, err := chains.get(tx, where, args...)
	if c == nil {
		return nil, err
	}
	c.Sessions, err = sessions.list(tx, "chain_id = ?2 AND id IN (?1, "+
		"(SELECT parent_id FROM sessions WHERE id = ?1)) ORDER BY id", session, c.ID)
	c.read = slices.Clone(c.Sessions)
	return c, err
}

// readLast reads the highest number of a session, deleted ones included: the chain is to have
// another one.
func (c *Chain) readLast(tx *sql.Tx) error {
	return tx.QueryRow("SELECT coalesce((SELECT seq FROM sqlite_sequence " +
		"WHERE name = 'sessions'), 0)").Scan(&c.last)
}

// save writes the chain, which has a number from then on, and those sessions that have changed.
// shared is the mark of new ones.
func (c *Chain) save(tx *sql.Tx, shared string) (err error) {
	if c.ID == 0 {
		c.ID, err = chains.put(tx, c)
	} else {
		_, err = chains.set(tx, c.ID, c, "")
	}
	for i := range c.Sessions {
		switch s := &c.Sessions[i]; {
		case err != nil:
		case i >= len(c.read):
			s.Chain, s.Tool, s.Format, s.Shared, s.Bundle = c.ID, c.Tool, Format, shared, ""
			_, err = sessions.put(tx, s)
		case !reflect.DeepEqual(*s, c.read[i]):
			_, err = sessions.set(tx, s.ID, s, "")
		}
	}
	return err
}
