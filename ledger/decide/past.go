package decide

import "reprise/rewrite"

// PastRuns is how many of a chain's latest runs are looked at.
const PastRuns = MeterMemory

// A Run is a run of a chain that ended well.
type Run struct {
	Side   Side
	Model  string // that answered
	Began  Millis
	Idle   Millis // of a resume: how long its session had not been used
	Held   int64  // likewise: the tokens that its session had been sent
	Missed bool   // likewise: the provider's cache did not have them
	Hour   bool   // it asked the provider to keep for an hour what it wrote to its cache
	Found  int64  // the tokens that its first request found in that cache, -1 if they are not known
	Usage  rewrite.Usage
}

// PastPrices compares a chain's latest resumes with its latest fresh run; past begins with the latest run. It is ok if each of these
// resumes missed the provider's cache, and this one can be expected to: its session has been idle for as long, and the latest run did
// not ask for an hour that still lasts. A resume that misses pays for all that its session holds, so prices are scaled to what it
// holds now. A fresh run would find in the cache what comes in front of a prompt, as far as these resumes found it.
func PastPrices(past []Run, idle Millis, held int64) (p Prices, ok bool) {
	fresh, resumed := latest(past)
	if fresh == nil || len(resumed) < MinMissed || past[0].Hour && idle < HourIdle {
		return Prices{}, false
	}
	money, found := fresh.Usage.CostKnown, resumed[0].Found
	for _, r := range resumed {
		if !r.Missed || outlived(r.Idle) > outlived(idle) {
			return Prices{}, false
		}
		money, found = money && r.Usage.CostKnown, min(found, r.Found)
	}
	p = Prices{Fresh: fresh.price(money) * fresh.share(found), FreshRuns: 1, ResumedRuns: len(resumed), Money: money, FirstRuns: fresh.Side == FirstRun,
		OfChain: true, Last: resumed[0].Began}
	for i, r := range resumed {
		if scaled := r.price(money) * float64(held) / float64(r.Held); i == 0 || scaled < p.Resumed {
			p.Resumed = scaled
		}
	}
	return p, true
}

// latest returns the latest fresh run and the MinMissed latest resumes, of the model that answered last.
func latest(past []Run) (fresh *Run, resumed []*Run) {
	for i := range past {
		switch r := &past[i]; {
		case r.Model != past[0].Model:
		case r.Side == Resumed && len(resumed) < MinMissed:
			resumed = append(resumed, r)
		case (r.Side == FollowUp || r.Side == FirstRun) && fresh == nil:
			fresh = r
		}
	}
	return fresh, resumed
}

// price returns what the run cost, in nano-dollars or in weighted tokens.
func (r *Run) price(money bool) float64 {
	if money {
		return float64(r.Usage.CostNano)
	}
	var m Meter
	m.Add(r.Usage, 0, 0, r.Missed)
	return m.weighted()
}

// share returns the share of its price that a run would have had, had its first request found so many tokens in the cache.
func (r *Run) share(found int64) float64 {
	had, more := *r, found-r.Found
	written := min(more, r.Usage.CacheWrite)
	read := min(more-written, r.Usage.Input)
	if r.Found < 0 || written+read <= 0 {
		return 1
	}
	had.Usage.CacheWrite, had.Usage.Input, had.Usage.CacheRead = r.Usage.CacheWrite-written, r.Usage.Input-read, r.Usage.CacheRead+written+read
	return had.price(false) / r.price(false)
}

// outlived returns how many of the providers' lifetimes are shorter than a time: five minutes, and an hour.
func outlived(idle Millis) (n int) {
	for _, life := range []Millis{BriefIdle, HourIdle} {
		if idle >= life {
			n++
		}
	}
	return n
}
