package decide

import (
	"math"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A run's cost is measured in money if the tool reports it for every run compared, otherwise in
// tokens weighted by Anthropic's prices. For every model since Claude 3.5, relative to a fresh
// input token, a token read from the cache costs a tenth, one written to it for five minutes a
// quarter more, and one of output five times as much. Other providers differ by less than resumed
// and fresh runs do.
const (
	WeightInput      = 1
	WeightCacheRead  = 0.1
	WeightCacheWrite = 1.25
	WeightOutput     = 5
)

// When resumes count as dearer than fresh runs.
const (
	MeterMemory  = 20              // number of runs that an average covers; older ones weigh less with each new run
	meterForgets = 30 * 86_400_000 // milliseconds after which measurements expire
	MinRuns      = 5               // on both sides; one long run proves nothing
	MinMissed    = 2               // resumes in a row that missed the provider's cache: that explains their cost
	dearerBy     = 1.2             // single prices vary by more than this, averages by less
	DearerPause  = 6 * 3_600_000   // milliseconds without a resume before it is tried again
	BriefIdle    = 5 * 60_000      // the shortest lifetime of an entry in the providers' caches
	HourIdle     = 60 * 60_000     // the longest that a caller can choose
)

// A Side is what a run is counted as.
type Side string

// The sides. A run kept fresh by a guard shows what a resume would have cost without reprise. A run
// that began its job does not, and is used only if too few of the former were seen.
const (
	Resumed    Side = "resumed"
	FollowUp   Side = "follow_up" // continued its job, but a guard kept it fresh, or the tool refused the resume
	FirstRun   Side = "first"     // began its job, or began it anew
	Unmeasured Side = ""          // belongs to no chain, or nobody knows whether it began its job
)

// begins are the reasons of fresh calls that begin their job. A repeated or changed prompt, or one that lacks evidence, may be a
// later round of one, or a sample.
var begins = map[reason.Code]bool{reason.FirstCall: true, reason.NewJob: true, reason.NewRole: true,
	reason.ForcedFresh: true, reason.ContextReset: true, reason.AttemptReset: true}

// ClassifyRun returns what a call is counted as.
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

// isGuard reports whether a call that continues its chain is fresh for that reason all the same.
func isGuard(r reason.Code) bool {
	text, ok := r.Lookup()
	return ok && text.Group == reason.GroupGuards
}

// A Meter holds running averages over the latest runs of one side that ended well. Tokens are in
// disjoint kinds, Cost is in nano-dollars.
type Meter struct {
	Runs                                 int
	Input, CacheRead, CacheWrite, Output float64
	Priced                               int // how many of the latest runs in a row have a known cost
	Cost                                 float64
	Duration                             float64 // milliseconds
	Last                                 Millis  // when the latest one ended
	Missed                               int     // how many of the latest ones in a row missed the provider's cache
}

// Add counts a run, which may have missed the provider's cache: older ones weigh less with each.
func (m *Meter) Add(u rewrite.Usage, duration, now Millis, missed bool) {
	if distance(now, m.Last) > meterForgets {
		*m = Meter{}
	}
	m.Runs++
	m.Last = now
	if m.Missed++; !missed {
		m.Missed = 0
	}
	share := 1 / float64(min(m.Runs, MeterMemory))
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
	m.Cost += (float64(u.CostNano) - m.Cost) / float64(min(m.Priced, MeterMemory))
}

// inMoney reports whether every run that the averages cover has a known cost.
func (m *Meter) inMoney() bool { return m.Priced >= min(m.Runs, MeterMemory) }

func (m *Meter) weighted() float64 {
	return WeightInput*m.Input + WeightCacheRead*m.CacheRead + WeightCacheWrite*m.CacheWrite + WeightOutput*m.Output
}

// Counts reports whether the measurements are numerous and recent enough. Of runs that miss the
// provider's cache few suffice: the next one will miss it too.
func (m *Meter) Counts(now Millis) bool {
	return (m.Runs >= MinRuns || m.Missed >= MinMissed) && distance(now, m.Last) <= meterForgets
}

// Meters are the costs of the runs of one rule, tool and model.
type Meters struct{ Resumed, FollowUp, First Meter }

// Prices are the costs of an average run on either side.
type Prices struct {
	Resumed, Fresh         float64
	ResumedRuns, FreshRuns int
	Money                  bool   // in nano-dollars, otherwise in weighted tokens
	FirstRuns              bool   // Fresh is that of first runs: an estimate
	OfChain                bool   // the runs are those of one chain, all of which missed the provider's cache
	Last                   Millis // when a resume was last measured
}

// Prices compares the sides. ok is false if too little was measured.
func (m *Meters) Prices(now Millis) (p Prices, ok bool) {
	fresh, first := &m.FollowUp, false
	if !fresh.Counts(now) {
		fresh, first = &m.First, true
	}
	if !m.Resumed.Counts(now) || !fresh.Counts(now) {
		return Prices{}, false
	}
	p = Prices{Resumed: m.Resumed.weighted(), Fresh: fresh.weighted(), ResumedRuns: m.Resumed.Runs, FreshRuns: fresh.Runs,
		FirstRuns: first, Last: m.Resumed.Last}
	if m.Resumed.inMoney() && fresh.inMoney() {
		p.Resumed, p.Fresh, p.Money = m.Resumed.Cost, fresh.Cost, true
	}
	return p, true
}

// Dearer reports whether resumes cost markedly more; of one role's resumes that missed the cache, whether they cost more at all.
func (p Prices) Dearer() bool {
	if p.OfChain {
		return p.Resumed > p.Fresh
	}
	return p.Resumed > dearerBy*p.Fresh
}

// Suspended reports whether resuming is suspended at that time. After a pause it is tried again.
func (p Prices) Suspended(now Millis) bool { return p.Dearer() && distance(now, p.Last) < DearerPause }

// Until returns when resuming is tried again if nothing changes before.
func (p Prices) Until() Millis { return p.Last + DearerPause }

// BeginTrial clears the dearer resumes when the first one after the pause has been measured: the
// trial is judged on its own.
func (m *Meters) BeginTrial(now Millis) {
	if p, ok := m.Prices(now); ok && p.Dearer() && !p.Suspended(now) {
		m.Resumed = Meter{}
	}
}

// distance returns the time between two points, in either order: after a clock was set back, a
// pause must still end.
func distance(a, b Millis) Millis { return Millis(math.Abs(float64(a - b))) }

// Of returns the meter that counts the runs of one side, nil for Unmeasured.
func (m *Meters) Of(s Side) *Meter {
	return map[Side]*Meter{Resumed: &m.Resumed, FollowUp: &m.FollowUp, FirstRun: &m.First}[s]
}
