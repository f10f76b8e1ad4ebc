package prompt

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"reprise/rewrite/reason"
)

// wordsTable lists the words that count for or against a resume, one row a line: kind, languages,
// regular expression, a sentence that it matches, and the first words that it can match, or their
// beginnings with "…", which go test ./rewrite -run TestWordsBegin -update writes. An expression is
// matched against whole words of lower-case text, where one space stands for any text that
// separates words, and a newline ends each sentence. Scripts without spaces are matched anywhere.
//
// Kinds:
//
//	past    it says how the session's last run turned out, which counts for a resume
//	attempt it counts an attempt that is not the first one: it counts for a resume beside a log
//	rejected  it is a name over a rejected text
//	role    it assigns a role
//	clean   it asks for a new start
//	closed  it says that the work is gone or over; work that stands disproves it
//	apart   it asks for independence
//	judge   it asks for a judgement, or for another product
//	rival   it speaks of another's work
//	meta    it is about the conversation
//	sample  it is one of several samples, arms or items
//	arm     likewise, as its number says
//	own     it calls an answer the session's own
//	shown   likewise, as a name over it
//	base    an earlier prompt asks for independent answers
//
//go:embed words.tsv
var wordsTable string

// reasonsAgainst are the reasons for a fresh call by the kinds of words that speak against a
// resume.
var reasonsAgainst = map[string]reason.Code{"role": reason.NewRole, "judge": reason.NewRole,
	"rival": reason.NewRole, "apart": reason.NewRole, "meta": reason.NewRole,
	"clean": reason.CleanStart, "closed": reason.CleanStart, "base": reason.CleanStart,
	"sample": reason.NoEvidence, "arm": reason.NoEvidence, kindShown: reason.HistoryEdited,
	kindItem: reason.NewJob}

// kindsAgainst are the kinds that speak against a resume, by weight.
var kindsAgainst = []string{"role", "clean", "closed", "apart", "judge", "rival", "meta", "arm",
	"sample"}

type wordRow struct {
	kind       string
	words      []string // that it can match
	spaced     bool     // the script has spaces
	expression func() *regexp.Regexp
}

var wordRows = sync.OnceValue(func() (rows []*wordRow) {
	for line := range strings.Lines(wordsTable) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		row := &wordRow{kind: fields[0], words: strings.Fields(fields[4])}
		first, _ := utf8.DecodeRuneInString(row.words[0])
		row.spaced = !unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana,
			unicode.Hangul, unicode.Thai)
		pattern := fields[2]
		if row.spaced {
			pattern = "(?:^| )(?:" + pattern + ")(?: |$)"
		}
		row.expression = compiled(pattern)
		rows = append(rows, row)
	}
	return rows
})

// wordsBegin returns the rows by their first words, or the beginnings of these with "…".
var wordsBegin = sync.OnceValue(func() map[string][]*wordRow {
	begin := map[string][]*wordRow{}
	for _, row := range wordRows() {
		for _, word := range row.words {
			begin[word] = append(begin[word], row)
		}
	}
	return begin
})

// maxBeginning is the length in bytes of the longest beginning of a word in the table.
const maxBeginning = 6

const isBeginning = "…"

// maxScanned bounds how many bytes of a text are searched from the beginning, and as many from the
// end.
const maxScanned = 32 << 10

// foundWords are the words of a text by kind, as far as they were looked for, and the sentences
// that rows of the table can match. The other rows cost no more than a look: to compile and to run
// all expressions would take longer than the rest of a call.
type foundWords struct {
	kinds     memo[string, string]
	sentences map[*wordRow][]string
}

// searchWords searches a text that plainWords returned.
func searchWords(plain string) *foundWords {
	found, begin := map[*wordRow][]string{}, wordsBegin()
	for sentence := range strings.SplitSeq(plain, "\n") {
		add := func(rows []*wordRow) {
			for _, row := range rows {
				if in := found[row]; len(in) == 0 || in[len(in)-1] != sentence {
					found[row] = append(in, sentence)
				}
			}
		}
		for word := range strings.SplitSeq(sentence, " ") {
			add(begin[word])
			for n := 1; n <= min(maxBeginning, len(word)); n++ {
				add(begin[word[:n]+isBeginning])
			}
		}
	}
	for _, row := range wordRows() { // in scripts without spaces any place can be a word's
		if !row.spaced && slices.ContainsFunc(row.words, func(w string) bool {
			return strings.Contains(plain, strings.TrimSuffix(w, isBeginning))
		}) {
			found[row] = []string{plain}
		}
	}
	return &foundWords{sentences: found}
}

// find returns the first words of a kind, "" if there are none.
func (f *foundWords) find(kind string) string {
	return f.kinds.of(kind, func() (words string) {
		for _, row := range wordRows() {
			for _, sentence := range f.sentences[row] {
				if row.kind == kind && words == "" {
					words = strings.TrimSpace(row.expression().FindString(sentence))
				}
			}
		}
		return words
	})
}

// words returns the words of a text of the prompt.
func (p *Prompt) words(text string) *foundWords {
	search := func() *foundWords { return searchWords(plainWords(text)) }
	if p == nil { // the evidence is of no prompt
		return search()
	}
	return p.found.of(p.digest(text), search)
}

// findWords returns the first words of a kind in a text that plainWords returned, "" if there are
// none.
func findWords(kind, plain string) string { return searchWords(plain).find(kind) }

// plainWords returns a text as the expressions of the table expect it.
func plainWords(text string) string {
	if len(text) > 2*maxScanned {
		text = strings.ToValidUTF8(text[:maxScanned]+"\n"+text[len(text)-maxScanned:], "")
	}
	var out strings.Builder
	ends, space := false, false
	for i, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if ends && out.Len() > 0 {
				out.WriteByte('\n')
			} else if space && out.Len() > 0 {
				out.WriteByte(' ')
			}
			ends, space = false, false
			out.WriteRune(unicode.ToLower(r))
		case strings.ContainsRune("\n!?;。！？：", r), strings.ContainsRune(".:", r) &&
			(i+1 == len(text) || unicode.IsSpace(rune(text[i+1]))):
			ends = true
		default:
			space = true
		}
	}
	return out.String()
}
