package prompt

import (
	"encoding/binary"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"unicode"
)

// logLine matches a line as tools print it, or a finding at a line of a file.
var logLine = compiled(`[^\s.]\.[A-Za-z]{1,6}(:\d+|\(\d+[,)]|#L\d+|", line \d+|,line=\d+` +
	"|[`*\"')]*[,:]? \\(?(?i:" + lineWords + `) \d+|.{0,3}第?\d+ ?(?:行|번째 줄|줄))` +
	`|"(?:line|start_?[lL]ine|line_?[nN]umber)": ?\d` +
	`|(?:^|\s)(FAILED|FAIL|FAILURES?!?|ERROR|PANIC|not ok|✗|✘|✖|×)(?:$|[\s:\]])` +
	`|(?:^|: )\s*((?i:error|fatal|panic|warning)|E)(\[\w+\])?(:|  )|^\s*(--- FAIL|Traceback \(|\[ERROR\])` +
	`|[a-z](Error|Exception): |\bexit (code|status) [1-9]|\b\d+ (failed|failures?|errors?)\b`)

const lineWords = `lines?|zeilen?|lignes?|líneas?|linhas?|righ?[ae]|regels?|wiersz|` +
	`строк[аи]|satır`

func (p *Prompt) isLog(block int) bool {
	return p.blocks[block].log.of(func() bool {
		return slices.ContainsFunc(p.lines[p.starts[block]:p.starts[block+1]],
			func(l promptLine) bool { return logLine().MatchString(l.full) })
	})
}

// A WordDigest is a short keyed digest of one or several words.
type WordDigest uint64

func newWordDigest(d Digest) WordDigest { return WordDigest(binary.BigEndian.Uint64(d[:])) }

// Traces is the ledger's record of a run, to recognize a later prompt that refers to it.
type Traces struct {
	Things []WordDigest // the files it touched, and the names that the answers said first
	Lines  []WordDigest // the newest answer's lines that no prompt has by chance
}

// MaxThings bounds how many files and names are kept of a session.
const MaxThings = 128

// The bounds of a run's record.
const (
	maxLines = 200
	// maxTraced is how many bytes of answers are read. The caller waits for this when the tool
	// has ended.
	maxTraced = 256 << 10
)

// NewTraces digests the answers of a run that was sent p, the newest last, and the files that the
// run touched. Those that the session has changed count even if p names them.
func NewTraces(p *Prompt, answers, files, changed []string, key Key) (t Traces) {
	var things []string
	for _, file := range slices.Concat(changed, files) {
		things = append(things, baseName(file))
	}
	left := maxTraced
	for _, answer := range slices.Backward(answers) {
		answer = answer[:min(len(answer), left)]
		left -= len(answer)
		things = slices.AppendSeq(things, names(answer))
	}
	digest := key.Digester()
	t.Things = newMarks(things, len(changed), names(p.Text), MaxThings, digest)
	if n := len(answers); n > 0 {
		t.Lines = newMarks(answerLines(answers[n-1]), 0, plainLines(p.Text), maxLines, digest)
	}
	return t
}

// newMarks returns the marks of texts that were not there before, each once. The first texts, as
// many as are sure, count anyhow.
func newMarks(texts []string, sure int, before iter.Seq[string], most int,
	digest func(string) Digest) (marks []WordDigest) {
	left := map[string]bool{}
	for _, text := range texts {
		left[text] = true
	}
	if len(left) > 0 {
		for text := range before {
			delete(left, text)
		}
	}
	for _, text := range texts[:sure] {
		left[text] = true
	}
	for _, text := range texts {
		if left[text] && len(marks) < most {
			marks = append(marks, newWordDigest(digest(text)))
		}
		delete(left, text)
	}
	return marks
}

// baseName returns a file's name without the directory, in lower case.
func baseName(file string) string {
	return strings.ToLower(file[strings.LastIndexByte(file, '/')+1:])
}

// testedFile returns the name of the file that a file tests by its name, "" for another file:
// cart.go for cart_test.go.
func testedFile(name string) string {
	end := strings.LastIndexByte(name, '.')
	if end < 0 {
		return ""
	}
	stem, extension := name[:end], name[end:]
	tested := strings.TrimPrefix(stem, "test_")
	for _, suffix := range []string{
		"_test", "_spec", ".test", ".spec", "-test", "-spec", "tests", "test",
	} {
		tested = strings.TrimSuffix(tested, suffix)
	}
	if tested == stem || tested == "" {
		return ""
	}
	return tested + extension
}

// answerLines returns an answer's distinctive lines. Callers parse answers in JSON, so the lines of
// strings in it count too.
func answerLines(answer string) []string {
	answer = answer[:min(len(answer), maxTraced)]
	lines := slices.Collect(plainLines(answer))
	for _, quoted := range quotedText().FindAllString(answer, maxLines) {
		var text string
		if json.Unmarshal([]byte(quoted), &text) == nil {
			lines = slices.AppendSeq(lines, plainLines(text))
		}
	}
	return lines
}

// plainLines yields a text's distinctive lines as plainLine returns them.
func plainLines(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(text, "\n") {
			if plain := plainLine(line); distinctiveLine(plain) && !yield(plain) {
				return
			}
		}
	}
}

// quotedText matches a string in JSON that is long enough for a distinctive line.
var quotedText = compiled(`"(?:[^"\\\n]|\\.){20,}"`)

// plainLine returns the words of a line, without the signs of a list or quotation before it.
func plainLine(line string) string {
	return strings.ReplaceAll(plainWords(listItem(line)), "\n", " ")
}

// distinctiveLine reports whether a line that recurs is no coincidence.
func distinctiveLine(plain string) bool {
	words := 0
	for word := range strings.FieldsSeq(plain) {
		if strings.ContainsFunc(word, unicode.IsLetter) {
			words++
		}
	}
	return words >= 5 || words > 0 && len(plain) >= 30
}

// names yields the words of a text that look like the name of a file, a function or a test. For a
// path it also yields the file's base name.
func names(text string) iter.Seq[string] {
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
				if i := strings.LastIndexByte(part, '/'); i != -1 && looksLikeName(part[i+1:]) &&
					!yield(part[i+1:]) {
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

// mayBeName reports whether a word looks like a name: with a sign or a capital in it. Most
// words do not.
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
