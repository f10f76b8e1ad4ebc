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

// A Passed is a limit that a job has exceeded.
type Passed struct {
	Key         string // in the configuration, below budget
	Reason      reason.Code
	Used, Limit int64  // calls, nano-dollars or weighted tokens
	Period      Millis // 0 for all of the job
}

// Within returns how long before now the present period may have begun.
func (p Passed) Within(now Millis) Millis {
	if p.Period == 0 {
		return now
	}
	return p.Period
}

// Passed returns the limits that a job has exceeded.
func (b Budget) Passed(s Spending) (all []Passed) {
	const hour, day = 3_600_000, 86_400_000
	for _, one := range []struct {
		Passed
		exceeded bool
	}{
		{Passed{"calls_per_hour", reason.TooManyCalls, s.Calls, b.CallsPerHour, hour}, s.Calls > b.CallsPerHour},
		{Passed{"dollars_per_day", reason.BudgetSpent, s.Cost, b.NanoPerDay, day}, s.Cost >= b.NanoPerDay},
		{Passed{"tokens_per_day", reason.TokensSpent, s.Tokens, b.TokensPerDay, day}, s.Tokens >= b.TokensPerDay},
		{Passed{"tokens_per_job", reason.TokensSpent, s.JobTokens, b.TokensPerJob, 0}, s.JobTokens >= b.TokensPerJob},
	} {
		if one.Limit > 0 && one.exceeded {
			all = append(all, one.Passed)
		}
	}
	return all
}

// Exceeded returns which limit a job has exceeded, or "".
func (b Budget) Exceeded(s Spending) reason.Code {
	if all := b.Passed(s); len(all) > 0 {
		return all[0].Reason
	}
	return ""
}
