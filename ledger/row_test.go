package ledger

import (
	"reflect"
	"testing"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
)

// Structs and lists are read as they were written, also by a row that had other values. A damaged
// column says nothing.
func TestColumnsInJSON(t *testing.T) {
	caller := func(pid int) decide.Caller {
		p := decide.CallerProcess{Process: proc.Process{Boot: "b", PID: pid, Start: 5},
			Name: "loop.sh"}
		return decide.Caller{Processes: []decide.CallerProcess{p}, Person: true, Shell: p}
	}
	other := Record{Caller: caller(1), Evidence: decide.Evidence{Failure: true, Flow: 9},
		Changed: []string{"z"}}
	for _, want := range []Record{
		{}, other,
		{Caller: decide.Caller{Person: true}, Evidence: decide.Evidence{Work: true},
			Changed: []string{"a b", "c"}},
		{Caller: caller(7), Evidence: decide.Evidence{Flow: 12, Caller: "loop.sh"}},
	} {
		got := other
		from, to := records.fields(&want), records.fields(&got)
		for i, f := range records.plan().fields {
			if !f.isJSON {
				continue
			}
			column, err := from[i].(jsonColumn).Value()
			if value := reflect.ValueOf(want).FieldByIndex(f.index); err != nil ||
				(column == "") != value.IsZero() {
				t.Errorf("%s: %v is %q, %v", f.name, value, column, err)
			}
			if err := to[i].(jsonColumn).Scan(column); err != nil {
				t.Error(err)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read as %+v, want %+v", got, want)
		}
		for _, text := range []any{"{", `{"processes":[{"pid":"x"}]}`, `{"person":true,"shell":7}`,
			nil, 7} {
			got := caller(7)
			if err := (jsonColumn{&got}).Scan(text); err != nil ||
				!reflect.DeepEqual(got, decide.Caller{}) {
				t.Errorf("%v is %#v, %v", text, got, err)
			}
		}
	}
}
