package rewrite

import (
	"slices"
	"strings"
)

// A Shape is what the ledger keeps of a prompt's exact text, so that a delta can be proved: digests of the text as it
// stands, byte for byte.
type Shape struct {
	Size  int // of the text without the space at its end
	Whole Digest
	// HeadSize is where the closing section begins, 0 if there is none. Head is the text before it, Tail the section
	// without the space at its end.
	HeadSize   int
	Head, Tail Digest
	// FirstTurn is the block that the first turn of a conversation begins in, -1 where there is none.
	FirstTurn int
	Parts     []Part // none where there are too many
}

// A Part is a section of a prompt: a heading with what stands under it up to the next heading. The first part is what
// stands between the opening, which every delta repeats, and the first heading behind it.
type Part struct {
	Name Digest // of the line of the heading
	Text Digest // of all of it
}

// maxParts bounds how many sections are told apart.
const maxParts = 512

// part is a section of the prompt at hand.
type part struct {
	from, to int
	level    int
	heading  string
}

// sections cuts the prompt at its headings.
func (p *Prompt) sections() []part {
	if p.parts != nil {
		return p.parts
	}
	p.parts = []part{{from: len(p.openingText())}}
	for i := p.opening(); i < len(p.blocks); i++ {
		if b := &p.blocks[i]; b.level > 0 {
			p.parts[len(p.parts)-1].to = b.at
			p.parts = append(p.parts, part{from: b.at, level: b.level, heading: strings.TrimRight(b.text, " \t\r")})
		}
	}
	p.parts[len(p.parts)-1].to = len(p.Text)
	return p.parts
}

// trimmed is the prompt without the space at its end.
func (p *Prompt) trimmed() string { return strings.TrimRight(p.Text, " \t\r\n") }

// partText returns a section with its heading.
func (p *Prompt) partText(s part) string { return p.Text[s.from:s.to] }

func (p *Prompt) shape() Shape {
	text := p.trimmed()
	s := Shape{Size: len(text), Whole: p.digest(text), FirstTurn: -1}
	lines := p.conversation()
	if i := slices.IndexFunc(lines, func(l promptLine) bool { return l.speaker.isTurn() }); i >= 0 {
		s.FirstTurn = lines[i].block
	}
	s.HeadSize = p.closing()
	s.Head, s.Tail = p.digest(text[:s.HeadSize]), p.digest(text[s.HeadSize:])
	if parts := p.sections(); len(parts) <= maxParts {
		for _, part := range parts {
			s.Parts = append(s.Parts, Part{p.digest(part.heading), p.digest(p.partText(part))})
		}
	}
	return s
}

// closing returns where the closing section begins: the last section with those below it, or without headings the last
// block. It returns 0 if there is none.
func (p *Prompt) closing() int {
	parts := p.sections()
	if last := len(parts) - 1; last > 0 {
		for level := closingLevel(parts); parts[last].level > level; {
			last--
		}
		return parts[last].from
	}
	if len(p.blocks) == 0 || p.blocks[len(p.blocks)-1].message != nil {
		return 0
	}
	return p.blocks[len(p.blocks)-1].at
}

// closingLevel is the level of the headings that cut a prompt into its sections: the highest that there are two of, else that
// of the last.
func closingLevel(parts []part) int {
	var count [7]int
	for _, s := range parts {
		count[s.level]++
	}
	for level, n := range count {
		if n > 1 {
			return level
		}
	}
	return parts[len(parts)-1].level
}
