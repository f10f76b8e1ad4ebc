package jobs

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"reprise/internal/demo"
	"reprise/internal/standin"
	"reprise/ledger"
	"reprise/ledger/history"
	"reprise/test/harness"
	"reprise/test/markers"
	"reprise/test/promptcache"
	"reprise/test/realcli"
)

// The ledger's figures on the provider's cache are the requests': the tokens that a resumed call's
// first request reads while the entry lives, and after it has expired.
func TestCacheFiguresAreTheRequests(t *testing.T) {
	// tools that report it
	first := map[string]bool{"claude": true, "codex": true, "copilot": false, "gemini": true,
		"qwen": true, "vibe": false}
	each(t, first, func(t *testing.T, tool string, first bool) {
		var ahead time.Duration
		w := newWorldWith(t, realcli.Pins[tool], true,
			markers.Options{Cache: promptcache.Options{
				Now: func() time.Time { return time.Now().Add(ahead) }}})
		var prompt, read int64
		for i, pause := range []time.Duration{0, 2 * time.Minute, 20 * time.Minute} {
			ahead += pause
			args := append(slices.Clone(demo.Command(tool)[1:]),
				round([]string{"Not done.", "Not done yet."}[:i]...)+"\nRUNTOOL\n")
			r := w.run(tool, harness.Call{Args: args,
				Env: []string{"REPRISE_TASK=t", "REPRISE_ROLE=coder", "IS_SANDBOX=1"}})
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
		rows, err := history.CacheRows(l, history.Filter{})
		if err != nil || len(rows) != 1 {
			t.Fatalf("%+v, %v", rows, err)
		}
		got := rows[0]
		if got.Calls != 2 || got.Prompt != prompt || got.Read != read ||
			(got.Whole > 0) != first {
			t.Errorf("%+v, want %d tokens, of which the cache had %d", got, prompt, read)
		}
		if first && (got.Judged != 2 || got.Missed != 1) {
			t.Errorf("%+v, want one call of two to miss", got)
		}
	})
}

// With cache_ttl = "auto" claude asks the provider for an hour once the pauses of a job show that
// it pays. Without it, and where the caller has chosen for itself, the requests are as they were.
func TestAutoAsksForAnHour(t *testing.T) {
	type test struct {
		config, own string
		hour        [3]bool
	}
	each(t, map[string]test{
		"auto":             {"cache_ttl = 'auto'\n", "", [3]bool{false, true, true}},
		"off":              {"", "", [3]bool{}},
		"the caller's own": {"cache_ttl = 'auto'\n", "FORCE_PROMPT_CACHING_5M=1", [3]bool{}},
	}, func(t *testing.T, _ string, tt test) {
		for _, pin := range []realcli.Pin{realcli.SmallerClaude, realcli.Claude} {
			t.Run(pin.Version, func(t *testing.T) {
				t.Parallel()
				w := newWorldWith(t, pin, true, markers.Options{})
				put(t, filepath.Join(w.Root, "home", ".config", "reprise", "config.toml"),
					"gate_timeout = '5m'\n"+tt.config)
				for i, want := range tt.hour {
					if err := w.Pause(10 * time.Minute); err != nil {
						t.Fatal(err)
					}
					call := harness.Call{Args: append(slices.Clone(demo.Command("claude")[1:]),
						round([]string{"Not done.", "Not done yet."}[:i]...)),
						Env: []string{"REPRISE_TASK=t", "REPRISE_ROLE=coder", "IS_SANDBOX=1"}}
					if tt.own != "" {
						call.Env = append(call.Env, tt.own)
					}
					r := w.run("claude", call)
					var tokens standin.Tokens
					for _, asked := range r.Asked {
						tokens.Add(asked.Tokens)
					}
					if r.Exit != 0 || (tokens.ForHour > 0) != want {
						t.Fatalf("call %d: exit %d, %+v; %s", i+1, r.Exit, tokens, r.Stderr)
					}
				}
			})
		}
	})
}
