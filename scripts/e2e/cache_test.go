package e2e

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"reprise/internal/demo"
	"reprise/internal/standin"
	"reprise/ledger"
	"reprise/scripts/parity"
	"reprise/scripts/realcli"
)

// The ledger's figures on the provider's cache are those of the requests: what a resumed call's first request reads
// while the entry lives, and after it has expired.
func TestCacheFiguresAreTheRequests(t *testing.T) {
	first := map[string]bool{"claude": true, "codex": true, "copilot": false, "gemini": true, "qwen": true, "vibe": false} // tools that report it
	each(t, first, func(t *testing.T, tool string, first bool) {
		var ahead time.Duration
		w := newWorldWith(t, realcli.Pins[tool], true, standin.Options{Now: func() time.Time { return time.Now().Add(ahead) }})
		var prompt, read int64
		for i, pause := range []time.Duration{0, 2 * time.Minute, 20 * time.Minute} {
			ahead += pause
			args := append(slices.Clone(demo.Command(tool)[1:]), round([]string{"Not done.", "Not done yet."}[:i]...)+"\nRUNTOOL\n")
			r := w.run(tool, parity.Call{Args: args, Env: []string{"REPRISE_TASK=t", "REPRISE_ROLE=coder", "IS_SANDBOX=1"}})
			if r.Exit != 0 || len(r.Asked) < 2 {
				t.Fatalf("round %d: exit %d, %d requests; %s", i+1, r.Exit, len(r.Asked), r.Stderr)
			}
			if i == 0 {
				continue
			}
			for j, asked := range r.Asked {
				if j == 0 || !first {
					prompt, read = prompt+int64(asked.Tokens.Input), read+int64(asked.Tokens.Cached)
				}
			}
		}
		l, err := ledger.OpenExisting(filepath.Join(w.State(), "ledger.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		rows, err := l.CacheRows(ledger.Filter{})
		if err != nil || len(rows) != 1 {
			t.Fatalf("%+v, %v", rows, err)
		}
		got := rows[0]
		if got.Calls != 2 || got.Prompt != prompt || got.Read != read || (got.Firsts == 2) != first {
			t.Errorf("%+v, want %d tokens, of which the cache had %d", got, prompt, read)
		}
		if first && (got.Judged != 2 || got.Missed != 1) {
			t.Errorf("%+v, want one call of two to miss", got)
		}
	})
}
