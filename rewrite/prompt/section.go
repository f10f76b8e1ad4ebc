package prompt

import (
	"slices"
	"strings"
)

// A Shape is the ledger's record of a prompt's exact text, to prove a delta: digests of the text
// byte for byte.
type Shape struct {
	Size  int // of the text without trailing space
	Whole Digest
	// HeadSize is where the closing section begins, 0 if there is none. Head is the text before it,
	// Tail the section without trailing space.
	HeadSize   int
	Head, Tail Digest
	// FirstTurn is the block where the first turn of a conversation begins, -1 if there is none.
	FirstTurn int
	Parts     []Part // empty if there are too many
}

// A Part is a section of a prompt: a heading and the text up to the next heading. The first part is
// the text between the opening and the first heading after it.
type Part struct {
	Name Digest // of the heading's line; of the opening for the first part
	Text Digest // of the whole section
}

// maxParts bounds how many sections a prompt is cut into.
const maxParts = 512

// part is a section of the current prompt.
type part struct {
	from, to int
	level    int
	heading  string
}

func (p *Prompt) sections() []part {
	parts := []part{{from: len(p.openingText())}}
	for i := p.opening(); i < len(p.blocks); i++ {
		if b := &p.blocks[i]; b.level > 0 {
			parts[len(parts)-1].to = b.at
			parts = append(parts, part{from: b.at, level: b.level,
				heading: strings.TrimRight(b.text, " \t\r")})
		}
	}
	parts[len(parts)-1].to = len(p.Text)
	return parts
}

func (p *Prompt) namedParts() []Part {
	if p.named == nil {
		for _, s := range p.parts {
			p.named = append(p.named, Part{p.digest(s.heading), p.digest(p.Text[s.from:s.to])})
		}
		p.named[0].Name = p.digest(p.openingText())
	}
	return p.named
}

// trimmed returns the prompt without trailing space.
func (p *Prompt) trimmed() string { return strings.TrimRight(p.Text, " \t\r\n") }

func (p *Prompt) shape() Shape {
	text := p.trimmed()
	s := Shape{Size: len(text), Whole: p.digest(text), FirstTurn: -1}
	if i := slices.IndexFunc(p.spoken, func(i int) bool {
		return p.lines[i].speaker.isTurn()
	}); i >= 0 {
		s.FirstTurn = p.lines[p.spoken[i]].block
	}
	s.HeadSize = p.closing()
	s.Head, s.Tail = p.digest(text[:s.HeadSize]), p.digest(text[s.HeadSize:])
	if len(p.parts) <= maxParts {
		s.Parts = p.namedParts()
	}
	return s
}

// closing returns where the closing section begins: the last section with its subsections, or
// without headings the last block. It returns 0 if there is none.
func (p *Prompt) closing() int {
	if last := len(p.parts) - 1; last > 0 {
		for level := closingLevel(p.parts); p.parts[last].level > level; {
			last--
		}
		return p.parts[last].from
	}
	if len(p.blocks) == 0 || p.blocks[len(p.blocks)-1].message != nil {
		return 0
	}
	return p.blocks[len(p.blocks)-1].at
}

// closingLevel returns the heading level that divides a prompt into the sections: the highest level
// with two headings or more, otherwise the last heading's.
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
