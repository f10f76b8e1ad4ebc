package history

import (
	"reprise/ledger"
	"reprise/ledger/decide"
)

// An Idle is the time between a session's last use and the call that resumed it.
type Idle int

// The idle times that differ for the providers' caches.
const (
	Briefly Idle = iota // under five minutes
	Within              // five to sixty minutes
	Longer
)

// oneRequest selects the calls that made a single request.
const oneRequest = "coalesce(i.first_prompt = i.input + i.cache_read + i.cache_write, 0)"

// A CacheRow has the tokens that resumed calls of one tool, version, model and idle time found in
// the provider's cache: of each call's first request, or of all the requests if the tool reports
// only sums.
type CacheRow struct {
	Tool, Model  string
	Version      string // "" if not known
	Idle         Idle
	Calls        int64
	Prompt, Read int64 // tokens sent, and the part that came from the cache
	// of the calls with a known first request: tokens that their sessions had been sent before, and
	// tokens sent
	HeldTokens, Whole int64
	Judged            int64 // calls of sessions that held enough to be cached
	// of these, those that read less than three quarters of it from the cache
	Missed int64
	Single int64 // of the missed ones, those that made a single request
}

// CacheRows sums up the selected calls that were resumed and ended well.
func CacheRows(l *ledger.Ledger, f Filter) ([]CacheRow, error) {
	where, args := f.where("i.")
	all, err := ledger.List(l, `SELECT i.tool, coalesce(i.model, ''), coalesce(s.version, ''), CASE WHEN idle < ?1
		THEN ?3 WHEN idle < ?2 THEN ?4 ELSE ?5 END,
		count(*), sum(`+ledger.PromptTokens+`), sum(`+ledger.ReadTokens+`),
		coalesce(sum(iif(first_prompt IS NULL, 0, min(held_tokens, first_prompt))), 0),
		coalesce(sum(first_prompt), 0),
		sum(`+ledger.HeldEnough+`), sum(`+ledger.MissedCache+`),
		sum(`+ledger.MissedCache+` AND `+oneRequest+`)
		FROM calls i LEFT JOIN sessions s ON s.id = i.session_id
		WHERE `+continued+` AND outcome = 'ok' AND idle IS NOT NULL AND input IS NOT NULL AND `+where+`
		GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
		func(r *CacheRow) []any {
			return []any{&r.Tool, &r.Model, &r.Version, &r.Idle, &r.Calls, &r.Prompt, &r.Read,
				&r.HeldTokens, &r.Whole, &r.Judged, &r.Missed, &r.Single}
		}, append([]any{decide.BriefIdle, decide.HourIdle, Briefly, Within, Longer}, args...)...)
	return all, ledger.Wrap("sum up cache use", err)
}
