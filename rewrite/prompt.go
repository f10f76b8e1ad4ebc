package rewrite

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"unicode"
)

// DigestSize is the length of a Digest in bytes.
const DigestSize = 16

// A Digest stands for a piece of a prompt in the ledger. It is keyed, so that
// nobody without the ledger can test a guess against it.
type Digest [DigestSize]byte

// A Key is the ledger's secret for digests.
type Key []byte

// Digester gives the function that digests pieces of text under the key. The
// function is not safe for concurrent use.
func (k Key) Digester() func(string) Digest {
	mac := hmac.New(sha256.New, k)
	var sum [sha256.Size]byte
	var text []byte
	return func(s string) (d Digest) {
		mac.Reset()
		text = append(text[:0], s...)
		mac.Write(text)
		copy(d[:], mac.Sum(sum[:0]))
		return d
	}
}

// A block is a run of lines between blank lines. A heading is a block of its
// own, a fenced piece of code is never cut.
type block struct {
	text   string // as the caller wrote it, without its last newline
	level  int    // of a heading, 0 for anything else
	digest Digest
}

// A Prompt is a prompt cut into blocks.
type Prompt struct {
	Text string
	// Keep tells of a block that every delta repeats, with all that stands under
	// it if it is a heading; nil for none.
	Keep   func(block string) bool
	blocks []block
	digest func(string) Digest
	// What is made when it is first needed.
	lines   []promptLine    // by turns
	print   *Footprint      // by Footprint
	digests map[Digest]bool // by hasAny
}

// A Footprint is what the ledger keeps of a prompt.
type Footprint struct {
	Blocks  []Digest
	Opening int // how many blocks the opening paragraph takes, with its headings
	Bytes   int // how much they say: their lines without the space around them
}

// NewPrompt cuts text into blocks and digests them under key.
func NewPrompt(text string, key Key) *Prompt {
	p := &Prompt{Text: text, digest: key.Digester()}
	p.blocks = cut(text)
	for i := range p.blocks {
		p.blocks[i].digest = p.digest(normal(p.blocks[i].text))
	}
	return p
}

// Footprint gives what is to be kept of the prompt. Its blocks are not to be changed.
func (p *Prompt) Footprint() Footprint {
	if p.print != nil {
		return *p.print
	}
	f := Footprint{Opening: p.opening(), Blocks: make([]Digest, len(p.blocks))}
	for i, b := range p.blocks {
		f.Blocks[i] = b.digest
		f.Bytes += wordBytes(b.text)
	}
	p.print = &f
	return f
}

// Blocks gives the text of each block, and is meant for showing a prompt to the
// person who gave it.
func (p *Prompt) Blocks() []string {
	texts := make([]string, len(p.blocks))
	for i, b := range p.blocks {
		texts[i] = b.text
	}
	return texts
}

// kept tells which blocks are repeated in every delta.
func (p *Prompt) kept() []bool {
	kept := make([]bool, len(p.blocks))
	if p.Keep == nil {
		return kept
	}
	under := 0 // the level of the heading that is kept, 0 for none
	for i, b := range p.blocks {
		if b.level > 0 && b.level <= under {
			under = 0
		}
		kept[i] = under > 0 || p.Keep(b.text)
		if kept[i] && under == 0 {
			under = b.level
		}
	}
	return kept
}

// opening is the number of blocks up to and with the first that is no heading.
func (p *Prompt) opening() int {
	for i, b := range p.blocks {
		if b.level == 0 {
			return i + 1
		}
	}
	return len(p.blocks)
}

func cut(text string) []block {
	blocks := make([]block, 0, min(strings.Count(text, "\n\n"), len(text)/32)+1)
	from, at := -1, 0 // where the run and the line begin
	fence := ""
	flush := func() {
		if from >= 0 {
			blocks = append(blocks, block{text: text[from : at-1]})
			from = -1
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if closesFence(trimmed, fence) {
				fence = ""
			}
		case trimmed == "":
			flush()
		case headingLevel(line) > 0:
			flush()
			blocks = append(blocks, block{text: line, level: headingLevel(line)})
		default:
			if from < 0 {
				from = at
			}
			fence = opensFence(trimmed)
		}
		at += len(line) + 1
	}
	flush()
	return blocks
}

func headingLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n < 1 || n > 6 || len(line) == n || (line[n] != ' ' && line[n] != '\t') {
		return 0
	}
	return n
}

// opensFence gives the marker of the fence that the line opens, or "".
func opensFence(line string) string {
	for _, c := range []string{"`", "~"} {
		marker := line[:len(line)-len(strings.TrimLeft(line, c))]
		if len(marker) >= 3 && !strings.Contains(line[len(marker):], c) {
			return marker
		}
	}
	return ""
}

func closesFence(line, fence string) bool {
	return strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
}

// normal is a block's text without what is volatile in itself: space at the end
// of lines, and the time of day in a line that says nothing else.
func normal(text string) string {
	same := true // nearly always
	for line := range strings.SplitSeq(text, "\n") {
		same = same && normalLine(line) == line
	}
	if same {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = normalLine(line)
	}
	return strings.Join(lines, "\n")
}

func normalLine(line string) string { return withoutClock(strings.TrimRight(line, " \t\r")) }

// wordBytes is the length of a text without the space around its lines, and
// without the lines that hold neither letter nor digit: neither tells two jobs apart.
func wordBytes(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		if strings.IndexFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
			n += len(strings.TrimSpace(line)) + 1
		}
	}
	return max(n-1, 0)
}
