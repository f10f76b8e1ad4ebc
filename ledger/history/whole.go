package history

import (
	"database/sql"

	"reprise/ledger"
	"reprise/rewrite/prompt"
)

// WholePrompts are numbers of resumed calls that sent their whole prompt.
type WholePrompts struct {
	Short int64 // prompts so short that none of them is shortened
	Long  int64 // all others
}

// CountWhole counts the selected calls that were resumed with their whole prompt.
func CountWhole(l *ledger.Ledger, f Filter) (w WholePrompts, err error) {
	where, args := f.selects("")
	err = ledger.Each(l, "SELECT coalesce(sum(prompt_bytes < ?), 0), coalesce(sum(prompt_bytes >= ?), 0) FROM invocations WHERE "+continued+
		" AND sent_bytes >= prompt_bytes AND "+where, func(rows *sql.Rows) error { return rows.Scan(&w.Short, &w.Long) },
		append([]any{prompt.ShortPromptBytes, prompt.ShortPromptBytes}, args...)...)
	return w, ledger.Wrap("count whole prompts", err)
}
