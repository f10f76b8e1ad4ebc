package prompt

import (
	"strings"
	"unicode"

	"reprise/rewrite/reason"
)

// Given returns a digest of the prompt's additions: to all the session's prompts if it repeats
// them, otherwise to the session's first prompt. Numbers in headings do not count, since callers
// number their rounds there.
func (p *Prompt) Given(c Continuity) Digest {
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
	return p.digest(added.String())
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
