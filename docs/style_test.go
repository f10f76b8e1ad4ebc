package docs_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// habits are the constructions that CONTRIBUTING.md bans or rations, each with ceilings for 1,000
// words of comments and of pages. A ceiling only sinks.
var habits = []struct {
	name            string
	pattern         *regexp.Regexp
	comments, pages float64
}{
	{
		"a clause with what in place of a noun",
		regexp.MustCompile(`\b[Ww]hat\b`),
		0, 0.15,
	},
	{"of which, whose", regexp.MustCompile(`\b(?:(?:of|by|to|in|from|with) which|whose)\b`),
		0, 0.04},
	{"one that, that of", regexp.MustCompile(`\b(?:[Oo]ne that|that of|those of)\b`), 0, 0},
	{"its", regexp.MustCompile(`\b[Ii]ts\b`), 2.44, 1.62},
	{"two its in a sentence", regexp.MustCompile(`\b[Ii]ts\b[^.:;!?|]*\b[Ii]ts\b`), 0, 0},
	{"may", regexp.MustCompile(`\bmay\b`), 0, 0},
}

// question matches the rest of a question, which is no clause.
var question = regexp.MustCompile(`^[^.:;|]*\?`)

// Comments and pages name their nouns.
func TestNounsAreNamed(t *testing.T) {
	for _, text := range []struct {
		name       string
		paragraphs []paragraph
		ceiling    func(n int) float64
	}{
		{"comments", comments(t), func(n int) float64 { return habits[n].comments }},
		{"pages", paragraphs(t), func(n int) float64 { return habits[n].pages }},
	} {
		words := 0
		for _, p := range text.paragraphs {
			words += len(strings.Fields(p.text))
		}
		if words < 20_000 {
			t.Errorf("only %d words of %s were found", words, text.name)
		}
		for n, habit := range habits {
			var found []string
			for _, p := range text.paragraphs {
				for _, at := range habit.pattern.FindAllStringIndex(p.text, -1) {
					if question.MatchString(p.text[at[1]:]) {
						continue
					}
					found = append(found, fmt.Sprintf("%s: %s", p.place, around(p.text, at)))
				}
			}
			each := float64(len(found)) * 1000 / float64(words)
			t.Logf("%s: %s: %d, %.2f in 1,000 of %d words", text.name, habit.name, len(found), each,
				words)
			if each > text.ceiling(n) {
				t.Errorf("%s: %s: %.2f in 1,000 words, want at most %.2f:\n%s", text.name,
					habit.name, each, text.ceiling(n), strings.Join(found, "\n"))
			}
		}
	}
}

// A paragraph is a comment, or a part of a page, and where it stands.
type paragraph struct{ place, text string }

// comments returns the comments of the product's Go.
func comments(t *testing.T) (all []paragraph) {
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			switch path {
			case "../.git", "../testdata", "../test", "../scripts":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil,
			parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			place := files.Position(group.Pos())
			all = append(all,
				paragraph{fmt.Sprintf("%s:%d",
					strings.TrimPrefix(place.Filename, "../"), place.Line),
					strings.Join(strings.Fields(group.Text()), " ")})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// paragraphs returns the prose of all pages, without code.
func paragraphs(t *testing.T) (all []paragraph) {
	for _, page := range pages(t) {
		for _, part := range strings.Split(code.ReplaceAllString(strings.Join(prose(t, page), "\n"),
			"`code`"), "\n\n") {
			all = append(all, paragraph{page, strings.Join(strings.Fields(part), " ")})
		}
	}
	return all
}

// around returns a place in a text with some words beside it.
func around(text string, at []int) string {
	from, to := max(0, at[0]-40), min(len(text), at[1]+40)
	return strings.ToValidUTF8(text[from:to], "")
}

// wide are the lines of Go above 100 columns, a tab being four, that each directory has at most. A
// ceiling only sinks.
var wide = map[string]int{"cmd": 69, "config": 2, "docs": 2, "fleet": 6, "internal": 96,
	"ledger": 109, "rewrite": 107, "scripts": 2, "shim": 80, "test": 150, "watch": 0}

// Lines of Go are at most 100 columns wide; the exceptions are texts that cannot be broken.
func TestLinesAreNarrow(t *testing.T) {
	found := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text[:min(len(text), 200)]), "DO NOT EDIT") {
			return err
		}
		path = strings.TrimPrefix(path, "../")
		directory, _, _ := strings.Cut(path, "/")
		for n, line := range strings.Split(string(text), "\n") {
			if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > 100 {
				found[directory] = append(found[directory], fmt.Sprintf("%s:%d", path, n+1))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for directory, most := range wide {
		lines := found[directory]
		t.Logf("%s: %d", directory, len(lines))
		if len(lines) > most {
			t.Errorf("%s has %d lines above 100 columns, want at most %d:\n%s",
				directory, len(lines), most, strings.Join(lines, "\n"))
		}
	}
}
