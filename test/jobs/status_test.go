package jobs

import (
	"fmt"
	"strings"
	"testing"

	"reprise/test/harness"
)

// After ten calls status fits a screen of 24 lines; the saving comes first.
func TestStatusAfterTenCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude", true)
	var notes []string
	for n := range 10 {
		prompt := round(notes...)
		r := w.call("-p", prompt)
		if r.Exit != 0 {
			t.Fatalf("call %d: exit %d, stderr %q", n+1, r.Exit, r.Stderr)
		}
		notes = append(notes, fmt.Sprintf("## Rejection %d\n\nYour change fails a test, fix it.",
			n+1))
	}
	r := w.run("shimctl", harness.Call{Args: list("status"), To: harness.Screen})
	lines := strings.Split(strings.TrimRight(r.Stdout, "\r\n"), "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines:\n%s", len(lines), r.Stdout)
	}
	const want = "9 of 10 calls resumed"
	if !strings.Contains(strings.Join(strings.Fields(strings.Join(lines[:3], " ")), " "), want) {
		t.Errorf("not %q:\n%s", want, r.Stdout)
	}
}
