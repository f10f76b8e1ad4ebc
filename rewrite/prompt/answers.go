package prompt

import (
	"slices"
	"strings"
)

// An Answer is the ledger's record of one answer: the digests of the lines that are not blank,
// and its length.
type Answer struct {
	Lines []Digest
	Bytes int
	// Said are other forms of the answer: callers that read events show
	// everything a run says, not only the final text.
	Said []Answer
}

// NewAnswer digests an answer and, if the run had more than one text, all texts in two forms: each
// on lines of its own, and joined the way streamed deltas are.
func NewAnswer(text string, said []string, key Key) Answer {
	digest := key.Digester()
	a := digestLines(text, digest)
	if len(said) > 1 {
		a.Said = []Answer{digestLines(strings.Join(said, "\n"), digest),
			digestLines(strings.Join(said, ""), digest)}
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
			change = "" // the first line can follow a name
		}
		a.Lines = append(a.Lines, digest(stepped(change, line)))
		a.Bytes += len(line)
	}
	return a
}

// stepped marks a line by the change of indentation: differently indented code is another program.
func stepped(step, line string) string {
	if step == "" {
		return line
	}
	return "\x00" + step + "\x00" + line
}

// lineDigests are the digests of a line: without its indentation, with the step of that, and of
// texts that it can quote.
type lineDigests struct {
	line, stepped Digest
	quoted        []Digest
}

func (p *Prompt) digestsOf(i int) *lineDigests {
	l := &p.lines[i]
	return l.digests.of(func() *lineDigests {
		line := p.digest(l.line)
		digests := &lineDigests{line: line, stepped: line}
		if l.step != "" {
			digests.stepped = p.digest(stepped(l.step, l.line))
		}
		for _, text := range p.inner(l) {
			digests.quoted = append(digests.quoted, p.digest(text))
		}
		return digests
	})
}

// An answerMatch is an answer's place, from the first line to after the last, and the name over it,
// "" for none.
type answerMatch struct {
	first, to int
	label     string
	own       bool // the name is part of the answer
}

// nextAnswer reports whether line i opens the session's next answer in an allowed place: the newest
// in the prompt's additions; each other answer of a conversation in the session's earlier prompts,
// with all of them but the newest.
func (h *history) nextAnswer(i int) (answerMatch, bool) {
	n, sent := len(h.spans), &h.c.sent
	at, ok := h.findAnswer(sent.Answers[n], i, h.c)
	switch {
	case !ok:
	case n == len(sent.Answers)-1:
		ok = !h.c.old(&h.lines[at.first])
	case sent.Transcript:
		ok = h.c.old(&h.lines[i]) && h.c.old(&h.lines[at.first])
	}
	return at, ok
}

// findAnswer reports whether line i opens a turn that is exactly the answer, or begins the answer
// without a name if it is long enough to be no coincidence.
func (p *Prompt) findAnswer(a Answer, i int, c *Continuity) (answerMatch, bool) {
	l := &p.lines[i]
	if m := p.blocks[l.block].message; m != nil && (m.more || m.speaker == toolOutput) {
		return answerMatch{}, false // no run is known to have given the rest
	}
	if l.speaker.isTurn() || l.speaker == heading {
		if at, ok := p.answerUnder(a, i, c); ok {
			return at, true
		}
	}
	if !l.speaker.isTurn() && a.Bytes < distinctiveAnswer {
		return answerMatch{}, false
	}
	to, ok := p.answerAt(a, i, false, false)
	if ok && l.speaker.isTurn() && p.endsTurn(to, l, c) {
		return answerMatch{i, to, l.label, true}, true
	}
	return answerMatch{i, to, "", false}, ok && a.Bytes >= distinctiveAnswer
}

// answerUnder reports whether the turn under the name in line i is exactly the answer: behind or
// below the name, with a tag at the end, or in a frame.
func (p *Prompt) answerUnder(a Answer, i int, c *Continuity) (answerMatch, bool) {
	l := &p.lines[i]
	first, named := i, l.text != ""
	if !named {
		first++
	}
	if to, ok := p.answerAt(a, first, named, false); ok && p.endsTurn(to, l, c) {
		return answerMatch{first, to, l.label, false}, true
	}
	if to, ok := p.answerAt(a, first, named, true); ok {
		return answerMatch{first, to, l.label, false}, true
	}
	if named && !isFrame(l.text) {
		return answerMatch{}, false
	}
	first = p.skipFrames(i + 1)
	to, ok := p.answerAt(a, first, false, false)
	return answerMatch{first, to + 1, l.label, false}, ok && to < len(p.lines) &&
		isFrame(p.lines[to].line) && p.endsTurn(to+1, l, c)
}

// endsTurn reports whether a turn under such a name is over before line i: another turn begins
// there, or text that the session was sent before. Under a heading, another heading ends the turn.
func (p *Prompt) endsTurn(i int, name *promptLine, c *Continuity) bool {
	lines := p.lines
	for i < len(lines) && isRule(lines[i].line) {
		i++
	}
	if i == len(lines) || c.old(&lines[i]) || c.cue == i || c.cue == anyLine {
		return true
	}
	who := lines[i].speaker
	return who.isTurn() || who == closing || who == heading && headingLevel(name.line) > 0
}

// isFrame reports whether a line only sets a text apart: a line across the page, quotation marks,
// or the begin or end of fenced code.
func isFrame(line string) bool {
	return opensFence(line) != "" || strings.IndexFunc(line, isWordRune) < 0
}

// isRule reports whether a line consists of separator signs only.
func isRule(line string) bool { return strings.Trim(line, "-=_*") == "" }

// answerAt reports whether the answer, in any of the forms, starts at line first, and returns the
// line after it. With named the first line follows a name; with tagged the last line precedes the
// sign that ends the turn.
func (p *Prompt) answerAt(a Answer, first int, named, tagged bool) (to int, ok bool) {
	for _, form := range append([]Answer{a}, a.Said...) {
		if p.standsAt(form.Lines, first, named, tagged) {
			return first + len(form.Lines), true
		}
	}
	return 0, false
}

// standsAt reports whether all lines of one form of an answer follow from line first on.
func (p *Prompt) standsAt(answer []Digest, first int, named, tagged bool) bool {
	if len(answer) == 0 || first+len(answer) > len(p.lines) {
		return false
	}
	for i, want := range answer {
		if p.shownDigest(first+i, i == 0, i == 0 && named, tagged && i == len(answer)-1) != want {
			return false
		}
	}
	return true
}

// shownDigest returns the digest of a line as a line of an answer: without the name before it, with
// the step of indentation, without the tag that ends the turn.
func (p *Prompt) shownDigest(i int, first, named, tagged bool) Digest {
	if first && !named && !tagged {
		return p.digestsOf(i).line
	}
	l := &p.lines[i]
	text := l.line
	if named {
		text = l.text
	}
	if tagged {
		bare := stripClosingTag(text)
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

// contains reports whether all of an answer's lines are in the prompt's additions.
func (p *Prompt) contains(a Answer, c *Continuity) bool {
	shown := map[Digest]bool{}
	for _, i := range c.new {
		digests := p.digestsOf(i)
		shown[digests.line], shown[digests.stepped] = true, true
		for _, digest := range digests.quoted {
			shown[digest] = true
		}
		if len(a.Lines) != 1 {
			continue
		}
		for _, text := range p.inner(&p.lines[i]) { // something can follow an answer of one line
			if len(text) > a.Bytes {
				shown[p.digest(text[:a.Bytes])] = true
			}
		}
	}
	return len(a.Lines) > 0 &&
		!slices.ContainsFunc(a.Lines, func(d Digest) bool { return !shown[d] })
}

// inner returns the part of a line that can be a quotation: the text behind a name, the signs of a
// list, or a colon, also without quotation marks.
func (p *Prompt) inner(l *promptLine) []string {
	return l.inners.of(func() (parts []string) {
		item := listItem(l.line)
		_, after, _ := strings.Cut(item, ": ")
		for _, text := range []string{l.text, item, strings.TrimSpace(after)} {
			for _, part := range []string{text, strings.Trim(text, "\"“”„«» \u00a0")} {
				if part != "" && part != l.line && !slices.Contains(parts, part) {
					parts = append(parts, part)
				}
			}
		}
		return parts
	})
}
