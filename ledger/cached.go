package ledger

// The idle times that differ for the providers' caches, in milliseconds: the shortest documented lifetime is five
// minutes, the longest that a caller can choose is an hour.
const (
	BriefIdle = 5 * 60_000
	HourIdle  = 60 * 60_000
)

// A resumed call's prompt is that of its first request, or the sum over all requests if the tool reports
// nothing else: the later ones then hide a miss. Below HeldEnough some providers cache nothing. Of what a
// session held, its last answer is never in the cache; that is seldom a quarter.
const (
	PromptTokens = "coalesce(first_prompt, input + cache_read + cache_write)"
	ReadTokens   = "coalesce(first_read, cache_read)"
	HeldEnough   = "held >= 4096"
	MissedCache  = HeldEnough + " AND 4 * " + ReadTokens + " < 3 * min(held, " + PromptTokens + ")"
)
