package rewrite

import "strings"

// The limits under which a delta is not worth its risk, from DESIGN.
const (
	shortPrompt  = 2 << 10 // bytes; a shorter prompt is sent whole
	worthNum     = 2       // a delta longer than 2/3 of the prompt is not sent
	worthDen     = 3
	continuation = "(This continues our session: please answer this message. What it does not repeat of the sections " +
		"you were given still holds. Earlier questions, review notes and completion markers are settled.)"
)

// A Target says which session a call goes to and what it is sent there. Only
// ToFresh, ToResume and ToFork make one, so that a delta never goes to a fresh
// session.
type Target struct {
	id     string
	copied bool   // to a copy of it
	forkAt string // the last message of it that the copy keeps, "" for all
	prompt string
	whole  bool
	why    Reason // why a resume has the whole prompt, where that was not asked for
	asked  string // the caller's prompt, where prompt is only a part of it
}

// ToFresh sends the whole prompt to a session of its own.
func ToFresh(prompt string) Target { return Target{prompt: prompt, whole: true} }

// ToResume sends the prompt, or the part of it that is new, to session id.
// always sends the whole prompt.
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

// ToFork sends the prompt, or the part of it that is new, to a copy of session id
// that ends with a message. Without one the copy would have what another process is
// just doing there, and there is nothing but a fresh session.
func ToFork(id, message string, p *Prompt, c Continuity, always bool) Target {
	if message == "" {
		return ToFresh(p.Text)
	}
	t := ToResume(id, p, c, always)
	t.copied, t.forkAt = true, message
	return t
}

// startsLikeCommand tells of a text that some tool would take for a command or for
// a call for help, so that a part of a prompt is not sent on its own.
func startsLikeCommand(text string) bool {
	return IsSlashCommand(text) || strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "?")
}

// Session is the session to resume or to copy, "" for a fresh one.
func (t Target) Session() string { return t.id }

// ForkAt is the message that a copy of the session ends with, "" where it has all.
func (t Target) ForkAt() string { return t.forkAt }

// Prompt is what the model is to be sent, and whether that is the whole prompt.
func (t Target) Prompt() (text string, whole bool) { return t.prompt, t.whole }

// Why says why a resume has the whole prompt; "" for a delta, a fresh session, and
// where ToResume was told to send all.
func (t Target) Why() Reason { return t.why }

// Asked is what the caller sent, where the model is sent less.
func (t Target) Asked() string { return t.asked }

// delta is the part of the prompt that is sent to a session that has the rest, or
// why there is none.
func (p *Prompt) delta(c Continuity) (delta string, why Reason) {
	switch {
	case c.Relation == Identical:
		return "", NothingNew
	case c.Relation != Extends && c.Relation != Revises:
		return "", OtherTemplate
	case c.dropped:
		return "", PartDropped
	case c.Transcript:
		var ok bool
		if delta, ok = p.newTurn(c); !ok {
			return "", NoCleanCut
		}
	case len(p.Text) < shortPrompt:
		return "", ShortPrompt
	default:
		delta = p.newBlocks(c)
		if tooLittle(len(delta), len(p.Text)) {
			return "", SavesTooLittle
		}
	}
	if mistakable(delta, p.Text) {
		return "", LooksLikeCommand
	}
	return delta, ""
}

func tooLittle(delta, prompt int) bool { return delta*worthDen > prompt*worthNum }

// EstimateSaving guesses, where no text is at hand, how many bytes of a prompt of so
// many blocks a delta saves that holds sent of them: as if all blocks were equally
// long.
func EstimateSaving(promptBytes, blocks, sent int) int {
	delta := promptBytes*sent/max(blocks, 1) + len(continuation)
	if promptBytes < shortPrompt || tooLittle(delta, promptBytes) {
		return 0
	}
	return promptBytes - delta
}

// newTurn is what follows the session's last answer in a transcript. The answers
// before it are the session's own and the session has been sent the rest; of that
// only what is always kept comes first.
func (p *Prompt) newTurn(c Continuity) (string, bool) {
	lines := p.conversation()
	if c.turn == 0 || c.turn >= len(lines) {
		return "", false
	}
	first := lines[c.turn]
	if lines[c.turn-1].block == first.block {
		return "", false // the answer and the new turn are one block: no clean cut
	}
	var parts []string
	for i := first.block; i < len(p.blocks); i++ {
		text := p.blocks[i].text
		if i == first.block && first.speaker == other {
			_, below, _ := strings.Cut(text, "\n")
			text = strings.TrimSpace(first.text + "\n" + below)
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return "", false
	}
	var again []string
	for i, kept := range p.kept()[:first.block] {
		if kept {
			again = append(again, p.blocks[i].text)
		}
	}
	return strings.Join(append(again, parts...), "\n\n"), true
}

// newBlocks is the opening paragraph, a line that says what follows, every block
// that the session has not been sent or that is always kept, under its headings,
// and the closing block.
func (p *Prompt) newBlocks(c Continuity) string {
	opening := p.opening()
	var out []string
	for _, b := range p.blocks[:opening] {
		out = append(out, b.text)
	}
	out = append(out, continuation)
	var heads []int // the headings that the block at hand stands under, outermost first
	shown, kept := make([]bool, len(p.blocks)), p.kept()
	for i, b := range p.blocks {
		if b.level > 0 {
			for len(heads) > 0 && p.blocks[heads[len(heads)-1]].level >= b.level {
				heads = heads[:len(heads)-1]
			}
			heads = append(heads, i)
		}
		known := c.Has[i] && i < len(p.blocks)-1 && !kept[i] && !mentionsFile(b.text)
		for _, h := range heads {
			// Under a new heading the same words mean something else. Those of the
			// opening are repeated, and often count rounds: "# Status: review | Rejections: 2/15".
			known = known && (h < opening || c.Has[h])
		}
		if i < opening || known {
			continue
		}
		for _, h := range append(heads, i) {
			if h >= opening && !shown[h] {
				shown[h] = true
				out = append(out, p.blocks[h].text)
			}
		}
	}
	return strings.Join(out, "\n\n") + "\n"
}

// mentionsFile tells of an @path, which the tool replaces by the file as it is
// now: such a block is sent again even where its words are the same.
func mentionsFile(text string) bool {
	for i := range len(text) - 1 {
		if text[i] != '@' || i > 0 && !strings.ContainsRune(" \t\n(\"'`", rune(text[i-1])) {
			continue
		}
		c := text[i+1]
		if c == '/' || c == '.' || c == '~' || c == '"' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return true
		}
	}
	return false
}
