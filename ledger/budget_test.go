package ledger

import (
	"fmt"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// spend makes a call of a task, "" for none, that costs as many nano-dollars.
func spend(t *testing.T, l *Ledger, task, prompt string, now decide.Millis, nano int64) decide.Decision {
	t.Helper()
	c := testCall(l, prompt, now)
	c.Task, c.Limits.Budget = task, decide.Budget{CallsPerHour: 3, NanoPerDay: 1000}
	foreseen, _, err := l.Preview(c)
	if err != nil {
		t.Fatal(err)
	}
	d, ticket, err := Begin(l, c)
	if err != nil {
		t.Fatal(err)
	}
	if d.Spent != foreseen.Spent || d.Exceeded != foreseen.Exceeded {
		t.Errorf("%+v was foreseen, not %+v", foreseen.Spent, d.Spent)
	}
	o := goodOutcome(fmt.Sprintf("11111111-2222-4333-8444-%012d", ticket.Invocation), "done", now+1)
	o.Seen.Usage = rewrite.Usage{Known: true, CostKnown: true, CostNano: nano}
	finish(t, l, ticket, o)
	return d
}

func TestBudgetOfAChain(t *testing.T) {
	l, _ := newLedger(t)
	const began = 100 * day
	steps := []struct {
		at   decide.Millis
		nano int64
		want decide.Decision // what is said of the budget
	}{
		{began, 100, decide.Decision{}}, // nothing is known of a new chain
		{began + 1000, 100, decide.Decision{Spent: decide.Spending{Calls: 2, Cost: 100}}},
		{began + 2000, 100, decide.Decision{Spent: decide.Spending{Calls: 3, Cost: 200}}},
		{began + 3000, 100, decide.Decision{Spent: decide.Spending{Calls: 4, Cost: 300}, Exceeded: reason.TooManyCalls}},
		{began + anHour + 2500, 600, decide.Decision{Spent: decide.Spending{Calls: 2, Cost: 400}}},
		{began + 3*anHour, 0, decide.Decision{Spent: decide.Spending{Calls: 1, Cost: 1000}, Exceeded: reason.BudgetSpent}},
		{began + day + 2500, 0, decide.Decision{Spent: decide.Spending{Calls: 1, Cost: 700}}},
	}
	for i, step := range steps {
		spend(t, l, "another", "Another job", step.at, 1)
		d := spend(t, l, "T-1", fmt.Sprintf("Round %d", i), step.at, step.nano)
		if d.Spent != step.want.Spent || d.Exceeded != step.want.Exceeded {
			t.Errorf("call %d: %+v %s, want %+v %s", i, d.Spent, d.Exceeded, step.want.Spent, step.want.Exceeded)
		}
	}
}

// A loop without a name begins a chain with each call.
func TestBudgetOfRepeatedPrompts(t *testing.T) {
	l, _ := newLedger(t)
	const began = 100 * day
	prompt := fmt.Sprintf(base, 1)
	var d decide.Decision
	for i := range decide.Millis(5) {
		d = spend(t, l, "", prompt, began+1000*i, 100)
	}
	if d.Reason != reason.Identical || d.Spent != (decide.Spending{Calls: 4, Cost: 300}) || d.Exceeded != reason.TooManyCalls {
		t.Errorf("%s: %+v %s", d.Reason, d.Spent, d.Exceeded)
	}
	spend(t, l, "T-1", "A job", began+6000, 7)
	jobs, err := l.JobSpendings(began + 7000)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		chain, calls, cost int64
	}
	want := []row{{0, 4, 400}, {1, 1, 100}, {6, 1, 7}}
	if len(jobs) != len(want) {
		t.Fatalf("%+v", jobs)
	}
	for i, j := range jobs {
		if (row{j.Chain, j.Calls, j.Cost}) != want[i] || j.Tool != "claude" || j.Cwd != "/project" {
			t.Errorf("%+v, want %+v", j, want[i])
		}
	}
}

// A call that is stopped counts for nothing, so the job goes on when the hour is over.
func TestStopped(t *testing.T) {
	l, _ := newLedger(t)
	const began = 100 * day
	call := func(task string, now decide.Millis) *Call {
		c := testCall(l, fmt.Sprintf(base, 1), now)
		c.Task, c.Limits.Budget, c.Limits.Stop = task, decide.Budget{CallsPerHour: 2}, true
		return c
	}
	for _, task := range []string{"T-1", ""} { // repeated prompts count without the first
		var modes []rewrite.Mode
		for i := range decide.Millis(7) {
			d, ticket, err := Begin(l, call(task, began+i*1000))
			if err != nil || (ticket == nil) != (d.Mode == rewrite.Stopped) {
				t.Fatalf("%+v, %v, %v", d, ticket, err)
			}
			modes = append(modes, d.Mode)
			if ticket != nil {
				finish(t, l, ticket, goodOutcome(fmt.Sprintf("11111111-2222-4333-8444-%012d", ticket.Invocation), "done", began+i*1000+1))
			}
		}
		if modes[1] == rewrite.Stopped || modes[3] != rewrite.Stopped || modes[6] != rewrite.Stopped {
			t.Errorf("task %q: %q", task, modes)
		}
		d, ticket, err := Begin(l, call(task, began+anHour+7000))
		if err != nil || d.Mode == rewrite.Stopped {
			t.Errorf("task %q, an hour later: %+v, %v", task, d, err)
		}
		finish(t, l, ticket, goodOutcome(fmt.Sprintf("11111111-2222-4333-8444-%012d", ticket.Invocation), "done", began+anHour+7001))
	}
	var last int64
	if err := l.db.QueryRow("SELECT max(id) FROM invocations WHERE reason = ?", reason.TooManyCalls).Scan(&last); err != nil {
		t.Fatal(err)
	}
	wantRow(t, "the last stopped call", row(t, l, "invocations", last), map[string]any{"mode": rewrite.Stopped, "outcome": "failed", "sent_bytes": 0})
}

func TestNoBudget(t *testing.T) {
	if why := (decide.Budget{}).Exceeded(decide.Spending{Calls: 1_000_000, Cost: 1 << 60}); why != "" {
		t.Error(why)
	}
}

// Tokens count by what they cost, those of a day and those of all calls.
func TestBudgetOfTokens(t *testing.T) {
	l, _ := newLedger(t)
	const began = 100 * day
	call := func(now decide.Millis, b decide.Budget) decide.Decision {
		t.Helper()
		c := testCall(l, fmt.Sprintf("Round %d", now), now)
		c.Task, c.Limits.Budget = "T-1", b
		d, ticket, err := Begin(l, c)
		if err != nil {
			t.Fatal(err)
		}
		o := goodOutcome(fmt.Sprintf("11111111-2222-4333-8444-%012d", ticket.Invocation), "done", now+1)
		o.Seen.Usage = rewrite.Usage{Known: true, Input: 100, CacheRead: 1000, CacheWrite: 80, Output: 20} // 100 + 100 + 100 + 100
		finish(t, l, ticket, o)
		return d
	}
	call(began, decide.Budget{})
	call(began+1000, decide.Budget{})
	for _, tt := range []struct {
		at     decide.Millis
		budget decide.Budget
		want   reason.Code
	}{
		{began + 2000, decide.Budget{TokensPerDay: 801, TokensPerJob: 801}, ""},
		{began + 3000, decide.Budget{TokensPerDay: 1200}, reason.TokensSpent},
		{began + 4000, decide.Budget{TokensPerJob: 1600}, reason.TokensSpent},
		{began + day + 5000, decide.Budget{TokensPerDay: 400}, ""},
		{began + day + 6000, decide.Budget{TokensPerDay: 400}, reason.TokensSpent},
		{began + day + 7000, decide.Budget{TokensPerJob: 2801}, ""},
	} {
		if d := call(tt.at, tt.budget); d.Exceeded != tt.want {
			t.Errorf("%+v: %q after %+v, want %q", tt.budget, d.Exceeded, d.Spent, tt.want)
		}
	}
	jobs, err := l.JobSpendings(began + day + 8000)
	if err != nil || len(jobs) != 1 || jobs[0].Tokens != 3*400 || jobs[0].JobTokens != 8*400 {
		t.Errorf("%+v, %v", jobs, err)
	}
}
