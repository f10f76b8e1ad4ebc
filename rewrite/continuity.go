package rewrite

import (
	"slices"
	"sort"
	"strings"
)

// Sent is what a session has been sent, and what it answered, as the ledger remembers it.
type Sent struct {
	Base       Footprint // of the caller's last prompt to it, whole
	Answers    []Answer
	Transcript bool // the caller sends it a growing transcript
	// Things and Gist are the traces of its runs: what they touched and said first, and what the newest answer says.
	Things, Gist []Mark
	// Named reports that a name says which task the prompt belongs to: evidence need not be weighed.
	Named bool
}

// A Continuity says how a prompt relates to what a session has been sent.
type Continuity struct {
	// Relation is Identical, Extends, Revises, HistoryEdited, BaseChanged (blocks went or moved and nothing came) or
	// Unrelated.
	Relation Reason
	// Transcript reports that the prompt is a conversation so far.
	Transcript bool
	// Has reports of each block of the prompt whether the session was sent it, in this order.
	Has []bool
	// Evidence is weighed where the prompt extends what the session was sent, and nothing names the task.
	Evidence Evidence

	known []int  // how many lines of each block the session was sent
	turn  int    // the line where the new turn starts; 0 where it can not be sent alone
	base  *Shape // of what the session was sent
}

// old reports whether the session was sent the line.
func (c *Continuity) old(l *promptLine) bool { return c.Has[l.block] || l.index < c.known[l.block] }

// Retains reports whether the prompt says again all that the session was sent.
func (c Continuity) Retains() bool { return c.Relation == Identical || c.Relation == Extends }

// Compare relates a prompt to what a session has been sent. It looks at the texts alone: whether the relation
// justifies a resume is decided elsewhere.
func Compare(sent Sent, p *Prompt) Continuity {
	c := Continuity{Relation: Unrelated, base: &sent.Base.Shape}
	m := p.match(sent.Base)
	c.Has, c.known = m.has, m.known
	if m.whole && m.retained == len(p.blocks) && !m.grown {
		c.Relation = Identical
		return c
	}
	extends := m.whole && p.sameOpening(sent.Base, m.known)
	h := p.historyOf(sent, &c)
	c.Transcript = sent.Transcript || h.marked || h.turns
	if h.proven && h.sameName && !h.tools {
		c.turn = h.end
	}
	switch {
	case h.marked, c.Transcript && !p.historyKept(h, &c, sent.Base, extends):
		c.Relation, c.Evidence = HistoryEdited, Evidence{Verdict: HistoryEdited, Answer: (h.newest || h.part) && p.sameOpening(sent.Base, m.known)}
	case m.retained == len(p.blocks) && !m.grown:
		c.Relation = BaseChanged
	case extends:
		c.Relation, c.Evidence = Extends, Evidence{Answer: h.newest}
		if !sent.Named {
			c.Evidence = p.evidence(sent, &c, h)
		}
	case 2*m.retained > len(sent.Base.Blocks):
		c.Relation = Revises
	}
	return c
}

// historyKept reports whether a prompt that goes on with a conversation leaves it as it was: all answers are there, and
// between the first turn and the newest answer nothing is new or gone but that answer and what tools said. What frames the
// conversation may change.
func (p *Prompt) historyKept(h *history, c *Continuity, base Footprint, extends bool) bool {
	if !h.newest || h.slipped && extends {
		return false
	}
	if extends {
		return true
	}
	if base.Shape.FirstTurn < 0 || base.Shape.FirstTurn >= len(base.Blocks) {
		return false // where the conversation began is not known
	}
	lines, turns := p.conversation(), base.Blocks[base.Shape.FirstTurn:]
	first, left, tools := 0, len(turns), false
	for i := len(p.blocks) - 1; i >= 0 && left > 0; i-- { // from the end: what frames it may repeat its first lines
		if p.blocks[i].digest == turns[left-1] {
			first, left = i, left-1
		}
	}
	if left > 0 {
		return false
	}
	for i := range lines[:h.end] {
		l := &lines[i]
		if l.block < first {
			if !c.old(l) && l.speaker.isTurn() {
				return false // a turn more
			}
			continue
		}
		if tools && c.old(l) && !l.speaker.isTurn() {
			return false // a tool's words stand within a turn
		}
		if l.speaker != nobody {
			tools = l.speaker == toolOutput && !c.old(l)
		}
		if !c.old(l) && !h.isAnswer(i) && !tools {
			return false
		}
	}
	return true
}

// matched is how blocks match those of a base.
type matched struct {
	has      []bool // in order; a block that moved counts as new
	known    []int  // how many lines of a block that has grown were there before
	retained int    // wherever they stand
	whole    bool   // all of the base, in order
	grown    bool   // one of the blocks has grown
}

// match finds base in the prompt's blocks. If base stands there whole and in order, has marks its places; otherwise it
// marks as many blocks as stand in the order of the base.
func (p *Prompt) match(base Footprint) matched {
	m := matched{has: make([]bool, len(p.blocks)), known: make([]int, len(p.blocks))}
	if p.inOrder(base, &m, false) || p.inOrder(base, &m, true) {
		m.whole = true
		return m
	}
	clear(m.has)
	clear(m.known)
	m.retained, m.grown = 0, false
	if !p.hasAny(base.Blocks) { // as with nearly all chains of a directory
		return m
	}
	at := places(base.Blocks, p.blocks)
	for _, j := range at {
		if j >= 0 {
			m.retained++
		}
	}
	for i, keep := range ascending(at) {
		m.has[i] = keep
	}
	return m
}

// inOrder reports whether all blocks of base stand in the prompt, in their order; with grow, also as the beginning of a
// block that has more lines now.
func (p *Prompt) inOrder(base Footprint, m *matched, grow bool) bool {
	clear(m.has)
	clear(m.known)
	m.retained, m.grown = 0, false
	if grow && len(base.Lines) != len(base.Blocks) {
		return false // from before lines were kept
	}
	for i := range p.blocks {
		if m.retained == len(base.Blocks) {
			return true
		}
		if p.blocks[i].digest == base.Blocks[m.retained] {
			m.has[i] = true
			m.retained++
		} else if grow && p.grew(&p.blocks[i], base.Blocks[m.retained], base.Lines[m.retained]) {
			m.known[i], m.grown = base.Lines[m.retained], true
			m.retained++
		}
	}
	return m.retained == len(base.Blocks)
}

// grew reports whether a block begins with all lines of an earlier one.
func (p *Prompt) grew(b *block, before Digest, lines int) bool {
	if lines == 0 || b.lines() <= lines {
		return false
	}
	end := 0
	for range lines {
		end += strings.IndexByte(b.text[end:], '\n') + 1
	}
	return p.digest(normal(b.text[:end-1])) == before
}

// hasAny reports whether one of the base's blocks stands in the prompt.
func (p *Prompt) hasAny(base []Digest) bool {
	if p.digests == nil {
		p.digests = make(map[Digest]bool, len(p.blocks))
		for _, b := range p.blocks {
			p.digests[b.digest] = true
		}
	}
	return slices.ContainsFunc(base, func(d Digest) bool { return p.digests[d] })
}

// places returns the place in base of each block, -1 for a new one. A block that
// stands there several times is matched as often.
func places(base []Digest, blocks []block) []int {
	at := make([]int, len(blocks))
	same := 0 // as long as nothing differs no map is needed, which is most of the time
	for same < len(base) && same < len(blocks) && base[same] == blocks[same].digest {
		at[same] = same
		same++
	}
	first := make(map[Digest]int, len(base)-same) // counted from 1
	after := make([]int, len(base))               // the next place of the same block
	for j := len(base) - 1; j >= same; j-- {
		after[j] = first[base[j]]
		first[base[j]] = j + 1
	}
	for i := same; i < len(blocks); i++ {
		at[i] = first[blocks[i].digest] - 1
		if at[i] >= 0 {
			first[blocks[i].digest] = after[at[i]]
		}
	}
	return at
}

// ascending marks a longest ascending run of the numbers that are not negative.
func ascending(numbers []int) []bool {
	var ends []int // index of the least number that ends a run of each length
	before := make([]int, len(numbers))
	for i, n := range numbers {
		if n < 0 {
			continue
		}
		k := len(ends)
		if k > 0 && numbers[ends[k-1]] >= n {
			k = sort.Search(k, func(k int) bool { return numbers[ends[k]] >= n })
		}
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, 0)
		}
		ends[k] = i
	}
	marks := make([]bool, len(numbers))
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			marks[i] = true
		}
	}
	return marks
}

// sameOpening reports whether the prompt begins as the base does; its last paragraph there may have grown.
func (p *Prompt) sameOpening(base Footprint, known []int) bool {
	if len(p.blocks) < base.Opening || len(base.Blocks) < base.Opening {
		return false
	}
	for i := range base.Opening {
		if p.blocks[i].digest != base.Blocks[i] && known[i] == 0 {
			return false
		}
	}
	return true
}
