package suite

import (
	"fmt"
	"strings"
	"time"

	"reprise/test/harness"
	"reprise/test/markers"
)

const (
	attempts = 5 // of a racy scenario; one of them must not differ
	// further runs of any other that differed; one of them must differ too
	again  = 2
	enough = 3                     // runs of a timed one
	most   = 20                    // the most that it can need on a busy machine
	slack  = 50 * time.Millisecond // by which its output can come later
)

// A stage is where scenarios are played: the directories of real CLIs by their names, and the
// shims'.
type stage struct {
	real  map[string]string
	shims string
}

// play runs a scenario in two equal worlds and returns the differences. A difference in only one of
// several runs is printed, and does not count: tools vary by themselves, some once in a hundred
// calls.
func (st stage) play(s scenario) (found, once []string, err error) {
	_, deliberate := harness.Deliberate(s.tool, s.name)
	switch {
	case s.timed:
		found, err = st.race(s)
	case deliberate: // it might come too late for the difference
		found, err = st.repeat(s, 1+again, true)
	case s.racy:
		found, err = st.repeat(s, attempts, false)
	default:
		if once, _, err = st.once(s); err == nil && len(once) > 0 {
			found, err = st.repeat(s, again, true)
		}
	}
	if len(found) > 0 {
		once = nil
	}
	return found, once, err
}

// repeat runs a scenario until it differs, or does not, and returns the last differences.
func (st stage) repeat(s scenario, most int, differs bool) (found []string, err error) {
	for run := 0; run < most && err == nil && (run == 0 || (len(found) > 0) != differs); run++ {
		found, _, err = st.once(s)
	}
	return found, err
}

// once runs a scenario once and returns the results of its last call.
func (st stage) once(s scenario) (found []string, last [2]harness.Result, err error) {
	var worlds [2]*harness.World
	for i, shims := range []string{"", st.shims} {
		worlds[i], err = harness.New(s.tool, st.real[s.tool], shims, markers.Options{})
		if err != nil {
			return nil, last, err
		}
		defer worlds[i].Close()
	}
	direct, shimmed := worlds[0], worlds[1]
	for i, c := range s.calls {
		for n, shim := range []string{"without", "with"} {
			if last[n], err = worlds[n].Run(c); err != nil {
				return nil, last, fmt.Errorf("%s the shim: %w", shim, err)
			}
		}
		if s.ends {
			found = append(found, ends(c, last)...)
			continue
		}
		if s.shown == nil {
			for _, d := range harness.Compare(direct, shimmed, last[0], last[1]) {
				found = append(found, fmt.Sprintf("call %d: %s", i+1, d))
			}
			continue
		}
		if d := harness.Differ("what it shows", direct.Mask(s.shown(last[0])),
			shimmed.Mask(s.shown(last[1]))); d != "" {
			found = append(found, fmt.Sprintf("call %d: %s", i+1, d))
		}
		direct.NoteID()
		shimmed.NoteID()
	}
	if s.proof != "" && !strings.Contains(s.shown(last[0]), s.proof) {
		found = append(found, fmt.Sprintf("not %q without the shim: %s", s.proof, s.shown(last[0])))
	}
	if s.resumes != "" {
		chains, err := chainsOf(shimmed)
		if err != nil {
			return nil, last, err
		}
		if got := fmt.Sprint(chains); got != "["+s.resumes+"]" {
			found = append(found, fmt.Sprintf("chains %s, not %s", got, s.resumes))
		}
	}
	return found, last, nil
}

// late is how much later a call with the shim can end than without it. A caller that does not read,
// or reads slowly, is waited for.
func late(to harness.Target) time.Duration {
	if to == harness.Unread || to == harness.Slow {
		return 6 * time.Second
	}
	return time.Second
}

// ends returns how the ends of the two calls differ.
func ends(c call, r [2]harness.Result) (found []string) {
	if r[0].Exit != r[1].Exit || r[0].Signal != r[1].Signal {
		found = append(found, fmt.Sprintf("after %v: exit %d, signal %d; with the shim %d, %d",
			c.After, r[0].Exit, r[0].Signal, r[1].Exit, r[1].Signal))
	}
	if r[1].Ended > r[0].Ended+late(c.To) {
		found = append(found, fmt.Sprintf("after %v: it ends %v after the signal; with the shim %v",
			c.After, r[0].Ended, r[1].Ended))
	}
	return found
}

// race compares the time of the first output, and the time from the first byte to the last. Of
// several runs it uses the best and the median, since delays come from the machine.
func (st stage) race(s scenario) ([]string, error) {
	first := [2]time.Duration{time.Hour, time.Hour}
	var spreads [2][]time.Duration
	for run := 1; ; run++ {
		found, r, err := st.once(s)
		if err != nil || len(found) > 0 {
			return found, err
		}
		for i := range r {
			first[i] = min(first[i], r[i].First)
			spreads[i] = append(spreads[i], r[i].Last-r[i].First)
		}
		direct, shimmed := harness.Median(spreads[0]), harness.Median(spreads[1])
		late, squeezed := first[1]-first[0], direct-shimmed
		if run >= enough && late <= s.waits+slack && squeezed <= slack {
			return nil, nil
		}
		if run == most {
			return []string{fmt.Sprintf("the first byte comes after %v, with the shim %v; the "+
				"last %v and %v later",
				first[0], first[1], direct, shimmed)}, nil
		}
	}
}

// A verdict is the result of a scenario.
type verdict struct {
	scenario
	result string // "ok", or why not
	failed bool
	detail []string // the differences
	once   bool     // but not again
}

// judge plays a scenario. A deliberate difference must occur, unless it depends on chance.
func (st stage) judge(s scenario) verdict {
	found, once, err := st.play(s)
	v := verdict{scenario: s, result: "ok", detail: append(found, once...), once: len(once) > 0}
	d, deliberate := harness.Deliberate(s.tool, s.name)
	switch {
	case err != nil:
		v.result, v.failed = err.Error(), true
	case deliberate && len(found) > 0:
		v.result = "differs: " + d.Reason
	case deliberate && !s.racy && !d.Chance:
		v.result, v.failed = "does not differ, but is said to: "+d.Reason, true
	case len(found) > 0:
		v.result, v.failed = "DIFFERS", true
	case v.once:
		v.result = fmt.Sprintf("ok; it differed in one of %d runs", again+1)
	}
	return v
}

func (v verdict) print() {
	fmt.Printf("%-7s %-34s %s\n", v.tool, v.name, v.result)
	if v.failed || v.once {
		for _, d := range v.detail {
			fmt.Println("        " + strings.ReplaceAll(d, "\n", "\n        "))
		}
	}
}
