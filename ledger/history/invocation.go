package history

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A Number is a figure that might be unknown. JSON has null for it then.
type Number struct{ sql.NullInt64 }

// MarshalJSON returns the number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	if !n.Valid {
		return []byte("null"), nil
	}
	return json.Marshal(n.Int64)
}

// Names are several, which the ledger stores apart by tabs.
type Names []string

// Scan reads the ledger's value.
func (n *Names) Scan(value any) error {
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("names of the type %T", value)
	}
	if *n = nil; text != "" {
		*n = strings.Split(text, "\t")
	}
	return nil
}

// An Invocation is everything that the ledger stores about one call. The JSON names are those of each list of calls, and are never
// renamed. A number that is not known is null, and a word that is not known, or missing, is left out.
type Invocation struct {
	ID          int64          `json:"id" doc:"its number"`
	Chain       int64          `json:"-"` // 0 if it belongs to none
	Session     int64          `json:"-"` // the row of the session, 0 if it has none
	Tool        string         `json:"tool" doc:"name of the tool"`
	Cwd         string         `json:"directory" doc:"its working directory"`
	Task        string         `json:"task,omitempty" doc:"name of the job"`
	Role        string         `json:"role,omitempty" doc:"part in the job"`
	Rule        string         `json:"rule,omitempty" doc:"the rule that matched"`
	Caller      decide.Caller  `json:"-"`
	Format      rewrite.Format `json:"format" doc:"the requested output format"`
	Started     decide.Millis  `json:"-"`
	Duration    Number         `json:"duration_ms" doc:"duration, null while it runs"`
	Mode        rewrite.Mode   `json:"mode" doc:"resume, fork, fresh, observe or stopped"`
	Reason      reason.Code    `json:"reason" doc:"the reason"`
	Detail      reason.Code    `json:"detail,omitempty" doc:"detail of the reason"`
	Changed     Names          `json:"changed,omitempty" doc:"settings, variables or files that changed"`
	Proof       decide.Proof   `json:"-"` // what showed that it continued a session
	Arm         string         `json:"arm,omitempty" doc:"control or treated, where a rule holds chains out"`
	ResumedFrom string         `json:"resumed_from,omitempty" doc:"the session to resume or copy"`
	FellBack    reason.Code    `json:"fell_back,omitempty" doc:"why the tool refused, so that the call ran fresh"`
	NativeID    string         `json:"session,omitempty" doc:"the session that the call ended in"`
	Asked       string         `json:"model_asked,omitempty" doc:"the model that was asked for"`
	Model       string         `json:"model,omitempty" doc:"the model that answered"`
	Outcome     string         `json:"-"` // "" while it runs
	Exit        Number         `json:"exit" doc:"exit status of the tool, null while it runs"`
	Signal      Number         `json:"signal" doc:"the signal that ended it, or null"`
	PromptBytes int64          `json:"prompt_bytes" doc:"length of the caller's prompt"`
	SentBytes   int64          `json:"sent_bytes" doc:"length of what the model was sent"`
	WhyWhole    reason.Code    `json:"why_whole,omitempty" doc:"why a resumed session was sent the whole prompt"`
	Input       Number         `json:"input_tokens" doc:"tokens neither read from nor written to a cache"`
	CacheRead   Number         `json:"cache_read_tokens" doc:"tokens read from the cache"`
	CacheWrite  Number         `json:"cache_write_tokens" doc:"tokens written to the cache"`
	Output      Number         `json:"output_tokens" doc:"tokens that the model wrote"`
	SessionWhy  reason.Code    `json:"-"` // why the session is not to be continued, if more is known than how the call ended
	OneRequest  bool           `json:"-"` // it made a single request, if the tool says so
	Cost        Number         `json:"-"` // nano-dollars, as the tool reported it
	Unshared    string         `json:"unshared,omitempty" doc:"why its session is not shared, although there is a store"`
}

// invocationColumns are the columns of an invocation i, the chain ic and its session si.
func invocationColumns(l *ledger.Ledger) string {
	return `i.id, coalesce(i.chain_id, 0), coalesce(i.session_id, 0), i.tool, i.cwd, coalesce(ic.task, ''), coalesce(ic.role, ''), i.rule,
	i.caller, i.format, i.started, i.duration, i.mode, i.reason, i.detail, i.changed, i.proof, i.arm, coalesce(i.resumed_from, ''),
	coalesce(i.fell_back, ''), coalesce(i.native_id, ''), coalesce(si.model, ''), coalesce(si.state_why, ''), coalesce(i.model, ''), coalesce(i.outcome, ''), i.exit_code,
	i.signal, i.prompt_bytes, i.sent_bytes, i.why_whole, i.input, i.cache_read, i.cache_write, i.output, ` + oneRequest + `, i.cost, i.unshared`
}

const invocationTables = `invocations i LEFT JOIN chains ic ON ic.id = i.chain_id LEFT JOIN sessions si ON si.id = i.session_id`

// columns returns the destinations of invocationColumns.
func (i *Invocation) columns() []any {
	return []any{&i.ID, &i.Chain, &i.Session, &i.Tool, &i.Cwd, &i.Task, &i.Role, &i.Rule,
		&i.Caller, &i.Format, &i.Started, &i.Duration, &i.Mode, &i.Reason, &i.Detail, &i.Changed, &i.Proof, &i.Arm, &i.ResumedFrom,
		&i.FellBack, &i.NativeID, &i.Asked, &i.SessionWhy, &i.Model, &i.Outcome, &i.Exit,
		&i.Signal, &i.PromptBytes, &i.SentBytes, &i.WhyWhole, &i.Input, &i.CacheRead, &i.CacheWrite, &i.Output, &i.OneRequest, &i.Cost, &i.Unshared}
}

// LatestInvocations returns the calls, the latest first.
func LatestInvocations(l *ledger.Ledger, w Wanted) ([]Invocation, error) {
	where, args := w.selects("i.")
	return readInvocations(l, where+" ORDER BY i.id DESC LIMIT ?", append(args, w.limit())...)
}

// RunningInvocations returns those selected of the latest calls that are running, the latest first. A call without a session counts for
// an hour: no lease shows whether the process still lives.
func RunningInvocations(l *ledger.Ledger, f Filter, now decide.Millis) (list []Invocation, err error) {
	among, args := f.among("i.")
	rows, err := readInvocations(l, "i.outcome IS NULL AND i.id > (SELECT max(id) FROM invocations) - ? AND "+among+" ORDER BY i.id DESC",
		slices.Concat([]any{recentCalls}, args)...)
	for _, i := range rows {
		held := i.Started > now-hour
		if i.Session != 0 {
			if held, err = l.Held(i.Session); err != nil {
				return nil, fmt.Errorf("list calls: %w", err)
			}
		}
		if held {
			list = append(list, i)
		}
	}
	return list, err
}

// FindInvocation returns one call, or sql.ErrNoRows if there is none.
func FindInvocation(l *ledger.Ledger, id int64) (Invocation, error) {
	return onlyOne(readInvocations(l, "i.id = ?", id))
}

// recentCalls is the number of latest calls that RunningInvocations searches.
const recentCalls = 1000

// InvocationsSince returns the calls after the given one, and those of running that have ended
// since, the earliest first, as far as the filter selects them.
func InvocationsSince(l *ledger.Ledger, id int64, running []int64, f Filter) ([]Invocation, error) {
	where, args := f.selects("i.")
	return readInvocations(l, `(i.id > ? OR i.id IN (SELECT value FROM json_each(?)) AND i.outcome IS NOT NULL) AND `+where+" ORDER BY i.id",
		append([]any{id, ledger.EncodeJSON(append([]int64{}, running...))}, args...)...)
}

func readInvocations(l *ledger.Ledger, where string, args ...any) ([]Invocation, error) {
	list, err := invocationsIn(l, l, where, args...)
	return list, ledger.Wrap("list calls", err)
}

func invocationsIn(l *ledger.Ledger, q ledger.Queryer, where string, args ...any) ([]Invocation, error) {
	return ledger.List(q, "SELECT "+invocationColumns(l)+" FROM "+invocationTables+" WHERE "+where, (*Invocation).columns, args...)
}

// onlyOne returns a list's call, or sql.ErrNoRows if it has none.
func onlyOne(list []Invocation, err error) (Invocation, error) {
	if err == nil && len(list) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return Invocation{}, err
	}
	return list[0], nil
}
