package history

import (
	"strings"
	"unicode/utf8"

	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

const (
	hour decide.Millis = 3_600_000
	day                = 24 * hour
)

// A Filter selects calls. The zero value selects all; every field that is set must match.
type Filter struct {
	Since      decide.Millis // when the calls began at the earliest
	Chain      int64
	Tool       string
	Directory  string // the calls' working directory, or one above it
	Task, Role string // of their chain
	// Reason selects the calls with this reason, detail, or reason of a refused resume.
	Reason reason.Code
}

// where returns the filter as a condition on calls and its arguments. Columns get the prefix.
func (f Filter) where(prefix string) (condition string, args []any) {
	all := []string{"1"}
	add := func(condition string, values ...any) {
		all, args = append(all, strings.ReplaceAll(condition, "$", prefix)), append(args, values...)
	}
	if f.Since != 0 {
		add("$started >= ?", f.Since)
	}
	if f.Chain != 0 {
		add("$chain_id = ?", f.Chain)
	}
	if f.Tool != "" {
		add("$tool = ?", f.Tool)
	}
	if f.Directory != "" {
		below := strings.TrimSuffix(f.Directory, "/")
		// 0 follows /
		add("($cwd = ? OR $cwd >= ? AND $cwd < ?)", f.Directory, below+"/", below+"0")
	}
	if f.Task != "" {
		add("$chain_id IN (SELECT id FROM chains WHERE task = ?)", f.Task)
	}
	if f.Role != "" {
		role, args := "role = ?", []any{f.Role}
		if strings.HasPrefix(f.Role, "#") { // the beginning of a role that nothing names
			role, args = "(role = ? OR substr(role, 1, ?) = ?)",
				append(args, utf8.RuneCountInString(f.Role)+1, " "+f.Role)
		}
		add("$chain_id IN (SELECT id FROM chains WHERE "+role+")", args...)
	}
	if f.Reason != "" {
		add("? IN ($reason, $detail, coalesce($fell_back, ''))", f.Reason)
	}
	return strings.Join(all, " AND "), args
}

// Lasting has the earliest last use and the earliest beginning of sessions that can be resumed. The
// zero value sets no limit.
type Lasting struct{ Used, Created decide.Millis }

// Expired is the state of a session that is too old to be resumed.
const Expired decide.State = "expired"

// A Query selects the rows of a list: calls, or chains with such a call. The zero value
// selects all.
type Query struct {
	Filter
	Lasting
	Limit int // 0 for none
}
