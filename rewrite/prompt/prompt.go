// Package prompt compares two prompts: it cuts a prompt into blocks, says how it relates to a
// session's prompts and which evidence it shows, and finds the part that is new.
//
// It does no I/O and knows no tool. It stores keyed digests of a prompt, never text. Invariant: a
// delta and the session's prompts determine exactly one prompt.
package prompt

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// DigestSize is the length of a Digest in bytes.
const DigestSize = 16

// A Digest represents a piece of a prompt in the ledger. It is keyed: without the ledger, guesses
// cannot be tested against it.
type Digest [DigestSize]byte

// A Key is the ledger's secret for digests.
type Key []byte

// RoleTextMark separates a role's name from the name of the text. A role that nothing names begins
// with it.
const RoleTextMark = " #"

// IsRole reports whether a role has a name, in small or large letters and with any text.
func IsRole(role, name string) bool {
	own, _, _ := strings.Cut(role, RoleTextMark)
	return strings.EqualFold(name, role) || strings.EqualFold(name, own)
}

// Name returns a short name for a text. Under the key it distinguishes texts and reveals nothing
// about them.
func (k Key) Name(text string) string { return shortName(k.Digester()(text)) }

func shortName(d Digest) string { return hex.EncodeToString(d[:8]) }

// Digester returns the function that digests texts under the key. The function is not safe for
// concurrent use.
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

// A block is a run of lines between blank lines. A heading is a separate block, fenced code is
// never cut, and a message of a conversation in JSON is one block.
type block struct {
	text    string // as the caller wrote it, without the last newline
	at      int    // the place in the prompt
	level   int    // of a heading, 0 for anything else
	message *message
	digest  Digest
	log     lazy[bool] // by isLog
}

// lines returns how many lines the block has, 0 for a block that cannot grow by lines.
func (b *block) lines() int {
	if b.level > 0 || b.message != nil {
		return 0
	}
	return strings.Count(b.text, "\n") + 1
}

// A Prompt is a prompt cut into blocks.
type Prompt struct {
	Text string
	// Again reports whether a piece of the prompt is sent again in every delta although the session
	// has it: a rule requires it, or the tool acts on it anew in each turn. It can be nil.
	Again  func(text string) bool
	blocks []block
	equal  map[Digest][]int // the blocks of each digest
	lines  []promptLine     // as a conversation
	starts []int            // the first line of each block, and their end
	spoken []int            // the lines with a speaker
	parts  []part
	print  Footprint

	firstLines []Digest // of the first lines that are not blank
	lineStarts []int    // where these lines start

	digest   func(string) Digest
	gapBytes int                          // how many bytes gaps can still digest
	gapped   memo[[2]int, map[Digest]int] // by gaps: by block and number of lines
	normals  memo[string, Digest]         // by normalDigest
	cuts     memo[int, *Prompt]           // by cutAt: by the place where the line starts
	found    memo[Digest, *foundWords]    // by words: by text
}

// A memo keeps the values of a function: hundreds of sessions are compared with a prompt.
type memo[K comparable, V any] struct{ values map[K]V }

func (m *memo[K, V]) of(key K, compute func() V) V {
	value, known := m.values[key]
	if !known {
		if value = compute(); m.values == nil {
			m.values = map[K]V{}
		}
		m.values[key] = value
	}
	return value
}

// A lazy value of a line or a block is computed once. A memo by their numbers would take longer
// than the comparison of a long prompt's lines with hundreds of sessions.
type lazy[V any] struct{ value *V }

func (l *lazy[V]) of(compute func() V) V {
	if l.value == nil {
		l.value = new(compute())
	}
	return *l.value
}

// A Footprint is the ledger's record of a prompt.
type Footprint struct {
	Blocks  []Digest
	Lines   []int  // how many lines each block has, 0 for a block that cannot grow by lines
	Opening int    // how many blocks the opening paragraph has, with its headings
	Bytes   int    // length of the text: the lines without surrounding space
	First   Digest // of the first line: a prompt that continues this one begins with the same
	Shape   Shape
}

// maxBlocks bounds how many blocks a prompt has that is compared with others. The ledger's record
// of a prompt grows with them.
const maxBlocks = 32_768

// HasTooManyBlocks reports whether a text has more blocks than are compared.
func HasTooManyBlocks(text string) bool {
	return len(text) > maxBlocks && len(cutMessages(text)) > maxBlocks
}

// New cuts text into blocks and digests them under key.
func New(text string, key Key) *Prompt {
	digest, blocks := key.Digester(), cutMessages(text)
	for i := range blocks {
		blocks[i].digest = digest(normal(blocks[i].text))
	}
	return newPrompt(text, blocks, digest)
}

func newPrompt(text string, blocks []block, digest func(string) Digest) *Prompt {
	p := &Prompt{Text: text, blocks: blocks, digest: digest, gapBytes: gapBytes,
		equal: make(map[Digest][]int, len(blocks))}
	for i, b := range blocks {
		p.equal[b.digest] = append(p.equal[b.digest], i)
	}
	p.readLines()
	p.parts = p.sections()
	p.print = p.footprint()
	p.readFirstLines()
	return p
}

// normalDigest returns the digest of a text without the volatile parts.
func (p *Prompt) normalDigest(text string) Digest {
	return p.normals.of(text, func() Digest { return p.digest(normal(text)) })
}

// Footprint returns the ledger's record of the prompt. Callers must not change the blocks.
func (p *Prompt) Footprint() Footprint { return p.print }

func (p *Prompt) footprint() Footprint {
	f := Footprint{Opening: p.opening(), Blocks: make([]Digest, len(p.blocks)),
		Lines: make([]int, len(p.blocks)), Shape: p.shape()}
	for i := range p.blocks {
		b := &p.blocks[i]
		f.Blocks[i], f.Lines[i] = b.digest, b.lines()
		f.Bytes += wordBytes(b.text)
	}
	if len(p.blocks) > 0 {
		f.First = p.digest(FirstLine(p.Text))
	}
	return f
}

// FirstLine returns the first line of a prompt that has words, without the volatile parts. The "-"
// that stands for stdin, which claude takes into the prompt, has none, nor has a line across the
// page.
func FirstLine(prompt string) string {
	for line := range strings.SplitSeq(prompt, "\n") {
		if !isRule(strings.TrimSpace(line)) {
			return normal(line)
		}
	}
	return ""
}

// maxFirstLines bounds how many lines can stand before the text that an earlier prompt began with.
const maxFirstLines = 48

// FirstLines returns the digests of the prompt's first lines that have words: an earlier prompt
// that this one continues began with one of them.
func (p *Prompt) FirstLines() []Digest { return p.firstLines }

func (p *Prompt) readFirstLines() {
	at := 0
	for line := range strings.SplitSeq(p.Text, "\n") {
		if len(p.firstLines) == maxFirstLines {
			break
		}
		if !isRule(strings.TrimSpace(line)) {
			p.firstLines, p.lineStarts = append(p.firstLines, p.digest(normal(line))),
				append(p.lineStarts, at)
		}
		at += len(line) + 1
	}
}

// opening returns the number of blocks up to and including the first that is no heading.
func (p *Prompt) opening() int {
	for i, b := range p.blocks {
		if b.level == 0 && !isRule(strings.TrimSpace(b.text)) {
			return i + 1
		}
	}
	return len(p.blocks)
}

// cut cuts a text that begins at offset, and can begin in fenced code, into blocks. It sets the
// fence that is open at the text's end.
func cut(f *fence, text string, offset int) []block {
	var blocks []block
	from, at := -1, 0 // where the current block and line begin
	flush := func() {
		if from != -1 {
			blocks = append(blocks, block{text: text[from : at-1], at: offset + from})
			from = -1
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case f.next(trimmed):
			if from == -1 && trimmed != "" {
				from = at
			}
		case trimmed == "":
			flush()
		case closesTurn(trimmed): // turns are added before it
			flush()
			from = at
		case headingLevel(line) > 0:
			flush()
			blocks = append(blocks, block{text: line, at: offset + at, level: headingLevel(line)})
		case from == -1:
			from = at
		}
		at += len(line) + 1
	}
	flush()
	return blocks
}

func headingLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n > 6 || len(line) == n || (line[n] != ' ' && line[n] != '\t') {
		return 0
	}
	return n
}

// opensFence returns the marker of the fence that the line opens, or "".
func opensFence(line string) string {
	for _, c := range []string{"`", "~"} {
		marker := line[:len(line)-len(strings.TrimLeft(line, c))]
		if len(marker) >= 3 && !strings.Contains(line[len(marker):], c) {
			return marker
		}
	}
	return ""
}

// A fence is the marker of the fenced code that a text is in, "" for none.
type fence string

// next reads a line and reports whether it belongs to fenced code, from the opening line to the
// closing one.
func (f *fence) next(line string) bool {
	marker := string(*f)
	switch {
	case marker == "":
		*f = fence(opensFence(line))
		return *f != ""
	case strings.HasPrefix(line, marker) && strings.Trim(line, marker) == "":
		*f = ""
	}
	return true
}

// normal returns a block's text without the volatile parts: space at the end of lines, and the time
// of day in a line that contains nothing else.
func normal(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = normalLine(line)
	}
	return strings.Join(lines, "\n")
}

func normalLine(line string) string {
	line = strings.TrimRight(line, " \t\r")
	if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
		return stripRound(line)
	}
	return stripCount(stripClock(line))
}

// stripRound returns a line of brackets, "[iteration 2/5] [2026-11-19T08:15:02Z]", without the
// count of the round and the time, if it has both or a count alone, and nothing else.
func stripRound(line string) string {
	var out []string
	counted := false
	for group := range strings.SplitSeq(strings.TrimSuffix(line, "]"), "]") {
		text, ok := strings.CutPrefix(strings.TrimSpace(group), "[")
		bare := stripCount(text)
		switch {
		case ok && bare != text:
			counted = true
			out = append(out, bare)
		case ok && isClock(strings.ToLower(text)) && strings.ContainsAny(text, "Tt"):
			out = append(out, "\x00clock")
		default:
			return line
		}
	}
	if !counted {
		return line
	}
	return strings.Join(out, " ")
}

// countWords are the words for rounds in callers' prompts; turnWords are the words among them that
// rarely mean anything else.
var (
	countWords = anyOf(`round iteration turn cycle pass attempt runde durchgang versuch
		iteración ronda tour itération giro iterazione rodada ronde runda раунд итерация`)
	turnWords = anyOf("round iteration turn runde ronda")
)

// longestCount is the length of the longest line that is searched for a count.
const longestCount = 160

// stripCount returns a line without the number of the round: "Round 2 of 5" if the line contains
// nothing else, "Turn 3/50" anywhere.
func stripCount(line string) string {
	if len(line) > longestCount || !strings.ContainsAny(line, "0123456789") {
		return line
	}
	type number struct {
		from, to int
		turn     bool
	}
	var numbers []number
	counts, alone, turn := false, true, false
	for i := 0; i < len(line); {
		n := wordLength(line[i:])
		if n == 0 {
			turn = turn && strings.ContainsRune(" /#", rune(line[i]))
			i++
			continue
		}
		switch word := strings.ToLower(line[i : i+n]); {
		case digits(word):
			numbers = append(numbers, number{i, i + n, turn})
		case countWords(word):
			counts, turn = true, turnWords(word)
		case word != "of":
			alone, turn = false, false
		}
		i += n
	}
	var out strings.Builder
	at := 0
	for _, n := range numbers {
		if n.turn || alone && counts {
			out.WriteString(line[at:n.from] + "#")
			at = n.to
		}
	}
	return out.String() + line[at:]
}

// wordBytes returns the length of a text without space around lines and without lines that have no
// letter or digit: neither distinguishes two jobs.
func wordBytes(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		if strings.ContainsFunc(line, isWordRune) {
			n += len(strings.TrimSpace(line)) + 1
		}
	}
	return max(n-1, 0)
}
