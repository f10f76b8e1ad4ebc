package ctl

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/prices"
	"reprise/ledger"
)

// screenApp is an app with b as its terminal.
func screenApp(b *strings.Builder, width int) *app.App {
	return &app.App{Stdout: view.Screen{Writer: b, Terminal: true, Width: width},
		Environ: []string{"HOME=/home/me"}, Now: time.UnixMilli(90_000)}
}

func known(n int64) ledger.Number {
	return ledger.Number{NullInt64: sql.NullInt64{Int64: n, Valid: true}}
}

// The tool's own price counts; else the list's; an unknown price is not 0.
func TestCallCost(t *testing.T) {
	table, err := prices.Load("", `[[price]]
model = "m"
input = 1
cached = 0
output = 2
long = { above = 100, input = 3, cached = 0, output = 4 }
[[price]]
model = "half"
input = 1
output = 2
long = { above = 100 }`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		i    ledger.Record
		want string
	}{
		{"its own", ledger.Record{Model: "m", Input: known(5), Cost: known(2_000_000_000)},
			"$2.00"},
		{"its own nothing", ledger.Record{Model: "m", Input: known(5), Cost: known(0)}, "$0"},
		{"list", ledger.Record{Model: "m", Input: known(100), Output: known(1_000_000)}, "~$2.00"},
		{"perhaps long", ledger.Record{Model: "m", Input: known(1), CacheRead: known(100),
			Output: known(1_000_000)}, "~$2.00 to $4.00"},
		{"long at a rate that is not known", ledger.Record{Model: "half", Input: known(101),
			Output: known(1)}, "n/a"},
		{"no such model", ledger.Record{Model: "other", Input: known(5)}, "n/a"},
		{"not counted", ledger.Record{Model: "m"}, "n/a"},
	} {
		if got := view.CallCost(table, c.i).Human(); got != c.want {
			t.Errorf("%s: %s, not %s", c.what, got, c.want)
		}
	}
}
