package ctl

import (
	"database/sql"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/test/sample"
)

// A chain is a list of sessions, each with its source, and a list of calls, the oldest first.
func TestShowOfAChain(t *testing.T) {
	var b strings.Builder
	a := screenApp(&b, 0)
	session := func(id, parent string) history.SessionRow {
		return history.SessionRow{NativeID: id, Parent: parent, State: decide.Live, Turns: 1}
	}
	printChain(a, view.Reporter{}, history.ChainRow{ID: 1, Tool: "claude", Cwd: "/shop",
		Task: "T-1", Sessions: []history.SessionRow{session("second", "first"),
			session("first", "")}},
		[]ledger.Record{{ID: 7, Tool: "claude", Mode: "resume", Reason: "extends", Outcome: "ok",
			NativeID: "second"}})
	for _, want := range []string{
		`^chain c1  claude  /shop  task T-1\n`, `SESSION +STATE +TURNS +CONTEXT +COPY OF\n`,
		`\nfirst +live +1 +n/a +-\nsecond +live +1 +n/a +first\n\n`,
		`\n +7 .* resume +ok .* second\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(b.String()) {
			t.Errorf("%s is missing in\n%s", want, b.String())
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
		"1":   "error: find call 1: there is none\nhint: shimctl log lists the calls\n",
		"999": "error: find call 999: there is none\nhint: shimctl log lists the calls\n",
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
