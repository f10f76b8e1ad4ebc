package prompt

import (
	"flag"
	"os"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// tableRows returns the rows of wordsTable: kind, languages, expression, sentence, beginnings.
func tableRows(t *testing.T) (rows [][]string) {
	t.Helper()
	for line := range strings.Lines(wordsTable) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(row) != 5 || row[3] == "" {
			t.Fatalf("a row of %d fields: %q", len(row), line)
		}
		rows = append(rows, row)
	}
	return rows
}

// starts returns the texts with which a match of an expression can start. Of longer ones it returns
// the first word, with the space behind it, or the beginning of that word.
func starts(t *testing.T, re *syntax.Regexp) (all []string) {
	t.Helper()
	switch re.Op {
	case syntax.OpLiteral:
		return []string{cutStart(string(re.Rune))}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if all = append(all, string(r)); len(all) > 40 {
					return []string{isBeginning}
				}
			}
		}
		return all
	case syntax.OpConcat:
		all = []string{""}
		for _, sub := range re.Sub {
			before := all
			all = nil
			for _, text := range before {
				if strings.ContainsAny(text, " "+isBeginning) {
					all = append(all, text)
					continue
				}
				for _, more := range starts(t, sub) {
					all = append(all, cutStart(text+more))
				}
			}
		}
		return all
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			all = append(all, starts(t, sub)...)
		}
		return all
	case syntax.OpCapture:
		return starts(t, re.Sub[0])
	case syntax.OpPlus:
		for _, text := range starts(t, re.Sub[0]) {
			all = append(all, cutStart(text+isBeginning))
		}
		return all
	case syntax.OpQuest:
		return append(starts(t, re.Sub[0]), "")
	case syntax.OpStar, syntax.OpRepeat:
		for _, text := range starts(t, re.Sub[0]) {
			all = append(all, cutStart(text+isBeginning))
		}
		return append(all, "")
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine,
		syntax.OpEmptyMatch:
		return []string{""}
	}
	t.Fatalf("what can %v start with?", re)
	return nil
}

// cutStart returns a text's first word with the space behind it, or its beginning.
func cutStart(text string) string {
	if i := strings.IndexByte(text, ' '); i >= 0 {
		return text[:i+1]
	}
	word, open := strings.CutSuffix(text, isBeginning)
	for len(word) > maxBeginning {
		_, size := utf8.DecodeLastRuneInString(word)
		word, open = word[:len(word)-size], true
	}
	if open {
		return word + isBeginning
	}
	return word
}

var update = flag.Bool("update", false, "write words.tsv anew")

// The table lists the beginnings of its expressions.
func TestWordsBegin(t *testing.T) {
	var table strings.Builder
	for _, row := range tableRows(t) {
		re, err := syntax.Parse(row[2], syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		begin := starts(t, re)
		for i := range begin {
			begin[i] = strings.TrimSuffix(begin[i], " ")
		}
		slices.Sort(begin)
		begin = slices.Compact(begin)
		if slices.Contains(begin, "") || slices.Contains(begin, isBeginning) {
			t.Fatalf("%s can begin with anything", row[2])
		}
		table.WriteString(strings.Join(append(row[:4], strings.Join(begin, " ")), "\t") + "\n")
	}
	if *update {
		if err := os.WriteFile("words.tsv", []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if table.String() != wordsTable {
		t.Error("words.tsv has other beginnings: go test ./rewrite/prompt -run TestWordsBegin " +
			"-update")
	}
}

// Each row matches its sentence, and has a kind that is looked for.
func TestWords(t *testing.T) {
	known := map[string]bool{"past": true, "attempt": true, "rejected": true, "own": true,
		"shown": true}
	for kind := range reasonsAgainst {
		known[kind] = true
	}
	seen := map[string]bool{}
	for _, row := range tableRows(t) {
		if !known[row[0]] {
			t.Errorf("%s is no kind", row[0])
		}
		if seen[row[2]] {
			t.Errorf("%s stands there twice", row[2])
		}
		seen[row[2]] = true
		all, text := regexp.MustCompile("(?m)"+row[2]), plainWords(row[3])
		if row[0] == "shown" {
			text = plainWords(strings.TrimRight(row[3], ":： "))
		}
		if !all.MatchString(text) || findWords(row[0], text) == "" {
			t.Errorf("%s %q is not in %q", row[0], row[2], text)
		}
	}
}

// A language in which words can prove has words for every kind of objection.
func TestEveryLanguageObjects(t *testing.T) {
	proves, objects := map[string]bool{}, map[string]bool{}
	for _, row := range tableRows(t) {
		for language := range strings.FieldsSeq(row[1]) {
			if slices.Contains([]string{"past", "own", "shown"}, row[0]) {
				proves[language] = true
			} else {
				objects[language+" "+row[0]] = true
			}
		}
	}
	if len(proves) < 13 {
		t.Errorf("only %d languages can prove", len(proves))
	}
	for language := range proves {
		for _, kind := range []string{"role", "judge", "apart", "rival", "sample", "arm",
			"clean", "meta"} {
			if !objects[language+" "+kind] {
				t.Errorf("%s has no words of the kind %s", language, kind)
			}
		}
	}
}

// Words are matched whole, with any signs between them, and a sentence ends at its sign.
func TestPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		"The **test** still-fails!  Fix it.": "the test still fails\nfix it",
		"a.go:12: b\n\nc":                    "a go 12\nb\nc",
		"《前回》の報告：x":                          "前回 の報告\nx",
		"":                                   "",
		"! One. ?":                           "one",
		"बारिश आ रही":                        "बारिश आ रही",
	} {
		if got := plainWords(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, pairs := range []int{maxScanned, 4 * maxScanned} { // two bytes each, and some more
		got := plainWords("first " + strings.Repeat("x ", pairs) + " last")
		if len(got) > 2*maxScanned+1 || !strings.HasPrefix(got, "first") ||
			!strings.HasSuffix(got, "last") {
			t.Errorf("%d bytes of a long text", len(got))
		}
	}
}

// Judges, samplers, contracts and neutral additions say nothing of how the last run turned out.
func TestNeutralAdditions(t *testing.T) {
	for _, row := range sentences(t, "no-evidence.tsv", 1) {
		base := "You are the coder of this shop.\n\nBuild the page as the plan says."
		c := compare(base, base+"\n\n"+row[1], "Done.")
		if e := &c.Evidence; e.Failure() != "" && len(e.Against(nil)) == 0 || e.Answer > 0 ||
			e.Trace != "" {
			t.Errorf("%s: %q: past %q, against %v", row[0], row[1], e.Failure(), e.Against(nil))
		}
	}
}

// Ordinary feedback says nothing against a resume.
func TestFeedback(t *testing.T) {
	for _, row := range sentences(t, "feedback.tsv", 1) {
		base := "You are the coder of this shop.\n\nBuild the page as the plan says."
		c := compare(base, base+"\n\n"+row[1], "Done.")
		if against := c.Evidence.Against(nil); len(against) > 0 {
			t.Errorf("%s: %q: %v", row[0], row[1], against)
		}
	}
}

// sentences reads a file of testdata: a sentence a line, behind so many fields.
func sentences(t *testing.T, file string, fields int) (out [][]string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(row) != fields+1 || row[fields] == "" {
			t.Fatalf("%s: a row of %d fields: %q", file, len(row), line)
		}
		out = append(out, row)
	}
	return out
}

// Standing instructions, which any first call could carry, say nothing of a past result.
func TestStandingInstructions(t *testing.T) {
	for _, text := range []string{
		"Run the linter on your changes before you answer.", "Do not commit your changes.",
		"The tests must pass after your changes.",
		"Make sure that your change does what it should.", "If a test fails, fix it.",
		"Describe your last change.", "Check your answer.",
		"Wiederhole die Tests nach deinen Änderungen.", "Committe deine Änderungen nicht.",
		"Lance les tests après tes modifications.",
		"Ejecuta las pruebas después de tus cambios.",
		"Execute os testes depois das suas mudanças.", "Esegui i test dopo le tue modifiche.",
		"Voer de tests uit na je wijzigingen.", "Запусти тесты после своих правок.", "修改后请运行测试。",
		"変更の後にテストを実行してください。",
	} {
		if words := findWords("past", plainWords(text)); words != "" {
			t.Errorf("%q speaks of the past: %q", text, words)
		}
	}
}
