package ledger

import (
	"database/sql"
	"errors"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

const meterColumns = "runs, input, cache_read, cache_write, output, priced, cost, duration, last, missed"

// meterFields returns the destinations of meterColumns.
func meterFields(m *decide.Meter) []any {
	return []any{&m.Runs, &m.Input, &m.CacheRead, &m.CacheWrite, &m.Output, &m.Priced, &m.Cost, &m.Duration, &m.Last, &m.Missed}
}

// meters reads the costs of the runs of a rule, tool and model. It reads at most three rows by
// their key, however many calls there were.
func meters(q Queryer, rule, tool, model string) (decide.Meters, error) {
	rows, err := meterRows(q, "WHERE rule = ? AND tool = ? AND model = ?", rule, tool, model)
	if len(rows) == 0 {
		return decide.Meters{}, err
	}
	return rows[0].Meters, err
}

// past reads which of the latest runs of a chain ended well, the latest first.
func (l *Ledger) past(chain int64) (runs []decide.Run, err error) {
	err = Each(l, `SELECT mode, reason, coalesce(fell_back, ''), coalesce(model, ''), started, coalesce(idle, 0), coalesce(held, 0),
		coalesce(`+MissedCache+`, 0), cache_hour, coalesce(first_read, -1), input, cache_read, cache_write, output, coalesce(cost, 0), cost IS NOT NULL
		FROM invocations WHERE id IN (SELECT id FROM invocations WHERE chain_id = ? ORDER BY id DESC LIMIT ?) AND outcome = 'ok' AND input IS NOT NULL ORDER BY id DESC`, func(rows *sql.Rows) error {
		var r decide.Run
		var mode rewrite.Mode
		var why, fellBack reason.Code
		u := &r.Usage
		err := rows.Scan(&mode, &why, &fellBack, &r.Model, &r.Began, &r.Idle, &r.Held, &r.Missed, &r.Hour, &r.Found,
			&u.Input, &u.CacheRead, &u.CacheWrite, &u.Output, &u.CostNano, &u.CostKnown)
		r.Side = decide.ClassifyRun(mode, why, fellBack)
		runs = append(runs, r)
		return err
	}, chain, decide.PastRuns)
	return runs, Wrap("read runs of chain", err)
}

// meter counts a call's run that ended well.
func meter(tx *sql.Tx, invocation int64, used rewrite.Usage, ended decide.Millis) error {
	var mode rewrite.Mode
	var reason, fellBack reason.Code
	var rule, tool, model string
	var duration decide.Millis
	var missed bool
	err := tx.QueryRow(`SELECT i.mode, i.reason, coalesce(i.fell_back, ''), i.rule, i.tool, s.model, i.duration, coalesce(`+MissedCache+`, 0)
		FROM invocations i JOIN sessions s ON s.id = i.session_id WHERE i.id = ?`, invocation).
		Scan(&mode, &reason, &fellBack, &rule, &tool, &model, &duration, &missed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // its chain was deleted meanwhile
	}
	if err != nil {
		return err
	}
	all, err := meters(tx, rule, tool, model)
	if err != nil {
		return err
	}
	side := decide.ClassifyRun(mode, reason, fellBack)
	m := all.Of(side)
	if m == nil {
		return nil
	}
	if side == decide.Resumed {
		all.BeginTrial(ended)
	}
	m.Add(used, duration, ended, missed)
	_, err = tx.Exec("INSERT OR REPLACE INTO meters (rule, tool, model, side, "+meterColumns+`)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, append([]any{rule, tool, model, side}, meterFields(m)...)...)
	return err
}

// A MeterRow is the costs of the runs of one rule, tool and model.
type MeterRow struct {
	Rule, Tool, Model string // Model as requested
	decide.Meters
}

// Meters returns everything that was measured.
func (l *Ledger) Meters() ([]MeterRow, error) {
	all, err := meterRows(l, "ORDER BY tool, rule, model")
	return all, Wrap("list meters", err)
}

func meterRows(q Queryer, which string, args ...any) (all []MeterRow, err error) {
	err = Each(q, "SELECT rule, tool, model, side, "+meterColumns+" FROM meters "+which, func(rows *sql.Rows) error {
		var r MeterRow
		var side decide.Side
		var m decide.Meter
		if err := rows.Scan(append([]any{&r.Rule, &r.Tool, &r.Model, &side}, meterFields(&m)...)...); err != nil {
			return err
		}
		if last := len(all) - 1; last < 0 || all[last].Rule != r.Rule || all[last].Tool != r.Tool || all[last].Model != r.Model {
			all = append(all, r)
		}
		if at := all[len(all)-1].Of(side); at != nil {
			*at = m
		}
		return nil
	}, args...)
	return all, err
}
