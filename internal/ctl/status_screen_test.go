package ctl

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger/history"
	"reprise/test/sample"

	"github.com/mattn/go-runewidth"
)

// statusOn returns the lines that status shows on a terminal of that size, of a ledger with live
// chains, a broken configuration and calls that were passed through.
func statusOn(t *testing.T, width, height int, args ...string) []string {
	t.Helper()
	path := sample.Ledger(t, 300, false)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	now := sample.Now.UnixMilli()
	for _, query := range []string{
		"UPDATE chains SET updated = ?1 - id * 1000",
		"INSERT INTO sessions (chain_id, tool, native_id, state, created, last_used, settings, " +
			"model, runtime, auth, base, base_opening, base_bytes) SELECT id, tool, 'n' || id, " +
			"'live', ?1, ?1, '', '', '', '', x'', 0, 0 FROM chains WHERE id <= 30",
		"INSERT INTO passed VALUES ('claude', '/home/me', 'stdin_open', ?1 / 86400000, 3, ?1, " +
			"''), ('codex', '/home/me', 'opted_out', ?1 / 86400000, 2, ?1 - 1, ''), ('claude', " +
			"'/home/me', 'unknown_option', ?1 / 86400000, 2, ?1 - 2, ''), ('claude', " +
			"'/home/me', 'slash_command', ?1 / 86400000, 2, ?1, ''), ('claude', '/home/me', " +
			"'caller_session', ?1 / 86400000, 2, ?1, '')",
		"INSERT INTO calls (tool, cwd, format, prompt_bytes, sent_bytes, started, mode, " +
			"reason) SELECT 'claude', '/home/me/a/very/long/path/' || id, 'text', 1, 1, ?1, " +
			"'fresh', 'no_evidence' FROM chains WHERE id <= 20",
	} {
		if _, err := db.Exec(query, now); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	config := t.TempDir()
	if err := os.MkdirAll(filepath.Join(config, "reprise"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "reprise", "config.toml"), []byte("max_age = 7\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	a := &app.App{Stdin: os.Stdin, Stdout: view.Screen{Writer: &out, Terminal: true, Width: width,
		Height: height}, Stderr: view.Screen{Writer: &errs}, Now: sample.Now,
		Environ: []string{"HOME=/home/me", "XDG_CONFIG_HOME=" + config,
			"XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path))}}
	if code := a.Run(newRoot(a), append([]string{"status"}, args...)); code !=
		app.ExitOK || errs.Len() > 0 {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// The screen shows the saving first and warnings that are folded, not cut. A part that does not fit
// is counted.
func TestStatusFitsTheScreen(t *testing.T) {
	for _, size := range []struct{ width, height int }{{80, 24}, {120, 40}, {100, 30}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size.width, size.height), func(t *testing.T) {
			lines := statusOn(t, size.width, size.height)
			text := strings.Join(lines, "\n")
			if len(lines) >= size.height {
				t.Errorf("%d lines", len(lines))
			}
			for _, line := range lines {
				if runewidth.StringWidth(line) > size.width {
					t.Errorf("a line of %d: %s", runewidth.StringWidth(line), line)
				}
			}
			if !regexp.MustCompile(
				`^last 30 days: \d+ of \d+ calls resumed, saved about \$`).MatchString(lines[0]) {
				t.Errorf("begins with %q", lines[0])
			}
			text = strings.ReplaceAll(text, "\n  ", " ") // a warning that is folded
			at := 0
			for _, part := range []string{"\n\nevery call is passed through: ",
				": shimctl doctor\n3 calls of claude passed through: ",
				": shimctl why stdin_open\n", " more warning",
				": shimctl status --all\n\nrunning calls\n",
				"more: shimctl status --all\n\nlast decisions\n",
				"fresh: not enough evidence  running  ~/a",
				"\nmore: shimctl why CALL, shimctl log,"} {
				next := strings.Index(text[at:], part)
				if next < 0 {
					t.Fatalf("%q is missing, or not in its place:\n%s", part, text)
				}
				at += next
			}
		})
	}
	if text := strings.Join(statusOn(t, 80, 24, "--all"), "\n"); !strings.Contains(text,
		"codex passed through") || strings.Contains(text, "more warning") {
		t.Errorf("not all is shown:\n%s", text)
	}
}

// Nothing of a warning is cut on a narrow screen, and it has one command. Warnings of a kind are
// one, and the reasons why no call is managed come first.
func TestWarningsOfAKindAreOne(t *testing.T) {
	a := screenApp(&strings.Builder{}, 80)
	a.Stdout.Height = 24
	o := overview{broken: []warning{{Kind: "shell", Says: "every call is passed through",
		Command: "shimctl doctor"}}, warnings: []warning{
		{Kind: "price", Says: "the cost of 30 calls is not known: no list price of one-model is " +
			"known; prices.toml can hold it", Command: "shimctl stats --by model"}}}
	for chain := range 16 {
		o.warnings = append(o.warnings, warning{Kind: "context",
			Command: fmt.Sprintf("shimctl show %d", chain),
			Says: fmt.Sprintf("chain %d will soon have used more than context_limit allows",
				chain)})
	}
	want := `every call is passed through: shimctl doctor
the cost of 30 calls is not known: no list price of one-model is known;
  prices.toml can hold it: shimctl stats --by model
chain 0 will soon have used more than context_limit allows (and 15 more like
  it): shimctl show 0
15 more warnings: shimctl status --all`
	if got := strings.Join(warningLines(a, o), "\n"); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
}

// The subject and its verb agree.
func TestCostOfOneCall(t *testing.T) {
	for calls, want := range map[int64]string{1: "1 call cost $0.50, 50.0 % of the input came",
		2: "2 calls cost $0.50, 50.0 % of the input came"} {
		bill := view.Bill{Sums: history.Sums{Calls: calls, CacheRead: 1, Input: 1},
			Total: view.Sum{Known: true, Nano: 5e8, Most: 5e8}}
		if lines := headLines(&app.App{}, overview{bill: bill}); !strings.HasPrefix(
			lines[len(lines)-1], want) {
			t.Errorf("%q, want %q", lines, want)
		}
	}
}

// A cost that is not known of all calls says of how many it is.
func TestCostOfSome(t *testing.T) {
	a := &app.App{Stdout: view.Screen{}}
	bill := view.Bill{Sums: history.Sums{Calls: 3},
		Total: view.Sum{Known: true, Nano: 1e9, Most: 1e9}}
	for notKnown, want := range map[int64]string{0: "3 calls cost $1.00",
		1: "2 of 3 calls cost $1.00 (the others' cost is not known)"} {
		bill.NotKnown = notKnown
		if lines := headLines(a, overview{bill: bill}); lines[len(lines)-1] != want {
			t.Errorf("%q, want %q", lines, want)
		}
	}
}

// Of a huge ledger status sums up the latest calls, and says since when.
func TestStatusOfAHugeLedger(t *testing.T) {
	path := sample.Ledger(t, 3, false)
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const calls = 50_002
	if _, err := db.Exec(`WITH RECURSIVE n (x) AS
			(SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ?)
		INSERT INTO calls (tool, cwd, format, prompt_bytes, sent_bytes, started, mode, reason,
			outcome)
		SELECT 'claude', '/', 'text', 1, 1, ? - x, 'fresh', 'first_call', 'ok' FROM n`,
		calls, sample.Now.UnixMilli()); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	a := &app.App{Stdin: os.Stdin, Stdout: view.Screen{Writer: &out},
		Stderr: view.Screen{Writer: &errs}, Now: sample.Now, Environ: []string{"HOME=/home/me",
			"XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path))}}
	if code := a.Run(newRoot(a), []string{"status"}); code != app.ExitOK {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	if text := out.String(); !strings.Contains(text, "\nsince ") ||
		strings.Contains(text, "last 30 days") {
		t.Errorf("it says %.200s", text)
	}
}
