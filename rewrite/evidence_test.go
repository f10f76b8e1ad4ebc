package rewrite

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

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

// entries returns the entries of evidenceTable, one for each piece where a line lists some.
func entries() (out []string) {
	for line := range strings.Lines(strings.TrimSpace(evidenceTable)) {
		fields := strings.Fields(line)
		if fields[1] != "zh" && fields[1] != "ja" {
			out = append(out, strings.TrimSpace(line))
			continue
		}
		for piece := range strings.SplitSeq(fields[2], "|") {
			out = append(out, fields[0]+" "+fields[1]+" "+piece)
		}
	}
	return out
}

// kindsIn returns the kinds of all phrases in a text.
func kindsIn(text string) (kinds []string) {
	add := func(kind, words string) { kinds = append(kinds, fmt.Sprintf("%s (%s)", kind, words)) }
	matchPhrases(text, add)
	phrases().base.match(text, add)
	return kinds
}

// Each entry of the table has a sentence in testdata/evidence.tsv, in the same order, which it matches.
func TestEvidenceTable(t *testing.T) {
	all, rows := entries(), sentences(t, "evidence.tsv", 2)
	if len(all) != len(rows) {
		t.Errorf("%d entries and %d sentences", len(all), len(rows))
	}
	for i := range min(len(all), len(rows)) {
		entry, sentence := all[i], rows[i][2]
		if head := rows[i][0] + " " + rows[i][1] + " "; !strings.HasPrefix(entry, head) {
			t.Fatalf("sentence %d is one of %q, its entry is %q", i+1, head, entry)
		}
		table := newPhraseTable()
		table.add(entry)
		alone := false
		table.match(sentence, func(string, string) { alone = true })
		if !alone {
			t.Errorf("%q does not match %q", entry, sentence)
		}
		if !slices.ContainsFunc(kindsIn(sentence), func(found string) bool { return strings.HasPrefix(found, rows[i][0]+" ") }) {
			t.Errorf("%q: found %q", sentence, kindsIn(sentence))
		}
	}
	if slices.Sort(all); len(slices.Compact(all)) != len(rows) {
		t.Error("an entry stands there twice")
	}
}

// Judges, samplers, contracts and neutral additions speak for nothing.
func TestEvidenceForNothing(t *testing.T) {
	for _, row := range sentences(t, "no-evidence.tsv", 1) {
		for _, found := range kindsIn(row[1]) {
			switch kind, _, _ := strings.Cut(found, " "); kind {
			case "work", "fix", "goon", "state":
				t.Errorf("%s: %q: found %s", row[0], row[1], found)
			}
		}
		base := "You are the coder of this shop.\n\nBuild the page as the plan says."
		if c := compare(base, base+"\n\n"+row[1], "Done."); c.Relation != Extends || c.Evidence.Verdict == "" {
			t.Errorf("%s: %q: %s, for %v", row[0], row[1], c.Relation, c.Evidence.For)
		}
	}
}

// Ordinary feedback meets nothing that decides against a resume whatever speaks for it.
func TestEvidenceOfFeedback(t *testing.T) {
	for _, row := range sentences(t, "feedback.tsv", 1) {
		for _, found := range kindsIn(row[1]) {
			if kind, _, _ := strings.Cut(found, " "); hardAgainst[kind] != "" {
				t.Errorf("%s: %q: found %s", row[0], row[1], found)
			}
		}
	}
}
