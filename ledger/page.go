package ledger

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reprise/store"
)

// A page is a copy of registers in memory, on which the ledger's own statements work. A register is
// the rows of some chains and of their sessions.
type page struct {
	*Ledger
	registers []store.Register
	of        map[int64]int // the registers' places in the list, by their chains
}

// A table is the rows of a table as a register has them.
type table struct {
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // numbers, texts, and blobs as lists of one text in base64
}

// A written is the content of a register.
type written struct {
	Version  int   `json:"version"` // of the ledger's schema
	Chains   table `json:"chains"`
	Sessions table `json:"sessions"`
}

// newPage returns a page with the content of registers. It fails with store.ErrNewer if a newer
// reprise has written one of them.
func newPage(l *Ledger, registers ...store.Register) (*page, error) {
	memory, err := l.emptyCopy()
	if err != nil {
		return nil, err
	}
	p := &page{memory, registers, map[int64]int{}}
	err = memory.transact(func(tx *sql.Tx) error {
		for at, r := range registers {
			if err := p.add(tx, at, r.Value); err != nil {
				return fmt.Errorf("read register: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		p.db.Close()
		return nil, err
	}
	return p, nil
}

// emptyCopy returns an empty ledger in memory with the same key.
func (l *Ledger) emptyCopy() (*Ledger, error) {
	db, err := connect(":memory:", inMemory)
	if err != nil {
		return nil, err
	}
	if _, err := db.Exec(schema); err != nil {
		db.Close()
		return nil, err
	}
	return &Ledger{db: db, key: l.key}, nil
}

// add adds a register's rows. Their numbers begin after those that are there.
func (p *page) add(tx *sql.Tx, at int, value []byte) error {
	var w written
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	if err := decoder.Decode(&w); err != nil {
		return fmt.Errorf("%w: %w", store.ErrBroken, err)
	}
	if w.Version > len(migrations) {
		return store.ErrNewer
	}
	var chains, sessions int64
	err := tx.QueryRow("SELECT (SELECT coalesce(max(id), 0) FROM chains), (SELECT coalesce(max(id), 0) FROM sessions)").Scan(&chains, &sessions)
	if err != nil {
		return err
	}
	shift := map[string]int64{"chains.id": chains, "chains.session_id": sessions, "chains.since": sessions,
		"sessions.id": sessions, "sessions.parent_id": sessions, "sessions.chain_id": chains}
	own, err := w.Chains.insert(tx, "chains", shift)
	if err != nil {
		return err
	}
	for _, chain := range own {
		p.of[chain] = at
	}
	_, err = w.Sessions.insert(tx, "sessions", shift)
	return err
}

// insert writes the rows and returns their numbers.
func (t *table) insert(tx *sql.Tx, name string, shift map[string]int64) (ids []int64, err error) {
	known, err := columnsOf(tx, name)
	if err != nil {
		return nil, err
	}
	for _, c := range t.Columns {
		if !slices.Contains(known, c) { // it becomes a part of a statement
			return nil, store.ErrNewer
		}
	}
	query := "INSERT INTO " + name + " (" + strings.Join(t.Columns, ", ") + ") VALUES (" + strings.TrimPrefix(strings.Repeat(", ?", len(t.Columns)), ", ") + ")"
	for _, row := range t.Rows {
		if len(row) != len(t.Columns) {
			return nil, store.ErrBroken
		}
		values := make([]any, len(row))
		for i, cell := range row {
			if values[i], err = fromCell(cell, shift[name+"."+t.Columns[i]]); err != nil {
				return nil, err
			}
		}
		result, err := tx.Exec(query, values...)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", store.ErrBroken, err)
		}
		id, err := result.LastInsertId()
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// fromCell returns the value that a cell stands for. A number is shifted.
func fromCell(cell any, shift int64) (any, error) {
	switch v := cell.(type) {
	case nil, string:
		return v, nil
	case json.Number:
		n, err := v.Int64()
		return n + shift, err
	case []any:
		if len(v) == 1 {
			if text, ok := v[0].(string); ok {
				return base64.StdEncoding.DecodeString(text)
			}
		}
	}
	return nil, store.ErrBroken
}

// toCell returns the cell that stands for a value. Numbers in numbering are replaced.
func toCell(value any, numbering map[int64]int64) any {
	switch v := value.(type) {
	case []byte:
		return []any{v} // encoding/json writes it in base64
	case int64:
		if numbering != nil {
			n, ok := numbering[v]
			if !ok {
				return nil
			}
			return n
		}
	}
	return value
}

func columnsOf(tx *sql.Tx, name string) (columns []string, err error) {
	rows, err := tx.Query("SELECT name FROM pragma_table_info('" + name + "')")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var column string
		if err := rows.Scan(&column); err != nil {
			return nil, err
		}
		columns = append(columns, column)
	}
	return columns, rows.Err()
}

// maxContinued is how many sessions a register keeps of a chain that were continued in copies.
const maxContinued = 32

// The sessions of some chains that can no longer matter: those from before a chain began anew, unless they
// are in use, and all but the latest of those that were continued in copies, or were copies that ended badly.
const (
	beforeBegun = `s.id < (SELECT coalesce(c.since, c.session_id) FROM chains c WHERE c.id = s.chain_id)`
	oldRest     = `(s.parent_id IS NOT NULL AND s.state NOT IN ('live', 'running') OR ` + goneOnFrom + `)
		AND s.id < (SELECT max(k.id) FROM sessions k WHERE k.chain_id = s.chain_id) - ?`
	isMark = `s.id IN (SELECT c.session_id FROM chains c WHERE c.id = s.chain_id UNION SELECT c.since FROM chains c WHERE c.id = s.chain_id)`
)

// value returns the content of the register at a place in the list, or of a new one with the call's
// chain. It first removes sessions that can no longer matter: a run that has one of them finds that it
// is no longer its own.
func (p *page) value(tx *sql.Tx, at int, chain int64, now Millis) ([]byte, error) {
	chains := []int64{chain}
	for c, place := range p.of {
		if place == at && c != chain {
			chains = append(chains, c)
		}
	}
	slices.Sort(chains)
	if _, err := tx.Exec("UPDATE sessions SET bundle = '' WHERE state NOT IN (?, ?)", Live, Running); err != nil {
		return nil, err
	}
	in := " IN (" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(chains)), ", "), "[]") + ")"
	if _, err := tx.Exec("DELETE FROM sessions AS s WHERE s.held_until < ? AND s.chain_id"+in+" AND NOT "+isMark+
		" AND ("+beforeBegun+" OR s.holder = '' AND "+oldRest+")", now, maxContinued); err != nil {
		return nil, err
	}
	numbers, err := numbering(tx, "SELECT id FROM chains WHERE id"+in+" ORDER BY id")
	if err != nil {
		return nil, err
	}
	sessionNumbers, err := numbering(tx, "SELECT id FROM sessions WHERE chain_id"+in+" ORDER BY id")
	if err != nil {
		return nil, err
	}
	w := written{Version: len(migrations)}
	if w.Chains, err = tableOf(tx, "SELECT * FROM chains WHERE id"+in+" ORDER BY id", map[string]map[int64]int64{
		"id": numbers, "session_id": sessionNumbers, "since": sessionNumbers}); err != nil {
		return nil, err
	}
	if w.Sessions, err = tableOf(tx, "SELECT * FROM sessions WHERE chain_id"+in+" ORDER BY id", map[string]map[int64]int64{
		"id": sessionNumbers, "chain_id": numbers, "parent_id": sessionNumbers}); err != nil {
		return nil, err
	}
	return []byte(encodeJSON(w)), nil
}

// numbering returns new numbers for rows, from 1 on.
func numbering(tx *sql.Tx, query string) (map[int64]int64, error) {
	rows, err := tx.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	numbers := map[int64]int64{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		numbers[id] = int64(len(numbers) + 1)
	}
	return numbers, rows.Err()
}

// tableOf returns the rows of a query, with the numbers of some columns replaced. A number that has no
// replacement is of a row that is gone.
func tableOf(tx *sql.Tx, query string, numbers map[string]map[int64]int64) (t table, err error) {
	rows, err := tx.Query(query)
	if err != nil {
		return t, err
	}
	defer rows.Close()
	if t.Columns, err = rows.Columns(); err != nil {
		return t, err
	}
	values, to := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range to {
		to[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return t, err
		}
		row := make([]any, len(values))
		for i, v := range values {
			row[i] = toCell(v, numbers[t.Columns[i]])
		}
		t.Rows = append(t.Rows, row)
	}
	return t, rows.Err()
}

// bundles returns the names of all bundles that the sessions of the page have.
func bundles(tx *sql.Tx) (names []string, err error) {
	rows, err := tx.Query("SELECT bundle FROM sessions WHERE bundle <> ''")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
