package rewrite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"see pkg/main.go, now":            "pkg/main.go main.go",
		"`parseLine` and (parse_line).":   "parseline parse_line",
		"at src/a.ts:12:3":                "src/a.ts a.ts",
		"plain words, e.g. these":         "",
		"a.b":                             "",
		"a.bc":                            "a.bc",
		"NASA ISO-8601 3.14 1.2.3":        "",
		"_envs envs_ NASAx ABCDe":         "",
		"README GitHub gitHub":            "github github",
		"https://example.com/x.html":      "",
		".env file. trailing./":           "",
		"x=some_thing|other_thing":        "some_thing other_thing",
		"--fail-fast snake_case! camelC?": "snake_case camelc",
		strings.Repeat("a", 198) + ".b":   strings.Repeat("a", 198) + ".b",
		strings.Repeat("a", 199) + ".b":   "",
	} {
		if got := strings.Join(slices.Collect(names(text)), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for range names("a/b_c.go d_e.go") { // one may stop at any name
		break
	}
	n := 0
	for range names("a/b_c.go d_e.go") {
		if n++; n == 2 {
			break
		}
	}
}

func TestTraces(t *testing.T) {
	p := NewPrompt("Mend src/cart.go.", testKey)
	digest := testKey.Digester()
	marks := func(names ...string) (out []Mark) {
		for _, name := range names {
			out = append(out, markOf(digest(name)))
		}
		return out
	}
	traces := NewTraces(p, "I changed src/cart.go and wrote addItem in pkg/items.go.", []string{"/srv/app/src/Cart.go", "/srv/app/Makefile"}, testKey)
	if want := marks("makefile", "additem", "pkg/items.go", "items.go"); !slices.Equal(traces.Things, want) {
		t.Errorf("things: %v, want %v", traces.Things, want)
	}
	if n := len(traces.Gist); n != 11-2 && n != 12-2 {
		t.Errorf("%d runs of three words", n)
	}
	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, "file_%d ", i)
	}
	long := NewTraces(p, many.String(), nil, testKey)
	if len(long.Things) != MaxThings || len(long.Gist) != maxGist || !slices.IsSorted(long.Gist) {
		t.Errorf("%d things, %d marks", len(long.Things), len(long.Gist))
	}
	if all := gist(many.String(), digest, 1000); !slices.Equal(all[:maxGist], long.Gist) {
		t.Error("of a long text not the least marks are kept")
	}
	if late := NewTraces(p, strings.Repeat("x", maxTraced)+" a few more words, and pkg/late.go", nil, testKey); len(late.Gist) != 0 || len(late.Things) != 0 {
		t.Errorf("beyond what is looked at: %d marks, %d things", len(late.Gist), len(late.Things))
	}
	for text, want := range map[string]int{"": 0, "one two": 0, "One, two: THREE!": 1, "one two three one two three": 3} {
		if got := gist(text, digest, 9); len(got) != want {
			t.Errorf("%q: %d marks, want %d", text, len(got), want)
		}
	}
	if !slices.Equal(gist("One two three", digest, 9), gist("one, TWO three.", digest, 9)) {
		t.Error("letter case or signs count")
	}
}

func TestTextWords(t *testing.T) {
	for text, want := range map[string]string{
		"One two. Three":    "^one two ^three",
		"v1.2 is a:b":       "^v1 2 is a b",
		"a: b; c! d? e … f": "^a ^b ^c ^d ^e ^f",
		"a\nb, c":           "^a ^b c",
		"完成。好":              "^完成 ^好",
		"end.":              "^end",
		"don't (stop)":      "^don t stop",
		"":                  "",
	} {
		var got []string
		for _, w := range textWords(text) {
			word := w.text
			if w.start {
				word = "^" + word
			}
			got = append(got, word)
			if strings.ToLower(text[w.from:w.to]) != w.text {
				t.Errorf("%q stands at %d", w.text, w.from)
			}
		}
		if all := strings.Join(got, " "); all != want {
			t.Errorf("%q: %q, want %q", text, all, want)
		}
	}
	// Of a long text the beginning and the end are looked at.
	filler := strings.Repeat("word ", maxScanned/5+1)
	for text, want := range map[string]bool{"Your change fails. " + filler + filler + filler: true, filler + filler + filler + "Your change fails.": true,
		filler + filler + "Your change fails. " + filler + filler: false} {
		found := false
		matchPhrases(text, func(kind, _ string) { found = found || kind == "work" })
		if found != want {
			t.Errorf("in a text of %d bytes: found %v, want %v", len(text), found, want)
		}
	}
}

// What is added is weighed as docs/explanation/when-it-resumes.md says.
func TestEvidenceVerdicts(t *testing.T) {
	const base = "You are the coder.\n\nBuild the cart of the shop."
	const answer = "I wrote addItem in pkg/items.go, and a test for the empty cart.\nThe totals are computed when an item is added, not when the page is drawn.\nThe cart is kept in the session."
	sent := sentTo(base, answer)
	p := NewPrompt(base, testKey)
	traces := NewTraces(p, answer, nil, testKey)
	sent.Things, sent.Gist = traces.Things, traces.Gist
	for _, tt := range []struct {
		name, added string
		want        Reason
		found       string // kinds, for and against
	}{
		{"nothing", "The sky is blue.", NoEvidence, "/"},
		{"work", "Your change breaks the build.", "", "work/"},
		{"work in a fence", "```\nYour change breaks the build.\n```", NoEvidence, "/"},
		{"work in an indented line", "    Your change breaks the build.", NoEvidence, "/"},
		{"work behind a fence", "```\nx\n```\nYour change breaks the build.", "", "work/"},
		{"fix", "Please fix it.", "", "fix/"},
		{"first", "It still fails: the total is 0.", "", "state first/"},
		{"state, but not first", "The page is blue. It still fails.", NoEvidence, "state/"},
		{"goon", "Go on.", "", "goon/"},
		{"goon in three lines", "Go on.\nThe sky is blue.\nSo is the sea.", "", "goon/"},
		{"goon in four lines", "Go on.\nThe sky is blue.\nSo is the sea.\nAnd the hill.", NoEvidence, "goon/"},
		{"notes", "## Review notes\n\nThe total is 0.", "", "notes/"},
		{"notes under a label", "Review:\n\nThe total is 0.", "", "notes/"},
		{"log alone", "```\nAssertionError: 1 != 2\n```", NoEvidence, "log/"},
		{"thing alone", "See pkg/items.go for more.", NoEvidence, "thing/"},
		{"log and thing", "```\nAssertionError: in addItem\n```", "", "log thing/"},
		{"a place in a file", "pkg/items.go:12: too long", "", "log thing/"},
		{"a place in a list", "- pkg/items.go:12: too long", "", "log thing/"},
		{"a place without a number", "pkg/items.go:too long", NoEvidence, "thing/"},
		{"a place with nothing behind it", "See\npkg/items.go: too long", NoEvidence, "thing/"},
		{"a place with a letter first", "pkg/items.go:x1 is too long", NoEvidence, "thing/"},
		{"the head of a patch", "Please fix it.\n\ndiff --git a/x b/x", NoEvidence, "fix/diff"},
		{"state and thing", "The sky is blue. But addItem is not covered.", "", "state thing/"},
		{"hard beats work", "You are the judge. Your change breaks the build.", NewRole, "work/role"},
		{"clean beats work", "Start over. Your change breaks the build.", CleanStart, "work/clean"},
		{"sample beats work", "Sample 2\n\nYour change breaks the build.", NoEvidence, "work/sample"},
		{"base", "Each request is handled independently.", CleanStart, "/base other"},
		{"work beats soft", "Use a mutex. Your change breaks the build.", "", "work/vary"},
		{"soft beats fix", "Use a mutex. Please fix it.", NoEvidence, "fix/vary"},
		{"other", "Another engineer did this. Please fix it.", NewRole, "fix/other"},
		{"anew", "All of it from scratch. Please fix it.", CleanStart, "fix/anew"},
		{"a patch", "Please fix it.\n\n```diff\n-a\n+b\n```", NoEvidence, "fix/diff"},
		{"a bare patch", "Please fix it.\n\ndiff --git a/x b/x\n@@ -1 +1 @@", NoEvidence, "fix/diff"},
		{"a hunk", "Please fix it.\n\n@@ -1 +1 @@", NoEvidence, "fix/diff"},
		{"its answer as it is", answer, NoEvidence, "/quoted"},
		{"its answer and work", answer + "\n\nYour change breaks the build.", NoEvidence, "work/quoted"},
		{"most of its answer", "The totals are computed when an item is added, not when the page is drawn.\nThe cart is kept in the session.\n\nPlease fix it.", HistoryEdited, "fix/shown"},
		{"its answer reworded", "The summary: the totals are computed when an item is added, not when the page is drawn. Please fix it.", HistoryEdited, "fix/shown"},
		{"somebody unknown", "Ada: hello\n\nPlease fix it.", HistoryEdited, "fix/shown"},
		{"a turn of the assistant's", "Assistant: I did.\n\nUser: Please fix it.", HistoryEdited, "/"},
	} {
		c := Compare(sent, NewPrompt(base+"\n\n"+tt.added, testKey))
		kinds := func(all []Finding) string {
			var out []string
			for _, f := range all {
				if !slices.Contains(out, f.Kind) {
					out = append(out, f.Kind)
				}
			}
			return strings.Join(out, " ")
		}
		if found := kinds(c.Evidence.For) + "/" + kinds(c.Evidence.Against); c.Evidence.Verdict != tt.want || found != tt.found {
			t.Errorf("%s: %q for %q, want %q for %q", tt.name, c.Evidence.Verdict, found, tt.want, tt.found)
		}
	}
}

// What the session was sent before decides too: a prompt that leaves a place for an item, or asks for answers that stand alone.
func TestEvidenceOfTheBase(t *testing.T) {
	for _, tt := range []struct {
		base, added string
		want        Reason
	}{
		{"You are the coder.\n\nBuild the cart.", "It still fails.", ""},
		{"You are the coder.\n\nYou have no memory of other calls.", "It still fails.", CleanStart},
		{"You are the coder.\n\nSummarize the text.", "It still fails.", NoEvidence},
		{"You are the coder.\n\nSummarize the text.", "It still fails after your change.", ""},
		{"You are the coder.\n\nThe report:", "It still fails.", NoEvidence},
		{"You are the coder.\n\n**The report:**", "It still fails.", NoEvidence},
		{"You are the coder.\n\nThe report：", "It still fails.", NoEvidence},
		{"You are the coder.\n\n## Report", "It still fails.", NoEvidence},
		{"You are the coder.\n\n```\nx\n```", "It still fails.", NoEvidence},
		{"You are the coder.\n\n## Report", "## Review\n\nIt still fails.", ""},
		{"You are the coder.\n\n## Report", "It still fails after your change.", ""},
	} {
		if c := compare(tt.base, tt.base+"\n\n"+tt.added, "Done."); c.Evidence.Verdict != tt.want {
			t.Errorf("%q and %q: %q, want %q; against %v", tt.base, tt.added, c.Evidence.Verdict, tt.want, c.Evidence.Against)
		}
	}
}

func TestFindingsAreFew(t *testing.T) {
	base := "You are the coder.\n\nBuild it."
	c := compare(base, base+"\n\nYour change fails. Your patch fails. Your patch fails. Your commit fails. Your fix fails.", "Done.")
	if got := fmt.Sprint(c.Evidence.For); got != "[{work Your change} {work Your patch} {work Your commit}]" {
		t.Errorf("found %s", got)
	}
}
