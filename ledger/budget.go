package ledger

import (
	"database/sql"
	"fmt"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// anHour is the period in which calls are counted; money is counted in a day.
const anHour decide.Millis = 3_600_000

// Conditions on calls. A repeated prompt without a name begins a chain of its own, so all of a tool in a
// directory are one job.
const (
	countedCalls = "mode NOT IN ('observe', 'stopped')"
	isRepeat     = "reason = 'identical' AND (SELECT task FROM chains WHERE id = chain_id) = ''"
)

// weightedTokens are a call's, NULL if the tool reported none.
var weightedTokens = fmt.Sprintf("CAST(%v * input + %v * cache_read + %v * cache_write + %v * output AS INTEGER)",
	decide.WeightInput, decide.WeightCacheRead, decide.WeightCacheWrite, decide.WeightOutput)

// recordStopped records a call that does not run. It counts for no budget: else a caller that tries again would never
// be let through.
func (l *Ledger) recordStopped(c *Call, d decide.Decision, chain int64) error {
	return l.write(func(tx *sql.Tx) error {
		var id int64
		return insert(tx, &id, `INSERT INTO invocations
			(id, chain_id, rule, tool, cwd, started, duration, mode, reason, format, prompt_bytes, sent_bytes, outcome)
			VALUES (`+unusedID("invocations")+`, (SELECT id FROM chains WHERE id = ?), ?, ?, ?, ?, 0, ?, ?, ?, ?, 0, 'failed')`,
			chain, c.Rule, c.Tool, c.Cwd, c.Now, d.Mode, d.Reason, c.Format, len(c.Prompt.Text))
	})
}

// spent returns what the job of a call has used up with this call. chain is the job's in this ledger. If that cannot be read it counts
// as nothing: a budget must not keep a call from running.
func (l *Ledger) spent(c *Call, why reason.Code, chain int64) decide.Spending {
	j := budgetJob{chain: chain}
	if why == reason.Identical && c.Task == "" {
		j = budgetJob{tool: c.Tool, cwd: c.Cwd}
	}
	if c.Limits.Budget == (decide.Budget{}) || j == (budgetJob{}) {
		return decide.Spending{}
	}
	s, err := l.spending(j, c.Now)
	if err != nil {
		return decide.Spending{}
	}
	s.Calls++
	return s
}

// A budgetJob is a chain, or the repeated prompts of a tool in a directory.
type budgetJob struct {
	chain     int64
	tool, cwd string
}

// latestCalls is how many of the latest calls, of the chain or of all, count for a budget at most: a
// call must not wait longer in a job that has run away.
const latestCalls = 1024

// spending returns what a job has used up at a time.
func (l *Ledger) spending(j budgetJob, now decide.Millis) (s decide.Spending, err error) {
	from, args := "chain_id = ?4 ORDER BY id DESC LIMIT ?3", []any{now - day, now - anHour, latestCalls, j.chain}
	if j.chain == 0 {
		from = "id > (SELECT max(id) FROM invocations) - ?3 AND tool = ?4 AND cwd = ?5 AND " + isRepeat
		args = append(args[:3], j.tool, j.cwd)
	}
	err = l.db.QueryRow(`SELECT coalesce(sum(started >= ?2 AND `+countedCalls+`), 0), coalesce(sum(cost) FILTER (WHERE started >= ?1), 0),
			coalesce(sum(tokens) FILTER (WHERE started >= ?1), 0), coalesce(sum(tokens), 0)
		FROM (SELECT started, mode, cost, `+weightedTokens+` AS tokens FROM invocations WHERE `+from+`)`, args...).Scan(&s.Calls, &s.Cost, &s.Tokens, &s.JobTokens)
	return s, err
}

// SpendingOf returns what the job of a recorded call has used up at a time.
func (l *Ledger) SpendingOf(call int64, now decide.Millis) (s decide.Spending, err error) {
	var j budgetJob
	var repeat, stopped bool
	err = l.db.QueryRow("SELECT coalesce(chain_id, 0), coalesce("+isRepeat+", 0), mode = ?, tool, cwd FROM invocations WHERE id = ?", rewrite.Stopped, call).
		Scan(&j.chain, &repeat, &stopped, &j.tool, &j.cwd)
	if err == nil && (j.chain != 0 || stopped) { // a job that is stopped and has no chain repeats its prompt
		if repeat {
			j.chain = 0
		}
		s, err = l.spending(j, now)
	}
	return s, Wrap("sum up job", err)
}

// A JobSpending is what a job's calls that the same model answered have used up.
type JobSpending struct {
	Chain            int64 // 0: the repeated prompts of the tool in the directory
	Tool, Cwd        string
	Rule             string // of the latest call
	Model            string
	decide.Spending        // Cost is of the calls whose tool reported it
	Input, CacheRead int64 // tokens of the other calls
	CacheWrite       int64
	Output           int64
}

// JobSpendings returns what all jobs have used up at a time, those of a job in a row.
func (l *Ledger) JobSpendings(now decide.Millis) (list []JobSpending, err error) {
	const unpriced = "FILTER (WHERE cost IS NULL)"
	err = Each(l.db, `SELECT CASE WHEN `+isRepeat+` THEN 0 ELSE chain_id END, tool, cwd, rule, coalesce(model, ''), max(id),
			coalesce(sum(started >= ?2 AND `+countedCalls+`), 0), coalesce(sum(cost), 0),
			coalesce(sum(input) `+unpriced+`, 0), coalesce(sum(cache_read) `+unpriced+`, 0),
			coalesce(sum(cache_write) `+unpriced+`, 0), coalesce(sum(output) `+unpriced+`, 0), coalesce(sum(`+weightedTokens+`), 0),
			(SELECT coalesce(sum(tokens), 0) FROM (SELECT `+weightedTokens+` AS tokens FROM invocations a WHERE a.chain_id = i.chain_id ORDER BY id DESC LIMIT ?3))
		FROM invocations i WHERE started >= ?1 AND chain_id IS NOT NULL GROUP BY 1, tool, cwd, 5 ORDER BY 1, tool, cwd, 6 DESC`,
		func(rows *sql.Rows) error {
			var j JobSpending
			var last int64
			err := rows.Scan(&j.Chain, &j.Tool, &j.Cwd, &j.Rule, &j.Model, &last, &j.Calls, &j.Cost, &j.Input, &j.CacheRead, &j.CacheWrite, &j.Output, &j.Tokens, &j.JobTokens)
			if j.Chain == 0 {
				j.JobTokens = j.Tokens // each of the repeated prompts is a chain
			}
			list = append(list, j)
			return err
		}, now-day, now-anHour, latestCalls)
	return list, Wrap("sum up jobs", err)
}

// SameJob reports whether both are about the same job.
func (j JobSpending) SameJob(other JobSpending) bool {
	return j.Chain == other.Chain && j.Tool == other.Tool && j.Cwd == other.Cwd
}
