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
	place   int // where it begins in the text, unless it is a line of a message
	speaker speaker
	label   string // the name over a turn that the line opens, in lower case without digits
	full    string // the line as written
	line    string // the line without surrounding space
	text    string // the line without the speaker's name
	step    string // how the indentation differs from the previous line's

	digests  lazy[*lineDigests] // by digestsOf
	inners   lazy[[]string]     // by inner
	named    lazy[bool]         // by namesAnswer
	mentions lazy[[]mention]    // by mentioned
	telling  lazy[[]NewLine]    // by distinctive
	bare     lazy[string]       // by unquoted
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
		index, next := -1, b.at
		for full := range strings.SplitSeq(text, "\n") {
			index++
			place := next
			next += len(full) + 1
			if quoted {
				full = strings.TrimPrefix(strings.TrimPrefix(full, ">"), " ")
			}
			line := strings.TrimSpace(full)
			if line == "" {
				continue
			}
			l := promptLine{at: len(p.lines), block: i, index: index, place: place, full: full,
				line: line, text: line}
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

// history is a session's answers as a prompt shows them, and the turns that the prompt adds.
type history struct {
	*Prompt
	c     *Continuity
	known map[string]bool // the names of the turns that the session was sent
	talks bool            // the session was sent a conversation
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

// findHistory finds the session's answers in the prompt, in order, and the turns beside them.
func (p *Prompt) findHistory(c *Continuity) *history {
	h := &history{Prompt: p, c: c, known: map[string]bool{}, talks: c.sent.Transcript}
	answers, lines := c.sent.Answers, p.lines
	for i := 0; i < len(lines) && len(h.spans) < len(answers); {
		l := &lines[i]
		at, ok := h.nextAnswer(i)
		if !ok {
			h.slipped = h.slipped || !c.old(l) && l.speaker != closing && !isFrame(l.line) &&
				!c.introduces(l)
			i++
			continue
		}
		h.spans = append(h.spans, lineRange{i, at.to})
		h.sameName = at.label != "" && (l.speaker == assistant || at.label == h.label)
		h.end, h.label, h.own, i = at.to, at.label, at.own, at.to
	}
	h.newest = len(answers) > 0 && len(h.spans) == len(answers)
	h.readKnown()
	h.checkAdded()
	if n := len(answers); n > 0 && !h.newest {
		h.within = p.contains(answers[n-1], c)
	}
	return h
}

// readKnown reads the turns that the session was sent.
func (h *history) readKnown() {
	for _, i := range h.spoken {
		l := &h.lines[i]
		if !h.c.old(l) {
			continue
		}
		h.talks = h.talks || l.speaker == assistant || l.speaker == other
		if l.speaker.isTurn() || l.speaker == heading {
			h.known[l.label] = true
		}
	}
}

func (h *history) checkAdded() {
	h.end = h.skipFrames(h.end)
	h.checkForeign()
	if !h.newest || h.label == "" {
		return
	}
	named := h.spans[len(h.spans)-1].from
	follows := h.end < len(h.lines) && h.replies(h.end) && !h.endsSection(named, h.end)
	byName := h.lines[named].speaker == assistant
	h.turns = follows || byName && !h.own && !h.namesAnswer(named)
	// An answer under the name of an earlier speaker is attributed to the wrong one.
	wrongMouth := !byName && len(h.c.sent.Answers) == 1 && h.known[h.label] &&
		!h.asksForResult()
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
func (h *history) replies(i int) bool {
	l := &h.lines[i]
	switch {
	case i == h.c.cue:
		return true
	case l.label == h.label:
		return false
	case l.speaker == toolOutput: // the answer asked for it in so many words: "Action: ..."
		return i == h.end && h.asksForResult()
	case l.speaker == other, h.known[l.label] && l.speaker != assistant:
		return true
	}
	return i == h.end && (h.label == "q" || h.label == "question") &&
		(h.own || !h.known[h.label]) && (l.label == "a" || nameWords()[l.label].plain)
}

// asksForResult reports whether the last name in the newest answer is over a call of a tool:
// "Action: ...".
func (h *history) asksForResult() bool {
	at := h.spans[len(h.spans)-1]
	if !h.own {
		at.from++ // the line has a name before the answer
	}
	for _, l := range slices.Backward(h.lines[min(at.from, at.to):at.to]) {
		if l.speaker != noTurn {
			name, _, _ := strings.Cut(l.label, " ")
			return actionWords(name)
		}
	}
	return false
}

var actionWords = anyOf("action act tool function call command input")

// checkForeign finds added turns that are neither the session's answers nor addressed to it.
func (h *history) checkForeign() {
	first := h.firstKnown()
	turned := false // a known speaker's turn follows
	for _, i := range slices.Backward(h.spoken) {
		l := &h.lines[i]
		h.marked = h.marked || h.isAnswered(i)
		if h.c.old(l) || h.isAnswer(i) || !l.speaker.isTurn() || h.c.introduces(l) {
			continue // it is the session's, or was sent to it
		}
		behind := h.newest && i >= h.end
		if l.speaker == unknownName && turned && i > first && !h.known[l.label] && !behind {
			h.marked = true // an unknown speaker between known ones
		}
		turned = turned || h.known[l.label]
		switch {
		case l.text == "" && i == len(h.lines)-1: // "Assistant:" at the end requests the answer
			another := h.newest && h.label != "" && l.label != h.label && l.speaker != assistant
			h.marked = h.marked || another
		case h.namesAnswer(i): // evidence looks at it
		case behind && h.replies(i):
		case l.speaker == assistant, l.speaker == toolOutput && (h.talks || h.label != ""):
			h.marked = true // no run of the session is known to have given it
		case l.speaker == toolOutput && !behind:
		case h.talks || l.speaker != unknownName:
			h.foreign = l.line
		}
	}
}

// isAnswered reports whether line i is a name that requested an answer, and another answer than the
// session's is there now.
func (h *history) isAnswered(i int) bool {
	l := &h.lines[i]
	return h.c.old(l) && l.speaker == assistant && l.text == "" && i+1 < len(h.lines) &&
		!h.c.old(&h.lines[i+1]) && !h.isAnswer(i+1)
}

// firstKnown returns the first line that the session was sent from a speaker who speaks again, -1
// if there is none, or where a name has no letter, which can be anybody's.
func (h *history) firstKnown() int {
	if h.known[""] {
		return -1
	}
	again := map[string]bool{}
	for _, i := range h.spoken {
		if l := &h.lines[i]; !h.c.old(l) && h.known[l.label] {
			again[l.label] = true
		}
	}
	for _, i := range h.spoken {
		if l := &h.lines[i]; h.c.old(l) && again[l.label] {
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
