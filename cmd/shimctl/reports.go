package main

import (
	"time"

	"reprise/internal/prices"
	"reprise/ledger"
	"reprise/rewrite"
)

// What several commands print with --json. A field is never renamed and never changes its
// meaning within a schema; new ones may come. docs/reference/shimctl.schema.json is made from the doc tags.

type chainReport struct {
	ID        int64            `json:"id" doc:"its number"`
	Tool      string           `json:"tool" doc:"name of the tool"`
	Directory string           `json:"directory" doc:"working directory of its calls"`
	Task      string           `json:"task,omitempty" doc:"name of the job"`
	Role      string           `json:"role,omitempty" doc:"part in the job"`
	Created   time.Time        `json:"created" doc:"when its first call started"`
	Updated   time.Time        `json:"updated" doc:"when its last call started or ended"`
	Calls     int              `json:"calls" doc:"its calls"`
	Resumed   int              `json:"resumed" doc:"resumed calls"`
	Last      invocationReport `json:"last" doc:"its last call"`
	Sessions  []sessionReport  `json:"sessions" doc:"its sessions, the newest first"`
}

func (r reporter) chain(c ledger.ChainRow) chainReport {
	return chainReport{ID: c.ID, Tool: c.Tool, Directory: c.Cwd, Task: c.Task, Role: c.Role, Created: c.Created.Time(),
		Updated: c.Updated.Time(), Calls: c.Calls, Resumed: c.Resumed, Last: r.invocation(c.Last),
		Sessions: mapped(c.Sessions, sessionJSON)}
}

type sessionReport struct {
	ID            string         `json:"id" doc:"the tool's own ID, empty while unknown"`
	Tool          string         `json:"tool" doc:"name of the tool"`
	Chain         int64          `json:"chain" doc:"its chain"`
	State         ledger.State   `json:"state" doc:"running, live, failed, killed or dead; only a live one is resumed"`
	Why           rewrite.Reason `json:"why,omitempty" doc:"why it is dead"`
	Reset         bool           `json:"reset" doc:"whether an answer or shimctl reset ended it"`
	Busy          bool           `json:"busy" doc:"whether a process uses it"`
	ForkedFrom    string         `json:"forked_from,omitempty" doc:"the session that it is a copy of"`
	Version       string         `json:"version,omitempty" doc:"version of the tool"`
	Model         string         `json:"model,omitempty" doc:"the model asked for"`
	Turns         int            `json:"turns" doc:"calls of it that ended well"`
	ContextTokens int64          `json:"context_tokens" doc:"tokens of the context in use"`
	ContextLimit  *int64         `json:"context_limit" doc:"size of the context in tokens"`
	Created       time.Time      `json:"created" doc:"when it started"`
	LastUsed      time.Time      `json:"last_used" doc:"when it was last used"`
}

func sessionJSON(s ledger.SessionRow) sessionReport {
	return sessionReport{ID: s.NativeID, Tool: s.Tool, Chain: s.Chain, State: s.State, Why: s.Why, Reset: s.Reset, Busy: s.Held,
		ForkedFrom: s.Parent, Version: s.Version, Model: s.Model, Turns: s.Turns, ContextTokens: s.Context.Used,
		ContextLimit: nonZero(s.Context.Limit), Created: s.Created.Time(), LastUsed: s.LastUsed.Time()}
}

type invocationReport struct {
	ID           int64          `json:"id" doc:"its number"`
	Tool         string         `json:"tool" doc:"name of the tool"`
	Directory    string         `json:"directory" doc:"its working directory"`
	Chain        *int64         `json:"chain" doc:"its chain, null if none"`
	Started      time.Time      `json:"started" doc:"when it started"`
	Milliseconds *int64         `json:"duration_ms" doc:"duration, null while it runs"`
	Mode         rewrite.Mode   `json:"mode" doc:"resume, fork, fresh, observe or stopped"`
	Reason       rewrite.Reason `json:"reason" doc:"the reason"`
	Detail       rewrite.Reason `json:"detail,omitempty" doc:"detail of the reason"`
	Changed      []string       `json:"changed,omitempty" doc:"settings, variables or files that changed"`
	Rule         string         `json:"rule,omitempty" doc:"the rule that matched"`
	ResumedFrom  string         `json:"resumed_from,omitempty" doc:"the session to resume or copy"`
	FellBack     rewrite.Reason `json:"fell_back,omitempty" doc:"why the tool refused, so that the call ran fresh"`
	Session      string         `json:"session,omitempty" doc:"the session that the call ended in"`
	Format       rewrite.Format `json:"format" doc:"the requested output format"`
	Caller       string         `json:"caller" doc:"name of the program that made it, empty if a person did or it is not known"`
	Proof        []string       `json:"proof,omitempty" doc:"what showed that it continued its session, in sentences"`
	Unshared     string         `json:"unshared,omitempty" doc:"why its session is not shared, although there is a store"`
	Machine      string         `json:"machine,omitempty" doc:"the machine that made it, with --store"`
	From         string         `json:"from_machine,omitempty" doc:"the one on which the resumed session was last used"`
	Lost         ledger.Lost    `json:"lost,omitempty" doc:"why its session is not in the store: fenced, no_answer, too_large or failed"`
	Model        string         `json:"model,omitempty" doc:"the model that answered"`
	Outcome      *string        `json:"outcome" doc:"ok, failed or killed; null while it runs"`
	Exit         *int64         `json:"exit" doc:"exit status of the tool, null while it runs"`
	Signal       *int64         `json:"signal" doc:"the signal that ended it, or null"`
	PromptBytes  int64          `json:"prompt_bytes" doc:"length of the caller's prompt"`
	SentBytes    int64          `json:"sent_bytes" doc:"length of what the model was sent"`
	Input        *int64         `json:"input_tokens" doc:"tokens neither read from nor written to a cache"`
	CacheRead    *int64         `json:"cache_read_tokens" doc:"tokens read from the cache"`
	CacheWrite   *int64         `json:"cache_write_tokens" doc:"tokens written to the cache"`
	Output       *int64         `json:"output_tokens" doc:"tokens that the model wrote"`
	moneyReport
}

// A moneyReport is an amount and its source.
type moneyReport struct {
	CostNanoUSD *int64 `json:"cost_nano_usd" doc:"cost in billionths of a dollar"`
	CostMost    *int64 `json:"cost_at_most_nano_usd,omitempty" doc:"the same, if every request that may have had a long prompt was billed as such"`
	CostSource  string `json:"cost_source,omitempty" doc:"tool: its own figure; list: tokens at list price; mixed: some of each"`
}

func moneyJSON(s sum, source string) moneyReport {
	if !s.known {
		return moneyReport{}
	}
	r := moneyReport{CostNanoUSD: &s.nano, CostSource: source}
	if s.most > s.nano {
		r.CostMost = &s.most
	}
	return r
}

// A reporter knows prices.
type reporter struct{ prices *prices.Table }

func (r reporter) invocation(i ledger.InvocationRow) invocationReport {
	cost := callCost(r.prices, i)
	source := "tool"
	if cost.estimated {
		source = "list"
	}
	report := invocationReport{ID: i.ID, Tool: i.Tool, Directory: i.Cwd, Chain: nonZero(i.Chain), Started: i.Started.Time(),
		Milliseconds: ledger.OrNull(i.Duration), Mode: i.Mode, Reason: i.Reason, Detail: i.Detail, Changed: i.Changed(), Rule: i.Rule, ResumedFrom: i.ResumedFrom,
		FellBack: i.FellBack, Session: i.NativeID, Format: i.Format, Caller: i.Caller.Program(), Proof: i.Proof.Sentences(), Unshared: i.Unshared, Machine: i.Machine, From: i.From, Lost: i.Lost, Model: i.Model, Exit: ledger.OrNull(i.Exit), Signal: ledger.OrNull(i.Signal),
		PromptBytes: i.PromptBytes, SentBytes: i.SentBytes, Input: ledger.OrNull(i.Input), CacheRead: ledger.OrNull(i.CacheRead),
		CacheWrite: ledger.OrNull(i.CacheWrite), Output: ledger.OrNull(i.Output), moneyReport: moneyJSON(cost, source)}
	if i.Outcome != "" {
		report.Outcome = &i.Outcome
	}
	return report
}

func nonZero(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// mapped applies f to each element. It never returns nil, which JSON would have as null.
func mapped[T, R any](list []T, f func(T) R) []R {
	out := make([]R, 0, len(list))
	for _, item := range list {
		out = append(out, f(item))
	}
	return out
}
