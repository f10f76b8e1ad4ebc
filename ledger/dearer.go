package ledger

import (
	"math"

	"reprise/rewrite"
)

// What a run cost is measured in money where the tool tells it for every run that
// is compared, otherwise in tokens that are weighted as Anthropic prices them:
// for every model since Claude 3.5 a token read from the cache costs a tenth of a
// fresh one, one written to it for five minutes a quarter more, one of output
// five times as much. Other providers differ by less than resumed and fresh runs
// do.
const (
	WeightInput      = 1
	WeightCacheRead  = 0.1
	WeightCacheWrite = 1.25
	WeightOutput     = 5
)

// When resumes count as dearer than fresh runs.
const (
	meterMemory  = 20              // runs that an average looks back on: an older one weighs less with each that follows
	meterForgets = 30 * 86_400_000 // milliseconds after which what was measured says nothing any more
	minRuns      = 5               // on both sides; one long run proves nothing
	dearerBy     = 1.2             // prices of single runs vary more than this, their averages less
	dearerPause  = 6 * 3_600_000   // milliseconds without a resume before it is tried again
)

// A Side is what a run is counted as.
type Side string

// The sides. A run that is fresh by a guard is what a resume would have been
// without us; one that began its job is not, and stands in for it only where too
// few of the others were seen.
const (
	Resumed    Side = "resumed"
	FollowUp   Side = "follow_up" // continued its job, but a guard kept it fresh, or the tool refused the resume
	FirstRun   Side = "first"     // began its job, or began it anew
	Unmeasured Side = ""          // belongs to no chain
)

// SideOf tells what a call is counted as.
func SideOf(mode rewrite.Mode, reason, fellBack rewrite.Reason) Side {
	switch {
	case mode.Continues():
		return Resumed
	case mode != rewrite.Fresh, reason == rewrite.Never:
		return Unmeasured
	case fellBack != "", guards[reason]:
		return FollowUp
	}
	return FirstRun
}

// A Meter holds running averages over the latest runs of one side that ended
// well. Tokens are in disjoint kinds, Cost is in nano-dollars.
type Meter struct {
	Runs                                 int
	Input, CacheRead, CacheWrite, Output float64
	Priced                               int // how many of the latest runs, without a gap, told their cost
	Cost                                 float64
	Duration                             float64 // milliseconds
	Last                                 Millis  // when the latest one ended
}

func (m *Meter) add(u rewrite.Usage, duration, now Millis) {
	if distance(now, m.Last) > meterForgets {
		*m = Meter{}
	}
	m.Runs++
	m.Last = now
	share := 1 / float64(min(m.Runs, meterMemory))
	for _, kind := range []struct {
		average *float64
		n       int64
	}{{&m.Input, u.Input}, {&m.CacheRead, u.CacheRead}, {&m.CacheWrite, u.CacheWrite}, {&m.Output, u.Output}, {&m.Duration, int64(duration)}} {
		*kind.average += (float64(kind.n) - *kind.average) * share
	}
	if !u.CostKnown {
		m.Priced = 0
		return
	}
	m.Priced++
	m.Cost += (float64(u.CostNano) - m.Cost) / float64(min(m.Priced, meterMemory))
}

// inMoney reports whether every run that the averages look back on told its cost.
func (m *Meter) inMoney() bool { return m.Priced >= min(m.Runs, meterMemory) }

func (m *Meter) weighted() float64 {
	return WeightInput*m.Input + WeightCacheRead*m.CacheRead + WeightCacheWrite*m.CacheWrite + WeightOutput*m.Output
}

// counts reports whether there is enough to go by, and it is not too old.
func (m *Meter) counts(now Millis) bool {
	return m.Runs >= minRuns && distance(now, m.Last) <= meterForgets
}

// Meters are what the runs of one rule, tool and model have cost.
type Meters struct{ Resumed, FollowUp, First Meter }

// Prices are what an average run costs on either side.
type Prices struct {
	Resumed, Fresh         float64
	ResumedRuns, FreshRuns int
	Money                  bool   // in nano-dollars, otherwise in weighted tokens
	FirstRuns              bool   // Fresh is that of first runs: an estimate
	Last                   Millis // when a resume was last measured
}

// Prices compares the sides; ok is false where too little was measured.
func (m *Meters) Prices(now Millis) (p Prices, ok bool) {
	fresh, first := &m.FollowUp, false
	if !fresh.counts(now) {
		fresh, first = &m.First, true
	}
	if !m.Resumed.counts(now) || !fresh.counts(now) {
		return Prices{}, false
	}
	p = Prices{Resumed: m.Resumed.weighted(), Fresh: fresh.weighted(), ResumedRuns: m.Resumed.Runs, FreshRuns: fresh.Runs,
		FirstRuns: first, Last: m.Resumed.Last}
	if m.Resumed.inMoney() && fresh.inMoney() {
		p.Resumed, p.Fresh, p.Money = m.Resumed.Cost, fresh.Cost, true
	}
	return p, true
}

// Dearer reports whether resumes cost markedly more.
func (p Prices) Dearer() bool { return p.Resumed > dearerBy*p.Fresh }

// Suspended reports whether resuming is given up at that time: after a pause it is
// tried again.
func (p Prices) Suspended(now Millis) bool { return p.Dearer() && distance(now, p.Last) < dearerPause }

// Until is when resuming is tried again, where nothing changes before.
func (p Prices) Until() Millis { return p.Last + dearerPause }

// beginTrial clears the resumes that were dearer, when the first after the pause has
// been measured: the trial is judged by itself.
func (m *Meters) beginTrial(now Millis) {
	if p, ok := m.Prices(now); ok && p.Dearer() && !p.Suspended(now) {
		m.Resumed = Meter{}
	}
}

// distance is how far two points in time are apart: a clock that was set back
// must not keep anything for ever.
func distance(a, b Millis) Millis { return Millis(math.Abs(float64(a - b))) }
