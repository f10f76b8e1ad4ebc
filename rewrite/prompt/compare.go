package prompt

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"reprise/rewrite/reason"
)

// Sent is a session's prompts and answers, as stored in the ledger.
type Sent struct {
	Base       Footprint // the caller's last whole prompt to it
	Answers    []Answer
	Transcript bool // the caller sends it a growing transcript
	// Root is the first prompt that it was sent whole: the digest of the first line, and its
	// blocks.
	RootFirst Digest
	Root      []Digest
	Things    []WordDigest // the files that the runs touched and the names that they said first
	// Named reports that the caller names the prompt's task and role. A prompt that repeats most
	// of the session's then revises it.
	Named bool
	// Others are the names of the task's other roles. Words that the prompt
	// attributes to another role are no answer of the session.
	Others []string
}

// A Continuity is how a prompt relates to a session's prompts.
type Continuity struct {
	// Relation is Identical, Extends, Revises, HistoryEdited, BaseChanged (blocks were removed or
	// moved, none added) or Unrelated.
	Relation reason.Code
	// Transcript reports that the prompt is a conversation so far.
	Transcript bool
	Evidence   Evidence // the session's traces in the prompt
	// BeginsAlike reports that the prompt begins with the same line as the session's first prompt.
	BeginsAlike bool
	// Replaced reports that the prompt is the newest one but for the content of a few places.
	Replaced bool
	// Reassigned reports that a section of such a prompt has a new text and no new log: it can be
	// another assignment.
	Reassigned bool

	matched
	new  []int // the lines that the session was not sent
	turn int   // the line where the new turn starts; 0 if it cannot be sent alone
	movedTurn
	sent Sent
	Root []Digest // the blocks of the first prompt that the session was sent whole
}

func (c *Continuity) old(l *promptLine) bool {
	return c.Has[l.block] || c.kept(l) || c.has(l.at)
}

// introduces reports whether a line is only a name over a conversation with a first turn that has
// moved there.
func (c *Continuity) introduces(l *promptLine) bool {
	return l.at < c.from && l.text == "" &&
		(l.speaker == unknownName || l.speaker == everydayWord || l.speaker == heading)
}

// Retains reports whether the prompt repeats everything that the session was sent.
func (c Continuity) Retains() bool {
	return c.Relation == reason.Identical || c.Relation == reason.Extends
}

// ShowsMore reports whether the prompt repeats everything that the session was sent and shows an
// answer that is not known to be the session's.
func (c Continuity) ShowsMore() bool { return c.whole && c.Relation == reason.HistoryEdited }

// Compare returns how a prompt relates to a session's prompts. It compares texts only; whether
// the relation justifies a resume is decided elsewhere.
func Compare(sent Sent, p *Prompt) Continuity {
	m := p.match(sent.Base)
	if !m.whole {
		if c, ok := p.compareMoved(sent, m); ok {
			return c
		}
		if cut, at := p.cutAt(sent.RootFirst); cut != nil {
			c := compareMatched(sent, cut, cut.match(sent.Base), movedTurn{})
			c.Has = slices.Delete(c.Has, at+1, at+2) // the block as it is was not sent
			return c
		}
	}
	return compareMatched(sent, p, m, movedTurn{})
}

func compareMatched(sent Sent, p *Prompt, m matched, moved movedTurn) Continuity {
	c := Continuity{Relation: reason.Unrelated, BeginsAlike: p.Footprint().First == sent.RootFirst,
		sent: sent, Root: sent.Root, matched: m, movedTurn: moved}
	if m.whole && !slices.Contains(m.Has, false) {
		c.Relation = reason.Identical
		return c
	}
	c.new = slices.DeleteFunc(p.newLines(m), moved.has)
	h := p.findHistory(&c)
	c.Transcript = sent.Transcript || h.marked || h.turns
	if h.proven && h.sameName {
		c.turn = h.end
	}
	c.Evidence = p.evidence(&c, h)
	if c.Evidence.Own && h.within && !h.marked {
		c.Transcript = false // below a conversation that was sent, "Your report:" is no turn
	}
	c.Evidence.Own = c.Evidence.Own || m.filled && c.Evidence.alone // a place for it was left empty
	c.Relation, c.Replaced = p.relation(&c, h)
	c.Reassigned = c.Replaced && p.reassigns(c.Has)
	c.Evidence.revises = c.Relation == reason.Revises
	return c
}

// relation returns how the prompt relates to the session's prompts by its blocks and the history,
// and whether only the content of a few places was replaced.
func (p *Prompt) relation(c *Continuity, h *history) (code reason.Code, replaced bool) {
	base := c.sent.Base
	ledIn := c.whole && !c.BeginsAlike && p.ledIn(c.Has)
	extends := ledIn || c.whole && p.sameOpening(base, c.matched)
	switch {
	case h.marked, c.Transcript && !h.kept(extends && !ledIn):
		return reason.HistoryEdited, false
	case c.retained == len(p.blocks) && !c.whole:
		return reason.BaseChanged, false
	case extends && (!c.filled || c.cue > 0 && h.proven):
		return reason.Extends, false
	case p.revises(c), extends, c.sent.Named && 2*c.retained > len(base.Blocks):
		return reason.Revises, false
	case p.sameOpening(base, c.matched) && p.replaces(base, c.matched):
		return reason.Revises, true
	}
	return reason.Unrelated, false
}

// maxReplaced is in how many places a prompt can replace text of the one before.
const maxReplaced = 3

// replaces reports whether few places of a prompt are new: little of it, or nothing but logs. A
// heading in the place of another, such as "Issue 13", begins another item.
func (p *Prompt) replaces(base Footprint, m matched) bool {
	places, logs := 0, true
	gone := slices.ContainsFunc(base.Shape.Parts, func(before Part) bool { // a heading
		return !slices.ContainsFunc(p.parts, func(now part) bool { return now.Name == before.Name })
	})
	for i, known := range m.Has {
		if known {
			continue
		}
		if gone && p.blocks[i].level > 0 {
			return false
		}
		logs = logs && p.isLog(i)
		if i == 0 || m.Has[i-1] {
			places++
		}
	}
	return places > 0 && places <= maxReplaced && (logs || 5*m.retained >= 3*len(base.Blocks))
}

// reassigns reports whether a section has a new text and no new log.
func (p *Prompt) reassigns(has []bool) bool {
	text, log := false, false // there is a new one in the section
	for i, known := range has {
		if p.blocks[i].level > 0 {
			if text && !log {
				return true
			}
			text, log = false, false
		} else if !known {
			text, log = true, log || p.isLog(i)
		}
	}
	return text && !log
}

// revises reports whether the prompt has all of the first prompt that the session was sent, in
// order, so that only additions of later rounds are replaced.
func (p *Prompt) revises(c *Continuity) bool {
	root := Footprint{Blocks: c.sent.Root, Lines: make([]int, len(c.sent.Root)), Opening: 1}
	m := p.match(root)
	if !m.whole || !p.sameOpening(root, m) && (c.BeginsAlike || !p.ledIn(m.Has)) {
		return false
	}
	for _, i := range p.newLines(m) { // the words that count are looked for there
		c.Evidence.since = append(c.Evidence.since, &p.lines[i])
	}
	return true
}

// longestLeadIn is how many blocks can stand before the text that the session was sent.
const longestLeadIn = 8

// ledIn reports whether the prompt repeats the session's prompt after a few lines that are new and
// shorter than it.
func (p *Prompt) ledIn(has []bool) bool {
	first := slices.Index(has, true)
	return first > 0 && first <= longestLeadIn && 2*p.blocks[first].at < len(p.Text)
}

// cutAt returns the prompt with the block cut where the first line of an earlier prompt stands
// below other lines, so that the blocks are the first prompt's: "Original task:" can stand right
// above it. at is the block's index. It returns nil if there is none.
func (p *Prompt) cutAt(first Digest) (cut *Prompt, at int) {
	line := slices.Index(p.FirstLines(), first)
	if line == -1 {
		return nil, 0
	}
	from := p.lineStarts[line]
	i, begins := slices.BinarySearchFunc(p.blocks, from, func(b block, from int) int {
		return b.at - from
	})
	if begins || i == 0 || p.blocks[i-1].message != nil ||
		from >= p.blocks[i-1].at+len(p.blocks[i-1].text) {
		return nil, 0 // the line begins a block, or is one of a message
	}
	return p.cuts.of(from, func() *Prompt {
		whole := p.blocks[i-1]
		above := block{text: strings.TrimRight(whole.text[:from-whole.at], "\n"), at: whole.at}
		below := block{text: whole.text[from-whole.at:], at: from}
		for _, b := range []*block{&above, &below} {
			b.digest = p.digest(normal(b.text))
		}
		return newPrompt(p.Text, slices.Replace(slices.Clone(p.blocks), i-1, i, above, below),
			p.digest)
	}), i - 1
}

// kept reports whether a prompt that continues a conversation leaves it unchanged: it contains all
// answers, and between the first turn and the newest answer nothing was added or removed but that
// answer. The text around the conversation can change.
func (h *history) kept(extends bool) bool {
	if !h.newest || extends {
		return h.newest && !h.slipped
	}
	base := h.c.sent.Base
	if base.Shape.FirstTurn < 0 || base.Shape.FirstTurn >= len(base.Blocks) {
		return false // the conversation's start is unknown
	}
	first, found := h.lastBlocks(base.Blocks[base.Shape.FirstTurn:])
	if !found {
		return false
	}
	for i := range h.lines[:h.end] {
		l := &h.lines[i]
		if around := l.block < first; !h.c.old(l) &&
			(around && l.speaker.isTurn() || !around && !h.isAnswer(i)) {
			return false // an additional turn, or a change of the conversation
		}
	}
	return true
}

// lastBlocks returns the first of the last blocks that are these, in order. It looks from the end,
// since the text around a conversation can repeat the first of them.
func (p *Prompt) lastBlocks(these []Digest) (first int, found bool) {
	first, left := len(p.blocks), len(these)
	for first > 0 && left > 0 {
		if first--; p.blocks[first].digest == these[left-1] {
			left--
		}
	}
	return first, left == 0
}

// matched is how blocks match the blocks of a base.
type matched struct {
	// Has reports for each block of the prompt whether the base has it, in this order: a block that
	// moved counts as new.
	Has      []bool
	grown    []lineRange // by block: the new lines of a grown block
	retained int         // in any order
	whole    bool        // all of the base, in order
	filled   bool        // a place of the base that said that it was empty has a text
}

// kept reports whether a line of a grown block was there before.
func (m matched) kept(l *promptLine) bool {
	return m.grown[l.block].to > 0 && !m.grown[l.block].has(l.index)
}

// match finds base in the prompt's blocks. If base occurs whole and in order, Has marks the places;
// otherwise Has marks the most blocks that keep the order of the base.
func (p *Prompt) match(base Footprint) matched {
	m := p.inOrder(base, false)
	if !m.whole {
		m = p.inOrder(base, true)
	}
	if m.whole {
		return m
	}
	at := p.places(base.Blocks)
	m = matched{Has: longestAscending(at), grown: make([]lineRange, len(p.blocks))}
	for _, j := range at {
		if j > 0 {
			m.retained++
		}
	}
	return m
}

// inOrder looks for all blocks of base in the prompt, in their order. With grow, a base block also
// matches a block that has more lines now.
func (p *Prompt) inOrder(base Footprint, grow bool) matched {
	m := matched{Has: make([]bool, len(p.blocks)), grown: make([]lineRange, len(p.blocks))}
	last := -1 // the last block that matched
	for i := range p.blocks {
		j := m.retained
		if j == len(base.Blocks) {
			break
		}
		switch b, before := &p.blocks[i], base.Blocks[j]; {
		case b.digest == before:
			m.Has[i] = true
		case !grow:
			continue
		default:
			added, ok := p.grew(i, before, base.Lines[j])
			ok = ok && (added.from > 0 || j >= base.Opening)
			if !ok && last == i-1 {
				added, ok = p.fills(b, before)
				m.filled = m.filled || ok
			}
			if !ok {
				continue
			}
			m.grown[i] = added
		}
		last, m.retained = i, j+1
	}
	m.whole = m.retained == len(base.Blocks)
	return m
}

// firstLines returns the first n lines of a block that has as many.
func (b *block) firstLines(n int) string {
	return strings.Join(strings.SplitN(b.text, "\n", n+1)[:n], "\n")
}

// grew returns the lines that a block has beside all lines of an earlier one, in one place.
func (p *Prompt) grew(i int, before Digest, lines int) (added lineRange, ok bool) {
	b := &p.blocks[i]
	all := b.lines()
	if lines == 0 || lines > all {
		return lineRange{}, false
	}
	at, ok := lines, lines < all && p.normalDigest(b.firstLines(lines)) == before
	if !ok && p.answersCue(b, before, lines) {
		return lineRange{lines - 1, all}, true
	}
	if !ok {
		at, ok = p.gaps(i, lines)[before]
	}
	return lineRange{at, at + all - lines}, ok
}

// Limits, in bytes that are digested, of the search for lines that were added in the midst of a
// block: for a whole prompt, and for a block.
const (
	gapBytes      = 4 << 20
	blockGapBytes = 256 << 10
)

// gaps returns the places where lines can be cut out of a block, in a row and so that a number of
// them is left, by the digest of the lines that are left. Code has none: each line of it counts.
func (p *Prompt) gaps(i, left int) map[Digest]int {
	return p.gapped.of([2]int{i, left}, func() map[Digest]int {
		b := &p.blocks[i]
		bytes := left * len(b.text)
		if left >= b.lines() || bytes > min(blockGapBytes, p.gapBytes) {
			return nil
		}
		p.gapBytes -= bytes
		found := make(map[Digest]int, left)
		lines := strings.Split(normal(b.text), "\n")
		code := slices.ContainsFunc(lines, func(l string) bool { return opensFence(l) != "" })
		for at := 0; at < left && !code; at++ {
			rest := slices.Concat(lines[:at], lines[at+len(lines)-left:])
			found[p.digest(strings.Join(rest, "\n"))] = at
		}
		return found
	})
}

// answersCue reports whether a block begins with all lines of an earlier block that ended with a
// name for the answer, "Assistant:", and has a text behind that name.
func (p *Prompt) answersCue(b *block, before Digest, lines int) bool {
	text := b.firstLines(lines)
	last := strings.LastIndexByte(text, '\n') + 1
	colon := strings.IndexByte(text[last:], ':')
	return colon >= 0 && p.normalDigest(text[:last+colon+1]) == before
}

// emptySlots are texts that callers write where a place has nothing yet.
var emptySlots = []string{"(none)", "(none yet)", "none", "None", "None.", "none yet", "None yet.",
	"N/A", "n/a", "-", "(empty)", "empty", "(no feedback yet)", "No feedback yet.", "(nothing yet)",
	"nothing yet", "[]", "(keine)", "keine", "(aucun)", "(ninguno)"}

// fills reports whether a block has a text in the place of a block that was called empty, alone
// or below the same line or behind the same name. It returns the lines that are new.
func (p *Prompt) fills(b *block, before Digest) (added lineRange, ok bool) {
	first, _, several := strings.Cut(b.text, "\n")
	prefixes := []string{""}
	if several {
		prefixes = append(prefixes, first+"\n")
	}
	if i := strings.Index(first, ": "); i > 0 {
		prefixes = append(prefixes, first[:i+2])
	}
	for _, prefix := range prefixes {
		for _, slot := range emptySlots {
			if p.digest(normal(prefix+slot)) == before {
				return lineRange{strings.Count(prefix, "\n"), math.MaxInt}, true
			}
		}
	}
	return lineRange{}, false
}

// places returns for each block the place in base, counted from 1, and 0 for a new one. A block
// that occurs several times in base is matched as often.
func (p *Prompt) places(base []Digest) []int {
	at := make([]int, len(p.blocks))
	matched := map[Digest]int{} // how many of the equal blocks
	for j, digest := range base {
		if equal := p.equal[digest]; matched[digest] < len(equal) {
			at[equal[matched[digest]]] = j + 1
			matched[digest]++
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
		k, _ := slices.BinarySearchFunc(ends[1:], n, func(end, n int) int {
			return numbers[end] - n
		})
		before[i] = ends[k]
		ends = slices.Replace(ends, k+1, min(k+2, len(ends)), i)
	}
	marks := make([]bool, len(numbers))
	for i := ends[len(ends)-1]; i != -1; i = before[i] {
		marks[i] = true
	}
	return marks
}

// sameOpening reports whether the prompt begins like the base. The last opening paragraph might
// have grown.
func (p *Prompt) sameOpening(base Footprint, m matched) bool {
	if base.Opening > min(len(p.blocks), len(base.Blocks)) {
		return false
	}
	for i := range base.Opening {
		if p.blocks[i].digest != base.Blocks[i] && m.grown[i].from == 0 {
			return false
		}
	}
	return true
}

// Given returns a short name for the prompt's additions: to all the session's prompts if it repeats
// them, otherwise to the session's first prompt. Numbers in headings do not count, since callers
// number their rounds there.
func (p *Prompt) Given(c Continuity) string {
	root := map[Digest]bool{}
	if c.Relation == reason.Revises || c.Relation == reason.Identical {
		for _, d := range c.Root {
			root[d] = true
		}
	}
	var added strings.Builder
	for i := range p.blocks {
		b := &p.blocks[i]
		if root[b.digest] || c.Relation == reason.Extends && c.Has[i] {
			continue
		}
		digest := b.digest
		if b.level > 0 {
			digest = p.digest(WithoutDigits(normal(b.text)))
		}
		added.Write(digest[:])
	}
	return shortName(p.digest(added.String()))
}

// WithoutDigits returns a text without the digits, which can count rounds.
func WithoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text)
}
