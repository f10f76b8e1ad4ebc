package ledger

import (
	"database/sql"
	"strings"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
	"reprise/rewrite/reason"
)

// A Chain is a chain with its sessions in the order in which they began, as a value that another book may keep. Its
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

// A Session is a session of a Chain. A field that is missing in JSON has its zero value, which says that nothing is
// known.
type Session struct {
	Parent       int64         `json:"parent,omitempty"` // the number of the session that it is a copy of
	ParentSize   *int64        `json:"parent_size,omitempty"`
	NativeID     *string       `json:"native_id,omitempty"`
	State        decide.State  `json:"state"`
	StateWhy     string        `json:"state_why,omitempty"`
	Reset        bool          `json:"reset,omitempty"`
	Created      decide.Millis `json:"created"`
	LastUsed     decide.Millis `json:"last_used"`
	Turns        int64         `json:"turns,omitempty"`
	Errors       int64         `json:"errors,omitempty"`
	Settings     string        `json:"settings"`
	Model        string        `json:"model"`
	FirstModel   string        `json:"first_model,omitempty"`
	Runtime      string        `json:"runtime"`
	Auth         string        `json:"auth"`
	ToolVersion  *string       `json:"tool_version,omitempty"`
	Base         []byte        `json:"base"`
	BaseOpening  int64         `json:"base_opening"`
	BaseBytes    int64         `json:"base_bytes"`
	BaseLines    []byte        `json:"base_lines,omitempty"`
	Shape        []byte        `json:"shape,omitempty"`
	Root         []byte        `json:"root,omitempty"`
	Things       []byte        `json:"things,omitempty"`
	Answers      []byte        `json:"answers,omitempty"`
	Said         []byte        `json:"said,omitempty"`
	Transcript   bool          `json:"transcript,omitempty"`
	Compacted    bool          `json:"compacted,omitempty"`
	CallersOwn   bool          `json:"callers_own,omitempty"`
	ContextUsed  int64         `json:"context_used,omitempty"`
	ContextLimit int64         `json:"context_limit,omitempty"`
	Totals       string        `json:"totals,omitempty"`
	Attempt      *int64        `json:"attempt,omitempty"`
	File         *string       `json:"file,omitempty"` // relative to the tool's home
	LeftFiles    string        `json:"left_files,omitempty"`
	Rounds       string        `json:"rounds,omitempty"`
	Repository   string        `json:"repository,omitempty"`
	Branch       string        `json:"branch,omitempty"`
	Head         string        `json:"head,omitempty"`
	Caller       string        `json:"caller,omitempty"`
	InUse        bool          `json:"-"` // a run has it now; only NewPage reads it
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
	return []column{{"tool", &c.Tool}, {"cwd", &c.Cwd}, {"home", &c.Home}, {"rule", &c.Rule}, {"task", &c.Task}, {"role", &c.Role},
		{"first_line", &c.FirstLine}, {"concurrent", &c.Concurrent}, {"created", &c.Created}, {"updated", &c.Updated}}
}

func (s *Session) columns() []column {
	return []column{{"parent_size", &s.ParentSize}, {"native_id", &s.NativeID}, {"state", &s.State}, {"state_why", &s.StateWhy},
		{"reset", &s.Reset}, {"created", &s.Created}, {"last_used", &s.LastUsed}, {"turns", &s.Turns}, {"errors", &s.Errors},
		{"settings", &s.Settings}, {"model", &s.Model}, {"first_model", &s.FirstModel}, {"runtime", &s.Runtime}, {"auth", &s.Auth},
		{"version", &s.ToolVersion}, {"base", &s.Base}, {"base_opening", &s.BaseOpening}, {"base_bytes", &s.BaseBytes},
		{"base_lines", &s.BaseLines}, {"shape", &s.Shape}, {"root", &s.Root}, {"things", &s.Things}, {"answers", &s.Answers},
		{"said", &s.Said}, {"transcript", &s.Transcript}, {"compacted", &s.Compacted}, {"callers_own", &s.CallersOwn},
		{"context_used", &s.ContextUsed}, {"context_limit", &s.ContextLimit}, {"totals", &s.Totals}, {"attempt", &s.Attempt},
		{"file", &s.File}, {"left_files", &s.LeftFiles}, {"rounds", &s.Rounds}, {"repository", &s.Repository}, {"branch", &s.Branch}, {"head", &s.Head},
		{"caller", &s.Caller}}
}

// A Page is a ledger in memory that has some chains only. Another book decides and records on it by the same statements
// as the ledger, and keeps the chains. Chains, and the sessions of all of them, have numbers from 1 on, in the order in
// which they were given.
type Page struct{ memory *Ledger }

// NewPage returns a page with consistent chains. The caller closes it.
func (l *Ledger) NewPage(chains ...Chain) (*Page, error) {
	db, err := connect(":memory:", inMemory)
	if err != nil {
		return nil, err
	}
	p := &Page{&Ledger{db: db, key: l.key}}
	if _, err = db.Exec(strings.Join(migrations, ";\n")); err == nil {
		err = p.memory.transact(func(tx *sql.Tx) error {
			for i := range chains {
				if err := chains[i].insert(tx); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return p, nil
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

// insertRow inserts a row with the values of columns and returns its number.
func insertRow(tx *sql.Tx, table string, columns []column) (int64, error) {
	values := make([]any, len(columns))
	for i, c := range columns {
		values[i] = c.to
		if blob, ok := c.to.(*[]byte); ok && *blob == nil {
			*blob = []byte{} // nil would be NULL
		}
	}
	result, err := tx.Exec("INSERT INTO "+table+" ("+list(columns)+") VALUES ("+strings.TrimPrefix(strings.Repeat(", ?", len(columns)), ", ")+")", values...)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// Close ends the page.
func (p *Page) Close() error { return p.memory.db.Close() }

// Facts reads what a decision on a call depends on. Measured adds what only this machine's ledger knows.
func (p *Page) Facts(c *Call) (decide.Facts, error) { return p.memory.facts(c, false) }

// Find returns the number of a session's chain, and its own number in it.
func (p *Page) Find(session int64) (chain, number int64, err error) {
	err = p.memory.db.QueryRow(`SELECT s.chain_id, (SELECT count(*) FROM sessions o WHERE o.chain_id = s.chain_id AND o.id <= s.id)
		FROM sessions s WHERE s.id = ?`, session).Scan(&chain, &number)
	return chain, number, err
}

// ResetRoles ends these roles' sessions in a task.
func (p *Page) ResetRoles(cwd, task string, roles []string) error {
	return p.memory.transact(func(tx *sql.Tx) error { return resetRoles(tx, cwd, task, roles) })
}

// Begin carries out a decision: the call has the ticket's session then, and Source if that is to be a copy.
func (p *Page) Begin(c *Call, d decide.Decision) (*Ticket, error) {
	t := &Ticket{call: c, key: p.memory.key}
	err := p.memory.transact(func(tx *sql.Tx) error { return t.begin(tx, c, &d) })
	return t, err
}

// FallBack abandons the resume of a session, which is a copy of source unless that is 0. of is the call's ticket in the
// ledger of this machine. FallBack returns the new session.
func (p *Page) FallBack(of *Ticket, session, source int64, why reason.Code) (anew int64, err error) {
	t := &Ticket{call: of.call, cut: of.cut, key: p.memory.key, Session: session, source: source}
	err = p.memory.transact(func(tx *sql.Tx) error {
		if err := tx.QueryRow("SELECT chain_id FROM sessions WHERE id = ?", session).Scan(&t.chain); err != nil {
			return err
		}
		return t.fallBack(tx, session, why)
	})
	return t.Session, err
}

// Record records how the run of a session ended.
func (p *Page) Record(session int64, e Ending) error {
	return p.memory.transact(func(tx *sql.Tx) error {
		e.Session = session
		if err := tx.QueryRow("SELECT chain_id FROM sessions WHERE id = ?", session).Scan(&e.Chain); err != nil {
			return err
		}
		if err := resetRoles(tx, e.Cwd, e.Task, e.Outcome.Resets); err != nil {
			return err
		}
		return e.recordTurns(tx)
	})
}

// Chain returns a chain as it is on the page now.
func (p *Page) Chain(number int64) (c Chain, err error) {
	var newest, since int64
	columns := append(c.columns(), column{"coalesce(session_id, 0)", &newest}, column{"coalesce(since, 0)", &since})
	err = Each(p.memory.db, "SELECT "+list(columns)+" FROM chains WHERE id = ?", func(rows *sql.Rows) error { return scan(rows, columns) }, number)
	if err != nil {
		return c, err
	}
	var ids, parents []int64
	numbered := func(s *Session, id, parent *int64) []column {
		return append(s.columns(), column{"id", id}, column{"coalesce(parent_id, 0)", parent})
	}
	err = Each(p.memory.db, "SELECT "+list(numbered(new(Session), nil, nil))+" FROM sessions WHERE chain_id = ? ORDER BY id", func(rows *sql.Rows) error {
		var s Session
		var id, parent int64
		err := scan(rows, numbered(&s, &id, &parent))
		c.Sessions, ids, parents = append(c.Sessions, s), append(ids, id), append(parents, parent)
		return err
	}, number)
	if err != nil {
		return c, err
	}
	numbers := map[int64]int64{}
	for at, id := range ids {
		numbers[id] = int64(at) + 1
	}
	c.Newest, c.Since = numbers[newest], numbers[since]
	for at, parent := range parents {
		c.Sessions[at].Parent = numbers[parent]
	}
	return c, nil
}
