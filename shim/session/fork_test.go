package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	_ "reprise/rewrite/tool" // registers the tools
)

// message is an entry of one of claude's transcripts.
func message(n int, more string) string {
	return fmt.Sprintf(`{"type":"assistant","uuid":"00000000-0000-4000-8000-%012d","more":%q}`+"\n",
		n, more)
}

func TestForkPoint(t *testing.T) {
	one, two := message(1, ""), message(2, "")
	long := strings.Repeat("x", maxTail)
	tests := map[string]struct {
		text    string
		size    int
		message int // 0 for none
		why     reason.Code
	}{
		"all of the file":             {one, len(one), 1, ""},
		"what somebody writes behind": {one + two, len(one), 1, ""},
		"half a line behind":          {one + two[:20], len(one), 1, ""},
		"it ended within a line":      {one + two, len(one) + 20, 0, reason.SessionMoved},
		"it is shorter":               {one, len(one) + 1, 0, reason.SessionMoved},
		"it was empty":                {one, 0, 0, reason.SessionMoved},
		"no message":                  {"{}\n", 3, 0, reason.NoForkPoint},
		"far more before": {message(3, long) + one, len(message(3, long)) +
			len(one), 1, ""},
		"a last message that is far too long": {one + message(3, long) + two, len(one) +
			len(message(3, long)), 0, reason.NoForkPoint},
	}
	dir := t.TempDir()
	tool, _ := rewrite.Lookup("claude")
	c := Files{Tool: tool}
	for name, tt := range tests {
		path := filepath.Join(dir, "session.jsonl")
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		want := ""
		if tt.message > 0 {
			want = fmt.Sprintf("00000000-0000-4000-8000-%012d", tt.message)
		}
		if got, why := c.ForkPoint(path, decide.Stamp(fmt.Sprint(tt.size))); got != want ||
			why != tt.why {
			t.Errorf("%s: %q (%s), want %q (%s)", name, got, why, want, tt.why)
		}
	}
	if got, why := c.ForkPoint(filepath.Join(dir, "session.jsonl"), "[1]"); got != "" ||
		why != reason.NoForkPoint {
		t.Errorf("a row: %q (%s)", got, why)
	}
	for name, path := range map[string]string{"no path": "",
		"no file": filepath.Join(dir, "gone"), "a directory": dir} {
		if got, why := c.ForkPoint(path, "1"); got != "" || why != reason.SessionGone {
			t.Errorf("%s: %q (%s)", name, got, why)
		}
	}
}
