package docs_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/internal/tested"
)

var update = flag.Bool("update", false, "write the lists of tested versions anew")

// README and testing.md have the versions of internal/tested/tested.json.
func TestVersionsAreTheTestedOnes(t *testing.T) {
	var pins []string
	table := "| tool | versions | difference |\n| --- | --- | --- |\n"
	for _, tool := range tested.BuiltIn().Tools {
		pin := "`" + tool.Pin + "`"
		if tool.Note != "" {
			pin += " (" + tool.Note + ")"
		}
		pins = append(pins, pin)
		for _, tried := range alike(tool.Differed) {
			table += fmt.Sprintf("| %s | %s | %s |\n", tool.Name,
				strings.Join(tried.versions, ", "), tried.differed)
		}
	}
	for _, place := range []struct {
		page string
		list *regexp.Regexp
		want string
	}{
		{"../README.md", regexp.MustCompile("(?m)`[^` ]+(?:@|==)[0-9.]+`.*$"),
			strings.Join(pins, ", ") + "."},
		{"internals/testing.md",
			regexp.MustCompile(`(?m)^\| tool \| versions (?:.*\n\|)*.*\n`), table},
	} {
		text, err := os.ReadFile(place.page)
		if err != nil {
			t.Fatal(err)
		}
		now := place.list.ReplaceAllLiteralString(string(text), place.want)
		switch has := place.list.Match(text); {
		case !has:
			t.Errorf("%s has no list %s", place.page, place.list)
		case *update:
			if err := os.WriteFile(place.page, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		case now != string(text):
			t.Errorf("%s does not have the tested versions: go test ./docs -update", place.page)
		}
	}
}

// A group is the versions of a tool in which the same differed.
type group struct {
	versions []string
	differed string
}

// alike groups the versions of a tool that differed somewhere, each group where the first version
// stands.
func alike(rows []tested.Result) (groups []group) {
	for _, row := range rows {
		var of []string
		for _, part := range [][2]string{{"passed through: ", row.PassedThrough},
			{"fresh: ", row.Fresh}, {"resume: ", row.Resumes}} {
			if part[1] != "" {
				of = append(of, part[0]+part[1])
			}
		}
		differed := strings.Join(of, "; ")
		n := slices.IndexFunc(groups, func(g group) bool { return g.differed == differed })
		if n < 0 {
			n, groups = len(groups), append(groups, group{differed: differed})
		}
		groups[n].versions = append(groups[n].versions, row.Version)
	}
	return groups
}

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	code    = regexp.MustCompile("`[^`]*`")
	heading = regexp.MustCompile(`^#+ (.*)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// pages returns the documents of the repository, by their paths from here.
func pages(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"../*.md", "*.md", "*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

// Every link in the documents names a file of the repository, and a heading in it.
func TestLinks(t *testing.T) {
	files := pages(t)
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

// The index links to each page, and says nothing of pages that do not exist (TestLinks).
func TestIndexLinksToEveryPage(t *testing.T) {
	index := strings.Join(prose(t, "README.md"), "\n")
	for _, page := range pages(t) {
		if strings.Contains(page, "/") && !strings.HasPrefix(page, "../") &&
			!strings.Contains(index, "]("+page+")") {
			t.Errorf("docs/README.md does not link to %s", page)
		}
	}
}

var mention = regexp.MustCompile(`docs/[a-z/-]+\.(?:md|png)`)

// Every page that the code, a message or a script names exists.
func TestMentionedPagesExist(t *testing.T) {
	mentions := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path == "../.git" || path == "../testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if sample := strings.HasSuffix(path, "/settings_test.go") ||
			strings.HasSuffix(path, "/fingerprints_test.go"); sample || !isSource(path) {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, page := range mention.FindAllString(string(text), -1) {
			mentions++
			if _, err := os.Stat(filepath.Join("..", page)); err != nil {
				t.Errorf("%s names %s: %v", path, page, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if mentions < 20 {
		t.Errorf("only %d mentions were found", mentions)
	}
}

// isSource reports whether the file is code or a script, by its name.
func isSource(path string) bool {
	switch filepath.Ext(path) {
	case ".go", ".c", ".h", ".sh", ".toml":
		return true
	}
	return path == "../.ci/run"
}

var (
	placeRow    = regexp.MustCompile("(?m)^\\| ([^|]+) \\| `([a-z_/.]+)`[^|]* \\| `(\\w+)` \\|$")
	sourceFile  = regexp.MustCompile("`((?:cmd|config|fleet|internal|ledger|rewrite|scripts|shim|test|watch)/[\\w/.-]+\\.(?:go|c|json|sh|toml|txt))`")
	declaration = `(?m)^(?:func (?:\([^)]*\) )?|type |var |const |[a-z_].*[ *])%s\b`
)

// The maintainers' pages are true of the code: each file exists, and declares the function beside
// it.
func TestCodeIsWhereThePagesSay(t *testing.T) {
	for _, page := range pages(t) {
		text := strings.Join(prose(t, page), "\n")
		for _, m := range sourceFile.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	rows := placeRow.FindAllStringSubmatch(strings.Join(prose(t, "internals/walk.md"), "\n"), -1)
	if len(rows) < 20 {
		t.Errorf("walk.md has only %d rows that name a function", len(rows))
	}
	for _, row := range rows {
		source, err := os.ReadFile(filepath.Join("..", row[2]))
		if err != nil {
			continue // said above
		}
		if declared := regexp.MustCompile(fmt.Sprintf(declaration,
			row[3])); !declared.Match(source) {
			t.Errorf("walk.md: %s declares no %s (%s)", row[2], row[3], row[1])
		}
	}
}

var namedTest = regexp.MustCompile("`((?:Test|Fuzz)\\w+|[a-z_]+\\.txtar)`")

// Each test and scenario that a page names as proof exists.
func TestNamedTestsExist(t *testing.T) {
	declared := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		declared[entry.Name()] = true
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllSubmatch(text,
			-1) {
			declared[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages(t) {
		for _, m := range namedTest.FindAllStringSubmatch(strings.Join(prose(t, page), "\n"), -1) {
			if !declared[m[1]] {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
	}
}

var unplain = regexp.MustCompile(`(?i)\b(folders?|can not|somebody|nobody|whoever|likewise|tells (?:of|whether))\b`)

// The pages that users read first use the words of godoc and of the field: directory, cannot,
// another process, reports whether.
func TestWords(t *testing.T) {
	for _, page := range pages(t) {
		if strings.HasPrefix(page, "explanation/") || strings.HasPrefix(page, "internals/") {
			continue // these can quote
		}
		for _, line := range prose(t, page) {
			if word := unplain.FindString(line); word != "" {
				t.Errorf("%s: %q in: %s", page, word, line)
			}
		}
	}
}

// The README stays short enough to be read.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if words := len(strings.Fields(string(text))); words > 700 {
		t.Errorf("README.md has %d words, want at most 700", words)
	}
}

// README and docs together stay below a number of words that only sinks.
func TestDocsAreShort(t *testing.T) {
	words := 0
	for _, page := range pages(t) {
		if strings.HasPrefix(page, "../") && page != "../README.md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		words += len(strings.Fields(string(text)))
	}
	if words < 20_000 || words > 26_000 {
		t.Errorf("README and docs have %d words, want at most 26,000", words)
	}
}

// The pages for users stay short enough to be read, all together.
func TestPagesForUsersAreShort(t *testing.T) {
	words, most := 0, 18_000-8*150
	for _, page := range pages(t) {
		if strings.HasPrefix(page, "../") || strings.HasPrefix(page, "internals/") ||
			page == "TOOL.md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		words += len(strings.Fields(string(text)))
		if isTools(page) {
			most += 150
		}
	}
	if words < 10_000 || words > most {
		t.Errorf("the pages for users have %d words, want at most %d", words, most)
	}
}

// The pages for maintainers stay short enough to be read too, each tool's at one sitting:
// recordings and tests say the rest.
func TestPagesForMaintainersAreShort(t *testing.T) {
	words, most := 0, 10_300-8*400
	for _, page := range pages(t) {
		if !strings.HasPrefix(page, "internals/") {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		own := len(strings.Fields(string(text)))
		words += own
		if isTools(page) {
			most += 400
			if own > 400 {
				t.Errorf("%s has %d words, want at most 400", page, own)
			}
		}
	}
	if words > most {
		t.Errorf("the pages for maintainers have %d words, want at most %d", words, most)
	}
}

// Each tool has a page for users and one for maintainers.
func TestToolsHavePages(t *testing.T) {
	list, err := os.ReadFile("../rewrite/tool/tool.go")
	if err != nil {
		t.Fatal(err)
	}
	tools := regexp.MustCompile(`"reprise/rewrite/tool/(\w+)"`).FindAllStringSubmatch(string(list),
		-1)
	if len(tools) < 8 {
		t.Errorf("tool.go has only %d tools", len(tools))
	}
	for _, tool := range tools {
		for _, page := range []string{"reference/" + tool[1] + ".md", "internals/" + tool[1] +
			".md"} {
			if _, err := os.Stat(page); err != nil {
				t.Error(err)
			}
		}
	}
}

// isTools reports whether a page is one tool's own.
func isTools(page string) bool {
	_, err := os.Stat(filepath.Join("../rewrite/tool",
		strings.TrimSuffix(filepath.Base(page), ".md")))
	return err == nil
}

// prose returns the lines of a document that are not code.
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

// anchors returns the names that GitHub gives to a document's headings.
func anchors(t *testing.T, file string) (names []string) {
	t.Helper()
	for _, line := range prose(t, file) {
		if m := heading.FindStringSubmatch(line); m != nil {
			names = append(names,
				strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
		}
	}
	return names
}
