package decide

import (
	"math"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A run's cost is measured in money if the tool reports it for every run that is compared,
// otherwise in tokens weighted by Anthropic's prices. For every model since Claude 3.5, relative to
// a fresh input token, a token read from the cache costs a tenth, one written to it for five
// minutes a quarter more, and one of output five times as much. Other providers differ by less than
// resumed and fresh runs do.
const (
	WeightInput      = 1
	WeightCacheRead  = 0.1
	WeightCacheWrite = 1.25
	WeightOutput     = 5
)

// When resumes count as dearer than fresh runs. Times are in milliseconds.
const (
	PastRuns   = 20 // how many of a chain's latest runs are looked at
	MinResumes = 2  // the latest resumes that are compared
	// rounds differ by more than this; two that missed the cache have their cause, and need no
	// margin
	dearerBy    = 1.2
	DearerPause = 6 * 3_600_000 // the pause without a resume before it is tried again
	BriefIdle   = 5 * 60_000    // the shortest lifetime of an entry in the providers' caches
	HourIdle    = 60 * 60_000   // the longest that a caller can choose
)

// A Side is the kind that a run counts as.
type Side string

// The sides. A run kept fresh by a guard shows the cost of a resume without reprise. A run
// that began the job does not, and is used only if too few of the former were seen.
const (
	Resumed Side = "resumed"
	// continued the job, but a guard kept it fresh, or the tool refused the resume
	FollowUp   Side = "follow_up"
	FirstRun   Side = "first" // began the job, or began it anew
	Unmeasured Side = ""      // belongs to no chain, or nobody knows whether it began the job
)

// begins are the reasons of fresh calls that begin their job. A repeated or changed prompt, or a
// prompt that lacks evidence, can be a later round of one, or a sample.
var begins = map[reason.Code]bool{reason.FirstCall: true, reason.NewJob: true, reason.NewRole: true,
	reason.ForcedFresh: true, reason.ContextReset: true, reason.AttemptReset: true}

// ClassifyRun returns the side of a call.
func ClassifyRun(mode rewrite.Mode, why, fellBack reason.Code) Side {
	switch {
	case mode.Continues():
		return Resumed
	case mode != rewrite.Fresh, why == reason.Never:
		return Unmeasured
	case fellBack != "", isGuard(why):
		return FollowUp
	case begins[why]:
		return FirstRun
	}
	return Unmeasured
}

// isGuard reports whether a call that continues the chain is fresh for that reason all the same.
func isGuard(r reason.Code) bool {
	switch r.Class() {
	case reason.ClassSettings, reason.ClassCheckout, reason.ClassAge, reason.ClassSessionLost,
		reason.ClassInUse,
		reason.ClassCost,
		reason.ClassToolsLimit, reason.ClassOurFault:
		return r != reason.Updated
	}
	return r == reason.HeldOut || r == reason.Unread
}

// A Run is a run of a chain that ended well.
type Run struct {
	Side       Side
	Model      string // that answered
	Began      Millis
	Idle       Millis // of a resume: how long the session had not been used
	HeldTokens int64  // likewise: the tokens that the session had been sent
	Missed     bool   // likewise: the provider's cache did not have them
	Hour       bool   // it asked the provider to keep its writes to the cache for an hour
	// the tokens that the first request found in that cache, -1 if they are not known
	Found int64
	Usage rewrite.Usage
}

// Prices are the costs of a resume and of a fresh run of a chain.
type Prices struct {
	Resumed, Fresh float64
	Money          bool   // in nano-dollars, otherwise in weighted tokens
	Missed         bool   // the resumes missed the provider's cache
	Start          bool   // the runs are another chain's
	Last           Millis // when a resume was last measured
}

// Dearer reports whether resumes cost more.
func (p Prices) Dearer() bool {
	return p.Resumed > p.Fresh && (p.Missed || p.Resumed > dearerBy*p.Fresh)
}

// suspended reports whether resuming is suspended at that time. After a pause it is tried again;
// the pause must end also after a clock was set back.
func (p Prices) suspended(now Millis) bool {
	return p.Dearer() && max(now-p.Last, p.Last-now) < DearerPause
}

// Until returns when resuming is tried again if nothing changes before.
func (p Prices) Until() Millis { return p.Last + DearerPause }

// pastPrices compares a chain's latest resumes with the latest fresh run; past begins with the
// latest run. It is ok if this call's session has been idle for as long as the resumes' sessions.
// Resumes that missed the provider's cache say nothing while an hour lasts that the latest run
// asked for. They paid for the whole session, so their prices are scaled to the length that it has
// now; a fresh run would find in the cache the text in front of a prompt, as far as these resumes
// found it.
func pastPrices(past []Run, idle Millis, held int64) (p Prices, ok bool) {
	fresh, resumed := latest(past)
	if fresh == nil || len(resumed) < MinResumes {
		return Prices{}, false
	}
	p = Prices{Money: fresh.Usage.CostKnown, Missed: true, Last: resumed[0].Began}
	found := resumed[0].Found
	for _, r := range resumed {
		if outlived(r.Idle) > outlived(idle) {
			return Prices{}, false
		}
		p.Money, p.Missed, found = p.Money && r.Usage.CostKnown, p.Missed && r.Missed,
			min(found, r.Found)
	}
	p.Fresh, p.Resumed = fresh.price(p.Money), math.Inf(1)
	if p.Missed {
		p.Fresh *= fresh.share(found)
	}
	for _, r := range resumed {
		price := r.price(p.Money)
		if p.Missed {
			price *= float64(held) / float64(r.HeldTokens)
		}
		p.Resumed = min(p.Resumed, price)
	}
	return p, !p.Missed || !past[0].Hour || idle >= HourIdle
}

// dearer returns the reason Dearer if resuming has cost more than fresh runs, with the figures. A
// chain that has not been resumed often enough starts from the misses of another chain of the same
// rule, tool, version, model and settings.
func dearer(f Facts, c *ChainFacts) (Prices, reason.Code) {
	if f.Limits.ResumeDearer {
		return Prices{}, ""
	}
	var past []Run
	if f.Past != nil {
		past = f.Past(c)
	}
	idle, held := f.Now-c.LastUsed, c.ContextUsed
	p, ok := pastPrices(past, idle, held)
	if _, own := latest(past); len(own) < MinResumes && f.Learned != nil {
		learned := f.Learned()
		if _, others := latest(learned); len(others) == MinResumes {
			p, ok = pastPrices(learned, idle, others[0].HeldTokens)
			p.Start, ok = true, ok && p.Missed // else the cause lies in the other job
		}
	}
	if ok && p.suspended(f.Now) {
		return p, reason.Dearer
	}
	return Prices{}, ""
}

// latest returns the latest fresh run and the MinResumes latest resumes, of the model that answered
// last.
func latest(past []Run) (fresh *Run, resumed []*Run) {
	for i := range past {
		switch r := &past[i]; {
		case r.Model != past[0].Model:
		case r.Side == Resumed && len(resumed) < MinResumes:
			resumed = append(resumed, r)
		case (r.Side == FollowUp || r.Side == FirstRun) && fresh == nil:
			fresh = r
		}
	}
	return fresh, resumed
}

// price returns the cost of the run, in nano-dollars or in weighted tokens.
func (r *Run) price(money bool) float64 {
	if money {
		return float64(r.Usage.CostNano)
	}
	u := r.Usage
	return WeightInput*float64(u.Input) + WeightCacheRead*float64(u.CacheRead) +
		WeightCacheWrite*float64(u.CacheWrite) +
		WeightOutput*float64(u.Output)
}

// share returns the share of the price that a run would have had, had the first request found so
// many tokens in the cache.
func (r *Run) share(found int64) float64 {
	had, more := *r, found-r.Found
	written := min(more, r.Usage.CacheWrite)
	read := min(more-written, r.Usage.Input)
	if r.Found < 0 || written+read <= 0 {
		return 1
	}
	had.Usage.CacheWrite, had.Usage.Input = r.Usage.CacheWrite-written, r.Usage.Input-read
	had.Usage.CacheRead = r.Usage.CacheRead + written + read
	return had.price(false) / r.price(false)
}

// outlived returns how many of the providers' lifetimes are shorter than a time: five minutes, and
// an hour.
func outlived(idle Millis) (n int) {
	for _, life := range []Millis{BriefIdle, HourIdle} {
		if idle >= life {
			n++
		}
	}
	return n
}

// WeightHourWrite is the price of a token that is written to Anthropic's cache for an hour,
// relative to one of input.
const WeightHourWrite = 2

// A Reuse has numbers of tokens that the calls of a job wrote to the provider's cache, and needed
// again.
type Reuse struct {
	Written int64 // to the cache, by all calls
	// The tokens of sessions that were continued after 5 to 60 minutes, and the part that was
	// written again since only a cache of an hour would have held it.
	Within, Again int64
	// The tokens of sessions that were continued while the cache should have held them, and the
	// part that was found. That is less where a version or a model does not send a session again as
	// it was.
	Expected, Found int64
}

// HourSaves returns the weighted tokens that a cache of an hour saves against one of five minutes,
// negative if it costs more. A token that is kept for an hour is read instead of written again
// after 5 to 60 minutes, but every written token costs more. So the hour pays if more than 65 % of
// the written tokens are read then.
func (r Reuse) HourSaves() float64 {
	const saved, paid = WeightCacheWrite - WeightCacheRead, WeightHourWrite - WeightCacheWrite
	found := 1.0
	if r.Expected > 0 {
		found = float64(r.Found) / float64(r.Expected)
	}
	return saved*found*float64(r.Within) - paid*(float64(r.Written)-found*float64(r.Again))
}
