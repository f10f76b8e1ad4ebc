package history

import (
	"fmt"
	"slices"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A Slice sums up the calls of one day that have the same properties.
type Slice struct {
	// only in Groups, and OtherKeys if it is not among those with the most calls
	Key              string
	Day              decide.Millis // the beginning, in UTC
	Tool, Model      string        // Model that answered
	Role             string        // of their chain
	Mode             rewrite.Mode
	Reason, FellBack reason.Code
	Arm              string
	Well             bool // they ended well
	Counted, Priced  bool // the tool reported their tokens, and their cost
	// some prompt might have been longer than the bound: the run's prompts together are
	Long bool
	// of the prompts, the part not sent: where more than the prompt was sent, nothing
	LeftOutBytes int64
	Created      int64 // sessions: one by each call that did not continue in the same session
	Front
	Sums
}

// Sums are sums over managed calls, with the number of calls for which each figure is known.
type Sums struct {
	Calls      int64 `json:"calls" doc:"managed calls"`
	Resumed    int64 `json:"resumed" doc:"resumed calls"`
	Ended      int64 `json:"ended" doc:"calls that have ended"`
	OK         int64 `json:"ok" doc:"calls that ended well"`
	Forked     int64 `json:"forked" doc:"resumed calls in a copy of a session that another process had used"`
	Metered    int64 `json:"metered_calls" doc:"calls of known tokens; the tokens are theirs"`
	Input      int64 `json:"input_tokens" doc:"tokens neither read from nor written to a cache"`
	CacheRead  int64 `json:"cache_read_tokens" doc:"tokens read from the cache"`
	CacheWrite int64 `json:"cache_write_tokens" doc:"tokens written to the cache"`
	Output     int64 `json:"output_tokens" doc:"tokens that the model wrote"`
	// of CacheWrite, the tokens that the provider was asked to keep for an hour
	HourWrite int64 `json:"-"`
	Priced    int64 `json:"-"`
	Cost      int64 `json:"-"` // nano-dollars
	Timed     int64 `json:"-"`
	Duration  int64 `json:"-"` // milliseconds
}

func (s *Sums) columns() []any {
	return []any{&s.Calls, &s.Resumed, &s.Forked, &s.Ended, &s.OK, &s.Metered, &s.Input,
		&s.CacheRead, &s.CacheWrite, &s.Output, &s.HourWrite, &s.Priced, &s.Cost, &s.Timed,
		&s.Duration}
}

// Add adds more calls.
func (s *Sums) Add(more Sums) {
	to, from := s.columns(), more.columns()
	for i := range to {
		*to[i].(*int64) += *from[i].(*int64)
	}
}

// A Front sums up how much the calls' first requests found of the text in front of a prompt, as
// system prompt and tools, in the provider's cache.
type Front struct {
	Firsts int64 // calls with a known first request. Below 4096 tokens some providers cache nothing
	// their tokens in front of the prompts. Of these only bytes are known: four count as a token
	Ahead int64
	Read  int64 // tokens that they found
	Most  int64 // the most that a call found
	Warm  int64 // calls that continued a session which the cache had, and so had the text in front
}

// Add adds more calls.
func (f *Front) Add(more Front) {
	f.Firsts, f.Ahead, f.Read, f.Most = f.Firsts+more.Firsts, f.Ahead+more.Ahead, f.Read+more.Read,
		max(f.Most, more.Most)
	f.Warm += more.Warm
}

// The columns of a Front. A session in use shortly before is in the cache unless the calls show
// otherwise.
const (
	firstKnown = "coalesce(first_prompt >= 4096, 0)"
	frontOf    = "coalesce(sum(" + firstKnown +
		"), 0), coalesce(sum(max(first_prompt - sent_bytes / 4, " +
		"0)) FILTER (WHERE " + firstKnown + "), 0)," +
		"coalesce(sum(first_read) FILTER (WHERE " + firstKnown +
		"), 0), coalesce(max(first_read) FILTER (WHERE " +
		firstKnown + "), 0)," +
		"coalesce(sum(idle NOT NULL AND NOT coalesce(" + ledger.MissedCache +
		", 0) AND (idle < 300000 OR " +
		ledger.HeldEnough + ")), 0)"
)

// Side returns the side that the calls count on.
func (s Slice) Side() decide.Side { return decide.ClassifyRun(s.Mode, s.Reason, s.FellBack) }

// Managed reports whether the shim decided on the calls.
func (s Slice) Managed() bool { return s.Mode == rewrite.Fresh || s.Mode.Continues() }

// Slices sums up the selected calls.
func Slices(q ledger.Queryer, f Filter, longPrompt int64) ([]Slice, error) {
	list, err := readSlices(q, f, longPrompt, "''")
	return list, ledger.Wrap("sum up days", err)
}

// readSlices sums up the calls that are alike, by day; key is an expression of their key, with its
// arguments.
func readSlices(q ledger.Queryer, f Filter, longPrompt int64, key string,
	args ...any) ([]Slice, error) {
	where, ofFilter := f.where("")
	return ledger.List(q, fmt.Sprintf(`SELECT started / %d * %[1]d, tool, coalesce(model, ''), mode, reason,
		coalesce(fell_back, ''), arm, coalesce((SELECT role FROM chains WHERE id = chain_id), ''), outcome IS 'ok',
		input IS NOT NULL, cost IS NOT NULL, coalesce(input + cache_read + cache_write > %d, 0), %s,
		count(*), sum(`+continued+`), sum(mode = 'fork'), count(outcome), coalesce(sum(outcome = 'ok'), 0),
		count(input), coalesce(sum(input), 0), coalesce(sum(cache_read), 0), coalesce(sum(cache_write), 0),
		coalesce(sum(output), 0), coalesce(sum(cache_write * cache_hour), 0), count(cost), coalesce(sum(cost), 0),
		count(duration), coalesce(sum(duration), 0), `+frontOf+`, sum(max(prompt_bytes - sent_bytes, 0)),
		sum(coalesce(mode <> 'resume' OR native_id <> resumed_from, resumed_from IS NULL))
		FROM calls WHERE %s GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
		ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13`, day, longPrompt, key, where),
		func(s *Slice) []any {
			return slices.Concat([]any{&s.Day, &s.Tool, &s.Model, &s.Mode, &s.Reason, &s.FellBack,
				&s.Arm, &s.Role, &s.Well, &s.Counted, &s.Priced, &s.Long, &s.Key},
				s.Sums.columns(), []any{&s.Firsts, &s.Ahead, &s.Read, &s.Most, &s.Warm,
					&s.LeftOutBytes, &s.Created})
		}, append(args, ofFilter...)...)
}
