package rule

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/proc"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
)

// A rule is proposed only if the prompts tell two runs of the program apart, and only with roles
// that they name.
func TestPropose(t *testing.T) {
	key := prompt.Key("0123456789abcdef0123456789abcdef")
	runOf := func(n int) decide.CallerProcess {
		return decide.CallerProcess{Process: proc.Process{Boot: "boot", Namespace: "pid:[1]",
			PID: n, Start: 1}, Name: "loop.sh"}
	}
	one, two := "run "+key.Name(runOf(1).Identity()), "run "+key.Name(runOf(2).Identity())
	made := func(run int, text string) sentCall {
		return sentCall{ledger.Record{Tool: "claude", Cwd: "/shop"}, runOf(run), text}
	}
	type named struct{ task, role string }
	for name, tt := range map[string]struct {
		calls []sentCall // the rule is made from the last
		want  []named    // of the calls in turn that it matches
		err   error
	}{
		"a ticket on a line of its own": {[]sentCall{made(1, "Fix it.\nTicket: A-1\nNote 1."),
			made(2, "Fix it.\nTicket: A-2\nNote 1.")},
			[]named{{"A-1", ""}, {"A-2", ""}}, nil},
		"one run": {[]sentCall{made(1, "Fix it.\nTicket: A-1\nNote 1."),
			made(1, "Fix it.\nTicket: A-1\nNote 2.")}, []named{{one, ""}, {one, ""}}, nil},
		"two runs with the same prompts": {[]sentCall{made(1, "Fix it.\nRound 1."),
			made(1, "Fix it.\nRound 2."), made(2, "Fix it.\nRound 1."),
			made(2, "Fix it.\nRound 2.")},
			[]named{{one, ""}, {one, ""}, {two, ""}, {two, ""}}, nil},
		"a count within the runs": {[]sentCall{made(1, "Fix it.\nSeed 1."),
			made(1, "Fix it.\nSeed 2."), made(2, "Fix it.\nSeed 3."), made(2, "Fix it.\nSeed 4.")},
			[]named{{one, ""}, {one, ""}, {two, ""}, {two, ""}}, nil},
		"one call a run": {[]sentCall{made(1, "Fix it.\nRound 1."), made(2, "Fix it.\nRound 1.")},
			nil, errNoTask},
		"several tickets of a run": {[]sentCall{made(1, "Fix it.\nTicket: 1"),
			made(1, "Fix it.\nTicket: 1"), made(2, "Fix it.\nTicket: 2"),
			made(2, "Fix it.\nTicket: 2"),
			made(2, "Fix it.\nTicket: 3"), made(2, "Fix it.\nTicket: 3")},
			[]named{{"1", ""}, {"1", ""}, {"2", ""}, {"2", ""}, {"3", ""}, {"3", ""}}, nil},
		"roles": {[]sentCall{made(1, "You are the coder of issue 1.\nDo it."),
			made(1, "You are a senior reviewer of issue 1.\nLook."),
			made(2, "You are the coder of issue 2.\nDo it."),
			made(2, "You are a senior reviewer of issue 2.\nLook.")},
			[]named{{one, "coder"}, {one, "senior reviewer"}, {two, "coder"},
				{two, "senior reviewer"}}, nil},
		"roles and a ticket": {[]sentCall{made(1, "You are the coder.\nTicket: 1"),
			made(1, "You are a senior reviewer.\nTicket: 1"),
			made(2, "You are the coder.\nTicket: 2"),
			made(2, "You are a senior reviewer.\nTicket: 2")},
			[]named{{"1", "coder"}, {"1", "senior reviewer"}, {"2", "coder"},
				{"2", "senior reviewer"}}, nil},
		"roles of one article": {[]sentCall{made(1, "You are the coder of issue 1."),
			made(1, "You are the reviewer of issue 1."),
			made(2, "You are the coder of issue 2."), made(2, "You are the reviewer of issue 2.")},
			[]named{{"1", "coder"}, {"1", "reviewer"}, {"2", "coder"}, {"2", "reviewer"}}, nil},
		"a scrap of a sentence is no role": {
			[]sentCall{made(1, "You are working on the shop.\nTicket: 1"),
				made(2, "You are working on the shop.\nTicket: 2")},
			[]named{{"1", ""}, {"2", ""}}, nil},
		"openings that share a role": {[]sentCall{made(1, "Plan.\nYou are the coder.\nTicket: 1"),
			made(1, "Build.\nYou are the coder.\nTicket: 1"),
			made(2, "Plan.\nYou are the coder.\nTicket: 2"),
			made(2, "Build.\nYou are the coder.\nTicket: 2")}, nil, errMixes},
	} {
		for i := range tt.calls {
			tt.calls[i].ID = int64(i + 1)
		}
		p, err := propose(tt.calls[len(tt.calls)-1], tt.calls, "loop", key)
		if !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v\n%s", name, err, tt.err, p.Text)
			continue
		}
		var got []named
		for _, c := range p.past {
			if own := p.past[len(p.past)-1]; c.Same != (c.Task == own.Task && c.Role == own.Role) {
				t.Errorf("%s: call %d of the last call's job: %v", name, c.Call, c.Same)
			}
			if c.Role == "(text)" || len(c.Role) > 0 && c.Role[0] == '#' {
				c.Role = ""
			}
			got = append(got, named{c.Task, c.Role})
		}
		if tt.err == nil && fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v\n%s", name, got, tt.want, p.Text)
		}
	}
	typed := made(1, "Fix it.\nTicket: 1")
	typed.Run = decide.CallerProcess{}
	if _, err := propose(typed, []sentCall{typed}, "loop", key); !errors.Is(err, errTyped) {
		t.Errorf("typed by hand: %v", err)
	}
}

// The words that two lines do not share are the task, as long as whole words before them say which
// line it is.
func TestLinePattern(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{"Ticket: A-1.", "Ticket: B-22!", `Ticket: TASK`},
		{"  Mend cart in Go now.", "Mend bill in Go now", `Mend TASK in Go now`},
		{"Mend cart", "Mend carts", `Mend TASK`},
		{"Mend the cart today", "Mend the card today", `Mend the TASK today`},
		{"Mend red-cart soon", "Mend blue-cart soon", `Mend TASK soon`},
		{"Mend a/b (it)", "Mend c/b (it)", `Mend TASK \(it\)`},
		{"Fix a a", "Fix a", `Fix TASK`},
		{"Mend it", "Mend it now", `Mend TASK`},
		{"You are the coder of shop 1", "You are the coder of shop 2",
			`You are the \pL[\pL\pN -]*? of shop TASK`},
		{"Mend cart", "Mend", ""},
		{"cart", "bill", ""},
		{"12 cart", "12 bill", ""},
	} {
		want := ""
		if tt.want != "" {
			want = `(?m)^\s*` + strings.Replace(tt.want, "TASK", `(?P<task>\S.*?)`, 1) +
				`[.,;:!?\s]*$`
		}
		if got := linePattern(tt.a, tt.b); got != want {
			t.Errorf("%q, %q: %s, want %s", tt.a, tt.b, got, want)
		}
	}
}

// A call has no proposal if a name led to its decision, or could have led to no other one.
func TestNoProposal(t *testing.T) {
	fresh := ledger.Record{Mode: rewrite.Fresh}
	ruled, resumed, fellBack, named := fresh, fresh, fresh, fresh
	ruled.Rule, named.Task = "loop", "T-1"
	resumed.Mode, fellBack.FellBack = rewrite.Resume, "refused"
	for want, call := range map[string]ledger.Record{
		"rule loop matched it":                  ruled,
		"its caller named the task T-1":         named,
		"it was not fresh for want of a name":   resumed,
		"it was not fresh for want of a name (": fellBack,
	} {
		if _, err := Propose(nil, nil, call, ""); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
