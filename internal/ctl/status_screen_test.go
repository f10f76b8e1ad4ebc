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

// statusOn returns the lines that status shows on a terminal of that width, of a ledger with live
// chains, a broken configuration and calls that were passed through.
func statusOn(t *testing.T, width int, args ...string) []string {
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
	a := &app.App{Stdin: os.Stdin, Stdout: view.Screen{Writer: &out, Terminal: true, Width: width},
		Stderr: view.Screen{Writer: &errs}, Now: sample.Now,
		Environ: []string{"HOME=/home/me", "XDG_CONFIG_HOME=" + config,
			"XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path))}}
	if code := a.Run(newRoot(a), append([]string{"status"}, args...)); code !=
		app.ExitOK || errs.Len() > 0 {
		t.Fatalf("exit %d: %s", code, &errs)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// The screen shows the saving first, then a few warnings, which are folded, not cut, and the calls.
func TestStatusFitsTheScreen(t *testing.T) {
	for _, width := range []int{80, 120, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			lines := statusOn(t, width)
			text := strings.Join(lines, "\n")
			for _, line := range lines {
				if runewidth.StringWidth(line) > width {
					t.Errorf("a line of %d: %s", runewidth.StringWidth(line), line)
				}
			}
			if !regexp.MustCompile(
				`^last 30 days: \d+ of \d+ calls resumed, saved about \$`).MatchString(lines[0]) {
				t.Errorf("begins with %q", lines[0])
			}
			if len(lines) > 30 {
				t.Errorf("%d lines:\n%s", len(lines), text)
			}
			parts := strings.Split(text, "\n\n")
			if len(parts) != 4 {
				t.Fatalf("%d parts:\n%s", len(parts), text)
			}
			at, warnings := 0, strings.ReplaceAll(parts[1], "\n", " ")
			for _, part := range []string{"every call is passed through: ", ": shimctl doctor ",
				"3 calls of claude passed through, last 0s ago: stdin is open", "Add </dev/null ",
				" more warning"} {
				next := strings.Index(warnings[at:], part)
				if next < 0 {
					t.Fatalf("%q is missing, or not in its place:\n%s", part, text)
				}
				at += next
			}
			if !strings.HasPrefix(parts[2], "20 running calls\n") ||
				!strings.HasPrefix(parts[3], "last decisions\n") ||
				!strings.Contains(parts[3], "fresh: not enough evidence  running  ~/a") {
				t.Errorf("the calls:\n%s", text)
			}
		})
	}
	if text := strings.Join(statusOn(t, 80, "--all"), "\n"); !strings.Contains(text,
		"codex passed through") || strings.Contains(text, "more warning") {
		t.Errorf("not all is shown:\n%s", text)
	}
}

// A warning has one command. Warnings of a kind are one, and the reasons why no call is managed
// come first.
func TestWarningsOfAKindAreOne(t *testing.T) {
	o := statusReport{broken: []warning{{Kind: "shell", Says: "every call is passed through",
		Command: "shimctl doctor"}}}
	for chain := range 16 {
		o.others = append(o.others, warning{Kind: "context",
			Command: fmt.Sprintf("shimctl show %d", chain),
			Says: fmt.Sprintf("chain %d will soon have used more than context_limit allows",
				chain)})
	}
	o.others = append(o.others, warning{Kind: "cache", Says: "shimctl stats says more",
		Command: "shimctl stats"}, warning{Kind: "price", Says: "the cost is not known",
		Command: "shimctl stats --by model"})
	want := `every call is passed through: shimctl doctor
chain 0 will soon have used more than context_limit allows: shimctl show 0
shimctl stats says more
16 more warnings: shimctl status --all`
	if got := strings.Join(o.warningTexts(silent(), false), "\n"); got != want {
		t.Errorf("%s\nnot\n%s", got, want)
	}
	if all := o.warningTexts(silent(), true); len(all) != 19 {
		t.Errorf("%q", all)
	}
}

// The subject and its verb agree.
func TestCostOfOneCall(t *testing.T) {
	for calls, want := range map[int64]string{1: "1 call cost $0.50, 50.0 % of the input came",
		2: "2 calls cost $0.50, 50.0 % of the input came"} {
		bill := view.Bill{Sums: history.Sums{Calls: calls, CacheRead: 1, Input: 1},
			Total: view.Sum{Known: true, Nano: 5e8, Most: 5e8}}
		if lines := (statusReport{bill: bill}).headlines(); !strings.HasPrefix(
			lines[len(lines)-1], want) {
			t.Errorf("%q, want %q", lines, want)
		}
	}
}

// A cost that is not known of all calls says of how many it is.
func TestCostOfSome(t *testing.T) {
	bill := view.Bill{Sums: history.Sums{Calls: 3},
		Total: view.Sum{Known: true, Nano: 1e9, Most: 1e9}}
	for notKnown, want := range map[int64]string{0: "3 calls cost $1.00",
		1: "2 of 3 calls cost $1.00 (the others' cost is not known)"} {
		bill.NotKnown = notKnown
		if lines := (statusReport{bill: bill}).headlines(); lines[len(lines)-1] != want {
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
	if text := out.String(); !strings.HasPrefix(text, "since ") ||
		strings.Contains(text, "last 30 days") {
		t.Errorf("it says %.200s", text)
	}
}
