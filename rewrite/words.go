package rewrite

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// wordsTable lists the words that count for or against a resume, one row a line: kind, regular expression,
// a sentence that it matches. An expression is matched against whole words of lower-case text, in which
// one space stands for whatever separates words, and a newline ends each sentence. Scripts without spaces
// are matched anywhere.
//
// Kinds:
//
//	past    it says how the session's last run turned out: the only words that count for a resume
//	rejected  it is a name over what was rejected
//	role    it assigns a role
//	clean   it ends the conversation
//	apart   it asks for independence
//	judge   it asks for a judgement, or for another product
//	rival   it speaks of another's work
//	meta    it is about the conversation
//	sample  it is one of several samples, arms or items
//	own     it calls an answer the session's own
//	shown   likewise, as a name over it
//	base    what the session was sent before asks for independent answers
//
//go:embed words.tsv
var wordsTable string

// reasonsAgainst are the reasons for a fresh call by the kinds of words that speak against a resume.
var reasonsAgainst = map[string]Reason{"role": NewRole, "judge": NewRole, "rival": NewRole, "apart": NewRole, "meta": NewRole,
	"clean": CleanStart, "base": CleanStart, "sample": NoEvidence, kindShown: HistoryEdited}

// kindsEnding are the kinds that end a conversation although a name says that it goes on.
var kindsEnding = []string{"role", "clean", "apart"}

// wordExpressions returns the table's rows, joined to one expression for each kind.
var wordExpressions = sync.OnceValue(func() map[string]*regexp.Regexp {
	spaced, anywhere := map[string][]string{}, map[string][]string{}
	for line := range strings.Lines(wordsTable) {
		fields := strings.Split(line, "\t")
		if first, _ := utf8.DecodeRuneInString(strings.TrimLeft(fields[1], "(")); unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			anywhere[fields[0]] = append(anywhere[fields[0]], fields[1])
		} else {
			spaced[fields[0]] = append(spaced[fields[0]], fields[1])
		}
	}
	all := map[string]*regexp.Regexp{}
	for kind, rows := range spaced {
		expression := "(?m)(?:^| )(?:" + strings.Join(rows, "|") + ")(?: |$)"
		if len(anywhere[kind]) > 0 {
			expression += "|" + strings.Join(anywhere[kind], "|")
		}
		all[kind] = regexp.MustCompile(expression)
	}
	return all
})

// maxScanned bounds how many bytes of a text are searched from its beginning, and as many from its end.
const maxScanned = 32 << 10

// findWords returns the first words of a kind in a text that plainWords returned, "" if there are none.
func findWords(kind, plain string) string {
	return strings.TrimSpace(wordExpressions()[kind].FindString(plain))
}

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
		case strings.ContainsRune("\n!?;。！？：", r), strings.ContainsRune(".:", r) && (i+1 == len(text) || unicode.IsSpace(rune(text[i+1]))):
			ends = true
		default:
			space = true
		}
	}
	return out.String()
}
