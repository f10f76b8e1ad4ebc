package history

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
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
	err = l.InOneMoment(func() error {
		list, err := readSlices(l, f, longPrompt, by.column())
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(s Slice) bool { return !s.Managed() })
		var group func(key string) int
		groups, group = newGroups(list, by, most)
		for _, s := range list {
			g := &groups[group(s.Key)]
			s.Key = ""
			g.Slices, g.Created = append(g.Slices, s), g.Created+s.Created
			g.Add(s.Sums)
		}
		type reuse struct {
			group   int
			session string
		}
		known := map[reuse]bool{}
		where, args := f.where("")
		return ledger.Each(l, "SELECT DISTINCT "+by.column()+", resumed_from FROM calls WHERE "+
			continued+" AND resumed_from NOT NULL AND "+where, func(rows *sql.Rows) error {
			var key string
			var one reuse
			err := rows.Scan(&key, &one.session)
			if one.group = group(key); !known[one] {
				known[one] = true
				groups[one.group].Reused++
			}
			return err
		}, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("sum up calls: %w", err)
	}
	return groups, nil
}

// newGroups returns empty groups in order, and the number of a key's group.
func newGroups(list []Slice, by By, most int) (groups []Group, group func(key string) int) {
	calls := map[string]int64{}
	for _, s := range list {
		calls[s.Key] += s.Calls
	}
	keys := slices.SortedFunc(maps.Keys(calls), func(a, b string) int {
		return cmp.Or(cmp.Compare(calls[b], calls[a]), cmp.Compare(a, b))
	})
	others := most > 0 && len(keys) > most
	if others {
		keys = keys[:most-1]
	}
	if by == ByDay || by == ByWeek {
		slices.Sort(keys)
	}
	if others {
		keys = append(keys, OtherKeys)
	}
	at := map[string]int{}
	for i, key := range keys {
		groups, at[key] = append(groups, Group{Key: key}), i
	}
	return groups, func(key string) int {
		if i, ok := at[key]; ok {
			return i
		}
		return len(groups) - 1
	}
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
