package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"reprise/internal/report"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/ledger/decide"
)

func (s *site) chain(a *app, l *ledger.Ledger, r *http.Request) (report.Page, error) {
	id, err := pathNumber(r)
	if err != nil {
		return report.Page{}, err
	}
	chains, err := l.Chains(ledger.Wanted{Filter: ledger.Filter{Chain: id}})
	if err == nil && len(chains) == 0 {
		err = errNoPage
	}
	if err != nil {
		return report.Page{}, err
	}
	c := chains[0]
	calls, err := l.LatestInvocations(ledger.Wanted{Filter: ledger.Filter{Chain: id}, Limit: mostCalls})
	if err != nil {
		return report.Page{}, err
	}
	latest := slices.Clone(calls[:min(len(calls), mostDrawn.Calls)])
	slices.Reverse(latest)
	drawn := a.drawnChain(ledger.ChainCalls{ID: c.ID, Tool: c.Tool, Cwd: c.Cwd, Task: c.Task, Role: c.Role, Created: c.Created,
		Updated: c.Updated, Calls: int64(c.Calls), Resumed: int64(c.Resumed), Latest: latest}, s.reporter, s.link())
	p := report.Page{Title: drawn.Name.Text, Subtitle: drawn.About, Facts: s.chainFacts(c, calls),
		Trail: s.trail(s.dayLink(c.Last.Started)), Timeline: "Timeline", Chains: []report.Chain{drawn}}
	p.Chains[0].Name.Text = "" // the page's title
	table := s.callsTable(calls, nil)
	if len(calls) < c.Calls {
		table.About = fmt.Sprintf("The latest %d.", len(calls))
	}
	p.Tables = []report.Table{table, sessionsTable(c.Sessions)}
	return p, nil
}

func (s *site) chainFacts(c ledger.ChainRow, calls []ledger.Invocation) []report.Fact {
	var cost sum
	var tokens, read, cached, left int64
	for _, i := range calls {
		cost = cost.plus(callCost(s.prices, i))
		read += i.Input.Int64 + i.CacheRead.Int64 + i.CacheWrite.Int64
		cached += i.CacheRead.Int64
		tokens += i.Output.Int64
		if i.Mode.Continues() && i.Outcome == "ok" {
			left += max(0, i.PromptBytes-i.SentBytes)
		}
	}
	newest := newest(c)
	return []report.Fact{
		{Name: "left out of prompts", Value: ui.Size(left), About: "since the session had it"},
		{Name: "cost", Value: cost.human()},
		{Name: "calls", Value: ui.Thousands(int64(c.Calls)), About: ui.Thousands(int64(c.Resumed)) + " resumed"},
		{Name: "tokens", Value: ui.ShortNumber(read + tokens), About: ui.Amount("share", rate(cached, read)) + " of what was read came from the cache"},
		{Name: "session", Value: stateCell(newest).Human, About: "context " + contextCell(newest.Context).Human},
	}
}

func (s *site) dayLink(at decide.Millis) report.Link {
	return s.link().to(day(at), "day", day(at))
}

func (s *site) chainLink(id int64, name string) report.Link {
	if id == 0 {
		return report.Link{Text: "-"}
	}
	return s.link().to(name, "chain", fmt.Sprint(id))
}

// chainNames returns the names of the calls' chains.
func chainNames(l *ledger.Ledger, calls []ledger.Invocation) (map[int64]string, error) {
	names := map[int64]string{}
	for _, i := range calls {
		if names[i.Chain] != "" || i.Chain == 0 {
			continue
		}
		chains, err := l.Chains(ledger.Wanted{Filter: ledger.Filter{Chain: i.Chain}})
		if err != nil {
			return nil, err
		}
		for _, c := range chains {
			names[c.ID] = chainName(c.Task, c.Role, c.Cwd, c.Created)
		}
	}
	return names, nil
}

func (s *site) callLink(id int64) report.Link {
	return s.link().to(fmt.Sprintf("#%d", id), "call", fmt.Sprint(id))
}

// callsTable lists calls, each with the address of its page. Those of several chains have the names of their chains.
func (s *site) callsTable(calls []ledger.Invocation, chains map[int64]string) report.Table {
	t := report.Table{Title: "Calls", Words: true, Head: []string{"call", "decision", "outcome", "took", "cost", "began"}}
	if chains != nil {
		t.Head = append(t.Head, "chain", "tool")
	}
	for _, i := range calls {
		row := report.TableRow{Name: s.callLink(i.ID)}
		for _, text := range []string{decision(i), outcomeCell(i).Human, ui.DurationCell(i.Duration.NullInt64).Human, callCost(s.prices, i).human(),
			i.Started.Time().Format(time.DateTime)} {
			row.Cells = append(row.Cells, report.Link{Text: text})
		}
		if chains != nil {
			row.Cells = append(row.Cells, s.chainLink(i.Chain, chains[i.Chain]), report.Link{Text: i.Tool})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func sessionsTable(sessions []ledger.SessionRow) report.Table {
	t := report.Table{Title: "Sessions", Words: true, Head: []string{"session", "state", "turns", "context", "model", "last used"}}
	for _, s := range sessions {
		row := report.TableRow{Name: report.Link{Text: ui.OrDash(s.NativeID)}}
		for _, text := range []string{stateCell(s).Human, ui.Thousands(int64(s.Turns)), contextCell(s.Context).Human, s.Model,
			s.LastUsed.Time().Format(time.DateTime)} {
			row.Cells = append(row.Cells, report.Link{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (s *site) call(a *app, l *ledger.Ledger, r *http.Request) (report.Page, error) {
	id, err := pathNumber(r)
	if err != nil {
		return report.Page{}, err
	}
	i, err := l.FindInvocation(id)
	if errors.Is(err, sql.ErrNoRows) {
		err = errNoPage
	}
	if err != nil {
		return report.Page{}, err
	}
	names, err := chainNames(l, []ledger.Invocation{i})
	if err != nil {
		return report.Page{}, err
	}
	why, err := a.whyCall(l, s.reporter, i)
	if err != nil {
		return report.Page{}, err
	}
	p := report.Page{Text: why.Text, Command: why.Command, Title: fmt.Sprintf("Call %d", id), Subtitle: i.Started.Time().Format(time.DateTime) + " UTC", Trail: s.trail(s.dayLink(i.Started))}
	if i.Chain != 0 {
		p.Trail = append(p.Trail, s.chainLink(i.Chain, names[i.Chain]))
	}
	t := report.Table{Title: "What is recorded", Words: true, Head: []string{"field", "value"}}
	for _, f := range a.callFields(s.reporter, i) {
		value := report.Link{Text: f.cell.Human}
		switch f.name {
		case "chain":
			value = s.chainLink(i.Chain, fmt.Sprint(i.Chain))
		case "began":
			value = s.dayLink(i.Started)
			value.Text = i.Started.Time().Format(time.DateTime)
		}
		t.Rows = append(t.Rows, report.TableRow{Name: report.Link{Text: f.name}, Cells: []report.Link{value}})
	}
	p.Tables = []report.Table{t}
	return p, nil
}
