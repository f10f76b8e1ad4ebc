package ledger

import (
	"cmp"
	"fmt"
	"slices"

	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// The bounds of the search for templates.
const (
	maxFreshCalls = 20_000 // the latest
	maxCompared   = 32     // earlier calls with the same opening that a call is compared with
)

// A PromptTemplate is a run of fresh calls by one tool in one directory, each of them equal to an
// earlier one but in one place. It does not show that they belong to one job: two tasks of one
// caller look the same.
type PromptTemplate struct {
	Tool, Cwd, Role string
	Place           int                 // number of blocks before the place in which they differ
	After           int                 // least number of blocks after it
	Blocks          int                 // of the latest prompt
	Openings        []prompt.Footprint  // how the prompts begin: only the opening blocks
	Calls           int                 // that have the template
	Resumed         int                 // of these, how many would have been resumed had they been known to continue the one before
	Late            int                 // how many more would have been if ttl were longer
	Reasons         map[reason.Code]int // why those counted in Resumed and Late were fresh
	PromptBytes     int64               // of those that would have been resumed
	SavedBytes      int64               // of these, by estimate
	First, Last     decide.Millis       // when the first and the last of the calls began
	Latest          FreshCall           // the last of the calls
	calls           map[int64]struct{}  // by session
	openings        map[string]struct{} // those of Openings
}

// Frames searches the fresh calls since then that no rule named, at most the latest 20 000, for
// those that a rule could have named. Calls more than ttl after the one they continue are only
// counted. The most useful templates come first.
func (l *Ledger) Frames(since, ttl decide.Millis) ([]PromptTemplate, error) {
	f := templateFinder{ttl: ttl, early: map[string][]*freshCall{}, frames: map[frameKey]*PromptTemplate{}}
	if err := l.freshCalls(since, f.add); err != nil {
		return nil, err
	}
	return f.list(), nil
}

// A templateFinder takes fresh calls in the order in which they began.
type templateFinder struct {
	ttl    decide.Millis
	early  map[string][]*freshCall // by what must be equal, the latest last
	frames map[frameKey]*PromptTemplate
}

type frameKey struct {
	tool, cwd, role string
	place           int
	before          prompt.Digest // of the block before the place: of its heading, if it is a section
}

func (f *templateFinder) add(c *freshCall) {
	begins := string(encodeDigests(c.blocks[:c.opening]))
	key := fmt.Sprintf("%q%q%q%q%q", c.tool, c.cwd, c.home, c.role, c.fingerprints) + begins
	if couldBeNamed(c.reason) {
		f.connect(c, f.early[key], begins)
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
func (f *templateFinder) connect(c *freshCall, early []*freshCall, begins string) {
	best, after := map[int]*freshCall{}, map[int]int{}
	for _, e := range slices.Backward(early) {
		if !e.good || e.lastUsed > c.started {
			continue
		}
		place, behind, ok := OneDifference(e.footprint(), c.footprint())
		if ok && (best[place] == nil || behind > after[place]) && !slices.Contains(e.continued, place) {
			best[place], after[place] = e, behind
		}
	}
	for place, e := range best {
		e.continued = append(e.continued, place)
		key := frameKey{c.tool, c.cwd, c.role, place, prompt.Digest{}}
		if place > 0 {
			key.before = c.blocks[place-1]
		}
		if f.frames[key] == nil {
			f.frames[key] = &PromptTemplate{Tool: c.tool, Cwd: c.cwd, Role: c.role, Place: place, After: after[place], First: e.started,
				Reasons: map[reason.Code]int{}, calls: map[int64]struct{}{}, openings: map[string]struct{}{}}
		}
		f.frames[key].take(e, c, after[place], begins, c.started-e.lastUsed > f.ttl)
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

func (f *PromptTemplate) take(e, c *freshCall, after int, begins string, late bool) {
	f.calls[e.session], f.calls[c.session] = struct{}{}, struct{}{}
	f.Calls, f.Last, f.Blocks, f.Latest = len(f.calls), c.started, len(c.blocks), c.exported()
	f.First, f.After = min(f.First, e.started), min(f.After, after)
	f.Reasons[c.reason]++
	if _, ok := f.openings[begins]; !ok {
		f.openings[begins] = struct{}{}
		f.Openings = append(f.Openings, prompt.Footprint{Blocks: c.blocks[:c.opening], Opening: c.opening})
	}
	if late {
		f.Late++
		return
	}
	f.Resumed++
	f.PromptBytes += c.bytes
	// A delta contains what is new, and repeats the opening and the closing block.
	f.SavedBytes += int64(prompt.EstimateSaving(int(c.bytes), len(c.blocks), len(c.blocks)-f.Place-after+c.opening+min(after, 1)))
}

// list returns the templates that more than one call would have benefited from.
func (f *templateFinder) list() []PromptTemplate {
	var frames []PromptTemplate
	for _, frame := range f.frames {
		if frame.Resumed+frame.Late > 1 {
			frames = append(frames, *frame)
		}
	}
	slices.SortFunc(frames, func(a, b PromptTemplate) int {
		return cmp.Or(cmp.Compare(b.Resumed, a.Resumed), cmp.Compare(b.Late, a.Late), cmp.Compare(a.Tool, b.Tool),
			cmp.Compare(a.Cwd, b.Cwd), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Place, b.Place), cmp.Compare(a.First, b.First))
	})
	return frames
}
