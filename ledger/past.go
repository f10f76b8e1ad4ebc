package ledger

import (
	"database/sql"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// past returns the latest runs of a chain that ended well, the latest first. If they cannot be
// read, there are none to compare.
func (l *Ledger) past(chain int64) (runs []decide.Run) {
	_ = Each(l, `SELECT mode, reason, coalesce(fell_back, ''), coalesce(model, ''), started,
		coalesce(idle, 0), coalesce(held_tokens, 0),
		coalesce(`+MissedCache+`, 0), cache_hour, coalesce(first_read, -1), input, cache_read, cache_write, output,
		coalesce(cost, 0), cost IS NOT NULL
		FROM calls WHERE id IN (SELECT id FROM calls WHERE chain_id = ? ORDER BY id DESC LIMIT ?)
		AND outcome = 'ok' AND input IS NOT NULL ORDER BY id DESC`, func(rows *sql.Rows) error {
		var r decide.Run
		var mode rewrite.Mode
		var why, fellBack reason.Code
		u := &r.Usage
		err := rows.Scan(&mode, &why, &fellBack, &r.Model, &r.Began, &r.Idle, &r.HeldTokens,
			&r.Missed, &r.Hour, &r.Found,
			&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.CostNano, &u.CostKnown)
		r.Side = decide.ClassifyRun(mode, why, fellBack)
		runs = append(runs, r)
		return err
	}, chain, decide.PastRuns)
	return runs
}

// latestChains are as many as learned looks at.
const latestChains = 20

// learned returns the runs of the latest chain that the call's rule, tool, version, model and
// settings have resumed, among the latest chains.
func (l *Ledger) learned(c *Call) []decide.Run {
	chains, _ := Column[int64](l.db, `SELECT id
		FROM (SELECT * FROM chains ORDER BY updated DESC LIMIT ?) c WHERE tool = ? AND rule = ?
		AND EXISTS (SELECT 1 FROM sessions WHERE chain_id = c.id AND model = ? AND runtime = ? AND settings = ?)
		AND (SELECT count(*) FROM calls WHERE chain_id = c.id AND mode IN (?, ?) AND outcome = 'ok') >= ?
		ORDER BY updated DESC LIMIT 1`,
		latestChains, c.Tool, c.Rule, c.Fingerprints.Model, c.Fingerprints.Runtime,
		c.Fingerprints.Settings,
		rewrite.Resume, rewrite.Fork, decide.MinResumes)
	if len(chains) == 0 {
		return nil
	}
	return l.past(chains[0])
}

// A resumed call's prompt is the first request's, or the sum over all requests if the tool reports
// nothing else: the later requests then hide a miss. Below HeldEnough some providers cache nothing.
// A session's last answer is never in the cache; it is seldom a quarter of the session.
const (
	PromptTokens = "coalesce(first_prompt, input + cache_read + cache_write)"
	ReadTokens   = "coalesce(first_read, cache_read)"
	HeldEnough   = "held_tokens >= 4096"
	MissedCache  = HeldEnough + " AND 4 * " + ReadTokens + " < 3 * min(held_tokens, " +
		PromptTokens + ")"
)
