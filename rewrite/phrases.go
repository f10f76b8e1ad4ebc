package rewrite

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A phrase is an entry of evidenceTable.
type phrase struct {
	kind  string
	start bool // it must begin a sentence
	words []alternatives
}

// alternatives are the words allowed in one place of a phrase; nil is a gap.
type alternatives []string

func (a alternatives) match(word string) bool {
	for _, want := range a {
		if prefix, ok := strings.CutSuffix(want, "*"); want == word || ok && strings.HasPrefix(word, prefix) {
			return true
		}
	}
	return false
}

// phrases parses evidenceTable on first use: the phrases to find in what a prompt adds, and those
// to find in what the session was sent before.
var phrases = sync.OnceValue(func() (t struct{ added, base phraseTable }) {
	t.added, t.base = newPhraseTable(), newPhraseTable()
	for line := range strings.SplitSeq(strings.TrimSpace(evidenceTable), "\n") {
		kind, _, _ := strings.Cut(line, " ")
		if kind == "base" || kind == "process" {
			t.base.add(line)
		}
		if kind != "process" { // other kinds judge what is added
			t.added.add(line)
		}
	}
	return t
})

type phraseTable struct {
	byWord   map[string][]*phrase // by the words that a phrase may begin with
	prefixed map[byte][]prefixed  // those that begin with a word ending in *, by its first byte
	pieces   []piece              // of the languages without spaces
}

func newPhraseTable() phraseTable {
	return phraseTable{byWord: map[string][]*phrase{}, prefixed: map[byte][]prefixed{}}
}

type prefixed struct {
	prefix string
	phrase *phrase
}

type piece struct{ kind, text string }

func (t *phraseTable) add(line string) {
	fields := strings.Fields(line)
	kind, language := fields[0], fields[1]
	if language == "zh" || language == "ja" {
		for _, text := range strings.Split(strings.Join(fields[2:], " "), "|") {
			t.pieces = append(t.pieces, piece{kind, text})
		}
		return
	}
	ph := &phrase{kind: kind}
	for i, field := range fields[2:] {
		if i == 0 {
			field, ph.start = strings.TrimPrefix(field, "^"), strings.HasPrefix(field, "^")
		}
		if field == ".." {
			ph.words = append(ph.words, nil)
			continue
		}
		ph.words = append(ph.words, strings.Split(field, "|"))
	}
	for _, word := range ph.words[0] {
		if prefix, ok := strings.CutSuffix(word, "*"); ok {
			t.prefixed[word[0]] = append(t.prefixed[word[0]], prefixed{prefix, ph})
		} else {
			t.byWord[word] = append(t.byWord[word], ph)
		}
	}
}

// longestGap is how many words ".." matches at most.
const longestGap = 3

// match returns the length of the phrase in words if words begins with it, otherwise 0.
func (ph *phrase) match(words []textWord) int { return matchPlaces(ph.words, words, 0) }

func matchPlaces(places []alternatives, words []textWord, used int) int {
	switch {
	case len(places) == 0:
		return used
	case places[0] == nil:
		for skip := range longestGap + 1 {
			if n := matchPlaces(places[1:], words, used+skip); n != 0 {
				return n
			}
		}
		return 0
	case used >= len(words) || used > 0 && words[used].start || !places[0].match(words[used].text):
		return 0
	}
	return matchPlaces(places[1:], words, used+1)
}

// A textWord is a lower-case word of a text. start reports whether it begins a sentence or a line.
type textWord struct {
	text     string
	start    bool
	from, to int // its place in the text
}

// maxScanned bounds how many bytes of a text are searched from its beginning, and as many from its
// end.
const maxScanned = 128 << 10

func textWords(text string) []textWord {
	out := make([]textWord, 0, len(text)/4)
	start := true
	for i := 0; i < len(text); {
		if n := wordLength(text[i:]); n > 0 {
			out = append(out, textWord{strings.ToLower(text[i : i+n]), start, i, i + n})
			start = false
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		end := i + size
		space := end == len(text) || unicode.IsSpace(rune(text[end]))
		start = start || r == '\n' || strings.ContainsRune("!?;…。！？", r) || (r == '.' || r == ':') && space
		i = end
	}
	return out
}

// A scan holds what was found in one line, so that each line is searched once, however many
// sessions a prompt is compared with. No phrase spans lines.
type scan struct {
	added, base         []Finding
	addedDone, baseDone bool
	things              []thing
	thingsDone          bool
	gist                []Mark // of the paragraph that begins here
	gistLines           int    // how many lines gist was made from
}

// scan returns what was found in the line so far.
func (l *promptLine) scan() *scan {
	if l.found == nil {
		l.found = &scan{}
	}
	return l.found
}

// added returns the phrases that count in what a prompt adds.
func (l *promptLine) added() []Finding {
	s := l.scan()
	if !s.addedDone {
		s.addedDone = true
		matchPhrases(l.line, func(kind, words string) { s.added = append(s.added, Finding{kind, words}) })
	}
	return s.added
}

// base returns the phrases that count in what a session was sent before.
func (l *promptLine) base() []Finding {
	s := l.scan()
	if !s.baseDone {
		s.baseDone = true
		phrases().base.match(l.line, func(kind, words string) { s.base = append(s.base, Finding{kind, words}) })
	}
	return s.base
}

// scanned returns the lines to search: about maxScanned bytes from the beginning, and as many from
// the end.
func scanned(lines []*promptLine) []*promptLine {
	front, back := 0, len(lines)
	for size := 0; front < back && size < maxScanned; front++ {
		size += len(lines[front].line)
	}
	for size := 0; front < back && size < maxScanned; size += len(lines[back].line) {
		back--
	}
	return slices.Concat(lines[:front], lines[back:])
}

// matchPhrases searches a text that a prompt adds.
func matchPhrases(text string, found func(kind, words string)) { phrases().added.match(text, found) }

// isASCII reports whether a text has only ASCII characters, which no piece consists of.
func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// match calls found for every phrase of the table in the text, with the words that it matched.
func (t phraseTable) match(text string, found func(kind, words string)) {
	if len(text) > 2*maxScanned {
		t.match(text[:maxScanned], found)
		text = text[len(text)-maxScanned:]
	}
	words := textWords(text)
	for i := range words {
		try := func(ph *phrase) {
			if ph.start && !words[i].start {
				return
			}
			if n := ph.match(words[i:]); n != 0 {
				found(ph.kind, text[words[i].from:words[i+n-1].to])
			}
		}
		for _, ph := range t.byWord[words[i].text] {
			try(ph)
		}
		for _, p := range t.prefixed[words[i].text[0]] {
			if strings.HasPrefix(words[i].text, p.prefix) {
				try(p.phrase)
			}
		}
	}
	if isASCII(text) {
		return
	}
	for _, pc := range t.pieces {
		if strings.Contains(text, pc.text) {
			found(pc.kind, pc.text)
		}
	}
}
