package harness

import (
	"fmt"
	"strings"
)

// rules is the text that a caller repeats in each round: long enough for a delta to pay off.
var rules = func() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "- Rule %d: keep functions small, and write a test for case %d.\n", i, i)
	}
	return b.String()
}()

// Round returns the prompt of a round of a job: the notes are appended, the closing contract stays
// last.
func Round(notes ...string) string {
	p := "You are the coder. Please remember number 4711.\n\n## Rules\n\n" + rules
	for i, n := range notes {
		p += fmt.Sprintf("\n## Rejection %d\n\n%s\n", i+1, n)
	}
	return p + "\n## Contract\n\nPrint STATUS: REVIEW when done.\n"
}
