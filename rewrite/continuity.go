package rewrite

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
	// Has tells of each block of the prompt whether the session was sent it.
	Has []bool
	// turn is the line of the conversation where the new turn starts.
	turn int
}

// distinctiveAnswer is the length from which an answer that turns up again in a
// prompt is no accident.
const distinctiveAnswer = 40

// Compare relates a prompt to what a session has been sent. It looks at the
// texts alone: whether the relation justifies a resume is decided elsewhere.
func Compare(sent Sent, p *Prompt) Continuity {
	c := Continuity{Relation: Unrelated}
	var retained, news int
	var inOrder bool
	c.Has, retained, inOrder = match(sent.Base.Blocks, p.blocks)
	news = len(p.blocks) - retained
	whole := retained == len(sent.Base.Blocks)

	if whole && inOrder && news == 0 {
		c.Relation = Identical
		return c
	}
	said := p.answersIn(sent.Answers, c.Has)
	c.Transcript, c.turn = sent.Transcript || said.anyTurn, said.end
	switch {
	case c.Transcript && !(whole && inOrder && said.all && p.sameOpening(sent.Base)):
		c.Relation = HistoryEdited
	case news == 0:
		c.Relation = BaseChanged
	case whole && inOrder && p.sameOpening(sent.Base):
		c.Relation = Extends
	case 2*retained > len(sent.Base.Blocks):
		c.Relation = Revises
	}
	return c
}

// match finds base in blocks. If base stands there whole and in order, has marks
// its places; otherwise has marks every block that occurs in base, as often as it
// does there, wherever it stands.
func match(base []Digest, blocks []block) (has []bool, retained int, inOrder bool) {
	has = make([]bool, len(blocks))
	next := 0
	for i, b := range blocks {
		if next < len(base) && b.digest == base[next] {
			has[i] = true
			next++
		}
	}
	if next == len(base) {
		return has, next, true
	}
	clear(has)
	count := make(map[Digest]int, len(base))
	for _, d := range base {
		count[d]++
	}
	for i, b := range blocks {
		if count[b.digest] > 0 {
			count[b.digest]--
			has[i] = true
			retained++
		}
	}
	return has, retained, false
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

// said is what a prompt shows of a session's answers.
type said struct {
	anyTurn bool // it shows a turn of the assistant, or an answer of the session
	all     bool // every answer stands there unchanged, and no other turn of the assistant
	end     int  // the line behind the last of them
}

// answersIn looks for the session's answers in the prompt, in order. A turn of the
// assistant in a block that the session was sent belongs to the prompt itself (an
// example, say); any other must be one of the session's answers, from its first
// line to its last.
func (p *Prompt) answersIn(answers []Answer, has []bool) said {
	lines := p.conversation()
	s := said{all: true}
	next := 0
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		marked := line.speaker == assistant
		if marked && line.text == "" && i == len(lines)-1 {
			break // "Assistant:" at the very end asks for the answer
		}
		start := i
		if marked && line.text == "" {
			start++
		}
		n := 0
		if next < len(answers) && (marked || answers[next].Bytes >= distinctiveAnswer) {
			n = p.answerAt(answers[next], start, marked)
		}
		switch {
		case n > 0:
			s.anyTurn = true
			s.end = start + n
			next++
			i = s.end - 1
		case marked && !(has[line.block] && (start >= len(lines) || has[lines[start].block])):
			s.anyTurn, s.all = true, false
		}
	}
	s.all = s.all && next == len(answers)
	return s
}

// answerAt tells how many lines of the conversation, from line at on, are the
// answer: all of its lines or none. Under the assistant's name the turn must end
// where the answer ends.
func (p *Prompt) answerAt(a Answer, at int, marked bool) int {
	lines := p.conversation()
	n := len(a.Lines)
	if n == 0 || at+n > len(lines) {
		return 0
	}
	for i, want := range a.Lines {
		if p.lineDigest(at+i) == want {
			continue
		}
		bare := withoutClosingTag(lines[at+i].text)
		if i < n-1 || bare == lines[at+i].text || p.digest(bare) != want {
			return 0
		}
	}
	if marked && at+n < len(lines) && lines[at+n].speaker == nobody {
		return 0
	}
	return n
}
