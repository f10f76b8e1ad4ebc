package ledger

import (
	"database/sql"

	"reprise/ledger/decide"
)

// likeChains is how many chains show how long the pauses of a new one will be.
const likeChains = 10

// Pauses are the tokens that the calls of a chain needed again.
type Pauses struct {
	Tool string
	decide.Reuse
	Asked     int64 // calls for which the provider was asked for an hour
	continued int64 // calls that continued a session
}

// ListPauses returns the pauses of the chains that a query selects, one tool after another. The
// cache should have held a session if that was used briefly before, or if the call before it has
// asked for an hour.
func ListPauses(q Queryer, chains string, args ...any) ([]Pauses, error) {
	all, err := List(q, `SELECT tool, sum(cache_hour), count(idle), coalesce(sum(cache_write), 0),
		coalesce(sum(held_tokens) FILTER (WHERE within), 0),
		coalesce(sum(held_tokens) FILTER (WHERE within AND NOT kept AND missed), 0),
		coalesce(sum(held_tokens) FILTER (WHERE kept AND first_read NOT NULL), 0),
		coalesce(sum(min(held_tokens, first_read)) FILTER (WHERE kept), 0)
		FROM (SELECT tool, chain_id, cache_hour, idle, cache_write, held_tokens, first_read,
			idle >= 300000 AND idle < 3600000 AS within, `+MissedCache+` AS missed,
			`+HeldEnough+` AND (idle < 300000 OR idle < 3600000
				AND lag(cache_hour, 1, 0) OVER (PARTITION BY chain_id ORDER BY id)) AS kept
			FROM calls WHERE fell_back IS NULL AND chain_id IN (`+chains+`))
		GROUP BY tool, chain_id`, func(p *Pauses) []any {
		return []any{&p.Tool, &p.Asked, &p.continued, &p.Written, &p.Within, &p.Again, &p.Expected,
			&p.Found}
	}, args...)
	return all, Wrap("read pauses", err)
}

// hourPays reports whether a cache of an hour costs a chain less than one of five minutes. A chain
// that has been continued shows that itself, with the call that now begins. For another one the
// latest chains of the same kind show it. They also show how much of a session a resume finds,
// until one of the chain has.
func hourPays(tx *sql.Tx, chain int64, idle, held Number) (bool, error) {
	list, err := ListPauses(tx, "?", chain)
	if err != nil {
		return false, err
	}
	own := append(list, Pauses{})[0]
	if own.Expected == 0 {
		others, err := ListPauses(tx, `SELECT l.id FROM chains l
			JOIN chains c USING (tool, cwd, home, rule, role)
			WHERE c.id = ?1 AND l.id <> ?1 ORDER BY l.updated DESC LIMIT ?2`, chain, likeChains)
		if err != nil {
			return false, err
		}
		saves := 0.0
		for _, p := range others {
			saves += p.HourSaves()
			own.Expected, own.Found = own.Expected+p.Expected, own.Found+p.Found
		}
		if !idle.Valid && own.continued == 0 {
			return saves > 0, nil
		}
	}
	switch {
	case idle.Int64 >= decide.HourIdle:
		own.Written += held.Int64
	case idle.Int64 >= decide.BriefIdle:
		own.Within += held.Int64
	}
	return own.HourSaves() > 0, nil
}
