package rewrite

import "strings"

// promptLine is a line of a prompt that is not blank, seen as a line of a
// conversation.
type promptLine struct {
	block    int // the block it stands in
	speaker  speaker
	text     string // the line without the speaker's name and surrounding space
	digest   Digest // of text, once digested is set
	digested bool
}

// speaker says whose turn a line opens.
type speaker int

const (
	nobody speaker = iota // the line opens no turn
	assistant
	other
)

// The names that turns stand under, and the words that may stand beside a name
// ("Assistant (turn 2):", "### Claude's reply").
var (
	assistantNames = wordSet("assistant ai model bot agent claude codex gemini vibe chatgpt gpt you response reply answer")
	otherNames     = wordSet("user human system developer tool function customer client me question")
	besideNames    = wordSet("s code cli message output turn said says wrote replied answered previous last your role name start im header id")
)

// conversation gives the prompt's lines with the turns that they open.
func (p *Prompt) conversation() []promptLine {
	if p.lines != nil {
		return p.lines
	}
	p.lines = []promptLine{}
	questions := false
	for i, b := range p.blocks {
		for line := range strings.SplitSeq(b.text, "\n") {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			who, rest := opensTurn(line)
			switch {
			case strings.HasPrefix(line, "Q:"):
				questions, who = true, other
			case questions && strings.HasPrefix(line, "A:"):
				who, rest = assistant, strings.TrimSpace(line[2:])
			}
			p.lines = append(p.lines, promptLine{block: i, speaker: who, text: rest})
		}
	}
	return p.lines
}

// lineDigest is the digest of line i of the conversation.
func (p *Prompt) lineDigest(i int) Digest {
	l := &p.lines[i]
	if !l.digested {
		l.digest, l.digested = p.digest(l.text), true
	}
	return l.digest
}

// opensTurn reads a line as the start of a turn in any usual notation:
// "## assistant", "Assistant:", "**Assistant:** text", "<assistant>", "[assistant]",
// "<|im_start|>assistant", `"role": "assistant"`. rest is what the line says
// beyond that, the whole line where it opens no turn.
func opensTurn(line string) (who speaker, rest string) {
	if role, ok := jsonRole(line); ok {
		return speakerOf(role), line
	}
	label, rest, ok := turnLabel(line)
	if !ok {
		return nobody, line
	}
	if who = speakerOf(label); who == nobody {
		return nobody, line
	}
	if strings.HasPrefix(line, "</") {
		return other, rest // what follows the end of a turn is not the assistant's
	}
	return who, withoutClosingTag(rest)
}

// turnLabel finds what may be the name over a turn, at the start of a line, set
// off from the rest by one of the signs that set off a name.
func turnLabel(line string) (label, rest string, ok bool) {
	start := strings.IndexFunc(line, func(r rune) bool {
		return r == '<' || r == '[' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	})
	const longestLead = 16
	if start < 0 || start > longestLead {
		return "", "", false
	}
	lead, text := line[:start], line[start:]
	switch text[0] {
	case '<':
		label, rest, ok = strings.Cut(text[1:], ">")
		if strings.HasSuffix(label, "im_start|") || strings.HasSuffix(label, "start_of_turn") {
			label, rest = rest, ""
		}
	case '[':
		label, rest, ok = strings.Cut(text[1:], "]")
	default:
		const longestLabel = 48
		if end := strings.IndexAny(text, ":>"); end >= 0 && end <= longestLabel {
			label, rest, ok = text[:end], text[end+1:], true
		} else if strings.ContainsAny(lead, "#*_=") {
			label, ok = text, true
		}
	}
	return label, strings.TrimLeft(rest, ":*_ \t"), ok
}

// speakerOf reads a label: a name, and around it only words that go with a name.
func speakerOf(label string) speaker {
	const longest = 64
	if len(label) > longest {
		return nobody
	}
	who := nobody
	for _, word := range words(strings.NewReplacer("-", " ", "/", " ", ".", " ").Replace(label)) {
		switch {
		case assistantNames[word]:
			if who == nobody {
				who = assistant
			}
		case otherNames[word]:
			if who == nobody {
				who = other
			}
		case !besideNames[word] && strings.Trim(word, "0123456789:") != "":
			return nobody
		}
	}
	return who
}

func withoutClosingTag(text string) string {
	if !strings.HasSuffix(text, ">") {
		return text
	}
	if i := strings.LastIndex(text, "</"); i >= 0 {
		return strings.TrimSpace(text[:i])
	}
	return strings.TrimSpace(strings.TrimSuffix(text, "<|im_end|>"))
}

// jsonRole finds the role in a line of a conversation that is written as JSON.
func jsonRole(line string) (string, bool) {
	_, after, ok := strings.Cut(line, `"role"`)
	if !ok {
		return "", false
	}
	after = strings.TrimLeft(after, ": \t")
	if !strings.HasPrefix(after, `"`) {
		return "", false
	}
	role, _, ok := strings.Cut(after[1:], `"`)
	return role, ok
}

// An Answer is what the ledger keeps of one answer: the digests of its lines that
// are not blank, and its length.
type Answer struct {
	Lines []Digest
	Bytes int
}

// NewAnswer digests an answer.
func NewAnswer(text string, key Key) Answer {
	digest := key.Digester()
	var a Answer
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			a.Lines = append(a.Lines, digest(line))
			a.Bytes += len(line)
		}
	}
	return a
}
