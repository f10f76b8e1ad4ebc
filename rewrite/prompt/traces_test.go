package prompt

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
		"_envs _Envs envs_ NASAx ABCDe":   "",
		"at:/Main.go":                     "/main.go main.go",
		"README GitHub gitHub":            "github github",
		"https://example.com/x.html":      "",
		".env .Env file. trailing./":      "",
		"x=some_thing|other_thing":        "some_thing other_thing",
		"--fail-fast snake_case! camelC?": "snake_case camelc",
		strings.Repeat("a", 198) + ".b":   strings.Repeat("a", 198) + ".b",
		strings.Repeat("a", 199) + ".b":   "",
	} {
		if got := strings.Join(slices.Collect(names(text)), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for range names("a/b_c.go d_e.go") { // one can stop at any name
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
	p := New("Mend src/cart.go.\nEnd with the words that the contract asks for.", testKey)
	digest := testKey.Digester()
	marks := func(names ...string) (out []WordDigest) {
		for _, name := range names {
			out = append(out, newWordDigest(digest(name)))
		}
		return out
	}
	traces := NewTraces(p, []string{"I changed src/cart.go and wrote addItem in pkg/items.go: " +
		"addItem."}, []string{"/srv/app/src/Cart.go", "/srv/app/Makefile"}, nil, testKey)
	if want := marks("makefile", "additem", "pkg/items.go",
		"items.go"); !slices.Equal(traces.Things, want) {
		t.Errorf("things: %v, want %v", traces.Things, want)
	}
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "the words of line %d in file_%d\n", i, i)
	}
	if long := NewTraces(p, []string{many.String()}, nil, nil, testKey); len(long.Things) !=
		MaxThings || len(long.Lines) != maxLines {
		t.Errorf("%d things, %d lines", len(long.Things), len(long.Lines))
	}
	if late := NewTraces(p, []string{strings.Repeat("x", maxTraced) +
		"\na few more words, and pkg/late.go"}, nil, nil, testKey); len(late.Lines) != 1 ||
		len(late.Things) != 0 {
		t.Errorf("beyond what is looked at: %d lines, %d things", len(late.Lines), len(late.Things))
	}
	if one := NewTraces(p, []string{"I changed cart.go"}, nil, nil, testKey); len(one.Things) != 0 {
		t.Errorf("a name that the prompt has: %v", one.Things)
	}
	for answer, want := range map[string]string{
		"":                     "",
		"DONE\nok, it is done": "",
		"- The **lock** is taken too late here!\nshort":                                   "the lock is taken too late here",
		"2. one two three four five\none two three four five":                             "one two three four five",
		"end with the words that the contract asks for":                                   "",
		"4 + 10 = 14 (left: 4 14) and 12":                                                 "",
		`{"notes": "First, the lock is late.\nThen the test is flaky, too.", "ok": true}`: "notes first the lock is late nthen the test is flaky too ok true|first the lock is late|then the test is flaky too",
		"锁在写入之前就被释放了，请修复":                                                                 "锁在写入之前就被释放了 请修复",
	} {
		var lines []WordDigest
		for line := range strings.SplitSeq(want, "|") {
			if line != "" {
				lines = append(lines, newWordDigest(digest(line)))
			}
		}
		if got := NewTraces(p, []string{answer}, nil, nil, testKey).Lines; !slices.Equal(got,
			lines) {
			t.Errorf("%q: %d lines, want %q", answer, len(got), want)
		}
	}
}

// A prompt has the marks of an answer that it shows.
func TestMarks(t *testing.T) {
	const line = "The parser still reads one byte past the end of its buffer."
	answer := NewTraces(New("Review it.", testKey), []string{line}, nil, nil, testKey)
	p := New("Mend it.\n\n> "+line+"\n\nok", testKey)
	if len(answer.Lines) != 1 || !p.LineDigests()[answer.Lines[0]] {
		t.Errorf("lines: %v, of %v", p.LineDigests(), answer.Lines)
	}
}

// A file that the session has changed is a trace even if its prompt names it.
func TestChangedFilesAreTraces(t *testing.T) {
	p := New("Mend src/cart.go.", testKey)
	name := newWordDigest(testKey.Digester()("cart.go"))
	for _, changed := range [][]string{nil, {"src/Cart.go"}} {
		things := NewTraces(p, []string{"Done."}, []string{"/app/src/cart.go"}, changed,
			testKey).Things
		if slices.Contains(things, name) != (changed != nil) {
			t.Errorf("changed %v: %v", changed, things)
		}
	}
}

// A log, and a finding at a line of a file in the forms in which reviewers and tools name it.
func TestLogs(t *testing.T) {
	for text, want := range map[string]bool{
		"src/a.go:12 the lock stays":                true,
		"src/a.go(12,3): error":                     true,
		"`src/a.go`, line 12: the lock stays":       true,
		"**src/a.go** (lines 12-14)":                true,
		"src/a.go Line 12":                          true,
		"src/a.go, Zeile 12":                        true,
		"src/a.go ligne 12":                         true,
		"src/a.go, línea 12":                        true,
		"src/a.go 第12行":                             true,
		"src/a.go 12번째 줄":                           true,
		"src/a.go 12 줄":                             true,
		`File "src/a.py", line 12, in f`:            true,
		"{\"file\": \"src/a.go\",\n\"line\": 12}":   true,
		`{"file":"src/a.go","start_line":12}`:       true,
		`{"file": "src/a.go", "lines": 12}`:         false,
		`{"file": "src/a.go", "line": "the first"}`: false,
		"FAILED tests/a.py::test_b":                 true,
		"src/a.go chapter 12":                       false,
		"src/a.go, version 2":                       false,
		"the outline 12 of src/a.go":                false,
		"Translate a.md, lines of all pages":        false,
	} {
		if p := New(text, testKey); p.isLog(0) != want {
			t.Errorf("%q is a log: %t", text, !want)
		}
	}
}
