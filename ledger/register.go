package ledger

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reprise/store"
)

// registerVersion is the version of a register's content. It is no version of the ledger. It is raised only if a
// reader of the version before would decide wrongly: such a reader does not use the register at all.
//
// A field may be added without that. A reader ignores fields that it does not know, and does not write them back: what
// it did with the session may have made them untrue. A field that is missing has its zero value, which must say that
// nothing is known.
const registerVersion = 1

// A written is the content of a register: a chain with its sessions in the order in which they began. The JSON names are
// the format of stores, and never change.
type written struct {
	Version  int              `json:"version"`
	Chain    writtenChain     `json:"chain"`
	Sessions []writtenSession `json:"sessions"`
}

// A writtenChain is a chain in a register. Its sessions have numbers from 1 on, 0 is none.
type writtenChain struct {
	Tool       string `json:"tool"`
	Cwd        string `json:"cwd"`
	Home       string `json:"home"`
	Rule       string `json:"rule,omitempty"`
	Task       string `json:"task,omitempty"`
	Role       string `json:"role,omitempty"`
	FirstLine  []byte `json:"first_line,omitempty"`
	Concurrent bool   `json:"concurrent,omitempty"`
	Newest     int64  `json:"newest,omitempty"`
	Since      int64  `json:"since,omitempty"`
	Created    Millis `json:"created"`
	Updated    Millis `json:"updated"`
}

func (c *writtenChain) columns() []column {
	return []column{{"tool", &c.Tool}, {"cwd", &c.Cwd}, {"home", &c.Home}, {"rule", &c.Rule}, {"task", &c.Task}, {"role", &c.Role},
		{"first_line", &c.FirstLine}, {"concurrent", &c.Concurrent}, {"created", &c.Created}, {"updated", &c.Updated}}
}

// A writtenSession is a session in a register.
type writtenSession struct {
	Parent       int64   `json:"parent,omitempty"` // the number of the session that it is a copy of
	ParentSize   *int64  `json:"parent_size,omitempty"`
	NativeID     *string `json:"native_id,omitempty"`
	State        State   `json:"state"`
	StateWhy     string  `json:"state_why,omitempty"`
	Reset        bool    `json:"reset,omitempty"`
	Created      Millis  `json:"created"`
	LastUsed     Millis  `json:"last_used"`
	Turns        int64   `json:"turns,omitempty"`
	Errors       int64   `json:"errors,omitempty"`
	Settings     string  `json:"settings"`
	Model        string  `json:"model"`
	FirstModel   string  `json:"first_model,omitempty"`
	Runtime      string  `json:"runtime"`
	Auth         string  `json:"auth"`
	ToolVersion  *string `json:"tool_version,omitempty"`
	Base         []byte  `json:"base"`
	BaseOpening  int64   `json:"base_opening"`
	BaseBytes    int64   `json:"base_bytes"`
	BaseLines    []byte  `json:"base_lines,omitempty"`
	Shape        []byte  `json:"shape,omitempty"`
	Root         []byte  `json:"root,omitempty"`
	Things       []byte  `json:"things,omitempty"`
	Answers      []byte  `json:"answers,omitempty"`
	Said         []byte  `json:"said,omitempty"`
	Transcript   bool    `json:"transcript,omitempty"`
	Compacted    bool    `json:"compacted,omitempty"`
	CallersOwn   bool    `json:"callers_own,omitempty"`
	ContextUsed  int64   `json:"context_used,omitempty"`
	ContextLimit int64   `json:"context_limit,omitempty"`
	Totals       string  `json:"totals,omitempty"`
	Attempt      *int64  `json:"attempt,omitempty"`
	File         *string `json:"file,omitempty"` // relative to the tool's home
	LeftFiles    string  `json:"left_files,omitempty"`
	Repository   string  `json:"repository,omitempty"`
	Branch       string  `json:"branch,omitempty"`
	Head         string  `json:"head,omitempty"`
	Caller       string  `json:"caller,omitempty"`
	Bundle       string  `json:"bundle,omitempty"`
	BundleDigest string  `json:"bundle_digest,omitempty"`
	Tree         string  `json:"tree,omitempty"`
	Host         string  `json:"host,omitempty"`
	Place        string  `json:"place,omitempty"`
	Holder       string  `json:"holder,omitempty"`
	HeldUntil    Millis  `json:"held_until,omitempty"`
}

func (s *writtenSession) columns() []column {
	return []column{{"parent_size", &s.ParentSize}, {"native_id", &s.NativeID}, {"state", &s.State}, {"state_why", &s.StateWhy},
		{"reset", &s.Reset}, {"created", &s.Created}, {"last_used", &s.LastUsed}, {"turns", &s.Turns}, {"errors", &s.Errors},
		{"settings", &s.Settings}, {"model", &s.Model}, {"first_model", &s.FirstModel}, {"runtime", &s.Runtime}, {"auth", &s.Auth},
		{"version", &s.ToolVersion}, {"base", &s.Base}, {"base_opening", &s.BaseOpening}, {"base_bytes", &s.BaseBytes},
		{"base_lines", &s.BaseLines}, {"shape", &s.Shape}, {"root", &s.Root}, {"things", &s.Things}, {"answers", &s.Answers},
		{"said", &s.Said}, {"transcript", &s.Transcript}, {"compacted", &s.Compacted}, {"callers_own", &s.CallersOwn},
		{"context_used", &s.ContextUsed}, {"context_limit", &s.ContextLimit}, {"totals", &s.Totals}, {"attempt", &s.Attempt},
		{"file", &s.File}, {"left_files", &s.LeftFiles}, {"repository", &s.Repository}, {"branch", &s.Branch}, {"head", &s.Head},
		{"caller", &s.Caller}, {"bundle", &s.Bundle}, {"bundle_digest", &s.BundleDigest}, {"tree", &s.Tree}, {"host", &s.Host},
		{"place", &s.Place}, {"holder", &s.Holder}, {"held_until", &s.HeldUntil}}
}

// decodeRegister reads a register's content. It fails with store.ErrBroken or store.ErrNewer.
func decodeRegister(r store.Register) (w written, err error) {
	if r.Damaged {
		return w, store.ErrBroken
	}
	if err := json.Unmarshal(r.Value, &w); err != nil {
		return w, fmt.Errorf("%w: %w", store.ErrBroken, err)
	}
	if w.Version > registerVersion {
		return w, store.ErrNewer
	}
	count := int64(len(w.Sessions))
	wrong := w.Version < 1 || count == 0 || w.Chain.Newest < 0 || w.Chain.Newest > count || w.Chain.Since < 0 || w.Chain.Since > count
	for n, s := range w.Sessions {
		wrong = wrong || s.Parent < 0 || s.Parent > int64(n)
	}
	if wrong {
		return w, fmt.Errorf("%w: it has no such session", store.ErrBroken)
	}
	return w, nil
}

// insert writes the chain and its sessions, and returns the chain's number.
func (w *written) insert(tx *sql.Tx) (chain int64, err error) {
	if chain, err = insertRow(tx, "chains", w.Chain.columns()); err != nil {
		return 0, err
	}
	ids := make([]int64, 1, 1+len(w.Sessions)) // by the numbers in the register
	for n := range w.Sessions {
		s := &w.Sessions[n]
		columns := append(s.columns(), column{"chain_id", &chain}, column{"tool", &w.Chain.Tool})
		if s.Parent > 0 {
			columns = append(columns, column{"parent_id", &ids[s.Parent]})
		}
		id, err := insertRow(tx, "sessions", columns)
		if err != nil {
			return 0, err
		}
		ids = append(ids, id)
	}
	_, err = tx.Exec("UPDATE chains SET session_id = nullif(?, 0), since = nullif(?, 0) WHERE id = ?", ids[w.Chain.Newest], ids[w.Chain.Since], chain)
	return chain, err
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

// encodeRegister returns the content of the register of a chain.
func encodeRegister(tx *sql.Tx, chain int64) ([]byte, error) {
	w := written{Version: registerVersion}
	var newest, since int64
	columns := append(w.Chain.columns(), column{"coalesce(session_id, 0)", &newest}, column{"coalesce(since, 0)", &since})
	if err := readRows(tx, "SELECT "+list(columns)+" FROM chains WHERE id = ?", chain, func() []column { return columns }); err != nil {
		return nil, err
	}
	var ids, parents []int64
	read := func() []column {
		w.Sessions, ids, parents = append(w.Sessions, writtenSession{}), append(ids, 0), append(parents, 0)
		at := len(ids) - 1
		return append(w.Sessions[at].columns(), column{"id", &ids[at]}, column{"coalesce(parent_id, 0)", &parents[at]})
	}
	names := append(new(writtenSession).columns(), column{"id", nil}, column{"coalesce(parent_id, 0)", nil})
	if err := readRows(tx, "SELECT "+list(names)+" FROM sessions WHERE chain_id = ? ORDER BY id", chain, read); err != nil {
		return nil, err
	}
	number := func(id int64) int64 { return int64(slices.Index(ids, id) + 1) } // 0 for one that is gone
	w.Chain.Newest, w.Chain.Since = number(newest), number(since)
	for at, parent := range parents {
		w.Sessions[at].Parent = number(parent)
	}
	return []byte(encodeJSON(w)), nil
}

// readRows reads each row of a query into the columns that next returns for it.
func readRows(tx *sql.Tx, query string, arg any, next func() []column) error {
	rows, err := tx.Query(query, arg)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows, next()); err != nil {
			return err
		}
	}
	return rows.Err()
}
