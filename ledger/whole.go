package ledger

import (
	"database/sql"
	"fmt"

	"reprise/rewrite"
)

// A WholeRow is how many resumed calls sent their whole prompt for a reason; "" if it was requested.
type WholeRow struct {
	Why   rewrite.Reason
	Calls int64
}

// WholePrompts counts the selected calls that were resumed with their whole prompt, by the reason, the most
// frequent first.
func (l *Ledger) WholePrompts(f Filter) (all []WholeRow, err error) {
	where, args := f.selects("")
	err = each(l.db, "SELECT detail, count(*) FROM invocations WHERE "+continued+" AND sent_bytes >= prompt_bytes AND "+where+
		" GROUP BY 1 ORDER BY 2 DESC, 1", func(rows *sql.Rows) error {
		var r WholeRow
		err := rows.Scan(&r.Why, &r.Calls)
		all = append(all, r)
		return err
	}, args...)
	if err != nil {
		return nil, fmt.Errorf("count whole prompts: %w", err)
	}
	return all, nil
}
