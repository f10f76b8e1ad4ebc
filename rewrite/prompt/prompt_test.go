package prompt

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

func TestWithoutCount(t *testing.T) {
	for line, want := range map[string]string{
		"Round 2":             "Round #",
		"Round 2 of 5":        "Round # of #",
		"## Iteration 12/50":  "## Iteration #/#",
		"Turn 3/50":           "Turn #/#",
		"Turn #3: fix it":     "Turn ##: fix it",
		"Fix it (turn 3/50).": "Fix it (turn #/#).",
		"Fix it (round 3) 4":  "Fix it (round #) 4",
		"Fix it (turn: 3).":   "Fix it (turn: 3).",
		"Attempt 3":           "Attempt #",
		"Attempt 3 of 5, go":  "Attempt 3 of 5, go",
		"Fix pass 3":          "Fix pass 3",
		"Runde 3":             "Runde #",
		"раунд 3":             "раунд #",
		"Step 3":              "Step 3",
		"Turn é3, turn 4":     "Turn é3, turn #",
		"Go, turn 3 of 50 é.": "Go, turn # of # é.",
		"Go, turn 3 is on 50": "Go, turn # is on 50",
		"3 of 5":              "3 of 5",
		"round trip":          "round trip",
		"Round 2a":            "Round 2a",
		"turn the page 3":     "turn the page 3",
		"":                    "",
		"Round 2 " + strings.Repeat(".", longestCount-8): "Round # " +
			strings.Repeat(".", longestCount-8),
		"Round 2 " + strings.Repeat(".", longestCount-7): "Round 2 " +
			strings.Repeat(".", longestCount-7),
	} {
		if got := stripCount(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	long := "Now: 2026-11-19T08:15:02Z" + strings.Repeat(" ", 55)
	for line, cut := range map[string]bool{
		"Now: 2026-11-19 08:15":                   true,
		"Now: 2026-11-19 8:15":                    true,
		"Now: 2026/11/19 08:15:02.5":              true,
		"Now: 19.11.2026 08:15":                   true,
		"Now: 08:15 Thu 19 Nov":                   true,
		"Current time: 2026-11-19T08:15:02+0100":  true,
		"Current time: 2026-11-19T08:15:02-01:00": true,
		"Current time: 2026-11-19T08:15:02+010":   false,
		"Current time: 2026-11-19T08:15:02+01:0x": false,
		"Current time: 2026-11-19x08:15":          false,
		"Current time: 26-11-19 08:15":            false,
		"Current time: 2026-11 08:15":             false,
		"Current time: 2026--19 08:15":            false,
		"Current time: 20261-11-19 08:15":         false,
		"Current time: 2026-11-19 08:1":           false,
		"Current time: 2026-11-19 008:15":         false,
		"Current time: 2026-11-19 08:15:2":        false,
		"Current time: 2026-11-19 08:15:02.x":     false,
		"Current time: 2026-11-19 0a:15":          false,
		"Current time: 2026-11-19 08:1a":          false,
		"Current time: 2026-11-19 08:15:0a":       false,
		"Now: 08:15 19 Nov":                       true,
		"Now: 1.1.2026 08:15":                     true,
		"Now: 2026-1-9 08:15":                     true,
		"Now: -- 2026-11-19 08:15 --":             true,
		"Now: 2026-11-19 08:15 ✅":                 false,
		"Now: 2026-11-19 test":                    false,
		"Now: 2026-11-19T:15":                     false,
		"Now: 2026-11-19 08:150":                  false,
		"Now: 2026-11-19 08:15:020":               false,
		"Now: 08:15 9 Nov":                        true,
		"Now: 123-11-26 08:15":                    false,
		"Now: 26-11-123 08:15":                    false,
		"Now: 2026-11-T08:15":                     false,
		"Now: 2026-11-2026 08:15":                 false,
		"Now: 11-2026-19 08:15":                   false,
		"Now: 123-11-2026 08:15":                  false,
		"Now: 2026-123-11 08:15":                  false,
		"Now: 2026-11-123 08:15":                  false,
		"Now: 11-19-20261 08:15":                  false,
		"Now: 2026-11 08:15 19":                   false,
		"Now: 2026-11-19-20 08:15":                false,
		"Now: 2026-11-19T08:15:02+01":             false,
		"Now: 2026-11-19T08:15:02+01000":          false,
		"Now: 08:15":                              false,
		"Now: 08:15 Thursday":                     false,
		"Now: 08:15 19":                           false,
		"Now: 2026-11-19 08:15 7":                 false,
		"Now: 2026-11-19 08:15 12345 Nov":         false,
		"Date: 2026-11-19 08:15":                  false,
		"2026-11-19 08:15 now":                    false,
		"Now: 2026-11-19":                         false,
		"Now: 2026-11-19 08:15 for the shop":      false,
		long:                                      true,
		long + " ":                                false,
	} {
		if got := stripClock(line); (got != line) != cut ||
			cut && !strings.HasPrefix(got, "\x00clock ") {
			t.Errorf("%q: %q", line, got)
		}
	}
	if stripClock("Now: 2026-11-19 08:15") == stripClock("Current time: 2026-11-19 08:15") {
		t.Error("the words beside a time do not count")
	}
}

func TestFences(t *testing.T) {
	for line, want := range map[string]string{"```": "```", "```go": "```", "`````": "`````",
		"~~~": "~~~", "``": "", "```a```": "", "~~~ a~": "", "x```": ""} {
		if got := opensFence(line); got != want {
			t.Errorf("%q opens %q, want %q", line, got, want)
		}
	}
	for line, want := range map[string]bool{"```": true, "````": true, "```go": false, "``": false,
		"~~~": false} {
		if open := fence("```"); !open.next(line) || (open == "") != want {
			t.Errorf("%q: %v", line, !want)
		}
	}
	for line, want := range map[string]int{"# a": 1, "###### a": 6, "####### a": 0, "#": 0, "#a": 0,
		"#\ta": 1, "a # b": 0, " # a": 0} {
		if got := headingLevel(line); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}

// Stored fingerprints can be compared with those that later versions make of the same text.
func TestDigestsStayTheSame(t *testing.T) {
	mac := hmac.New(sha256.New, testKey)
	mac.Write([]byte("text"))
	sum := mac.Sum(nil)
	if d := testKey.Digester()("text"); string(d[:]) != string(sum[:DigestSize]) {
		t.Errorf("%x is the digest, want %x", d, sum[:DigestSize])
	}
	if name := testKey.Name("text"); name != hex.EncodeToString(sum[:8]) {
		t.Errorf("%s is the name, want %x", name, sum[:8])
	}
}

func TestFootprint(t *testing.T) {
	blocks := New("# Job\n\nOne. \nTwo.\n", testKey).blocks
	if len(blocks) != 2 || blocks[0].text != "# Job" || blocks[1].text != "One. \nTwo." {
		t.Errorf("blocks: %+v", blocks)
	}
	f := New("# Job\n\n## Part\n\nOne.\nTwo.\n\nThree.\n\n[{\"role\": \"user\", \"content\": "+
		"\"hi\"}]", testKey).Footprint()
	if fmt.Sprint(f.Lines) != "[0 0 2 1 0]" || f.Opening != 3 || len(f.Blocks) != 5 ||
		f.First != testKey.Digester()("# Job") {
		t.Errorf("%v, %d", f.Lines, f.Opening)
	}
	if f.Shape.FirstTurn != 4 {
		t.Errorf("the first turn is in block %d", f.Shape.FirstTurn)
	}
	if f := New("One. \nTwo.", testKey).Footprint(); f.First != testKey.Digester()("One.") {
		t.Error("the first line of one block is not kept")
	}
	if f := New("# Job\n\n## Part", testKey).Footprint(); f.Opening != 2 ||
		f.Shape.FirstTurn != -1 {
		t.Errorf("headings alone: %d, %d", f.Opening, f.Shape.FirstTurn)
	}
}
