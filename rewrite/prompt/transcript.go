package prompt

import (
	"slices"
	"strconv"
	"strings"
)

// promptLine is a line of a prompt that is not blank, as a line of a conversation.
type promptLine struct {
	at      int // the index in the prompt
	block   int // the block
	index   int // the index within the block
	speaker speaker
	label   string       // the name over a turn that the line opens, in lower case without digits
	full    string       // the line as written
	line    string       // the line without surrounding space
	text    string       // the line without the speaker's name
	step    string       // how the indentation differs from the previous line's
	digests *lineDigests // by digestsOf
	names   bool         // it is a name over an answer: by namesAnswer, once named is set
	named   bool
}

// readLines reads the prompt's lines with the turns that they open.
func (p *Prompt) readLines() {
	p.lines = make([]promptLine, 0, strings.Count(p.Text, "\n"))
	p.starts = make([]int, 0, len(p.blocks)+1)
	questions, indent := false, ""
	for i, b := range p.blocks {
		p.starts = append(p.starts, len(p.lines))
		text := b.text
		if b.message != nil {
			text = b.message.text
		}
		quoted := allQuoted(text)
		index := -1
		for full := range strings.SplitSeq(text, "\n") {
			index++
			if quoted {
				full = strings.TrimPrefix(strings.TrimPrefix(full, ">"), " ")
			}
			line := strings.TrimSpace(full)
			if line == "" {
				continue
			}
			l := promptLine{at: len(p.lines), block: i, index: index, full: full, line: line,
				text: line}
			switch {
			case b.message == nil:
				l.speaker, l.label, l.text = readLabel(line)
				if letter, rest := questionOrAnswer(line); letter == "q" {
					questions, l.speaker, l.label, l.text = true, other, letter, rest
				} else if letter == "a" && questions {
					l.speaker, l.label, l.text = assistant, letter, rest
				}
			case index == 0:
				l.speaker, l.label, l.text = b.message.speaker, b.message.label, ""
			}
			l.step, indent = step(indent, full)
			if l.speaker != noTurn {
				p.spoken = append(p.spoken, len(p.lines))
			}
			p.lines = append(p.lines, l)
		}
	}
	p.starts = append(p.starts, len(p.lines))
}

// allQuoted reports whether every line of a block is quoted as in an email.
func allQuoted(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, ">") {
			return false
		}
	}
	return true
}

// step returns how the indentation of a line differs from the previous line's, and the indentation.
// Steps stay the same if a whole text is indented.
func step(before, line string) (step, indent string) {
	indent = line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if indent == before {
		return "", indent
	}
	same := 0
	for same < len(before) && same < len(indent) && before[same] == indent[same] {
		same++
	}
	return strconv.Itoa(len(before)-same) + indent[same:], indent
}

// history is a session's answers as a prompt shows them.
type history struct {
	// every answer is there unchanged and in order, the newest in the prompt's additions
	newest bool
	turns  bool // the newest is laid out as a turn of a conversation
	// the newest is under the assistant's name, or the name of the answers before it
	sameName bool
	// the newest begins with a name of its own: "Thought: ...", "QUESTION: ..."
	own     bool
	proven  bool        // newest, as turns, and no other turn is attributed to anyone
	marked  bool        // a turn under an assistant's or a tool's name that the session never had
	slipped bool        // something new precedes the newest answer that is not the name
	within  bool        // all lines of the newest answer are there, but not as a turn of their own
	foreign string      // the name of a foreign turn that the prompt adds
	end     int         // the line after the newest answer
	spans   []lineRange // the answers, with the lines of their names
	label   string      // the name over the last answer found, "" for none
	speaker speaker
}

type lineRange struct{ from, to int } // lines

func (s lineRange) has(i int) bool { return i >= s.from && i < s.to }

func (h *history) isAnswer(i int) bool {
	return slices.ContainsFunc(h.spans, func(s lineRange) bool { return s.has(i) })
}

func (p *Prompt) newLines(m matched) (indexes []int) {
	for block, had := range m.Has {
		for i := p.starts[block]; !had && i < p.starts[block+1]; i++ {
			if !m.kept(&p.lines[i]) {
				indexes = append(indexes, i)
			}
		}
	}
	return indexes
}

// nextOf returns the first of some ascending indexes from i on, end if there is none.
func nextOf(indexes []int, i, end int) int {
	if at, _ := slices.BinarySearch(indexes, i); at < len(indexes) {
		return indexes[at]
	}
	return end
}

// findHistory finds the session's answers in the prompt, in order.
func (p *Prompt) findHistory(sent Sent, c *Continuity) *history {
	h := &history{}
	lines := p.lines
	slipped := false
	for i := 0; i < len(lines); {
		if len(h.spans) >= len(sent.Answers)-1 { // the newest answer is new, or under a name
			if i = min(nextOf(c.new, i, len(lines)), nextOf(p.spoken, i, len(lines))); i ==
				len(lines) {
				break
			}
		}
		l := &lines[i]
		if at, ok := p.nextAnswer(sent, len(h.spans), i, c); ok {
			h.spans = append(h.spans, lineRange{i, at.to})
			if len(h.spans) == len(sent.Answers) {
				h.newest, h.end, h.speaker, h.own, h.slipped = true, at.to, l.speaker, at.own,
					slipped
				h.sameName = at.label != "" && (l.speaker == assistant || at.label == h.label)
			}
			h.label = at.label
			i = at.to
			continue
		}
		slipped = slipped || !c.old(l) && l.speaker != closing && !isFrame(l.line) &&
			!c.introduces(l)
		i++
	}
	p.newTurns(h, sent, c).checkAdded()
	if n := len(sent.Answers); n > 0 && !h.newest {
		h.within = p.contains(sent.Answers[n-1], c)
	}
	return h
}

// turns compares the turns that a prompt adds to the session's answers with the turns that the
// session was sent.
type turns struct {
	*Prompt
	*history
	sent  Sent
	c     *Continuity
	known map[string]bool // the names of the turns that the session was sent
	talks bool            // the session was sent a conversation
}

func (p *Prompt) newTurns(h *history, sent Sent, c *Continuity) *turns {
	t := &turns{Prompt: p, history: h, sent: sent, c: c, known: map[string]bool{},
		talks: sent.Transcript}
	for _, i := range p.spoken {
		l := &p.lines[i]
		if !c.old(l) {
			continue
		}
		t.talks = t.talks || l.speaker == assistant || l.speaker == other
		if l.speaker.isTurn() || l.speaker == heading {
			t.known[l.label] = true
		}
	}
	return t
}

func (t *turns) checkAdded() {
	h := t.history
	h.end = t.skipFrames(h.end)
	t.checkForeign()
	if !h.newest || h.label == "" {
		return
	}
	named := h.spans[len(h.spans)-1].from
	follows := h.end < len(t.lines) && t.replies(h.end) && !t.endsSection(named, h.end)
	h.turns = follows || h.speaker == assistant && !h.own && !t.namesAnswer(named)
	// An answer under the name of an earlier speaker is attributed to the wrong one.
	wrongMouth := h.speaker != assistant && len(t.sent.Answers) == 1 && t.known[h.label] &&
		!t.asksForResult()
	h.proven = follows && !h.slipped && !h.marked && h.foreign == "" && !wrongMouth
}

// skipFrames returns the first line from i on that is not only a sign around a turn.
func (p *Prompt) skipFrames(i int) int {
	for i < len(p.lines) && (p.lines[i].speaker == closing || isFrame(p.lines[i].line)) {
		i++
	}
	return i
}

// replies reports whether line i, behind the newest answer, opens a turn of a speaker to the
// session.
func (t *turns) replies(i int) bool {
	l, h := &t.lines[i], t.history
	switch {
	case i == t.c.cue:
		return true
	case l.label == h.label:
		return false
	case l.speaker == toolOutput: // the answer asked for it in so many words: "Action: ..."
		return i == h.end && t.asksForResult()
	case l.speaker == other, t.known[l.label] && l.speaker != assistant:
		return true
	}
	return i == h.end && asksByName(h.label) && (h.own || !t.known[h.label]) &&
		answersByName(l.label)
}

// asksForResult reports whether the last name in the newest answer is over a call of a tool:
// "Action: ...".
func (t *turns) asksForResult() bool {
	at := t.spans[len(t.spans)-1]
	if !t.own {
		at.from++ // the line has a name before the answer
	}
	for _, l := range slices.Backward(t.lines[min(at.from, at.to):at.to]) {
		if l.speaker != noTurn {
			name, _, _ := strings.Cut(l.label, " ")
			return actionWords.has(name)
		}
	}
	return false
}

var actionWords = wordSet{words: "action act tool function call command input"}

// asksByName and answersByName report whether names are those over a question and over the answer
// to it.
func asksByName(label string) bool {
	return label == "q" || speakerNamed(label) == other && label == "question"
}
func answersByName(label string) bool { return label == "a" || nameWords()[label].plain }

// checkForeign finds added turns that are neither the session's answers nor addressed to it.
func (t *turns) checkForeign() {
	h := t.history
	first := t.firstKnown()
	turned := false // a known speaker's turn follows
	for _, i := range slices.Backward(t.spoken) {
		l := &t.lines[i]
		h.marked = h.marked || t.isAnswered(i)
		if !t.isAdded(i) {
			continue
		}
		behind := h.newest && i >= h.end
		if l.speaker == unknownName && turned && i > first && !t.known[l.label] && !behind {
			h.marked = true // an unknown speaker between known ones
		}
		turned = turned || t.known[l.label]
		switch t.originOf(i, behind) {
		case unknownRun:
			h.marked = true
		case foreignSpeaker:
			h.foreign = l.line
		}
	}
}

// isAnswered reports whether line i is a name that requested an answer, and another answer than the
// session's is there now.
func (t *turns) isAnswered(i int) bool {
	l := &t.lines[i]
	return t.c.old(l) && l.speaker == assistant && l.text == "" && i+1 < len(t.lines) &&
		!t.c.old(&t.lines[i+1]) && !t.isAnswer(i+1)
}

// isAdded reports whether line i opens a turn that is neither the session's nor was sent to it.
func (t *turns) isAdded(i int) bool {
	l := &t.lines[i]
	return !t.c.old(l) && !t.isAnswer(i) && l.speaker.isTurn() && !t.c.introduces(l)
}

// An origin is where an added turn comes from.
type origin int

const (
	expectedSpeaker origin = iota // it is addressed to the session, or evidence looks at it
	unknownRun                    // no run of the session is known to have given it
	foreignSpeaker
)

// originOf returns the origin of the added turn that line i opens, behind the newest answer or
// elsewhere.
func (t *turns) originOf(i int, behind bool) origin {
	switch l := &t.lines[i]; {
	case l.text == "" && i == len(t.lines)-1: // "Assistant:" at the very end requests the answer
		if t.asksAnother(l) {
			return unknownRun
		}
	case t.namesAnswer(i): // evidence looks at it
	case behind && t.replies(i):
	case l.speaker == assistant, l.speaker == toolOutput && (t.talks || t.label != ""):
		return unknownRun
	case l.speaker == toolOutput && !behind:
	case t.talks || l.speaker != unknownName:
		return foreignSpeaker
	}
	return expectedSpeaker
}

// asksAnother reports whether a name requests an answer of another than the session.
func (t *turns) asksAnother(l *promptLine) bool {
	return t.newest && t.label != "" && l.label != t.label && l.speaker != assistant
}

// firstKnown returns the first line that the session was sent from a speaker who speaks again, -1
// if there is none, or where a name has no letter, which can be anybody's.
func (t *turns) firstKnown() int {
	if t.known[""] {
		return -1
	}
	again := map[string]bool{}
	for _, i := range t.spoken {
		if l := &t.lines[i]; !t.c.old(l) && t.known[l.label] {
			again[l.label] = true
		}
	}
	for _, i := range t.spoken {
		if l := &t.lines[i]; t.c.old(l) && again[l.label] {
			return i
		}
	}
	return -1
}

// endsSection reports whether line i is a heading of a higher level than line name's, so that the
// section around name ends there, and opens no turn.
func (p *Prompt) endsSection(name, i int) bool {
	above := headingLevel(p.lines[i].line)
	return above > 0 && above < headingLevel(p.lines[name].line)
}
