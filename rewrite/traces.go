package rewrite

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unicode"
)

// A Mark is a short keyed digest of one or several words.
type Mark uint64

func newMark(d Digest) Mark { return Mark(binary.BigEndian.Uint64(d[:])) }

// Traces is what the ledger stores of a run to recognize a later prompt that refers to it.
type Traces struct {
	Things []Mark // the files it touched, and the names that its answer said first
	Gist   []Mark // a sample of the answer's runs of three words
}

// The bounds of what is stored.
const (
	MaxThings = 128
	maxGist   = 128
	// maxTraced is how many bytes of answers are read. The caller waits for this when the tool
	// has ended, and each run of three words costs a digest: megabytes would take seconds.
	maxTraced = 256 << 10
)

// NewTraces digests the answers of a run that was sent p, the newest last, and the files that the
// run touched. A sample is kept of the newest answer only.
func NewTraces(p *Prompt, answers, files []string, key Key) Traces {
	digest := key.Digester()
	var said []string
	first := map[string]bool{} // whether the prompt does not hold a name that was said
	add := func(name string) {
		if !first[name] {
			first[name], said = true, append(said, name)
		}
	}
	for _, file := range files {
		add(strings.ToLower(file[strings.LastIndexByte(file, '/')+1:]))
	}
	left := maxTraced
	for _, answer := range slices.Backward(answers) {
		answer = answer[:min(len(answer), left)]
		left -= len(answer)
		for name := range names(answer) {
			add(name)
		}
	}
	if len(first) > 0 {
		for name := range names(p.Text) {
			delete(first, name)
		}
	}
	var t Traces
	for _, name := range said {
		if first[name] && len(t.Things) < MaxThings {
			t.Things = append(t.Things, newMark(digest(name)))
		}
	}
	if n := len(answers); n > 0 {
		t.Gist = gist(answers[n-1][:min(len(answers[n-1]), maxTraced)], digest, maxGist)
	}
	return t
}

// names yields the words of a text that look like the name of a file, a function or a test. For a
// path it also yields the file's base name.
func names(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, endsName) {
			if !mayBeName(word) {
				continue
			}
			word = strings.Trim(word, ".:!?-/")
			for part := range strings.SplitSeq(word, ":") {
				if !looksLikeName(part) {
					continue
				}
				part = strings.ToLower(part)
				if !yield(part) {
					return
				}
				if i := strings.LastIndexByte(part, '/'); i != -1 && !yield(part[i+1:]) {
					return
				}
			}
		}
	}
}

// endsName reports whether a character cannot stand in a name.
func endsName(r rune) bool {
	switch r {
	case '`', '\'', '"', '(', ')', '[', ']', '{', '}', '<', '>', ',', ';', '=', '|', '*':
		return true
	}
	return unicode.IsSpace(r)
}

// mayBeName reports whether a word has what sets a name apart: a sign or a capital in it. Most words do not.
func mayBeName(word string) bool {
	for i := 1; i < len(word); i++ {
		if c := word[i]; c < 'a' && c != '-' || c > 'z' {
			return true
		}
	}
	return false
}

// looksLikeName reports whether a word can hardly be one of a language.
func looksLikeName(word string) bool {
	if len(word) < 4 || len(word) > 200 || strings.Contains(word, "//") {
		return false
	}
	letters, inner, mixed := false, false, false
	for i, r := range word {
		switch {
		case unicode.IsLetter(r):
			mixed = mixed || letters && unicode.IsUpper(r)
			letters = letters || unicode.IsLower(r)
		case strings.ContainsRune("._/", r):
			inner = inner || i > 0 && i < len(word)-1
		}
	}
	return letters && (inner || mixed)
}

// findThings finds names that the session touched or said first.
func (p *Prompt) findThings(f *findings, s passage, things []Mark) {
	if len(things) == 0 {
		return
	}
	for _, l := range scanned(s.lines) {
		for _, t := range p.thingsIn(l) {
			if slices.Contains(things, t.mark) {
				f.add(kindThing, t.name)
			}
		}
	}
}

// A thing is a name in a line.
type thing struct {
	name string
	mark Mark
}

func (p *Prompt) thingsIn(l *promptLine) []thing {
	s := l.scan()
	if !s.thingsDone {
		s.thingsDone = true
		for name := range names(l.line) {
			s.things = append(s.things, thing{name, newMark(p.digest(name))})
		}
	}
	return s.things
}

// gist returns the marks of a text's runs of three words. For a long text it returns the least
// ones, so that every text yields the same sample of the same runs.
func gist(text string, digest func(string) Digest, most int) []Mark {
	words := textWords(text)
	var marks []Mark
	for i := range len(words) - 2 {
		marks = append(marks, newMark(digest(words[i].text+" "+words[i+1].text+" "+words[i+2].text)))
	}
	slices.Sort(marks)
	marks = slices.Compact(marks)
	return marks[:min(len(marks), most)]
}

// quotes reports whether a paragraph of the addition repeats part of the session's newest answer:
// at least three of its runs of words, and more than a third of them, come from there.
func (p *Prompt) quotes(sent Sent, added []passage) bool {
	if len(sent.Gist) == 0 {
		return false
	}
	limit := Mark(math.MaxUint64)
	if len(sent.Gist) == maxGist { // of a long answer only the least marks are known
		limit = slices.Max(sent.Gist)
	}
	for _, s := range added {
		for lines := scanned(s.lines); len(lines) > 0; {
			n := 1
			for n < len(lines) && lines[n].block == lines[0].block {
				n++
			}
			seen, quoted := 0, 0
			marks := p.paragraphGist(lines[:n])
			lines = lines[n:]
			for _, m := range marks {
				if m > limit {
					break
				}
				seen++
				if _, found := slices.BinarySearch(sent.Gist, m); found {
					quoted++
				}
			}
			if quoted >= 3 && 3*quoted > seen {
				return true
			}
		}
	}
	return false
}

// paragraphGist returns the marks of a paragraph.
func (p *Prompt) paragraphGist(lines []*promptLine) []Mark {
	kept := lines[0].scan()
	if kept.gistLines != len(lines) {
		var text strings.Builder
		for _, l := range lines {
			text.WriteString(l.text + "\n")
		}
		kept.gist, kept.gistLines = gist(text.String()[:min(text.Len(), maxScanned)], p.digest, maxScanned), len(lines)
	}
	return kept.gist
}
