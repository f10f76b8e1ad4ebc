package history

import "reprise/ledger"

// A PassthroughRow is the number of calls of one tool, directory and reason that were passed
// through.
type PassthroughRow struct {
	ledger.Passthrough // the latest
	Calls              int64
}

// PassthroughRows returns the numbers of calls that were passed through since the filter's
// time, the latest first. A filter that selects by more than a tool and a directory selects none.
func PassthroughRows(l *ledger.Ledger, f Filter) ([]PassthroughRow, error) {
	if f != (Filter{Since: f.Since, Tool: f.Tool, Directory: f.Directory}) {
		return nil, nil
	}
	since := f.Since
	f.Since = 0
	where, args := f.where("") // only tool and directory, which these calls have too
	// With max, SQLite takes detail from the row that has it.
	all, err := ledger.List(l, `SELECT tool, cwd, reason, sum(calls), max(last) AS latest, detail FROM passed
		WHERE last >= ? AND `+where+`
		GROUP BY tool, cwd, reason ORDER BY latest DESC, tool, cwd,
		reason`, func(r *PassthroughRow) []any {
		return []any{&r.Tool, &r.Cwd, &r.Reason, &r.Calls, &r.When, &r.Detail}
	}, append([]any{since}, args...)...)
	return all, ledger.Wrap("list passed calls", err)
}
