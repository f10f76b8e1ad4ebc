package shim

import (
	"slices"
	"testing"

	"reprise/ledger"
	"reprise/rewrite"
)

// The tool gets the variable of the hour if the decision asks for it, and only then.
func TestTheHourIsAVariableOfTheRun(t *testing.T) {
	tool, _ := rewrite.Lookup("claude")
	line := tool.Parse(rewrite.Input{Args: []string{"-p", "hi"}, StdinTTY: true,
		Env: func(string) string { return "" }})
	line.HourCache = "CACHE=1h"
	a := &asked{input: &input{}, env: Env{NewID: randomUUID}, log: &log{}}
	for ticket, want := range map[*ledger.Ticket][]string{
		nil:                                 nil,
		{}:                                  nil,
		{Record: ledger.Record{Hour: true}}: {line.HourCache},
	} {
		f := newFound(a)
		f.tool = tool
		d := &decided{found: f, line: line, ticket: ticket}
		if plan := d.planFor(rewrite.ToFresh("hi")); !slices.Equal(plan.Env, want) {
			t.Errorf("%+v: %q, want %q", ticket, plan.Env, want)
		}
	}
}
