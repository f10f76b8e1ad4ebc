package history

import (
	"database/sql"
	"fmt"
	"strings"

	"reprise/ledger"
)

// A PassedRow is the number of passed calls of one tool, directory and reason.
type PassedRow struct {
	ledger.Passed // When is that of the last
	Calls         int64
}

// PassedRows returns the numbers of calls that were passed through on the days of the filter's period, the
// latest first. A filter that selects by more than a tool and a directory selects none.
func PassedRows(l *ledger.Ledger, f Filter) ([]PassedRow, error) {
	if !f.OnlyPeriod() {
		return nil, nil
	}
	p := f.Times()
	where, args := []string{"last >= ?", "last < ?"}, []any{p.Since, p.Until}
	f.ofPlace(func(condition string, values ...any) {
		where, args = append(where, strings.ReplaceAll(condition, "$", "")), append(args, values...)
	})
	// With max, SQLite takes detail from the row that has it.
	var all []PassedRow
	err := ledger.Each(l, `SELECT tool, cwd, reason, sum(calls), max(last) AS latest, detail FROM passed WHERE `+strings.Join(where, " AND ")+`
		GROUP BY tool, cwd, reason ORDER BY latest DESC, tool, cwd, reason`, func(rows *sql.Rows) error {
		var r PassedRow
		err := rows.Scan(&r.Tool, &r.Cwd, &r.Reason, &r.Calls, &r.When, &r.Detail)
		all = append(all, r)
		return err
	}, args...)
	if err != nil {
		return nil, fmt.Errorf("list passed calls: %w", err)
	}
	return all, nil
}
