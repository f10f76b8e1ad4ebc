package prompt

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"reprise/rewrite/reason"
)

// ShortPromptBytes is the length below which a prompt is sent whole: the sentence that introduces a
// delta and the opening, which is repeated, leave little to save, and that is not worth the risk of
// a delta.
const ShortPromptBytes = 2 << 10

// The sentences that introduce a delta. Each says exactly how the new prompt follows from the
// earlier one.
const (
	addedAtEnd = "(This continues our session. What you were given before is unchanged; this " +
		"was added at its end:)"
	addedBefore = "(This continues our session. What you were given before is unchanged; this " +
		"was added before its closing section, which is repeated last:)"
	sectionsBelow = "(This continues our session. The lines above replace the opening that you " +
		"were given; what stood between it and the first " +
		"heading is unchanged. Below are all sections that the prompt has now, in their order. " +
		"One that is marked [unchanged] is as you were given it; " +
		"one that is not listed is gone.)"

	// unchanged stands for the text of a section that the session already has. A prompt that
	// contains this marker itself gets no such delta.
	unchanged = "[unchanged]"
	// restUnchanged stands, with a length in bytes between its parts, for the rest of an opening
	// that the session has.
	restUnchanged, isUnchanged = "[the rest of this opening, ", " bytes, is unchanged]"
)

// An opening of longOpening bytes that the session has is named by its beginning of up to
// openingShown bytes.
const (
	longOpening  = 1 << 10
	openingShown = 1 << 8
)

// StartsLikeCommand reports whether some tool would take a text for a command or a request for
// help. Such a part of a prompt is not sent on its own.
func StartsLikeCommand(text string) bool {
	return IsSlashCommand(text) || strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "?")
}

// Delta returns the part of the prompt to send to a session that has the rest, or why there is
// none. The delta and the session's prompts determine exactly one prompt.
func (p *Prompt) Delta(c Continuity) (delta string, why reason.Code) {
	switch {
	case c.Relation == reason.Identical:
		return "", reason.NothingNew
	case c.Relation != reason.Extends && c.Relation != reason.Revises:
		return "", reason.OtherTemplate
	// tools differ in how their events show it, so the caller's could not take the place there
	case !utf8.ValidString(p.Text):
		return "", reason.NoCleanCut
	case c.Transcript:
		delta, why = p.newTurn(c)
	case len(p.Text) < ShortPromptBytes:
		return "", reason.ShortPrompt
	default:
		delta, why = p.additions(&c.sent.Base.Shape)
		if why != "" {
			delta, why = p.outline(&c.sent.Base.Shape)
		}
		if why == "" && tooLittle(len(delta), len(p.Text)) {
			why = reason.SavesTooLittle
		}
	}
	if why == "" && mistakable(delta, p.Text) {
		why = reason.LooksLikeCommand
	}
	if why != "" {
		delta = ""
	}
	return delta, why
}

// tooLittle reports whether a delta saves less than a third of the prompt, which is not worth the
// risk.
func tooLittle(delta, prompt int) bool { return 3*delta > 2*prompt }

// newTurn returns the text behind the session's newest answer in a conversation, unchanged.
func (p *Prompt) newTurn(c Continuity) (string, reason.Code) {
	lines := p.lines
	if c.turn == 0 {
		return "", reason.NoCleanCut
	}
	turn := &lines[c.turn]
	if p.blocks[turn.block].message != nil {
		return "", reason.NoCleanCut // a decoded history
	}
	if p.again(0, turn.place) {
		return "", reason.SentAgain
	}
	return p.Text[turn.place:], ""
}

// again reports whether a block between two places of the prompt is sent again in every delta.
func (p *Prompt) again(from, to int) bool {
	return p.Again != nil && slices.ContainsFunc(p.blocks, func(b block) bool {
		return b.at >= from && b.at < to && p.Again(b.text)
	})
}

// openingText returns the prompt up to the end of the opening paragraph.
func (p *Prompt) openingText() string {
	if n := p.opening(); n > 0 {
		return p.Text[:p.blocks[n-1].at+len(p.blocks[n-1].text)]
	}
	return ""
}

// shownOpening returns the opening paragraph as a delta shows it: if it is long and the session has
// it, only its beginning.
func (p *Prompt) shownOpening(known bool) string {
	opening := p.openingText()
	if !known || len(opening) < longOpening || p.again(0, len(opening)) ||
		strings.Contains(p.Text, restUnchanged) {
		return opening
	}
	shown := strings.ToValidUTF8(opening[:openingShown], "")
	if i := strings.LastIndexAny(shown, "\n"); i > 0 {
		shown = shown[:i]
	} else if i := strings.LastIndexByte(shown, ' '); i > 0 {
		shown = shown[:i]
	}
	if !balanced(shown) {
		return opening
	}
	return shown + "\n" + restUnchanged + strconv.Itoa(len(opening)-len(shown)) + isUnchanged
}

// additions returns a delta if the only change is an addition at the end or before the closing
// section.
func (p *Prompt) additions(base *Shape) (string, reason.Code) {
	text := p.trimmed()
	if base.Size > len(text) {
		return "", reason.NoCleanCut
	}
	from, end, sentence := base.Size, len(text), addedAtEnd
	if p.digest(text[:from]) != base.Whole {
		from, end, sentence = base.HeadSize, len(text)-(base.Size-base.HeadSize), addedBefore
		if p.digest(text[:from]) != base.Head || p.digest(text[end:]) != base.Tail {
			return "", reason.NoCleanCut
		}
	}
	added := text[from:end]
	if !p.standsAlone(text[:from], strings.TrimLeft(added, " \t\r"), sentence == addedBefore) {
		return "", reason.NoCleanCut
	}
	if p.again(len(p.openingText()), from) {
		return "", reason.SentAgain
	}
	if sentence == addedBefore {
		added = "\n\n" + added
	}
	return p.shownOpening(true) + "\n\n" + sentence + added + text[end:] + "\n", ""
}

// standsAlone reports whether an addition means the same without the text right before it: it
// begins a separate paragraph, continues no list, quotation, table, fence or comment, and in the
// middle of the prompt starts with a heading or label.
func (p *Prompt) standsAlone(before, added string, inside bool) bool {
	line, below, _ := strings.Cut(strings.TrimLeft(added, "\r\n"), "\n")
	if line == "" || inside && !strings.HasSuffix(before, "\n\n") ||
		!inside && !strings.HasPrefix(added, "\n") {
		return false
	}
	newBlock := inside || strings.HasPrefix(strings.ReplaceAll(added, "\r", ""), "\n\n")
	// a line across the page separates
	if newBlock && below != "" && isRule(strings.TrimSpace(line)) {
		return p.standsAlone(before, "\n\n"+strings.TrimLeft(below, "\r\n"), inside)
	}
	stands := headingLevel(line) > 0 ||
		newBlock && !goesOn(line) && (!inside || p.isLabelled(line, below))
	return stands && balanced(before)
}

// goesOn reports whether a line can go on with a list, a quotation, a table or a sentence.
func goesOn(line string) bool {
	return strings.ContainsAny(line[:1], " \t-+*>|<\"'`~)]}.,;:0123456789") &&
		!strings.HasPrefix(line, "**") || strings.HasPrefix(line, "•")
}

// isLabelled reports whether a line is a label with a text, in a prompt without sections.
func (p *Prompt) isLabelled(line, below string) bool {
	who, _, text := readLabel(strings.TrimSpace(line))
	return len(p.parts) == 1 && who == unknownName && strings.TrimSpace(text+below) != ""
}

// balanced reports whether no fence, comment or struck-out text is open at the end of a text.
func balanced(text string) bool {
	var open fence
	for line := range strings.SplitSeq(text, "\n") {
		open.next(strings.TrimSpace(line))
	}
	return open == "" && strings.Count(text, "<!--") == strings.Count(text, "-->") &&
		strings.Count(text, "~~")%2 == 0 &&
		strings.Count(text, "<details") == strings.Count(text, "</details") &&
		strings.Count(text, "<del") == strings.Count(text, "</del") &&
		strings.Count(text, "/*") == strings.Count(text, "*/")
}

// outline returns a delta that lists all sections in order: unchanged ones by their heading, the
// others and the closing section whole.
func (p *Prompt) outline(base *Shape) (string, reason.Code) {
	if len(p.parts) < 2 || len(base.Parts) == 0 || base.Parts[0].Text != p.parts[0].Text ||
		strings.Contains(p.Text, unchanged) {
		return "", reason.NoCleanCut
	}
	if p.again(p.parts[0].from, p.parts[0].to) {
		return "", reason.SentAgain
	}
	before, now := map[Digest][]Digest{}, map[Digest]int{} // texts and number of sections by name
	for _, s := range base.Parts[1:] {
		before[s.Name] = append(before[s.Name], s.Text)
	}
	for _, s := range p.parts[1:] {
		now[s.Name]++
	}
	var out strings.Builder
	closing := p.closing()
	for _, s := range p.parts[1:] {
		known := now[s.Name] == 1 && slices.Equal(before[s.Name], []Digest{s.Text})
		if s.from >= closing || !known || p.again(s.from, s.to) {
			out.WriteString(p.Text[s.from:s.to])
		} else {
			out.WriteString(s.heading + "\n" + unchanged + "\n\n")
		}
	}
	return p.shownOpening(base.Parts[0].Name == p.parts[0].Name) + "\n\n" + sectionsBelow + "\n\n" +
		strings.TrimRight(out.String(), " \t\r\n") + "\n", ""
}

// mistakable reports whether a part of a prompt begins like a command of the tool although the
// prompt itself does not. A heading below the first level does not count.
func mistakable(part, prompt string) bool {
	line, _, _ := strings.Cut(part, "\n")
	part, prompt = strings.TrimLeft(part, " \t\r\n"), strings.TrimLeft(prompt, " \t\r\n")
	return StartsLikeCommand(part) || headingLevel(line) <= 1 &&
		strings.IndexAny(part, "!#") == 0 && !strings.HasPrefix(prompt, part[:1])
}

// IsSlashCommand reports whether the tool runs the prompt as one of its own commands.
func IsSlashCommand(prompt string) bool {
	return strings.HasPrefix(strings.TrimLeft(prompt, " \t\r\n"), "/")
}

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

type part struct {
	Part
	from, to int
	level    int
	heading  string // the line, of the first part the opening
}

func (p *Prompt) sections() []part {
	parts := []part{{from: len(p.openingText()), heading: p.openingText()}}
	for i := p.opening(); i < len(p.blocks); i++ {
		if b := &p.blocks[i]; b.level > 0 {
			parts[len(parts)-1].to = b.at
			parts = append(parts, part{from: b.at, level: b.level,
				heading: strings.TrimRight(b.text, " \t\r")})
		}
	}
	parts[len(parts)-1].to = len(p.Text)
	for i := range parts {
		s := &parts[i]
		s.Part = Part{p.digest(s.heading), p.digest(p.Text[s.from:s.to])}
	}
	return parts
}

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
		for _, part := range p.parts {
			s.Parts = append(s.Parts, part.Part)
		}
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
