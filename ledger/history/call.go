package history

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/ledger"
	"reprise/ledger/decide"
)

// LatestCalls returns the calls, the latest first.
func LatestCalls(l *ledger.Ledger, w Query) ([]ledger.Record, error) {
	where, args := w.where("i.")
	return readCalls(l, where+" ORDER BY i.id DESC LIMIT ?", append(args, cmp.Or(w.Limit, -1))...)
}

// RunningCalls returns those selected of the latest calls that are running, the latest first. A
// call without a session counts for an hour: no lease shows whether the process still lives.
func RunningCalls(l *ledger.Ledger, f Filter, now decide.Millis) (list []ledger.Record, err error) {
	where, args := f.where("i.")
	rows, err := readCalls(l,
		"i.outcome IS NULL AND i.id > (SELECT max(id) FROM calls) - ? AND "+where+
			" ORDER BY i.id DESC",
		slices.Concat([]any{ledger.LastCalls}, args)...)
	for _, i := range rows {
		held := i.Started > now-hour
		if i.Session != 0 {
			if held, err = ledger.Held(l, i.Session); err != nil {
				return nil, fmt.Errorf("list calls: %w", err)
			}
		}
		if held {
			list = append(list, i)
		}
	}
	return list, err
}

// FindCall returns one call, and whether it is there.
func FindCall(l *ledger.Ledger, id int64) (i ledger.Record, found bool, err error) {
	list, err := readCalls(l, "i.id = ?", id)
	if found = len(list) > 0; found {
		i = list[0]
	}
	return i, found, err
}

func readCalls(l *ledger.Ledger, where string, args ...any) ([]ledger.Record, error) {
	list, err := ledger.List(l,
		"SELECT "+ledger.RecordColumns()+" FROM "+ledger.RecordTables+" WHERE "+where,
		ledger.RecordFields, args...)
	return list, ledger.Wrap("list calls", err)
}
