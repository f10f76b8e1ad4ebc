package decide

import "reprise/rewrite/reason"

// Spending is what the calls of a job have used up.
type Spending struct {
	Calls int64 // made in the last hour
	Cost  int64 // nano-dollars of the last 24 hours, as the tool reported them
	// Tokens of the last 24 hours, and of all calls, weighted by what they cost.
	Tokens, JobTokens int64
}

// Budget is what a job may use up; 0 is no limit.
type Budget struct {
	CallsPerHour int64
	NanoPerDay   int64
	TokensPerDay int64
	TokensPerJob int64
}

// Exceeded returns which limit a job has exceeded, or "".
func (b Budget) Exceeded(s Spending) reason.Code {
	switch {
	case b.CallsPerHour > 0 && s.Calls > b.CallsPerHour:
		return reason.TooManyCalls
	case b.NanoPerDay > 0 && s.Cost >= b.NanoPerDay:
		return reason.BudgetSpent
	case b.TokensPerDay > 0 && s.Tokens >= b.TokensPerDay, b.TokensPerJob > 0 && s.JobTokens >= b.TokensPerJob:
		return reason.TokensSpent
	}
	return ""
}
