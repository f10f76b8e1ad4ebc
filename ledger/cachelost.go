package ledger

import (
	"database/sql"
	"fmt"

	"reprise/rewrite/reason"
)

// A CacheLostRow is the number of calls of one tool and rule that were kept fresh because a resume would
// have lost the provider's cache.
type CacheLostRow struct {
	Tool, Rule string
	Calls      int64
}

// CacheLostRows counts the selected calls of that reason.
func (l *Ledger) CacheLostRows(f Filter) ([]CacheLostRow, error) {
	where, args := f.selects("")
	var all []CacheLostRow
	err := each(l.db, "SELECT tool, rule, count(*) FROM invocations WHERE reason = ? AND "+where+" GROUP BY 1, 2 ORDER BY 1, 2",
		func(rows *sql.Rows) error {
			var r CacheLostRow
			err := rows.Scan(&r.Tool, &r.Rule, &r.Calls)
			all = append(all, r)
			return err
		}, append([]any{reason.CacheLost}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("count calls that a lost cache kept fresh: %w", err)
	}
	return all, nil
}
