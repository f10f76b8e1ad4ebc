package saving

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/history"
)

// A Quality compares how chains went that were resumed with how others went: whether the work got done as well.
type Quality struct {
	Measured       bool // Fresh were held out; otherwise what kept them fresh may explain a difference
	Resumed, Fresh QualityArm
	Weeks          []QualityWeek // the earliest first
	Whole, Delta   QualityArm    // of the resumed chains, those that were sent whole prompts and deltas for comparison
}

// A QualityArm is the chains of one side that have ended.
type QualityArm struct {
	Chains   int64  `json:"chains" doc:"chains that have ended, whose first call ended well and that had another one"`
	Calls    Mean   `json:"calls" doc:"calls of a chain until it ended"`
	Failed   Mean   `json:"failed_share" doc:"share of the chains with a failed call"`
	Millis   Mean   `json:"duration_ms" doc:"time of a chain's calls together"`
	Tried    int64  `json:"resumes_tried" doc:"resumes that were tried"`
	FellBack int64  `json:"resumes_given_up" doc:"of these, those that the tool refused, so that the call ran fresh"`
	Accepted Mean   `json:"accepted_share" doc:"share of the resumes that the tool took"`
	samples  [3]sum // of calls, chains with a failure, milliseconds
}

// A QualityWeek is the chains that began in a week.
type QualityWeek struct {
	Monday  string     `json:"week" doc:"its Monday"` // in UTC
	Resumed QualityArm `json:"resumed" doc:"chains that were resumed"`
	Fresh   QualityArm `json:"fresh" doc:"chains that stayed fresh"`
}

// A sum adds up a figure and its squares.
type sum struct{ sum, squares float64 }

func (s *sum) add(n float64) { s.sum, s.squares = s.sum+n, s.squares+n*n }

// leastArm is how many chains a side must have to be compared with a control group's.
const leastArm = 2

// NewQuality compares the courses of chains. With enough chains held out it goes by the sides that chance has chosen, else by
// how the second call ran.
func NewQuality(courses []history.Course) Quality {
	var q Quality
	arms := map[string]int{}
	for _, c := range courses {
		if c.Ended && !c.Changed {
			arms[c.Arm]++
		}
	}
	q.Measured = arms[ledger.Control] >= leastArm && arms[ledger.Treated] >= leastArm
	weeks := map[string]*QualityWeek{}
	for _, c := range courses {
		if !c.Ended || c.Changed || q.Measured && c.Arm == "" {
			continue
		}
		monday := mondayOf(c.Began.Time())
		w := weeks[monday]
		if w == nil {
			w = &QualityWeek{Monday: monday}
			weeks[monday] = w
		}
		if resumed := c.Resumed && !q.Measured || c.Arm == ledger.Treated && q.Measured; resumed {
			q.Resumed.add(c)
			w.Resumed.add(c)
		} else {
			q.Fresh.add(c)
			w.Fresh.add(c)
		}
		switch {
		case !c.Resumed:
		case c.DeltaArm == ledger.WholePrompt:
			q.Whole.add(c)
		case c.DeltaArm == ledger.DeltaPrompt:
			q.Delta.add(c)
		}
	}
	for _, monday := range slices.Sorted(maps.Keys(weeks)) {
		w := weeks[monday]
		w.Resumed.finish()
		w.Fresh.finish()
		q.Weeks = append(q.Weeks, *w)
	}
	for _, arm := range []*QualityArm{&q.Resumed, &q.Fresh, &q.Whole, &q.Delta} {
		arm.finish()
	}
	return q
}

func mondayOf(t time.Time) string {
	t = t.UTC()
	return t.AddDate(0, 0, -(int(t.Weekday())+6)%7).Format(time.DateOnly)
}

func (a *QualityArm) add(c history.Course) {
	a.Chains++
	a.Tried, a.FellBack = a.Tried+c.Tried, a.FellBack+c.FellBack
	failed := 0.0
	if c.Failed > 0 {
		failed = 1
	}
	for i, n := range []float64{float64(c.Calls), failed, float64(c.Millis)} {
		a.samples[i].add(n)
	}
}

// finish computes the means.
func (a *QualityArm) finish() {
	n := float64(a.Chains)
	a.Calls, a.Millis = a.samples[0].mean(n), a.samples[2].mean(n)
	a.Failed, a.Accepted = shareOf(a.samples[1].sum, n), shareOf(float64(a.Tried-a.FellBack), float64(a.Tried))
}

// mean returns the mean of n values with Student's interval. The chains are independent of each other, and few suffice.
func (s sum) mean(n float64) Mean {
	mean := view.Number(s.sum / n)
	if n < 2 {
		return Mean{mean, Interval{view.Unknown, view.Unknown}}
	}
	half := view.Number(student(n-1) * math.Sqrt(max(0, s.squares/n-(s.sum/n)*(s.sum/n))/(n-1)))
	return Mean{mean, Interval{mean - half, mean + half}}
}

// student returns the 97.5 % quantile of Student's distribution, by Cornish and Fisher's expansion: from 5 degrees of freedom
// on it is within a hundredth.
func student(degrees float64) float64 {
	return 1.96 + 2.372/degrees + 2.823/(degrees*degrees)
}

func shareOf(k, n float64) Mean {
	if n == 0 {
		return Mean{view.Unknown, Interval{view.Unknown, view.Unknown}}
	}
	return Mean{view.Number(k / n), wilson(k, n)}
}

// MinQuality is how many chains each side needs for a warning. In a simulated loop whose deltas lost their last section, the
// warning came within 40 chains, with rollout = 0.5 and with delta_rollout = 0.5. Comparing like with like, 4 in 1000 warned.
const MinQuality = 10

// Warnings says where chains did worse that were resumed, or that were sent deltas: the intervals do not overlap.
func (q Quality) Warnings() (says []string) {
	freshWords, cause := "chains that stayed fresh", "; to know whether resuming is the cause, set rollout = 0.5 for some days"
	if q.Measured {
		freshWords, cause = "chains that were held out", "; rollout = 0 resumes none, and shimctl stats shows the figures"
	}
	says = append(says, worse("resumed chains", q.Resumed, freshWords, q.Fresh, cause)...)
	return append(says, worse("chains that were sent only what is new", q.Delta, "chains that were sent whole prompts", q.Whole,
		"; delta = \"off\" sends all of them whole prompts")...)
}

// worse says in what one side is worse than the other.
func worse(name string, side QualityArm, otherName string, other QualityArm, cause string) (says []string) {
	if side.Chains < MinQuality || other.Chains < MinQuality {
		return nil
	}
	for _, f := range []struct {
		what, unit  string
		mean, other Mean
	}{
		{"calls until they ended", "calls", side.Calls, other.Calls},
		{"failures, by the share of chains with a failed call", "share", side.Failed, other.Failed},
	} {
		if f.mean.Low > f.other.High {
			says = append(says, fmt.Sprintf("%s had more %s: %s against %s of %s (%d and %d chains)%s", name, f.what,
				view.Amount(f.unit, f.mean.Mean), view.Amount(f.unit, f.other.Mean), otherName, side.Chains, other.Chains, cause))
		}
	}
	return says
}
