package view

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"reprise/rewrite/prompt"
)

// NotKnown is printed for an unknown figure.
const NotKnown = "n/a"

// UnknownCell returns a cell for an unknown figure.
func UnknownCell() Cell { return Cell{Human: NotKnown, Raw: NotKnown, Meaning: Dim, Right: true} }

// TextCell returns a cell with text. People see a dash if it is empty.
func TextCell(text string) Cell { return Cell{Human: OrDash(text), Raw: text} }

// NumberCell returns a cell with a count.
func NumberCell(n int64) Cell { return numeric(Thousands(n), n) }

// numeric returns a cell with a number that people see as text.
func numeric(text string, n int64) Cell {
	return Cell{Human: text, Raw: strconv.FormatInt(n, 10), Right: true}
}

// ChainCell returns a cell with the name of a chain, as commands take it. People see a dash for 0.
func ChainCell(id int64) Cell {
	if id == 0 {
		return Cell{Human: "-", Right: true}
	}
	name := fmt.Sprintf("c%d", id)
	return Cell{Human: name, Raw: name, Right: true}
}

// IDCell returns a cell with the number of a call. People see a dash for 0.
func IDCell(id int64) Cell {
	if id == 0 {
		return Cell{Human: "-", Right: true}
	}
	return numeric(strconv.FormatInt(id, 10), id)
}

// SessionCell returns a cell with a session ID, which is cut for people: shimctl takes any
// unique prefix. Codex's IDs begin with the time, so all of one minute share eight digits.
func SessionCell(id string) Cell {
	const enough = len("01234567-0123")
	return Cell{Human: OrDash(id[:min(len(id), enough)]), Raw: id}
}

// RoleName returns a role as people read it. A role that nothing names is called after the prompt's
// beginning, as in #0123456789abcdef; --role takes it, or as much of it as a table shows.
func RoleName(role string) string { return strings.TrimSpace(role) }

// AllOthers names the last row of a table, for all the rest.
const AllOthers = "all others"

// RoleCell returns a cell with a role.
func RoleCell(role string) Cell {
	c := TextCell(RoleName(role))
	if strings.HasPrefix(role, prompt.RoleTextMark) {
		c.Human = c.Human[:min(len(c.Human), len("#01234567"))]
	}
	return c
}

// DurationCell returns a cell with a duration. Programs read milliseconds.
func DurationCell(ms sql.NullInt64) Cell {
	return AmountCell("ms", known(ms))
}

// TokensCell returns a cell with a count of tokens.
func TokensCell(n sql.NullInt64) Cell {
	return AmountCell("tokens", known(n))
}

func known(n sql.NullInt64) Number {
	if !n.Valid {
		return Unknown
	}
	return Number(n.Int64)
}

// SizeCell returns a cell with a size in bytes.
func SizeCell(bytes int64) Cell { return numeric(Size(bytes), bytes) }

// Share writes a part of a whole as a percentage.
func Share(part, whole int64) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}
