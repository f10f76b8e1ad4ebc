package prompt

import (
	"slices"
	"strings"
)

// A movedTurn is a turn of a conversation that the session was sent elsewhere. Callers show the
// newest message below a name of its own, "Current message:", and later as a turn of the history.
type movedTurn struct {
	lineRange     // the lines of the turn, with the name
	cue       int // the line with the next message, which begins as the turn did
}

// anyLine stands for the line with the next message while it is not known yet.
const anyLine = -1

// maxMoved bounds how many turns from the end are tried.
const maxMoved = 16

// compareMoved returns how a prompt relates to a session's prompts if the turn before the newest
// answer has moved. It reports false unless that explains everything up to the answer.
func (p *Prompt) compareMoved(sent Sent, m matched) (Continuity, bool) {
	if len(sent.Answers) == 0 {
		return Continuity{}, false
	}
	newest, before := sent.Answers[len(sent.Answers)-1],
		&Continuity{matched: m, movedTurn: movedTurn{cue: anyLine}}
	for k := len(p.spoken) - 1; k > 0 && k >= len(p.spoken)-maxMoved; k-- {
		i, from := p.spoken[k], p.spoken[k-1]
		for from > 0 && p.lines[from].speaker == closing && k > 1 {
			k--
			from = p.spoken[k-1]
		}
		turn, cue, parted := p.movedTurn(newest, from, i, before)
		if turn == "" {
			continue // a name alone is no turn that was sent
		}
		for _, prefix := range p.prefixes(cue, parted) {
			base, ok := p.without(sent.Base, prefix+turn)
			if !ok {
				continue
			}
			without := sent
			without.Base = base
			if m := p.match(base); m.whole {
				c := compareMatched(without, p, m, movedTurn{lineRange{from, i}, cue})
				return c, c.Evidence.Transcript && c.Retains()
			}
		}
	}
	return Continuity{}, false
}

// movedTurn returns the text of the turn under the name in line from if the newest answer follows
// it in line i; the line with the next message; and whether the text above that line has ended.
func (p *Prompt) movedTurn(newest Answer, from, i int, c *Continuity) (text string, cue int,
	parted bool) {
	l, name := &p.lines[i], &p.lines[from]
	if !l.speaker.isTurn() || name.speaker != other && name.speaker != unknownName ||
		name.label == l.label {
		return "", 0, false
	}
	at, ok := p.findAnswer(newest, i, c)
	cue = p.skipFrames(at.to)
	if !ok || at.own || at.label == "" || cue == len(p.lines) {
		return "", 0, false
	}
	return p.turnText(name, l), cue, cue > at.to || p.blocks[l.block].message != nil
}

// turnText returns the text of the turn under a name, up to the next name.
func (p *Prompt) turnText(name, next *promptLine) string {
	if m := p.blocks[name.block].message; m != nil {
		_, text, _ := strings.Cut(m.text, "\n")
		return text
	}
	from, to := name.place+len(name.full), next.place
	lines := strings.Split(strings.TrimSpace(name.text+p.Text[from:to]), "\n")
	for len(lines) > 1 && closesTurn(strings.TrimSpace(lines[len(lines)-1])) {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

// prefixes returns the possible beginnings, before its text, of a message at a line. With parted,
// the text above the line has ended, so that the message needs no name.
func (p *Prompt) prefixes(i int, parted bool) (all []string) {
	l := &p.lines[i]
	if parted || l.speaker != noTurn {
		all = append(all, "")
	}
	switch {
	case p.blocks[l.block].message != nil || l.index > 0:
	case l.text == "":
		all = append(all, l.full+"\n")
	default:
		for _, sign := range []string{": ", "> ", "：", ">"} {
			if name, _, found := strings.Cut(l.full, sign); found && len(name) <= longestLabel {
				all = append(all, name+sign)
			}
		}
	}
	return all
}

// without returns a footprint without the blocks of a text. It reports false if the footprint does
// not have them.
func (p *Prompt) without(base Footprint, text string) (Footprint, bool) {
	var part []Digest
	for _, b := range cut(new(fence), text, 0) {
		part = append(part, p.normalDigest(b.text))
	}
	for j := len(base.Blocks) - len(part); j >= 0 && len(part) > 0; j-- {
		if slices.Equal(base.Blocks[j:j+len(part)], part) {
			base.Blocks = slices.Delete(slices.Clone(base.Blocks), j, j+len(part))
			base.Lines = slices.Delete(slices.Clone(base.Lines), j, j+len(part))
			base.Opening = min(base.Opening, j)
			return base, true
		}
	}
	return base, false
}
