package rewrite

import (
	"slices"
	"strconv"
	"strings"
)

// promptLine is a line of a prompt that is not blank, seen as a line of a conversation.
type promptLine struct {
	block    int // the block it stands in
	index    int // which line of the block it is
	at       int // where it stands in the prompt, -1 in a history that was decoded
	speaker  speaker
	label    string // the name over a turn that the line opens, in lower case without digits
	full     string // the line as it stands
	line     string // the same without the space around it
	text     string // the same without the name of the speaker
	step     string // how its indentation differs from that of the line before
	digest   Digest // of line, once digested is set
	digested bool
}

// conversation returns the prompt's lines with the turns that they open.
func (p *Prompt) conversation() []promptLine {
	if p.lines != nil {
		return p.lines
	}
	p.lines = make([]promptLine, 0, strings.Count(p.Text, "\n")+1)
	questions, indent := false, ""
	for i, b := range p.blocks {
		text, at := b.text, b.at
		if b.message != nil {
			text, at = b.message.text, -1
		}
		quoted := allQuoted(text)
		index := -1
		for full := range strings.SplitSeq(text, "\n") {
			index++
			start := at
			if at >= 0 {
				at += len(full) + 1
			}
			if quoted {
				full = strings.TrimPrefix(strings.TrimPrefix(full, ">"), " ")
			}
			line := strings.TrimSpace(full)
			if line == "" {
				continue
			}
			l := promptLine{block: i, index: index, at: start, full: full, line: line, text: line}
			switch {
			case b.message == nil:
				l.speaker, l.label, l.text = readLabel(line)
				if letter, rest := questionOrAnswer(line); letter == 'q' {
					questions, l.speaker, l.label, l.text = true, other, "q", rest
				} else if letter == 'a' && questions {
					l.speaker, l.label, l.text = assistant, "a", rest
				}
			case index == 0:
				l.speaker, l.label, l.text = b.message.speaker, b.message.label, ""
			}
			l.step, indent = step(indent, full)
			p.lines = append(p.lines, l)
		}
	}
	return p.lines
}

// allQuoted reports whether every line of a block is quoted as in a mail.
func allQuoted(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(line, ">") {
			return false
		}
	}
	return true
}

// step returns how the indentation of a line differs from the one before it, and that indentation. Steps stay the
// same where a whole text is indented.
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

// An Answer is what the ledger keeps of one answer: the digests of its lines that are not blank, and its length.
type Answer struct {
	Lines []Digest
	Bytes int
	// Said are the other forms that the answer may be shown in: callers that read
	// events show all that a run says, not its final text alone.
	Said []Answer
}

// NewAnswer digests an answer, and all the texts of its run where it had more than one: each on lines of its own, and
// run together as deltas are.
func NewAnswer(text string, said []string, key Key) Answer {
	digest := key.Digester()
	a := digestLines(text, digest)
	if len(said) > 1 {
		a.Said = []Answer{digestLines(strings.Join(said, "\n"), digest), digestLines(strings.Join(said, ""), digest)}
	}
	return a
}

func digestLines(text string, digest func(string) Digest) Answer {
	var a Answer
	indent, change := "", ""
	for full := range strings.SplitSeq(text, "\n") {
		line := strings.TrimSpace(full)
		if line == "" {
			continue
		}
		if change, indent = step(indent, full); len(a.Lines) == 0 {
			change = "" // the first line may stand behind a name
		}
		a.Lines = append(a.Lines, digest(stepped(change, line)))
		a.Bytes += len(line)
	}
	return a
}

// stepped marks a line by its indentation: what is indented otherwise is another program.
func stepped(step, line string) string {
	if step == "" {
		return line
	}
	return "\x00" + step + "\x00" + line
}

// lineDigest returns the digest of line i of the conversation, wherever it is indented.
func (p *Prompt) lineDigest(i int) Digest {
	l := &p.lines[i]
	if !l.digested {
		l.digest, l.digested = p.digest(l.line), true
	}
	return l.digest
}

// distinctiveAnswer is the length in bytes from which an answer that turns up again under no name is no accident.
const distinctiveAnswer = 40

// history is what a prompt shows of a session's answers.
type history struct {
	whole    bool   // every answer stands there unchanged and in order, the newest in what the prompt adds
	newest   bool   // the newest does
	turns    bool   // the newest is laid out as the turn of a conversation
	sameName bool   // the newest stands under the assistant's name, or that of the answers before it
	tools    bool   // before the newest, the prompt shows something new that tools said
	proven   bool   // whole, as turns, and nothing else is put into anybody's mouth
	marked   bool   // a turn under an assistant's name that the session never had
	slipped  bool   // something new stands before the newest answer that is neither its name nor a tool's turn
	part     bool   // most lines of the newest answer stand there, but not all of it
	foreign  string // what is added has a turn under this name
	end      int    // the line behind the newest answer
	spans    []span // the answers, with the lines of their names
	label    string // the name over the newest answer, "" for none
	speaker  speaker
}

type span struct{ from, to int } // lines

func (h *history) isAnswer(i int) bool {
	for _, s := range h.spans {
		if i >= s.from && i < s.to {
			return true
		}
	}
	return false
}

// historyOf looks for the session's answers in the prompt, in order: the newest in what the prompt adds. conversed
// reports that the session has been sent a conversation before; then every answer but the newest was sent with it.
func (p *Prompt) historyOf(sent Sent, c *Continuity) *history {
	h := &history{}
	lines := p.conversation()
	next, slipped, tools, shown := 0, false, false, false
	for i := 0; i < len(lines); i++ {
		l := &lines[i]
		newest := next == len(sent.Answers)-1
		if next < len(sent.Answers) {
			// Of a conversation the session was sent every answer but the newest, which it was never sent.
			at, ok := p.findAnswer(sent.Answers[next], i, c)
			if ok && !(newest && c.old(&lines[at.first])) && !(sent.Transcript && !newest && !(c.old(l) && c.old(&lines[at.first]))) {
				slipped = slipped || tools && at.label == "" // a tool's words stand between a name and its turn
				tools = false
				if newest {
					h.sameName = at.label != "" && (l.speaker == assistant || at.label == h.label)
					h.newest, h.end, h.speaker = true, at.to, l.speaker
					h.slipped, h.tools = slipped, shown
				}
				h.label = at.label
				h.spans = append(h.spans, span{i, at.to})
				next++
				i = at.to - 1
				continue
			}
		}
		if c.old(l) {
			slipped = slipped || tools && !l.speaker.isTurn() // within a turn that the session knows
			tools = false
			continue
		}
		if l.speaker != nobody {
			tools = l.speaker == toolOutput
		}
		slipped, shown = slipped || !tools && l.speaker != closing, shown || tools
	}
	h.whole = h.newest && next == len(sent.Answers)
	p.lookAtTurns(h, sent, c)
	if n := len(sent.Answers); n > 0 && !h.newest {
		h.part = p.showsMost(sent.Answers[n-1], c)
	}
	return h
}

// lookAtTurns looks at the turns that the prompt adds beside the session's answers.
func (p *Prompt) lookAtTurns(h *history, sent Sent, c *Continuity) {
	lines := p.conversation()
	known := map[string]bool{} // the names of the turns that the session was sent
	for i := range lines {
		if l := &lines[i]; c.old(l) && (l.speaker.isTurn() || l.speaker == heading) {
			known[l.label] = true
		}
	}
	first := p.firstTurnOf(known, c)
	turned := false // a turn of somebody known follows
	for i := len(lines) - 1; i >= 0; i-- {
		l := &lines[i]
		if c.old(l) && l.speaker == assistant && l.text == "" && i+1 < len(lines) && !c.old(&lines[i+1]) && !h.isAnswer(i+1) {
			h.marked = true // the name asked for an answer, and another one stands there
		}
		if c.old(l) || h.isAnswer(i) || !l.speaker.isTurn() {
			continue
		}
		if l.speaker == stranger && turned && i > first && !known[l.label] && !(h.newest && i >= h.end) {
			h.marked = true // between known speakers another one speaks
		}
		turned = turned || known[l.label]
		if l.text == "" && i == len(lines)-1 {
			continue // "Assistant:" at the very end asks for the answer
		}
		behind := h.newest && i >= h.end
		switch {
		case l.speaker == assistant:
			h.marked = true
		case l.speaker == toolOutput && !behind:
		case behind && (l.speaker == other || known[l.label]) && l.label != h.label:
		default:
			h.foreign = l.line
		}
	}
	for h.end < len(lines) && (lines[h.end].speaker == closing || isRule(lines[h.end].line)) {
		h.end++
	}
	if !h.newest || h.label == "" {
		return
	}
	follows := h.end < len(lines) && lines[h.end].label != h.label && (lines[h.end].speaker == other || known[lines[h.end].label]) &&
		!p.endsSection(h.spans[len(h.spans)-1].from, h.end)
	h.turns = follows || h.speaker == assistant
	// An answer under the name of somebody who has spoken before is put into the wrong mouth.
	wrongMouth := h.speaker != assistant && len(sent.Answers) == 1 && known[h.label]
	h.proven = h.whole && follows && !h.slipped && !h.marked && h.foreign == "" && !wrongMouth
}

// A found answer: from its first line to behind its last, and the name it stands under, "" for none.
type foundAnswer struct {
	first, to int
	label     string
}

// findAnswer reports whether line i opens a turn that is the answer, from its first line to its last, or where it is long
// enough to be no accident, begins the answer without a name.
func (p *Prompt) findAnswer(a Answer, i int, c *Continuity) (foundAnswer, bool) {
	lines := p.conversation()
	if l := &lines[i]; l.speaker.isTurn() || l.speaker == heading || l.speaker == feedback {
		first, named := i, l.text != ""
		if !named {
			first++
		}
		if n := p.answerIn(a, first, named, false); n > 0 && p.endsTurn(first+n, l.speaker, c) {
			return foundAnswer{first, first + n, l.label}, true
		}
		if n := p.answerIn(a, first, named, true); n > 0 {
			return foundAnswer{first, first + n, l.label}, true
		}
	}
	if a.Bytes >= distinctiveAnswer {
		if n := p.answerIn(a, i, false, false); n > 0 {
			return foundAnswer{i, i + n, ""}, true
		}
	}
	return foundAnswer{}, false
}

// endsTurn reports whether a turn under such a name is over before line i: another turn begins there, or something that the
// session was sent before. Under a heading another heading ends it.
func (p *Prompt) endsTurn(i int, name speaker, c *Continuity) bool {
	lines := p.conversation()
	for i < len(lines) && isRule(lines[i].line) {
		i++
	}
	if i == len(lines) || c.old(&lines[i]) {
		return true
	}
	switch who := lines[i].speaker; who {
	case heading, feedback:
		return name == heading || name == feedback
	default:
		return who.isTurn() || who == closing
	}
}

// firstTurnOf returns the first line that the session was sent of a speaker who speaks again.
func (p *Prompt) firstTurnOf(known map[string]bool, c *Continuity) int {
	again := map[string]bool{}
	for i := range p.lines {
		if l := &p.lines[i]; !c.old(l) && known[l.label] {
			again[l.label] = true
		}
	}
	return slices.IndexFunc(p.lines, func(l promptLine) bool { return c.old(&l) && again[l.label] })
}

// endsSection reports whether line i is a heading above that of line name: what stands under name is a part of a section that ends
// there, and the heading opens no turn.
func (p *Prompt) endsSection(name, i int) bool {
	above := headingLevel(p.lines[i].line)
	return above > 0 && above < headingLevel(p.lines[name].line)
}

// isRule reports whether a line is nothing but signs that set texts apart.
func isRule(line string) bool { return strings.Trim(line, "-=_*") == "" }

// answerIn returns how many lines from line first on are the answer in any of its forms: all of its lines, or 0. tagged
// has its last line also hold the sign that ends the turn.
func (p *Prompt) answerIn(a Answer, first int, named, tagged bool) int {
	n := p.answerAt(a, first, named, tagged)
	for i := 0; n == 0 && i < len(a.Said); i++ {
		n = p.answerAt(a.Said[i], first, named, tagged)
	}
	return n
}

func (p *Prompt) answerAt(a Answer, first int, named, tagged bool) int {
	lines := p.conversation()
	n := len(a.Lines)
	if n == 0 || first+n > len(lines) {
		return 0
	}
	for i, want := range a.Lines {
		if p.shownDigest(first+i, i == 0, i == 0 && named, tagged && i == n-1) != want {
			return 0
		}
	}
	return n
}

// shownDigest returns the digest of a line as one of an answer: without the name before it, with the step of its
// indentation, without the tag that ends its turn.
func (p *Prompt) shownDigest(i int, first, named, tagged bool) Digest {
	l := &p.lines[i]
	if !named && !tagged && (first || l.step == "") {
		return p.lineDigest(i)
	}
	text := l.line
	if named {
		text = l.text
	}
	if tagged {
		bare := withoutClosingTag(text)
		if bare == text {
			return Digest{}
		}
		text = bare
	}
	if !first {
		text = stepped(l.step, text)
	}
	return p.digest(text)
}

// showsMost reports whether most of an answer's lines stand in what the prompt adds: it shows the answer, but cut
// short or changed.
func (p *Prompt) showsMost(a Answer, c *Continuity) bool {
	if a.Bytes < distinctiveAnswer {
		return false
	}
	lines := p.conversation()
	shown := map[Digest]bool{}
	for i := range lines {
		if l := &lines[i]; !c.old(l) {
			shown[p.lineDigest(i)] = true
			if l.step != "" {
				shown[p.digest(stepped(l.step, l.line))] = true
			}
			if l.text != l.line {
				shown[p.digest(l.text)] = true
			}
		}
	}
	found := 0
	for _, d := range a.Lines {
		if shown[d] {
			found++
		}
	}
	return 2*found > len(a.Lines)
}
