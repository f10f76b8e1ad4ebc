package report

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/report/draw"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
)

func (s *site) chain(a *app.App, l *ledger.Ledger, r *http.Request) (draw.Page, error) {
	id, err := pathNumber(r)
	if err != nil {
		return draw.Page{}, err
	}
	chains, err := history.Chains(l, history.Wanted{Filter: history.Filter{Chain: id}})
	if err == nil && len(chains) == 0 {
		err = errNoPage
	}
	if err != nil {
		return draw.Page{}, err
	}
	c := chains[0]
	calls, err := history.LatestInvocations(l, history.Wanted{Filter: history.Filter{Chain: id}, Limit: mostCalls})
	if err != nil {
		return draw.Page{}, err
	}
	latest := slices.Clone(calls[:min(len(calls), mostDrawn.Calls)])
	slices.Reverse(latest)
	drawn := drawnChain(a, history.ChainCalls{ChainRow: c, Latest: latest}, s.Reporter, s.linker)
	p := draw.Page{Title: drawn.Name.Text, Subtitle: drawn.About, Facts: s.chainFacts(c, calls),
		Trail: s.trail(s.dayLink(c.Last.Started)), Timeline: "Timeline", Chains: []draw.Chain{drawn}}
	p.Chains[0].Name.Text = "" // the page's title
	table := s.callsTable(calls, nil)
	if len(calls) < c.Calls {
		table.About = fmt.Sprintf("The latest %d.", len(calls))
	}
	p.Tables = []draw.Table{table, sessionsTable(c.Sessions)}
	return p, nil
}

func (s *site) chainFacts(c history.ChainRow, calls []history.Invocation) []draw.Fact {
	var cost view.Sum
	var tokens, read, cached, left int64
	for _, i := range calls {
		cost = cost.Plus(view.CallCost(s.Prices, i))
		read += i.Input.Int64 + i.CacheRead.Int64 + i.CacheWrite.Int64
		cached += i.CacheRead.Int64
		tokens += i.Output.Int64
		if i.Mode.Continues() && i.Outcome == "ok" {
			left += max(0, i.PromptBytes-i.SentBytes)
		}
	}
	newest := view.Newest(c)
	return []draw.Fact{
		{Name: "left out of prompts", Value: view.Size(left), About: "since the session had it"},
		{Name: "cost", Value: cost.Human()},
		{Name: "calls", Value: view.Thousands(int64(c.Calls)), About: view.Thousands(int64(c.Resumed)) + " resumed"},
		{Name: "tokens", Value: view.ShortNumber(read + tokens), About: view.Amount("share", view.Rate(cached, read)) + " of what was read came from the cache"},
		{Name: "session", Value: view.StateCell(newest).Human, About: "context " + view.ContextCell(newest.Context).Human},
	}
}

func (s *site) dayLink(at decide.Millis) draw.Link {
	return s.to(day(at), "day", day(at))
}

func (s *site) chainLink(id int64, name string) draw.Link {
	if id == 0 {
		return draw.Link{Text: "-"}
	}
	return s.to(name, "chain", fmt.Sprint(id))
}

// chainNames returns the names of the calls' chains.
func chainNames(l *ledger.Ledger, calls []history.Invocation) (map[int64]string, error) {
	names := map[int64]string{}
	for _, i := range calls {
		if names[i.Chain] != "" || i.Chain == 0 {
			continue
		}
		chains, err := history.Chains(l, history.Wanted{Filter: history.Filter{Chain: i.Chain}})
		if err != nil {
			return nil, err
		}
		for _, c := range chains {
			names[c.ID] = view.ChainName(c.Task, c.Role, c.Cwd, c.Created)
		}
	}
	return names, nil
}

func (s *site) callLink(id int64) draw.Link {
	return s.to(fmt.Sprintf("#%d", id), "call", fmt.Sprint(id))
}

// callsTable lists calls, each with the address of its page. Those of several chains have the names of their chains.
func (s *site) callsTable(calls []history.Invocation, chains map[int64]string) draw.Table {
	t := draw.Table{Title: "Calls", Words: true, Head: []string{"call", "decision", "outcome", "took", "cost", "began"}}
	if chains != nil {
		t.Head = append(t.Head, "chain", "tool")
	}
	for _, i := range calls {
		row := draw.TableRow{Name: s.callLink(i.ID), Cells: cells(view.Decision(i), view.OutcomeCell(i).Human,
			view.DurationCell(i.Duration.NullInt64).Human, view.CallCost(s.Prices, i).Human(), i.Started.Time().Format(time.DateTime))}
		if chains != nil {
			row.Cells = append(row.Cells, s.chainLink(i.Chain, chains[i.Chain]), draw.Link{Text: i.Tool})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func sessionsTable(sessions []history.SessionRow) draw.Table {
	t := draw.Table{Title: "Sessions", Words: true, Head: []string{"session", "state", "turns", "context", "model", "last used"}}
	for _, s := range sessions {
		t.Rows = append(t.Rows, draw.TableRow{Name: draw.Link{Text: view.OrDash(s.NativeID)}, Cells: cells(view.StateCell(s).Human,
			view.Thousands(int64(s.Turns)), view.ContextCell(s.Context).Human, s.Model, s.LastUsed.Time().Format(time.DateTime))})
	}
	return t
}

func (s *site) call(a *app.App, l *ledger.Ledger, r *http.Request) (draw.Page, error) {
	id, err := pathNumber(r)
	if err != nil {
		return draw.Page{}, err
	}
	i, err := history.FindInvocation(l, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = errNoPage
	}
	if err != nil {
		return draw.Page{}, err
	}
	names, err := chainNames(l, []history.Invocation{i})
	if err != nil {
		return draw.Page{}, err
	}
	explained, err := why.Call(a, l, s.Reporter, i)
	if err != nil {
		return draw.Page{}, err
	}
	p := draw.Page{Text: explained.Text, Command: explained.Command, Title: fmt.Sprintf("Call %d", id), Subtitle: i.Started.Time().Format(time.DateTime) + " UTC", Trail: s.trail(s.dayLink(i.Started))}
	if i.Chain != 0 {
		p.Trail = append(p.Trail, s.chainLink(i.Chain, names[i.Chain]))
	}
	t := draw.Table{Title: "What is recorded", Words: true, Head: []string{"field", "value"}}
	for _, f := range why.Fields(a, s.Reporter, i) {
		value := draw.Link{Text: f.Cell.Human}
		switch f.Name {
		case "chain":
			value = s.chainLink(i.Chain, fmt.Sprint(i.Chain))
		case "began":
			value = s.dayLink(i.Started)
			value.Text = i.Started.Time().Format(time.DateTime)
		}
		t.Rows = append(t.Rows, draw.TableRow{Name: draw.Link{Text: f.Name}, Cells: []draw.Link{value}})
	}
	p.Tables = []draw.Table{t}
	return p, nil
}
