package replay

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// maxCompared is how many earlier calls with the same opening a call is compared with.
const maxCompared = 32

// A Template is a run of fresh calls by one tool in one directory, each of them equal to an
// earlier one but in one place. It does not show that they belong to one job: two tasks of one
// caller look the same.
type Template struct {
	Tool, Cwd, Role string
	Place           int                 // number of blocks before the place in which they differ
	After           int                 // least number of blocks after it
	Blocks          int                 // of the latest prompt
	Openings        []prompt.Footprint  // how the prompts begin: only the opening blocks
	Calls           int                 // that have the template
	Continuing      int                 // of these, those that seem to continue another one
	Reasons         map[reason.Code]int // why these were fresh
	Figures                             // if each run of calls were a task
	First, Last     decide.Millis       // when the first and the last of the calls began
	Latest          ledger.FreshCall    // the last of the calls
	begun           map[int64]*call     // by session: the call with which its run began
}

// Templates searches fresh calls that no rule named for those that a rule with this policy could have named. The most useful
// templates come first.
func Templates(calls []*ledger.FreshCall, policy Naming) []Template {
	f := newFinder(policy)
	for _, c := range calls {
		f.add(&call{FreshCall: *c})
	}
	return f.list()
}

// A call is one that others may continue.
type call struct {
	ledger.FreshCall
	continued []int // the places of templates in which a later call continues it
}

func newFinder(policy Naming) *templateFinder {
	policy.Role = "any" // a rule that names no task yet has a role
	return &templateFinder{policy: policy, early: map[string][]*call{}, templates: map[templateKey]*Template{}}
}

// A templateFinder takes fresh calls in the order in which they began.
type templateFinder struct {
	policy    Naming
	early     map[string][]*call // by what must be equal, the latest last
	templates map[templateKey]*Template
}

type templateKey struct {
	tool, cwd, role string
	place           int
	before          prompt.Digest // of the block before the place: of its heading, if it is a section
}

func (f *templateFinder) add(c *call) {
	key := fmt.Sprintf("%q%q%q%q%q%x", c.Tool, c.Cwd, c.Home, c.Role, c.Fingerprints, c.Blocks[:c.Opening])
	if couldBeNamed(c.Reason) {
		f.connect(c, f.early[key])
	}
	early := append(f.early[key], c)
	f.early[key] = early[max(0, len(early)-maxCompared):]
}

// couldBeNamed reports whether a call with this reason is fresh only because nothing names its
// task.
func couldBeNamed(r reason.Code) bool {
	switch r {
	case reason.BaseChanged, reason.BaseTooSmall, reason.FirstCall, reason.NewJob, reason.Ambiguous, reason.NoEvidence,
		reason.NewRole, reason.HistoryEdited, reason.UnnamedOff:
		return true
	}
	return false
}

// connect finds, for each place, the earlier call that c shares most with, and counts c as its
// continuation. Two calls may differ in the news of a round, or in the task: each place is a
// template of its own.
func (f *templateFinder) connect(c *call, early []*call) {
	best, after := map[int]*call{}, map[int]int{}
	for _, e := range slices.Backward(early) {
		if !e.Good || e.LastUsed > c.Started {
			continue
		}
		place, behind, ok := OneDifference(e.Footprint, c.Footprint)
		if ok && (best[place] == nil || behind > after[place]) && !slices.Contains(e.continued, place) {
			best[place], after[place] = e, behind
		}
	}
	for place, e := range best {
		e.continued = append(e.continued, place)
		key := templateKey{c.Tool, c.Cwd, c.Role, place, prompt.Digest{}}
		if place > 0 {
			key.before = c.Blocks[place-1]
		}
		if f.templates[key] == nil {
			f.templates[key] = &Template{Tool: c.Tool, Cwd: c.Cwd, Role: c.Role, Place: place, After: after[place], First: e.Started,
				Reasons: map[reason.Code]int{}, begun: map[int64]*call{}}
		}
		f.templates[key].take(e, c, after[place], f.policy)
	}
}

// OneDifference counts the blocks that two prompts share before and after the one place in which
// they differ. If that is a section, or part of one, the place is the section. ok is false if it is not and
// the shared blocks are not most of both, or if the later prompt says nothing new there.
func OneDifference(earlier, later prompt.Footprint) (before, after int, ok bool) {
	e, l := earlier.Blocks, later.Blocks
	short := min(len(e), len(l))
	for before < short && e[before] == l[before] {
		before++
	}
	for after < short-before && e[len(e)-1-after] == l[len(l)-1-after] {
		after++
	}
	if before+after == len(l) {
		return before, after, false
	}
	if first, last, ok := section(earlier, later, before, after); ok {
		return first, last, true
	}
	return before, after, 2*(before+after) > max(len(e), len(l))
}

// section returns the number of blocks before and after the text of the section in which two prompts differ. ok is false
// if more than the text of one section differs.
func section(earlier, later prompt.Footprint, before, after int) (first, last int, ok bool) {
	for _, p := range []prompt.Footprint{earlier, later} {
		for block := before; block < len(p.Blocks)-after; block++ {
			if isHeading(p, block) {
				return 0, 0, false
			}
		}
	}
	for first = before; first > later.Opening && !isHeading(later, first-1); first-- {
	}
	for last = after; last > 0 && !isHeading(later, len(later.Blocks)-last); last-- {
	}
	return first, last, first > later.Opening
}

// isHeading reports whether a block is known to be a heading.
func isHeading(p prompt.Footprint, block int) bool {
	return len(p.Lines) == len(p.Blocks) && p.Lines[block] == 0
}

func (f *Template) take(e, c *call, after int, policy Naming) {
	if f.begun[e.Session] == nil {
		f.begun[e.Session] = e
	}
	first := f.begun[e.Session]
	f.Last, f.Blocks, f.Latest = c.Started, len(c.Blocks), c.FreshCall
	f.First, f.After = min(f.First, e.Started), min(f.After, after)
	f.Continuing++
	f.Reasons[c.Reason]++
	if begins := c.Blocks[:c.Opening]; !slices.ContainsFunc(f.Openings, func(o prompt.Footprint) bool { return slices.Equal(o.Blocks, begins) }) {
		f.Openings = append(f.Openings, prompt.Footprint{Blocks: begins, Opening: c.Opening})
	}
	named := Call{Naming: policy, Bytes: c.Bytes, Mode: rewrite.Fresh}
	run := begin(&first.FreshCall, rewrite.NoAttempt)
	if e != first {
		run.take(&e.FreshCall, rewrite.NoAttempt)
	}
	named.decide(&chain{sessions: []*session{run}}, &c.FreshCall, nil)
	if !named.Mode.Continues() {
		first = c
	}
	f.begun[c.Session] = first
	f.Calls = len(f.begun)
	f.Figures.Add(named)
}

// list returns the templates by which more than one call seems to continue another one.
func (f *templateFinder) list() []Template {
	var found []Template
	for _, t := range f.templates {
		if t.Continuing > 1 {
			found = append(found, *t)
		}
	}
	slices.SortFunc(found, func(a, b Template) int {
		return cmp.Or(cmp.Compare(b.Resumed, a.Resumed), cmp.Compare(b.Late, a.Late), cmp.Compare(a.Tool, b.Tool),
			cmp.Compare(a.Cwd, b.Cwd), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Place, b.Place), cmp.Compare(a.First, b.First))
	})
	return found
}
