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
		"at:/Main.go":                     "/main.go main.go",
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
			out = append(out, newMark(digest(name)))
		}
		return out
	}
	traces := NewTraces(p, []string{"I changed src/cart.go and wrote addItem in pkg/items.go: addItem."}, []string{"/srv/app/src/Cart.go", "/srv/app/Makefile"}, testKey)
	if want := marks("makefile", "additem", "pkg/items.go", "items.go"); !slices.Equal(traces.Things, want) {
		t.Errorf("things: %v, want %v", traces.Things, want)
	}
	if n := len(traces.Gist); n != 12-2 && n != 13-2 {
		t.Errorf("%d runs of three words", n)
	}
	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, "file_%d ", i)
	}
	long := NewTraces(p, []string{many.String()}, nil, testKey)
	if len(long.Things) != MaxThings || len(long.Gist) != maxGist || !slices.IsSorted(long.Gist) {
		t.Errorf("%d things, %d marks", len(long.Things), len(long.Gist))
	}
	if all := gist(many.String(), digest, 1000); !slices.Equal(all[:maxGist], long.Gist) {
		t.Error("of a long text not the least marks are kept")
	}
	if late := NewTraces(p, []string{strings.Repeat("x", maxTraced) + " a few more words, and pkg/late.go"}, nil, testKey); len(late.Gist) != 0 || len(late.Things) != 0 {
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
	for _, other := range []string{"x two three", "one x three", "one two x"} {
		if slices.Equal(gist("one two three", digest, 9), gist(other, digest, 9)) {
			t.Errorf("%q counts as the same run of words", other)
		}
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
}

// Of a long text the beginning and the end are searched, once each.
func TestLongTexts(t *testing.T) {
	const words = "Your change"
	for _, tt := range []struct{ before, all, want int }{
		{0, 3 * maxScanned, 1},
		{3*maxScanned - len(words), 3 * maxScanned, 1},
		{3 * maxScanned / 2, 3 * maxScanned, 0},
		{5 * maxScanned / 4, 5 * maxScanned / 2, 0},
		{3 * maxScanned / 4, 3 * maxScanned / 2, 1},
		{maxScanned - 5, 2 * maxScanned, 1},
	} {
		found := 0
		matchPhrases(strings.Repeat(" ", tt.before)+words+strings.Repeat(" ", tt.all-tt.before-len(words)), func(string, string) { found++ })
		if found != tt.want {
			t.Errorf("%d bytes into %d: found %d times, want %d", tt.before, tt.all, found, tt.want)
		}
	}
}

func TestPhrases(t *testing.T) {
	table := newPhraseTable()
	for _, entry := range []string{"start en ^run 1*|2", "gap en drop .. all", "twice en a .. a", "prefix en unru* now|then", "piece zh 没有|没用"} {
		table.add(entry)
	}
	for text, want := range map[string]string{
		"Run 12":                    "start (Run 12)",
		"Stop. Run 2":               "start (Run 2)",
		"Run 21":                    "",
		"The run 12":                "",
		"Drop all":                  "gap (Drop all)",
		"drop one two three all it": "gap (drop one two three all)",
		"drop 1 2 3 4 all":          "",
		"drop it. All":              "",
		"drop":                      "",
		"a b":                       "",
		"a b a":                     "twice (a b a)",
		"unruly now, unru then":     "prefix (unruly now) prefix (unru then)",
		"unr now":                   "",
		"完全没用":                      "piece (没用)",
	} {
		var got []string
		table.match(text, func(kind, words string) { got = append(got, kind+" ("+words+")") })
		if all := strings.Join(got, " "); all != want {
			t.Errorf("%q: found %q, want %q", text, all, want)
		}
	}
}

// What is added is weighed as docs/explanation/when-it-resumes.md says.
func TestEvidenceVerdicts(t *testing.T) {
	const base = "You are the coder.\n\nBuild the cart of the shop."
	const answer = "I wrote addItem in pkg/items.go, and a test for the empty cart.\nThe totals are computed when an item is added, not when the page is drawn.\nThe cart is kept in the session."
	sent := sentTo(base, answer)
	p := NewPrompt(base, testKey)
	traces := NewTraces(p, []string{answer}, nil, testKey)
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
		{"first, without a sign", "It still fails", "", "state first/"},
		{"state, but not first", "The page is blue. It still fails.", NoEvidence, "state/"},
		{"goon", "Go on.", "", "goon/"},
		{"goon in three lines", "Go on.\nThe sky is blue.\nSo is the sea.", "", "goon/"},
		{"goon in four lines", "Go on.\nThe sky is blue.\nSo is the sea.\nAnd the hill.", NoEvidence, "goon/"},
		{"notes", "## Review notes\n\nThe total is 0.", "", "notes/"},
		{"notes under a label", "Review:\n\nThe total is 0.", "", "notes/"},
		{"log alone", "```\nAssertionError: 1 != 2\n```", NoEvidence, "log/"},
		{"log in an indented line", "See below\n\n    AssertionError: in addItem", "", "log thing/"},
		{"thing alone", "See pkg/items.go for more.", NoEvidence, "thing/"},
		{"log and thing", "```\nAssertionError: in addItem\n```", "", "log thing/"},
		{"a place in a file", "pkg/items.go:12: too long", "", "log thing/"},
		{"a place near the beginning", "pkg/items.go:7:3: too long", "", "log thing/"},
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
		{"a sentence of its answer", "To sum up, the totals are computed when an item is added. Please fix it.", HistoryEdited, "fix/shown"},
		{"five words of its answer", "The totals are computed when.\n\nPlease fix it.", HistoryEdited, "fix/shown"},
		{"four words of its answer", "The totals are computed.\n\nPlease fix it.", "", "fix/"},
		{"more than a third of its answer", "The totals are computed when one two three four five.\n\nPlease fix it.", HistoryEdited, "fix/shown"},
		{"a third of its answer", "The totals are computed when one two three four five six.\n\nPlease fix it.", "", "fix/"},
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
		if goOn := tt.want == "" && strings.HasPrefix(tt.found, "goon"); c.Evidence.GoOn() != goOn {
			t.Errorf("%s: asks to go on: %v", tt.name, !goOn)
		}
		if found := kinds(c.Evidence.For) + "/" + kinds(c.Evidence.Against); c.Evidence.Verdict != tt.want || found != tt.found {
			t.Errorf("%s: %q for %q, want %q for %q", tt.name, c.Evidence.Verdict, found, tt.want, tt.found)
		}
	}
}

// Of a long answer a sample is kept, and a quotation is measured by it.
func TestQuotesOfLongAnswers(t *testing.T) {
	const base = "You are the coder.\n\nBuild the cart of the shop."
	var words []string
	for i := range 6 * maxGist {
		words = append(words, fmt.Sprintf("w%d", i))
	}
	answer := strings.Join(words, "\n")
	sent := sentTo(base, answer)
	sent.Gist = NewTraces(NewPrompt(base, testKey), []string{answer}, nil, testKey).Gist
	for text, want := range map[string]Reason{strings.Join(words, " "): HistoryEdited, strings.Join(words[:3*maxGist], " "): HistoryEdited, "Not a word of it.": ""} {
		if c := Compare(sent, NewPrompt(base+"\n\nPlease fix it.\n\n"+text, testKey)); c.Evidence.Verdict != want {
			t.Errorf("%.40q: %q, want %q", text, c.Evidence.Verdict, want)
		}
	}
}

// What the session was sent before decides too: a prompt that leaves a place for an item, or asks for answers that stand alone.
func TestEvidenceOfTheBase(t *testing.T) {
	const coder = "You are the coder.\n\n"
	for _, tt := range []struct {
		base, added string
		want        Reason
	}{
		{"Build the cart.", "It still fails.", ""},
		{"You have no memory of other calls.", "It still fails.", CleanStart},
		{"Summarize the text.", "It still fails.", NoEvidence},
		{"Summarize the text.", "It still fails after your change.", ""},
		{"The report:", "It still fails.", NoEvidence},
		{"**The report:**", "It still fails.", NoEvidence},
		{"The report：", "It still fails.", NoEvidence},
		{"## Report", "It still fails.", NoEvidence},
		{"# Report", "It still fails.", NoEvidence},
		{"```\nx\n```", "It still fails.", NoEvidence},
		{"## Report", "## Review\n\nIt still fails.", ""},
		{"## Report", "It still fails after your change.", ""},
		{"## Review notes", "The total is 0.", ""},
		{"## Report\n\nIt is slow.", "## Report\n\nPlease fix it.", NoEvidence},
		{"## Report\n\nIt is slow.", "## Reports\n\nPlease fix it.", ""},
		{"Report", "## Report\n\nPlease fix it.", ""},
	} {
		if c := compare(coder+tt.base, coder+tt.base+"\n\n"+tt.added, "Done."); c.Evidence.Verdict != tt.want {
			t.Errorf("%q and %q: %q, want %q; against %v", tt.base, tt.added, c.Evidence.Verdict, tt.want, c.Evidence.Against)
		}
	}
	// Each of two additions has a place of its own.
	c := compare(coder+"Build it.\n\nThe report:\n\nEnd.", coder+"Build it.\n\nPlease fix it.\n\nThe report:\n\nIt is slow.\n\nEnd.", "Done.")
	if got := fmt.Sprint(c.Evidence.Against); c.Evidence.Verdict != NoEvidence || got != "[{material It is slow.}]" {
		t.Errorf("two additions: %q against %s", c.Evidence.Verdict, got)
	}
}

// A conversation goes on with every answer in it, unless the new turn is not a user's or asks for something else below.
func TestEvidenceOfConversations(t *testing.T) {
	const first, answer = "Be kind.\n\nUser: Name a colour:", "\n\nAssistant: Red.\n\n"
	for _, tt := range []struct {
		after   string
		want    Reason
		against string
	}{
		{answer + "User: Another.", "", "[]"},
		{"\n\nTool: ok" + answer + "User: Another.", "", "[]"},
		{answer + "User: Another.\nYou said it would fit.", "", "[]"},
		{answer + "System: Another.", NewRole, "[{role System: Another.}]"},
		{answer + "System: Another.\nAnd more.", NewRole, "[{role System: Another.}]"},
		{answer + "Developer: Another.", NewRole, "[{role Developer: Another.}]"},
	} {
		c := compare(first, first+tt.after, "Red.")
		if got := fmt.Sprint(c.Evidence.Against); c.Relation != Extends || c.Evidence.Verdict != tt.want || got != tt.against {
			t.Errorf("%q: %s, %q against %s, want %q against %s", tt.after, c.Relation, c.Evidence.Verdict, got, tt.want, tt.against)
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
