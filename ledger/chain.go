package ledger

import (
	"database/sql"
	"strings"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A Chain is a chain with its sessions in the order in which they began, as a value that another book can keep. The
// sessions have numbers from 1 on, 0 is none. The JSON names are the format of stores, and never change.
type Chain struct {
	Tool       string        `json:"tool"`
	Cwd        string        `json:"cwd"`
	Home       string        `json:"home"`
	Rule       string        `json:"rule,omitempty"`
	Task       string        `json:"task,omitempty"`
	Role       string        `json:"role,omitempty"`
	FirstLine  []byte        `json:"first_line,omitempty"`
	Concurrent bool          `json:"concurrent,omitempty"`
	Newest     int64         `json:"newest,omitempty"`
	Since      int64         `json:"since,omitempty"`
	Created    decide.Millis `json:"created"`
	Updated    decide.Millis `json:"updated"`
	Sessions   []Session     `json:"-"`
}

// A Session is a session of a Chain. A field that is missing in JSON has the zero value, which says that nothing is
// known.
type Session struct {
	Parent       int64          `json:"parent,omitempty"` // the number of the session that it is a copy of
	NativeID     *string        `json:"native_id,omitempty"`
	State        decide.State   `json:"state"`
	StateWhy     reason.Code    `json:"state_why,omitempty"`
	Reset        bool           `json:"reset,omitempty"`
	Created      decide.Millis  `json:"created"`
	LastUsed     decide.Millis  `json:"last_used"`
	Turns        int64          `json:"turns,omitempty"`
	Errors       int64          `json:"errors,omitempty"`
	Settings     decide.Digests `json:"settings"`
	Model        string         `json:"model"`
	FirstModel   string         `json:"first_model,omitempty"`
	Runtime      string         `json:"runtime"`
	Auth         decide.Digests `json:"auth"`
	ToolVersion  *string        `json:"tool_version,omitempty"`
	Base         []byte         `json:"base"`
	BaseOpening  int64          `json:"base_opening"`
	BaseBytes    int64          `json:"base_bytes"`
	BaseLines    []byte         `json:"base_lines,omitempty"`
	Shape        []byte         `json:"shape,omitempty"`
	Root         []byte         `json:"root,omitempty"`
	Things       []byte         `json:"things,omitempty"`
	Answers      []byte         `json:"answers,omitempty"`
	Said         []byte         `json:"said,omitempty"`
	Transcript   bool           `json:"transcript,omitempty"`
	Compacted    bool           `json:"compacted,omitempty"`
	CallersOwn   bool           `json:"callers_own,omitempty"`
	ContextUsed  int64          `json:"context_used,omitempty"`
	ContextLimit int64          `json:"context_limit,omitempty"`
	Totals       rewrite.Totals `json:"totals,omitempty"`
	Attempt      *int64         `json:"attempt,omitempty"`
	File         *string        `json:"file,omitempty"` // relative to the tool's home
	LeftFiles    string         `json:"left_files,omitempty"`
	Rounds       string         `json:"rounds,omitempty"`
	Repository   string         `json:"repository,omitempty"`
	Branch       string         `json:"branch,omitempty"`
	Head         string         `json:"head,omitempty"`
	Caller       string         `json:"caller,omitempty"`
	InUse        bool           `json:"-"` // a run has it now; FactsOf and Begin read it
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

func (c *Chain) columns() []column {
	return append(c.progress(), []column{{"tool", &c.Tool}, {"cwd", &c.Cwd}, {"home", &c.Home}, {"rule", &c.Rule}, {"task", &c.Task}, {"role", &c.Role},
		{"created", &c.Created}}...)
}

// progress returns the columns that change with the chain's calls.
func (c *Chain) progress() []column {
	return []column{{"first_line", &c.FirstLine}, {"concurrent", &c.Concurrent}, {"updated", &c.Updated}}
}

func (s *Session) columns() []column {
	return []column{{"native_id", &s.NativeID}, {"state", &s.State}, {"state_why", &s.StateWhy},
		{"reset", &s.Reset}, {"created", &s.Created}, {"last_used", &s.LastUsed}, {"turns", &s.Turns}, {"errors", &s.Errors},
		{"settings", &s.Settings}, {"model", &s.Model}, {"first_model", &s.FirstModel}, {"runtime", &s.Runtime}, {"auth", &s.Auth},
		{"version", &s.ToolVersion}, {"base", &s.Base}, {"base_opening", &s.BaseOpening}, {"base_bytes", &s.BaseBytes},
		{"base_lines", &s.BaseLines}, {"shape", &s.Shape}, {"root", &s.Root}, {"things", &s.Things}, {"answers", &s.Answers},
		{"said", &s.Said}, {"transcript", &s.Transcript}, {"compacted", &s.Compacted}, {"callers_own", &s.CallersOwn},
		{"context_used", &s.ContextUsed}, {"context_limit", &s.ContextLimit}, {"totals", &s.Totals}, {"attempt", &s.Attempt},
		{"file", &s.File}, {"left_files", &s.LeftFiles}, {"rounds", &s.Rounds}, {"repository", &s.Repository}, {"branch", &s.Branch}, {"head", &s.Head},
		{"caller", &s.Caller}}
}

// insert writes the chain and its sessions. This process stands for the runs that have some of them.
func (c *Chain) insert(tx *sql.Tx) error {
	chain, err := insertRow(tx, "chains", c.columns())
	if err != nil {
		return err
	}
	ids := make([]int64, 1, 1+len(c.Sessions)) // by number
	for n := range c.Sessions {
		s := &c.Sessions[n]
		columns := append(s.columns(), column{"chain_id", &chain}, column{"tool", &c.Tool})
		if s.Parent > 0 {
			columns = append(columns, column{"parent_id", &ids[s.Parent]})
		}
		id, err := insertRow(tx, "sessions", columns)
		if err == nil && s.InUse {
			err = takeLease(tx, id, proc.This(), s.LastUsed)
		}
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	_, err = tx.Exec("UPDATE chains SET session_id = nullif(?, 0), since = nullif(?, 0) WHERE id = ?", ids[c.Newest], ids[c.Since], chain)
	return err
}

// A storedSession is a session as the ledger has it.
type storedSession struct {
	Session
	id     int64
	chain  int64
	tool   string
	format int
	parent *int64
	stamp  *string
	shared string
}

func (s *storedSession) columns() []column {
	return append(s.Session.columns(), column{"chain_id", &s.chain}, column{"tool", &s.tool}, column{"format", &s.format},
		column{"parent_id", &s.parent}, column{"stamp", &s.stamp}, column{"shared", &s.shared})
}

// readSession reads a session, nil if there is none.
func readSession(tx *sql.Tx, id int64) (found *storedSession, err error) {
	s := storedSession{id: id}
	columns := s.columns()
	err = Each(tx, "SELECT "+selectList(columns)+" FROM sessions WHERE id = ?", func(rows *sql.Rows) error {
		found = &s
		return scanInto(rows, columns)
	}, id)
	return found, err
}

// source reads the session that a copy was made of, nil if the session is none or its source is another chain's.
func (s *storedSession) source(tx *sql.Tx) (*storedSession, error) {
	if s.parent == nil {
		return nil, nil
	}
	source, err := readSession(tx, *s.parent)
	if source != nil && source.chain != s.chain {
		source = nil
	}
	return source, err
}

// value returns the session, nil for none.
func (s *storedSession) value() *Session {
	if s == nil {
		return nil
	}
	return &s.Session
}

// write writes the session unless it is nil. It has a number from then on.
func (s *storedSession) write(tx *sql.Tx) (err error) {
	if s == nil {
		return nil
	}
	if s.id == 0 {
		s.id, err = insertRow(tx, "sessions", s.columns())
		return err
	}
	return updateRow(tx, "sessions", s.columns(), s.id)
}

// take carries out Chain.take for the chain of a session in the ledger.
func (s *storedSession) take(tx *sql.Tx, call *Call, crowded, anew, continued bool) error {
	var c Chain
	columns := append(c.progress(), column{"coalesce(session_id, 0)", &c.Newest}, column{"coalesce(since, 0)", &c.Since})
	err := Each(tx, "SELECT "+selectList(columns)+" FROM chains WHERE id = ?", func(rows *sql.Rows) error { return scanInto(rows, columns) }, s.chain)
	if err != nil {
		return err
	}
	c.take(s.id, call, crowded, anew, continued)
	return updateRow(tx, "chains", append(c.progress(), column{"session_id", &c.Newest}, column{"since", &c.Since}), s.chain)
}

// insertRow inserts a row with the values of columns and returns its number.
func insertRow(tx *sql.Tx, table string, columns []column) (id int64, err error) {
	marks := strings.TrimPrefix(strings.Repeat(", ?", len(columns)), ", ")
	err = insert(tx, &id, "INSERT INTO "+table+" ("+selectList(columns)+", id) VALUES ("+marks+", "+unusedID(table)+")", valuesOf(columns)...)
	return id, err
}

// updateRow sets the columns of a row.
func updateRow(tx *sql.Tx, table string, columns []column, id int64) error {
	var set []string
	for _, c := range columns {
		set = append(set, c.selected+" = ?")
	}
	_, err := tx.Exec("UPDATE "+table+" SET "+strings.Join(set, ", ")+" WHERE id = ?", append(valuesOf(columns), id)...)
	return err
}

// valuesOf returns the values of columns.
func valuesOf(columns []column) []any {
	values := make([]any, len(columns))
	for i, c := range columns {
		values[i] = c.to
		if blob, ok := c.to.(*[]byte); ok && *blob == nil {
			*blob = []byte{} // nil would be NULL
		}
	}
	return values
}
