package ledger

// A resumed call's prompt is the first request's, or the sum over all requests if the tool reports
// nothing else: the later requests then hide a miss. Below HeldEnough some providers cache nothing.
// A session's last answer is never in the cache; it is seldom a quarter of the session.
const (
	PromptTokens = "coalesce(first_prompt, input + cache_read + cache_write)"
	ReadTokens   = "coalesce(first_read, cache_read)"
	HeldEnough   = "held_tokens >= 4096"
	MissedCache  = HeldEnough + " AND 4 * " + ReadTokens + " < 3 * min(held_tokens, " +
		PromptTokens + ")"
)
