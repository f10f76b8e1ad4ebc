package rewrite

import (
	"slices"
	"strings"
)

// ShortPromptBytes is the length below which a prompt is sent whole: the sentence that introduces a delta and the
// opening, which is repeated, leave little to save, and that is not worth the risk of a delta.
const ShortPromptBytes = 2 << 10

// The limits beyond which a delta is not worth its risk, from DESIGN.
const (
	worthNum = 2 // a delta longer than 2/3 of the prompt is not sent
	worthDen = 3
)

// The sentences that introduce a delta. Each says exactly how the new prompt follows from the
// earlier one.
const (
	addedAtEnd    = "(This continues our session. What you were given before is unchanged; this was added at its end:)"
	addedBefore   = "(This continues our session. What you were given before is unchanged; this was added before its closing section, which is repeated last:)"
	sectionsBelow = "(This continues our session. The lines above replace the opening that you were given; what stood between it and the first " +
		"heading is unchanged. Below are all sections that the prompt has now, in their order. One that is marked [unchanged] is as you were given it; " +
		"one that is not listed is gone.)"

	// unchanged stands for the text of a section that the session already has. A prompt that
	// contains this marker itself gets no such delta.
	unchanged = "[unchanged]"
)

// A Target is the session that a call goes to and what it is sent there. Only ToFresh, ToResume,
// ToFork and ToCopy make one, so a delta never goes to a fresh session.
type Target struct {
	id     string
	copied bool   // the call goes to a copy of the session
	forkAt string // the last message that the copy keeps, "" for all
	prompt string
	whole  bool
	why    Reason // why a resume sends the whole prompt although that was not requested
	asked  string // the caller's prompt if prompt is only a part of it
	newID  string // of the session that the call begins
}

// ToFresh sends the whole prompt to a session of its own.
func ToFresh(prompt string) Target { return Target{prompt: prompt, whole: true} }

// ToResume sends the prompt, or its new part, to session id. With always it sends the whole prompt.
func ToResume(id string, p *Prompt, c Continuity, always bool) Target {
	t := Target{id: id, prompt: p.Text, whole: true}
	if always {
		return t
	}
	delta, why := p.delta(c)
	if why != "" {
		t.why = why
		return t
	}
	t.prompt, t.whole, t.asked = delta, false, p.Text
	return t
}

// ToFork sends the prompt, or its new part, to a copy of session id that ends with message. Without
// a message the copy would include what another process is doing there, so the call needs a fresh
// session.
func ToFork(id, message string, p *Prompt, c Continuity, always bool) Target {
	if message == "" {
		return ToFresh(p.Text)
	}
	t := ToResume(id, p, c, always)
	t.copied, t.forkAt = true, message
	return t
}

// startsLikeCommand reports whether some tool would take a text for a command or a request for
// help. Such a part of a prompt is not sent on its own.
func startsLikeCommand(text string) bool {
	return IsSlashCommand(text) || strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "?")
}

// Beginning returns the target with an ID for the session that the call begins: a fresh one, or a copy.
// A tool that chooses the IDs of its sessions itself ignores it.
func (t Target) Beginning(id string) Target {
	t.newID = id
	return t
}

// NewID returns the ID for the session that the call begins.
func (t Target) NewID() string { return t.newID }

// Session returns the session to resume or to copy, "" for a fresh one.
func (t Target) Session() string { return t.id }

// ForkAt returns the message that a copy of the session ends with, "" for a complete copy.
func (t Target) ForkAt() string { return t.forkAt }

// Prompt returns what the model is sent and whether that is the whole prompt.
func (t Target) Prompt() (text string, whole bool) { return t.prompt, t.whole }

// Why returns why a resume sends the whole prompt; "" for a delta, a fresh session, or if ToResume
// was asked to send everything.
func (t Target) Why() Reason { return t.why }

// Asked returns what the caller sent if the model is sent less.
func (t Target) Asked() string { return t.asked }

// delta returns the part of the prompt to send to a session that has the rest, or why there is
// none. The delta and what the session was sent determine exactly one prompt.
func (p *Prompt) delta(c Continuity) (delta string, why Reason) {
	switch {
	case c.Relation == Identical:
		return "", NothingNew
	case c.Relation != Extends && c.Relation != Revises:
		return "", OtherTemplate
	case c.Transcript:
		delta, why = p.newTurn(c)
	case len(p.Text) < ShortPromptBytes:
		return "", ShortPrompt
	default:
		delta, why = p.additions(c.base)
		if why != "" {
			delta, why = p.outline(c.base)
		}
		if why == "" && tooLittle(len(delta), len(p.Text)) {
			why = SavesTooLittle
		}
	}
	if why == "" && mistakable(delta, p.Text) {
		why = LooksLikeCommand
	}
	if why != "" {
		return "", why
	}
	return delta, ""
}

func tooLittle(delta, prompt int) bool { return delta*worthDen > prompt*worthNum }

// EstimateSaving estimates how many bytes a delta saves when no text is at hand: for a prompt of so
// many blocks, of which the delta contains sent, as if all blocks had the same length.
func EstimateSaving(promptBytes, blocks, sent int) int {
	delta := promptBytes*sent/max(blocks, 1) + len(addedAtEnd)
	if promptBytes < ShortPromptBytes || tooLittle(delta, promptBytes) {
		return 0
	}
	return promptBytes - delta
}

// newTurn returns what follows the session's newest answer in a conversation, unchanged.
func (p *Prompt) newTurn(c Continuity) (string, Reason) {
	lines := p.conversation()
	if c.turn == 0 || lines[c.turn-1].block == lines[c.turn].block {
		return "", NoCleanCut
	}
	turn := &p.blocks[lines[c.turn].block] // no block begins with a blank line
	if turn.message != nil {
		return "", NoCleanCut // a decoded history
	}
	if p.again(0, turn.at) {
		return "", SentAgain
	}
	return p.Text[turn.at:], ""
}

// again reports whether a block between two places of the prompt is sent again in every delta.
func (p *Prompt) again(from, to int) bool {
	return p.Again != nil && slices.ContainsFunc(p.blocks, func(b block) bool {
		return b.at >= from && b.at < to && p.Again(b.text)
	})
}

// openingText returns the prompt up to the end of its opening paragraph.
func (p *Prompt) openingText() string {
	if n := p.opening(); n > 0 {
		return p.Text[:p.blocks[n-1].at+len(p.blocks[n-1].text)]
	}
	return ""
}

// additions returns a delta if the only change is an addition at the end or before the closing
// section.
func (p *Prompt) additions(base *Shape) (string, Reason) {
	text := p.trimmed()
	if base.Size > len(text) {
		return "", NoCleanCut
	}
	from, end, sentence := base.Size, len(text), addedAtEnd
	if p.digest(text[:from]) != base.Whole {
		from, end, sentence = base.HeadSize, len(text)-(base.Size-base.HeadSize), addedBefore
		if p.digest(text[:from]) != base.Head || p.digest(text[end:]) != base.Tail {
			return "", NoCleanCut
		}
	}
	added := text[from:end]
	if !p.standsAlone(text[:from], strings.TrimLeft(added, " \t\r"), sentence == addedBefore) {
		return "", NoCleanCut
	}
	opening := p.openingText()
	if p.again(len(opening), from) {
		return "", SentAgain
	}
	if sentence == addedBefore {
		added = "\n\n" + added
	}
	return opening + "\n\n" + sentence + added + text[end:] + "\n", ""
}

// standsAlone reports whether an addition means the same without the text right before it: it
// begins a paragraph of its own, continues no list, quotation, table, fence or comment, and in the
// middle of the prompt starts with a heading or label.
func (p *Prompt) standsAlone(before, added string, inside bool) bool {
	line, below, _ := strings.Cut(strings.TrimLeft(added, "\r\n"), "\n")
	if line == "" || !inside && !strings.HasPrefix(added, "\n") || inside && !strings.HasSuffix(before, "\n\n") {
		return false
	}
	newBlock := inside || strings.HasPrefix(strings.ReplaceAll(added, "\r", ""), "\n\n")
	if headingLevel(line) > 0 {
		return balanced(before)
	}
	if !newBlock || strings.ContainsAny(line[:1], " \t-+*>|<\"'`~)]}.,;:0123456789") && !strings.HasPrefix(line, "**") || strings.HasPrefix(line, "•") {
		return false
	}
	if inside {
		who, _, text := readLabel(strings.TrimSpace(line))
		return len(p.sections()) == 1 && who == unknownName && strings.TrimSpace(text+below) != "" && balanced(before)
	}
	return balanced(before)
}

// balanced reports whether no fence, comment or struck-out text is open at the end of a text.
func balanced(text string) bool {
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if fence == "" {
			fence = opensFence(line)
		} else if closesFence(line, fence) {
			fence = ""
		}
	}
	return fence == "" && strings.Count(text, "<!--") == strings.Count(text, "-->") && strings.Count(text, "~~")%2 == 0 &&
		strings.Count(text, "<details") == strings.Count(text, "</details") && strings.Count(text, "<del") == strings.Count(text, "</del") &&
		strings.Count(text, "/*") == strings.Count(text, "*/")
}

// outline returns a delta that lists all sections in order: unchanged ones by their heading, the
// others and the closing section whole.
func (p *Prompt) outline(base *Shape) (string, Reason) {
	parts := p.sections()
	if len(parts) < 2 || len(base.Parts) == 0 || base.Parts[0].Text != p.digest(p.partText(parts[0])) || strings.Contains(p.Text, unchanged) {
		return "", NoCleanCut
	}
	if p.again(parts[0].from, parts[0].to) {
		return "", SentAgain
	}
	given, sharesName := map[Digest]Digest{}, map[Digest]bool{}
	for _, s := range base.Parts {
		if _, ok := given[s.Name]; ok {
			sharesName[s.Name] = true
		}
		given[s.Name] = s.Text
	}
	names := make([]Digest, len(parts))
	uses := map[Digest]int{}
	for i := range parts {
		names[i] = p.digest(parts[i].heading)
		uses[names[i]]++
	}
	var out strings.Builder
	closing := p.closing()
	for i := 1; i < len(parts); i++ {
		s, name := parts[i], names[i]
		if s.from >= closing || given[name] != p.digest(p.partText(s)) || sharesName[name] || uses[name] > 1 || p.again(s.from, s.to) {
			out.WriteString(p.Text[s.from:s.to])
		} else {
			out.WriteString(s.heading + "\n" + unchanged + "\n\n")
		}
	}
	return p.openingText() + "\n\n" + sectionsBelow + "\n\n" + strings.TrimRight(out.String(), " \t\r\n") + "\n", ""
}
