package ctl

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/test/sample"

	"github.com/mattn/go-runewidth"
)

// Sessions stand below their sources: one after the other as long as there is one,
// further in where there are several.
func TestShowDrawsTheTree(t *testing.T) {
	var b strings.Builder
	a := screenApp(&b, 0)
	session := func(id, parent string) history.SessionRow {
		return history.SessionRow{NativeID: id, Parent: parent, State: decide.Live}
	}
	showTree(a, view.Reporter{}, history.ChainRow{ID: 1, Sessions: []history.SessionRow{
		session("other", "pruned"), session("right2", "right"), session("right", "second"),
		session("left", "second"), session("second", "first"), session("first", ""),
	}}, nil)
	var got []string
	for line := range strings.Lines(b.String()) {
		if m := regexp.MustCompile(`^([│├└─ ]*session \S+)`).FindString(line); m != "" {
			got = append(got, m)
		}
	}
	want := `├─ session other
├─ session first
└─ session second
   ├─ session right
   ├─ session right2
   └─ session left`
	if strings.Join(got, "\n") != want {
		t.Errorf("%s\nnot\n%s\n%s", strings.Join(got, "\n"), want, b.String())
	}
}

// Copies of copies, several of each, stand as far in as it takes, and each fact of a session on one
// line.
func TestDeepTreesFit(t *testing.T) {
	var b strings.Builder
	a := screenApp(&b, 80)
	var sessions []history.SessionRow
	var calls []ledger.Record
	for n := range 10 {
		s := history.SessionRow{ID: int64(n + 1),
			NativeID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", n), State: decide.Live,
			Model:   "claude-opus-5-5-20260101",
			Context: rewrite.Context{Used: 11, Limit: 100}}
		if n > 0 {
			s.Parent = fmt.Sprintf("%08d-0000-4000-8000-000000000000", (n-1)/2*2)
		}
		sessions = append([]history.SessionRow{s}, sessions...)
		calls = append(calls, ledger.Record{ID: int64(n + 1), Session: s.ID, Tool: "claude",
			Mode: "resume", Reason: "extends", Outcome: "ok"})
	}
	showTree(a, view.Reporter{}, history.ChainRow{ID: 1, Sessions: sessions}, calls)
	if strings.Count(b.String(), "context 11 %") != 10 ||
		strings.Count(b.String(), "copy of 0000000") != 9 {
		t.Errorf("%s", b.String())
	}
	for line := range strings.Lines(b.String()) {
		if width := runewidth.StringWidth(strings.TrimRight(line, " \n")); width > 80 {
			t.Errorf("a line of %d: %s", width, line)
		}
	}
}

// The header is there once, however many sessions have calls, and no line is wider than the
// terminal.
func TestShowHasOneHeader(t *testing.T) {
	var b strings.Builder
	a := screenApp(&b, 80)
	a.Stdout.Width = 80
	var sessions []history.SessionRow
	var calls []ledger.Record
	for n, id := range []string{"00000000-0000-4000-8000-000000000001",
		"00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-000000000003"} {
		s := history.SessionRow{ID: int64(n + 1), NativeID: id, State: decide.Live,
			Model: "claude-opus-5-5-20260101"}
		if n > 0 {
			s.Parent = sessions[0].NativeID
		}
		sessions = append([]history.SessionRow{s}, sessions...)
		calls = append(calls, ledger.Record{ID: int64(n + 1), Session: s.ID, Tool: "claude",
			Mode: "resume", Reason: "extends", Outcome: "ok"})
	}
	showTree(a, view.Reporter{}, history.ChainRow{ID: 1, Sessions: sessions}, calls)
	if strings.Count(b.String(), "DECISION") != 1 || strings.Count(b.String(), "  resume  ") != 3 ||
		!strings.Contains(b.String(), "no room for ") {
		t.Errorf("%s", b.String())
	}
	for line := range strings.Lines(b.String()) {
		if width := runewidth.StringWidth(strings.TrimSpace(line)); width > 80 {
			t.Errorf("a line of %d: %s", width, line)
		}
	}
}

// The number of a call that is gone is not taken for the start of a session's ID.
func TestShowOfARemovedNumber(t *testing.T) {
	path := sample.Ledger(t, 30, false)
	l, err := ledger.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Forget(ledger.ChainName{ID: 1}, false); err != nil {
		t.Fatal(err)
	}
	l.Close()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE sessions SET native_id = '1' || native_id"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"1": "error: find call 1: there is none\nhint: it was pruned; shimctl log lists the " +
			"rest\n",
		"999": "error: find call 999: there is none\nhint: shimctl log lists them\n",
	} {
		var errs strings.Builder
		a := &app.App{Stderr: view.Screen{Writer: &errs}, Now: sample.Now,
			Environ: []string{"HOME=/home/me",
				"XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path))}}
		if code := a.Run(newRoot(a), []string{"show", name}); code != app.ExitFailed ||
			errs.String() != want {
			t.Errorf("show %s: exit %d, %q, want %q", name, code, errs.String(), want)
		}
	}
}
