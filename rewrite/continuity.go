package rewrite

import (
	"slices"
	"sort"
)

// Sent is what a session has been sent, and what it answered, as the ledger
// remembers it.
type Sent struct {
	Base       Footprint // of the caller's last prompt to it, whole
	Answers    []Answer
	Transcript bool // the caller sends it a growing transcript
}

// A Continuity says how a prompt relates to what a session has been sent.
type Continuity struct {
	// Relation is Identical, Extends, Revises, HistoryEdited, BaseChanged (blocks
	// went or moved and nothing came) or Unrelated.
	Relation Reason
	// Transcript tells that the prompt is a conversation so far.
	Transcript bool
	// Has tells of each block of the prompt whether the session was sent it, in
	// this order.
	Has []bool
	// turn is the line of the conversation where the new turn starts; 0 where it
	// can not be sent alone.
	turn int
	// dropped tells that something was taken out and nothing put in its place.
	dropped bool
}

// Retains tells of a prompt that says again all that the session was sent.
func (c Continuity) Retains() bool { return c.Relation == Identical || c.Relation == Extends }

// distinctiveAnswer is the length from which an answer that turns up again in a
// prompt is no accident.
const distinctiveAnswer = 40

// Compare relates a prompt to what a session has been sent. It looks at the
// texts alone: whether the relation justifies a resume is decided elsewhere.
func Compare(sent Sent, p *Prompt) Continuity {
	c := Continuity{Relation: Unrelated}
	m := p.match(sent.Base.Blocks)
	c.Has, c.dropped = m.has, m.dropped
	if m.whole && m.retained == len(p.blocks) {
		c.Relation = Identical
		return c
	}
	said := p.answersIn(sent.Answers, sent.Transcript, c.Has)
	c.Transcript = sent.Transcript || said.anyTurn
	if !said.more {
		c.turn = said.end
	}
	extends := m.whole && p.sameOpening(sent.Base)
	switch {
	case c.Transcript && !(extends && said.all):
		c.Relation = HistoryEdited
	case m.retained == len(p.blocks):
		c.Relation = BaseChanged
	case extends:
		c.Relation = Extends
	case 2*m.retained > len(sent.Base.Blocks):
		c.Relation = Revises
	}
	return c
}

// matched is how blocks match those of a base.
type matched struct {
	has      []bool // in order; a block that moved counts as new
	retained int    // wherever they stand
	whole    bool   // all of the base, in order
	dropped  bool
}

// match finds base in the prompt's blocks. If base stands there whole and in order, has marks
// its places; otherwise it marks as many blocks as stand in the order of the base.
func (p *Prompt) match(base []Digest) matched {
	blocks := p.blocks
	m := matched{has: make([]bool, len(blocks))}
	for i := range blocks {
		if m.retained < len(base) && blocks[i].digest == base[m.retained] {
			m.has[i] = true
			m.retained++
		}
	}
	if m.retained == len(base) {
		m.whole = true
		return m
	}
	clear(m.has)
	m.retained = 0
	if !p.hasAny(base) { // as with nearly all chains of a folder
		m.dropped = len(blocks) == 0
		return m
	}
	at := places(base, blocks)
	for _, j := range at {
		if j >= 0 {
			m.retained++
		}
	}
	from, put := 0, false // the first of base not passed yet; something new since then
	for i, keep := range ascending(at) {
		switch {
		case keep:
			m.has[i] = true
			m.dropped = m.dropped || at[i] > from && !put
			from, put = at[i]+1, false
		default:
			put = true
		}
	}
	m.dropped = m.dropped || from < len(base) && !put
	return m
}

// hasAny tells whether one of the base's blocks stands in the prompt.
func (p *Prompt) hasAny(base []Digest) bool {
	if p.digests == nil {
		p.digests = make(map[Digest]bool, len(p.blocks))
		for _, b := range p.blocks {
			p.digests[b.digest] = true
		}
	}
	return slices.ContainsFunc(base, func(d Digest) bool { return p.digests[d] })
}

// places gives the place in base of each block, -1 for a new one. A block that
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

func (p *Prompt) sameOpening(base Footprint) bool {
	if len(p.blocks) < base.Opening || len(base.Blocks) < base.Opening {
		return false
	}
	for i := range base.Opening {
		if p.blocks[i].digest != base.Blocks[i] {
			return false
		}
	}
	return true
}
