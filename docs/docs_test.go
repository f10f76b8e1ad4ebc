package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/docs"
	"reprise/scripts/realcli"
)

// Where versions of a tool were tried, the one that the tests use is among them and the newest, and holds.
func TestConformanceHasThePins(t *testing.T) {
	last := map[string]docs.Tried{}
	for _, row := range docs.Conformance() {
		if _, ok := realcli.Pins[row.Tool]; !ok || row.Version == "" {
			t.Errorf("no tool of ours: %+v", row)
		}
		last[row.Tool] = row
	}
	if len(last) < 3 {
		t.Errorf("the table names %d tools", len(last))
	}
	for tool, row := range last {
		if want := realcli.Pins[tool].Version; row.Version != want || !row.Clean() {
			t.Errorf("%s: last row %+v, want %s and no difference", tool, row, want)
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	code    = regexp.MustCompile("`[^`]*`")
	heading = regexp.MustCompile(`^#+ (.*)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// Every link in the documents names a file of the repository, and a heading in it.
func TestLinks(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../*.md", "*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	links := 0
	for _, file := range files {
		for _, line := range prose(t, file) {
			for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(line, ""), -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				links++
				path, anchor, anchored := strings.Cut(m[1], "#")
				target := file
				if path != "" {
					target = filepath.Join(filepath.Dir(file), path)
				}
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s links to %s: %v", file, m[1], err)
				} else if anchored && !slices.Contains(anchors(t, target), anchor) {
					t.Errorf("%s links to %s: there is no such heading", file, m[1])
				}
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were found", links)
	}
}

// prose gives the lines of a document that are no code.
func prose(t *testing.T, file string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fenced := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced && !strings.HasPrefix(line, "    ") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

// anchors are the names that GitHub gives to a document's headings.
func anchors(t *testing.T, file string) (names []string) {
	t.Helper()
	for _, line := range prose(t, file) {
		if m := heading.FindStringSubmatch(line); m != nil {
			names = append(names, strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
		}
	}
	return names
}
