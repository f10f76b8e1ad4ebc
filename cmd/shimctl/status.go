package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"reprise/ledger"
	"reprise/rewrite"
)

// maxChains is how many chains are shown at most.
const maxChains = 50

func statusCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "show chains, sessions and the last decisions",
		Long: `Shows the chains, the latest first: how many calls each has had, what became of the last
one and why, how full the session's context is, and which session is next to be resumed. Warns
where a context is nearly full, and where resumes are suspended since they cost more than fresh runs.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.status(asJSON) },
	}
	jsonFlag(c, &asJSON, "shimctl.status/1")
	return c
}

func (a *app) status(asJSON bool) error {
	totals, chains, meters, err := a.readStatus()
	if err != nil {
		return err
	}
	cfg := a.configured()
	warnings := append(contextWarnings(cfg, chains), a.dearerWarnings(cfg, meters)...)
	if asJSON {
		return a.printJSON(statusJSON(totals, chains, warnings))
	}
	a.printStatus(totals, chains)
	for _, w := range warnings {
		fmt.Fprintln(a.stdout, "warning: "+w.Says)
	}
	return nil
}

// readStatus reads the ledger; one that does not exist yet is an empty one.
func (a *app) readStatus() (totals ledger.Totals, chains []ledger.ChainRow, meters []ledger.MeterRow, err error) {
	l, err := a.openLedger()
	if errors.Is(err, fs.ErrNotExist) {
		return totals, nil, nil, nil
	}
	if err != nil {
		return totals, nil, nil, err
	}
	defer l.Close()
	_ = l.Settle() // what can not be recorded now is shown as not ended
	if totals, err = l.Totals(); err != nil {
		return totals, nil, nil, err
	}
	if chains, err = l.Chains(maxChains); err != nil {
		return totals, nil, nil, err
	}
	meters, err = l.Meters()
	return totals, chains, meters, err
}

func (a *app) printStatus(t ledger.Totals, chains []ledger.ChainRow) {
	if t.Resumed+t.Fresh == 0 {
		fmt.Fprintln(a.stderr, "no managed call has been made yet")
		return
	}
	fmt.Fprintf(a.stdout, "%s, %s: %d resumed, %d fresh%s; prompts of %s, of which %s were sent\n\n",
		count(t.Chains, "chain"), count(t.Resumed+t.Fresh, "managed call"), t.Resumed, t.Fresh, never(t.Never),
		size(t.PromptBytes), size(t.SentBytes))
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CHAIN\tTOOL\tTASK\tROLE\tRULE\tTURNS\tLAST\tAGO\tCONTEXT\tSESSION\tDIRECTORY")
	for _, c := range chains {
		s := newest(c)
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", c.ID, c.Tool, orDash(c.Task), orDash(c.Role), orDash(c.Last.Rule),
			c.Calls, decision(c.Last), ago(a.now, c.Last.Started), contextUsed(s.Context), sessionState(s), a.tilde(c.Cwd))
	}
	w.Flush()
}

// never counts the calls that belong to no chain, and so stand in no row.
func never(calls int64) string {
	if calls == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of them never to be resumed)", calls)
}

func newest(c ledger.ChainRow) ledger.SessionRow {
	if len(c.Sessions) == 0 {
		return ledger.SessionRow{}
	}
	return c.Sessions[0]
}

// decision says what became of a call, as "resume: extends".
func decision(i ledger.InvocationRow) string {
	text := fmt.Sprintf("%s: %s", i.Mode, i.Reason)
	if i.Detail != "" {
		text += fmt.Sprintf(" (%s)", i.Detail)
	}
	if i.FellBack != "" {
		text = fmt.Sprintf("%s: %s (meant to resume: %s)", i.Mode, i.FellBack, i.Reason)
	}
	if i.Outcome != "ok" {
		text += ", " + orElse(i.Outcome, "not ended")
	}
	return text
}

func sessionState(s ledger.SessionRow) string {
	id := orElse(s.NativeID, "-")
	if len(id) > 8 {
		id = id[:8]
	}
	switch {
	case s.Held:
		return id + " busy"
	case s.Why != "":
		return fmt.Sprintf("%s %s (%s)", id, s.State, s.Why)
	}
	return fmt.Sprintf("%s %s", id, s.State)
}

func contextUsed(c rewrite.Context) string {
	if c.Limit == 0 {
		return "n/a"
	}
	return fmt.Sprintf("%d %%", (100*c.Used+c.Limit/2)/c.Limit)
}

func ago(now time.Time, then ledger.Millis) string {
	d := now.Sub(time.UnixMilli(int64(then)))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

type statusReport struct {
	Schema   string        `json:"schema"`
	Totals   totalsReport  `json:"totals"`
	Chains   []chainReport `json:"chains"`
	Warnings []warning     `json:"warnings"`
}

type totalsReport struct {
	Chains      int64 `json:"chains"`
	Calls       int64 `json:"calls"`
	Resumed     int64 `json:"resumed"`
	Fresh       int64 `json:"fresh"`
	Observed    int64 `json:"observed"`
	Never       int64 `json:"never"` // of the fresh ones, those that a rule has stand alone
	PromptBytes int64 `json:"prompt_bytes"`
	SentBytes   int64 `json:"sent_bytes"`
}

type chainReport struct {
	ID        int64            `json:"id"`
	Tool      string           `json:"tool"`
	Directory string           `json:"directory"`
	Task      string           `json:"task,omitempty"`
	Role      string           `json:"role,omitempty"`
	Created   time.Time        `json:"created"`
	Updated   time.Time        `json:"updated"`
	Calls     int              `json:"calls"`
	Resumed   int              `json:"resumed"`
	Last      invocationReport `json:"last"`
	Sessions  []sessionReport  `json:"sessions"`
}

type sessionReport struct {
	ID            string         `json:"id"` // the tool's own, "" while it is not known
	State         ledger.State   `json:"state"`
	Why           rewrite.Reason `json:"why,omitempty"`
	Busy          bool           `json:"busy"`
	Version       string         `json:"version,omitempty"`
	Model         string         `json:"model,omitempty"`
	Turns         int            `json:"turns"`
	ContextTokens int64          `json:"context_tokens"`
	ContextLimit  *int64         `json:"context_limit"` // null where the tool does not tell
	Created       time.Time      `json:"created"`
	LastUsed      time.Time      `json:"last_used"`
}

type invocationReport struct {
	ID           int64          `json:"id"`
	Started      time.Time      `json:"started"`
	Milliseconds *int64         `json:"duration_ms"` // null while it runs
	Mode         rewrite.Mode   `json:"mode"`
	Reason       rewrite.Reason `json:"reason"`
	Detail       rewrite.Reason `json:"detail,omitempty"`
	Rule         string         `json:"rule,omitempty"`
	FellBack     rewrite.Reason `json:"fell_back,omitempty"`
	Outcome      *string        `json:"outcome"` // null while it runs
	PromptBytes  int64          `json:"prompt_bytes"`
	SentBytes    int64          `json:"sent_bytes"`
	CostNanoUSD  *int64         `json:"cost_nano_usd"` // null where the tool does not tell
}

func statusJSON(t ledger.Totals, chains []ledger.ChainRow, warnings []warning) statusReport {
	r := statusReport{Schema: "shimctl.status/1", Chains: []chainReport{}, Totals: totalsReport(t), Warnings: warnings}
	for _, c := range chains {
		chain := chainReport{ID: c.ID, Tool: c.Tool, Directory: c.Cwd, Task: c.Task, Role: c.Role,
			Created: clock(c.Created), Updated: clock(c.Updated), Calls: c.Calls, Resumed: c.Resumed,
			Last: invocationJSON(c.Last), Sessions: []sessionReport{}}
		for _, s := range c.Sessions {
			chain.Sessions = append(chain.Sessions, sessionReport{ID: s.NativeID, State: s.State, Why: s.Why, Busy: s.Held,
				Version: s.Version, Model: s.Model, Turns: s.Turns, ContextTokens: s.Context.Used,
				ContextLimit: nonZero(s.Context.Limit), Created: clock(s.Created), LastUsed: clock(s.LastUsed)})
		}
		r.Chains = append(r.Chains, chain)
	}
	return r
}

func invocationJSON(i ledger.InvocationRow) invocationReport {
	r := invocationReport{ID: i.ID, Started: clock(i.Started), Mode: i.Mode, Reason: i.Reason, Detail: i.Detail, Rule: i.Rule,
		FellBack: i.FellBack, PromptBytes: i.PromptBytes, SentBytes: i.SentBytes}
	if i.Duration.Valid {
		r.Milliseconds = &i.Duration.Int64
	}
	if i.Cost.Valid {
		r.CostNanoUSD = &i.Cost.Int64
	}
	if i.Outcome != "" {
		r.Outcome = &i.Outcome
	}
	return r
}

func clock(m ledger.Millis) time.Time { return time.UnixMilli(int64(m)).UTC() }

func nonZero(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
