package ledger

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"

	"reprise/rewrite"
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
	Place           int                    // number of blocks before the place in which they differ
	After           int                    // least number of blocks after it
	Blocks          int                    // of the latest prompt
	Openings        []rewrite.Footprint    // how the prompts begin: only the opening blocks
	Calls           int                    // that have the template
	Resumed         int                    // of these, how many would have been resumed had they been known to continue the one before
	Late            int                    // how many more would have been if ttl were longer
	Reasons         map[rewrite.Reason]int // why those counted in Resumed and Late were fresh
	PromptBytes     int64                  // of those that would have been resumed
	SavedBytes      int64                  // of these, by estimate
	First, Last     Millis                 // when the first and the last of the calls began
	calls           map[int64]struct{}     // by session
	openings        map[string]struct{}    // those of Openings
}

// Frames searches the fresh calls since then that no rule named, at most the latest 20 000, for
// those that a rule could have named. Calls more than ttl after the one they continue are only
// counted. The most useful templates come first.
func (l *Ledger) Frames(since, ttl Millis) ([]PromptTemplate, error) {
	f := templateFinder{ttl: ttl, early: map[string][]*freshCall{}, frames: map[frameKey]*PromptTemplate{}}
	if err := l.freshCalls(since, f.add); err != nil {
		return nil, err
	}
	return f.list(), nil
}

// freshCalls reads the fresh calls since then that no rule named, at most the latest 20 000, in the order in which they began.
func (l *Ledger) freshCalls(since Millis, read func(*freshCall)) error {
	err := each(l.db, `SELECT * FROM (
		SELECT i.id, i.tool, i.cwd, c.home, c.role, i.started, i.reason, i.prompt_bytes, s.id, s.state = ? AND NOT s.reset AND NOT s.transcript,
			s.last_used, s.settings, s.model, s.runtime, s.auth, s.repository, s.branch, s.base, s.base_opening
		FROM invocations i JOIN sessions s ON s.id = i.session_id JOIN chains c ON c.id = i.chain_id
		WHERE i.started >= ? AND i.mode = ? AND i.fell_back IS NULL AND i.rule = '' AND c.rule = '' AND c.task = ''
		ORDER BY i.started DESC, i.id DESC LIMIT ?) ORDER BY started, id`, func(rows *sql.Rows) error {
		var c freshCall
		var base []byte
		p := &c.fingerprints
		if err := rows.Scan(&c.id, &c.tool, &c.cwd, &c.home, &c.role, &c.started, &c.reason, &c.bytes, &c.session, &c.good,
			&c.lastUsed, &p.Settings, &p.Model, &p.Runtime, &p.Auth, &c.place.Repository, &c.place.Branch, &base, &c.opening); err != nil {
			return err
		}
		c.blocks = decodeDigests(base)
		read(&c)
		return nil
	}, Live, since, rewrite.Fresh, maxFreshCalls)
	if err != nil {
		return fmt.Errorf("list fresh calls: %w", err)
	}
	return nil
}

// A freshCall is a call with a session of its own, and what that session was sent last: the call's
// prompt, or one that extends it.
type freshCall struct {
	id                    int64
	tool, cwd, home, role string
	started               Millis
	reason                rewrite.Reason
	bytes                 int64
	session               int64
	good                  bool // the session could be continued
	lastUsed              Millis
	fingerprints          Fingerprints
	place                 Place // when its session was used last
	blocks                []rewrite.Digest
	opening               int
	continued             []int // the places of templates in which a later call continues it
}

// A templateFinder takes fresh calls in the order in which they began.
type templateFinder struct {
	ttl    Millis
	early  map[string][]*freshCall // by what must be equal, the latest last
	frames map[frameKey]*PromptTemplate
}

type frameKey struct {
	tool, cwd, role string
	place           int
}

func (f *templateFinder) add(c *freshCall) {
	c.opening = min(c.opening, len(c.blocks))
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
func couldBeNamed(r rewrite.Reason) bool {
	return r == rewrite.BaseChanged || r == rewrite.BaseTooSmall || r == rewrite.FirstCall || r == rewrite.NewJob || r == rewrite.Ambiguous
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
		place, behind, ok := oneDifference(e, c)
		if ok && (best[place] == nil || behind > after[place]) && !slices.Contains(e.continued, place) {
			best[place], after[place] = e, behind
		}
	}
	for place, e := range best {
		e.continued = append(e.continued, place)
		key := frameKey{c.tool, c.cwd, c.role, place}
		if f.frames[key] == nil {
			f.frames[key] = &PromptTemplate{Tool: c.tool, Cwd: c.cwd, Role: c.role, Place: place, After: after[place], First: e.started,
				Reasons: map[rewrite.Reason]int{}, calls: map[int64]struct{}{}, openings: map[string]struct{}{}}
		}
		f.frames[key].take(e, c, after[place], begins, c.started-e.lastUsed > f.ttl)
	}
}

// oneDifference counts the blocks that two prompts share before and after the one place in which
// they differ. ok is false if the shared blocks are not most of both, or if c says nothing new
// there.
func oneDifference(e, c *freshCall) (before, behind int, ok bool) {
	short, long := min(len(e.blocks), len(c.blocks)), max(len(e.blocks), len(c.blocks))
	for before < short && e.blocks[before] == c.blocks[before] {
		before++
	}
	for behind < short-before && e.blocks[len(e.blocks)-1-behind] == c.blocks[len(c.blocks)-1-behind] {
		behind++
	}
	return before, behind, before+behind < len(c.blocks) && 2*(before+behind) > long
}

func (f *PromptTemplate) take(e, c *freshCall, after int, begins string, late bool) {
	f.calls[e.session], f.calls[c.session] = struct{}{}, struct{}{}
	f.Calls, f.Last, f.Blocks = len(f.calls), c.started, len(c.blocks)
	f.First, f.After = min(f.First, e.started), min(f.After, after)
	f.Reasons[c.reason]++
	if _, ok := f.openings[begins]; !ok {
		f.openings[begins] = struct{}{}
		f.Openings = append(f.Openings, rewrite.Footprint{Blocks: c.blocks[:c.opening], Opening: c.opening})
	}
	if late {
		f.Late++
		return
	}
	f.Resumed++
	f.PromptBytes += c.bytes
	// A delta contains what is new, and repeats the opening and the closing block.
	f.SavedBytes += int64(rewrite.EstimateSaving(int(c.bytes), len(c.blocks), len(c.blocks)-f.Place-after+c.opening+min(after, 1)))
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
			cmp.Compare(a.Cwd, b.Cwd), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Place, b.Place))
	})
	return frames
}
