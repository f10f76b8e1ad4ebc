package history

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"

	"reprise/ledger"
)

// By is the property that calls are grouped by.
type By string

// The groupings.
const (
	ByTool   By = "tool"
	ByRule   By = "rule"
	ByModel  By = "model"
	ByCwd    By = "cwd"
	ByTask   By = "task"
	ByRole   By = "role"
	ByReason By = "reason" // of the refusal, if a resume was refused
	ByDay    By = "day"    // in UTC
	ByWeek   By = "week"   // the Monday, in UTC
)

// Bys are all groupings.
var Bys = []By{ByTool, ByRule, ByModel, ByCwd, ByTask, ByRole, ByReason, ByDay, ByWeek}

func (b By) column() string {
	switch b {
	case ByDay:
		return "date(started / 1000, 'unixepoch')"
	case ByWeek:
		return "date(started / 1000, 'unixepoch', 'weekday 0', '-6 days')"
	case ByTask, ByRole:
		return "coalesce((SELECT " + string(b) + " FROM chains WHERE id = chain_id), '')"
	case ByReason:
		return "coalesce(fell_back, reason)"
	}
	return "coalesce(" + string(b) + ", '')"
}

// continued selects the calls that continued an earlier session.
const continued = "mode IN ('resume', 'fork')"

// managed selects the calls that the shim decided on.
const managed = "mode IN ('resume', 'fork', 'fresh')"

// A Group is the calls with the same key, or with OtherKeys.
type Group struct {
	Key string
	// sessions that were created: one by each call that did not continue in the same session
	Created int64
	Reused  int64   // sessions that were continued at least once
	Slices  []Slice // the calls, as Slices sums them up
	Sums
}

// Groups sums up the selected managed calls. The group with the most calls comes first, days and
// weeks are in order. With most > 0, there are only so many; then the group of all other keys is
// the last.
func Groups(l *ledger.Ledger, by By, f Filter,
	longPrompt int64, most int) (groups []Group, err error) {
	key, args, err := keyOf(l, by, f, most)
	if err != nil {
		return nil, fmt.Errorf("sum up calls: %w", err)
	}
	list, err := readSlices(l, f, longPrompt, key, args...)
	if err != nil {
		return nil, fmt.Errorf("sum up calls: %w", err)
	}
	at := map[string]int{}
	for _, s := range list {
		if !s.Managed() {
			continue
		}
		i, known := at[s.Key]
		if !known {
			i, at[s.Key] = len(groups), len(groups)
			groups = append(groups, Group{Key: s.Key})
		}
		g := &groups[i]
		s.Key = ""
		g.Slices, g.Created = append(g.Slices, s), g.Created+s.Created
		g.Add(s.Sums)
	}
	where, ofFilter := f.where("")
	err = ledger.Each(l, "SELECT "+key+", count(DISTINCT resumed_from) FROM calls WHERE "+
		continued+" AND "+where+" GROUP BY 1", func(rows *sql.Rows) error {
		var key string
		var reused int64
		err := rows.Scan(&key, &reused)
		if i, known := at[key]; known { // else its first call has begun meanwhile
			groups[i].Reused = reused
		}
		return err
	}, append(args, ofFilter...)...)
	if err != nil {
		return nil, fmt.Errorf("sum up calls: %w", err)
	}
	slices.SortFunc(groups, func(a, b Group) int {
		switch {
		case a.Key == OtherKeys:
			return 1
		case b.Key == OtherKeys:
			return -1
		case by == ByDay || by == ByWeek || a.Calls == b.Calls:
			return cmp.Compare(a.Key, b.Key)
		}
		return cmp.Compare(b.Calls, a.Calls)
	})
	return groups, nil
}

// keyOf returns an expression of a call's key, and the arguments. With most > 0 it is OtherKeys for
// all but the keys that the most managed calls have, so that SQLite does not sum up each of
// thousands of tasks.
func keyOf(l *ledger.Ledger, by By, f Filter, most int) (key string, args []any, err error) {
	if key = by.column(); most <= 0 {
		return key, nil, nil
	}
	where, ofFilter := f.where("")
	keys, err := ledger.Column[string](l, "SELECT "+key+" FROM calls WHERE "+managed+" AND "+where+
		" GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT ?", append(ofFilter, most+1)...)
	if len(keys) <= most {
		return key, nil, err
	}
	return "coalesce((SELECT k FROM (SELECT " + key + " AS k) WHERE k IN (SELECT value FROM " +
		"json_each(?))), char(0))", []any{ledger.EncodeJSON(keys[:most-1])}, nil
}

// OtherKeys stands for all keys but those with the most calls.
const OtherKeys = "\x00"

// Arms counts, by arm, the chains of the selected calls that were made while a share of the chains
// was held out.
func Arms(q ledger.Queryer, f Filter) (chains map[string]int64, err error) {
	where, args := f.where("")
	chains = map[string]int64{}
	err = ledger.Each(q,
		"SELECT arm, count(DISTINCT chain_id) FROM calls WHERE arm <> '' AND "+managed+" "+
			"AND "+where+" GROUP BY 1",
		func(rows *sql.Rows) error {
			var arm string
			var n int64
			err := rows.Scan(&arm, &n)
			chains[arm] = n
			return err
		}, args...)
	return chains, ledger.Wrap("count chains", err)
}
