package ledger

import (
	"database/sql"
	"fmt"
	"slices"

	"reprise/ledger/decide"
	"reprise/rewrite"
)

// likeChains is how many chains show how long the pauses of a new one will be.
const likeChains = 10

// reuse reads what the calls of each of some chains needed again. The cache should have held what a call continues if that was used
// briefly before, or if the call before it has asked for an hour.
func reuse(chains string) string {
	return `SELECT tool, sum(cache_hour), count(idle), coalesce(sum(cache_write), 0),
		coalesce(sum(held) FILTER (WHERE idle >= 300000 AND idle < 3600000), 0),
		coalesce(sum(held) FILTER (WHERE idle >= 300000 AND idle < 3600000 AND NOT kept AND ` + missedCache + `), 0),
		coalesce(sum(held) FILTER (WHERE kept AND first_read NOT NULL), 0), coalesce(sum(min(held, first_read)) FILTER (WHERE kept), 0)
		FROM (SELECT tool, chain_id, cache_hour, idle, held, input, cache_read, cache_write, first_prompt, first_read, ` + heldEnough + ` AND (idle < 300000 OR idle < 3600000 AND lag(cache_hour, 1, 0) OVER (PARTITION BY chain_id ORDER BY id)) AS kept
			FROM invocations WHERE fell_back IS NULL AND chain_id IN (` + chains + `))
		GROUP BY tool, chain_id`
}

// A pauses is what the calls of a chain needed again.
type pauses struct {
	tool string
	decide.Reuse
	asked     int64 // calls for which the provider was asked for an hour
	continued int64 // calls that continued a session
}

func eachPauses(q rowsQueryer, chains string, args []any, read func(pauses)) error {
	return each(q, reuse(chains), func(rows *sql.Rows) error {
		var p pauses
		err := rows.Scan(&p.tool, &p.asked, &p.continued, &p.Written, &p.Within, &p.Again, &p.Expected, &p.Found)
		read(p)
		return err
	}, args...)
}

// hourPays reports whether a cache of an hour costs a chain less than one of five minutes. A chain that has been continued shows that
// itself, with the call that now begins. For another one the latest chains of its kind show it.
func hourPays(tx *sql.Tx, chain int64, idle, held sql.NullInt64) (bool, error) {
	var own pauses
	if err := eachPauses(tx, "?", []any{chain}, func(p pauses) { own = p }); err != nil {
		return false, fmt.Errorf("read pauses: %w", err)
	}
	if !idle.Valid && own.continued == 0 {
		var saves float64
		err := eachPauses(tx, `SELECT l.id FROM chains l JOIN chains c USING (tool, cwd, home, rule, role) WHERE c.id = ?1 AND l.id <> ?1
			ORDER BY l.updated DESC LIMIT ?2`, []any{chain, likeChains}, func(p pauses) { saves += p.HourSaves() })
		if err != nil {
			return false, fmt.Errorf("read pauses of other chains: %w", err)
		}
		return saves > 0, nil
	}
	switch {
	case idle.Int64 >= hourIdle:
		own.Written += held.Int64
	case idle.Int64 >= briefIdle:
		own.Within += held.Int64
	}
	return own.HourSaves() > 0, nil
}

// An HourRow is what a cache of an hour saves the calls of one tool, or would have saved them.
type HourRow struct {
	Tool   string
	Calls  int64   // for which it was asked
	Saved  float64 // weighted tokens that it saved their chains, negative if it cost more
	Chains int64   // others, for which it would have been cheaper
	Missed float64 // what it would have saved these
}

// HourRows sums up the chains of the selected calls, by tool, of the tools that can ask the provider for an hour.
func (l *Ledger) HourRows(w Wanted) ([]HourRow, error) {
	where, args := w.selects("i.")
	tools := slices.DeleteFunc(slices.Clone(rewrite.Names), func(name string) bool {
		tool, _ := rewrite.Lookup(name)
		return !tool.Descriptor().KeepsHour
	})
	where, args = where+" AND i.tool IN (SELECT value FROM json_each(?))", append(args, encodeJSON(tools))
	var all []HourRow
	err := eachPauses(l.db, "SELECT i.chain_id FROM invocations i WHERE (i.cache_hour OR i.idle >= 300000 AND i.idle < 3600000) AND "+where, args, func(p pauses) {
		if len(all) == 0 || all[len(all)-1].Tool != p.tool {
			all = append(all, HourRow{Tool: p.tool})
		}
		row := &all[len(all)-1]
		if p.asked > 0 {
			row.Calls += p.asked
			row.Saved += p.HourSaves()
			return
		}
		p.Within = p.Again // what was found all the same is not to be saved
		if saves := p.HourSaves(); saves > 0 {
			row.Chains++
			row.Missed += saves
		}
	})
	if err != nil {
		return nil, fmt.Errorf("sum up pauses: %w", err)
	}
	return all, nil
}
