package rewrite

import (
	"slices"
	"strings"
)

// Sent is what a session was sent and what it answered, as stored in the ledger.
type Sent struct {
	Base       Footprint // the caller's last whole prompt to it
	Answers    []Answer
	Transcript bool // the caller sends it a growing transcript
	// Things and Gist are the traces of its runs: the files they touched and names they said first,
	// and a sample of the newest answer.
	Things, Gist []Mark
	// Named reports that a name identifies the prompt's task: evidence need not be weighed.
	Named bool
}

// A Continuity is how a prompt relates to what a session was sent.
type Continuity struct {
	// Relation is Identical, Extends, Revises, HistoryEdited, BaseChanged (blocks were removed or
	// moved, none added) or Unrelated.
	Relation Reason
	// Transcript reports that the prompt is a conversation so far.
	Transcript bool
	// Has reports for each block of the prompt whether the session was sent it, in this order.
	Has []bool
	// Evidence is weighed if the prompt extends what the session was sent and no name identifies
	// the task.
	Evidence Evidence

	whole bool        // the prompt repeats everything that the session was sent
	known map[int]int // by block: how many lines of a grown block the session was sent
	turn  int         // the line where the new turn starts; 0 if it cannot be sent alone
	base  *Shape      // of the prompt that the session was sent
}

// old reports whether the session was sent the line.
func (c *Continuity) old(l *promptLine) bool { return c.Has[l.block] || l.index < c.known[l.block] }

// Retains reports whether the prompt repeats everything that the session was sent.
func (c Continuity) Retains() bool { return c.Relation == Identical || c.Relation == Extends }

// ShowsMore reports whether the prompt repeats everything that the session was sent and shows an
// answer that is not known to be the session's.
func (c Continuity) ShowsMore() bool { return c.whole && c.Relation == HistoryEdited }

// Compare returns how a prompt relates to what a session was sent. It compares texts only; whether
// the relation justifies a resume is decided elsewhere.
func Compare(sent Sent, p *Prompt) Continuity {
	c := Continuity{Relation: Unrelated, base: &sent.Base.Shape}
	m := p.match(sent.Base)
	c.Has, c.known, c.whole = m.has, m.known, m.whole
	if m.whole && m.retained == len(p.blocks) && len(m.known) == 0 {
		c.Relation = Identical
		return c
	}
	extends := m.whole && p.sameOpening(sent.Base, m.known)
	h := p.findHistory(sent, &c)
	c.Transcript = sent.Transcript || h.marked || h.turns
	if h.proven && h.sameName && !h.tools {
		c.turn = h.end
	}
	switch {
	case h.marked, c.Transcript && !p.historyKept(h, &c, sent.Base, extends):
		c.Relation, c.Evidence = HistoryEdited, Evidence{Verdict: HistoryEdited, Answer: (h.newest || h.part || h.within) && p.sameOpening(sent.Base, m.known)}
	case m.retained == len(p.blocks) && len(m.known) == 0:
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

// historyKept reports whether a prompt that continues a conversation leaves it unchanged: it
// contains all answers, and between the first turn and the newest answer nothing was added or
// removed but that answer and tool output. The text around the conversation may change.
func (p *Prompt) historyKept(h *history, c *Continuity, base Footprint, extends bool) bool {
	if !h.newest || h.slipped && extends {
		return false
	}
	if extends {
		return true
	}
	if base.Shape.FirstTurn < 0 || base.Shape.FirstTurn >= len(base.Blocks) {
		return false // the conversation's start is unknown
	}
	lines, turns := p.conversation(), base.Blocks[base.Shape.FirstTurn:]
	first, left := len(p.blocks), len(turns)
	for first > 0 && left > 0 { // from the end: the surrounding text may repeat its first lines
		if first--; p.blocks[first].digest == turns[left-1] {
			left--
		}
	}
	if left > 0 {
		return false
	}
	tools := false
	for i := range lines[:h.end] {
		l := &lines[i]
		if l.block < first {
			if !c.old(l) && l.speaker.isTurn() {
				return false // an additional turn
			}
			continue
		}
		if tools && c.old(l) && !l.speaker.isTurn() {
			return false // tool output within a turn
		}
		if l.speaker != noTurn {
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
	has      []bool      // in order; a block that moved counts as new
	known    map[int]int // by block: how many lines of a grown block were there before
	retained int         // in any order
	whole    bool        // all of the base, in order
}

// match finds base in the prompt's blocks. If base occurs whole and in order, has marks its places;
// otherwise has marks the most blocks that keep the order of the base.
func (p *Prompt) match(base Footprint) matched {
	m := p.inOrder(base, false)
	if !m.whole && len(base.Lines) == len(base.Blocks) { // older records have no lines
		m = p.inOrder(base, true)
	}
	if m.whole {
		return m
	}
	at := p.places(base.Blocks)
	m = matched{has: longestAscending(at)}
	for _, j := range at {
		if j > 0 {
			m.retained++
		}
	}
	return m
}

// inOrder looks for all blocks of base in the prompt, in their order. With grow, a base block also
// matches the beginning of a block that has more lines now.
func (p *Prompt) inOrder(base Footprint, grow bool) matched {
	m := matched{has: make([]bool, len(p.blocks)), known: map[int]int{}}
	for i := range p.blocks {
		if m.retained == len(base.Blocks) {
			break
		}
		if p.blocks[i].digest == base.Blocks[m.retained] {
			m.has[i] = true
			m.retained++
		} else if grow && p.grew(&p.blocks[i], base.Blocks[m.retained], base.Lines[m.retained]) {
			m.known[i] = base.Lines[m.retained]
			m.retained++
		}
	}
	m.whole = m.retained == len(base.Blocks)
	return m
}

// grew reports whether a block begins with all lines of an earlier one.
func (p *Prompt) grew(b *block, before Digest, lines int) bool {
	begins := strings.SplitN(b.text, "\n", lines+1)
	return b.message == nil && len(begins) == lines+1 && p.digest(normal(strings.Join(begins[:lines], "\n"))) == before
}

// places returns for each block its place in base, counted from 1, and 0 for a new one. A block
// that occurs several times in base is matched as often.
func (p *Prompt) places(base []Digest) []int {
	if p.first == nil {
		p.first, p.next = make(map[Digest]int, len(p.blocks)), make([]int, len(p.blocks))
		for i := len(p.blocks) - 1; i >= 0; i-- {
			next, ok := p.first[p.blocks[i].digest]
			if !ok {
				next = len(p.blocks)
			}
			p.first[p.blocks[i].digest], p.next[i] = i, next
		}
	}
	at, free := make([]int, len(p.blocks)), make([]int, len(p.blocks)) // free: how many of the equal blocks that begin there are unmatched
	for i := range free {
		free[i] = i
	}
	for j, digest := range base {
		if i, ok := p.first[digest]; ok && free[i] < len(at) {
			at[free[i]], free[i] = j+1, p.next[free[i]]
		}
	}
	return at
}

// longestAscending marks a longest ascending subsequence of the nonzero numbers. Each of them
// occurs once.
func longestAscending(numbers []int) []bool {
	ends := []int{-1} // at k, the index of the least number that ends a subsequence of length k
	before := make([]int, len(numbers))
	for i, n := range numbers {
		if n == 0 {
			continue
		}
		k, _ := slices.BinarySearchFunc(ends[1:], n, func(end, n int) int { return numbers[end] - n })
		before[i] = ends[k]
		ends = slices.Replace(ends, k+1, min(k+2, len(ends)), i)
	}
	marks := make([]bool, len(numbers))
	for i := ends[len(ends)-1]; i != -1; i = before[i] {
		marks[i] = true
	}
	return marks
}

// sameOpening reports whether the prompt begins like the base. Its last opening paragraph may have
// grown.
func (p *Prompt) sameOpening(base Footprint, known map[int]int) bool {
	if base.Opening > min(len(p.blocks), len(base.Blocks)) {
		return false
	}
	for i := range base.Opening {
		if p.blocks[i].digest != base.Blocks[i] && known[i] == 0 {
			return false
		}
	}
	return true
}
