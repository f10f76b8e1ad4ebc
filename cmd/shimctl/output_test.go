package main

import (
	"database/sql"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mattn/go-runewidth"
	"reprise/ledger"
	"reprise/prices"
	"reprise/rewrite"
)

// screenApp is an app whose terminal is b.
func screenApp(b *strings.Builder, width int) *app {
	return &app{stdout: screen{Writer: b, terminal: true, width: width}, environ: []string{"HOME=/home/me"}, now: time.UnixMilli(90_000)}
}

func TestTableOnATerminal(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "N  WIDE                          LAST\n7  日本語のとても長い名前の仕事  x�[2Jy\n"},
		{30, "N  WIDE                 LAST\n7  日本語のとても長い…  x�[2Jy\n"},
		{20, "N  WIDE\n7  日本語のとても…\n"},
	} {
		var b strings.Builder
		table := newTable("N", "WIDE", "EMPTY", "LAST")
		table.add(numberCell(7), textCell("日本語のとても長い名前の仕事"), textCell(""), textCell("x\x1b[2Jy"))
		table.print(screenApp(&b, c.width).stdout)
		got := strings.ReplaceAll(b.String(), " \n", "\n")
		for _, line := range strings.Split(got, "\n") {
			if c.width > 0 && runewidth.StringWidth(line) > c.width {
				t.Errorf("width %d: %q has %d", c.width, line, runewidth.StringWidth(line))
			}
		}
		if got != c.want {
			t.Errorf("width %d:\n%s\nnot\n%s", c.width, got, c.want)
		}
	}
}

// Sentences are never cut: a terminal has them folded, a program on one line.
func TestFolded(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		width    int
		want     string
	}{
		{true, 0, "CHECK   FINDS\nledger  all is well with /a/very/long/path here\n"},
		{true, 25, "CHECK   FINDS\nledger  all is well with\n        /a/very/long/path\n        here\n"},
		{true, 10, "CHECK   FINDS\nledger  all is well with\n        /a/very/long/path\n        here\n"},
		{false, 10, "CHECK\tFINDS\nledger\tall is well with /a/very/long/path here\n"},
	} {
		var b strings.Builder
		table := newFoldedTable("CHECK", "FINDS")
		table.add(textCell("ledger"), textCell("all is well with /a/very/long/path here"))
		table.print(screen{Writer: &b, terminal: c.terminal, width: c.width})
		if b.String() != c.want {
			t.Errorf("%+v:\n%s", c, b.String())
		}
		b.Reset()
		a := &app{stdout: screen{Writer: &b, terminal: c.terminal, width: 9}}
		a.sentences("NOTE", plain, "One sentence.", "And another.")
		if want := map[bool]string{true: "One\nsentence.\nAnd\nanother.\n", false: "NOTE\nOne sentence.\nAnd another.\n"}[c.terminal]; b.String() != want {
			t.Errorf("%q", b.String())
		}
	}
}

func TestTableForPrograms(t *testing.T) {
	var b strings.Builder
	table := newTable("N", "TEXT")
	table.add(numberCell(1234567), textCell("a\tb\nc\\"))
	table.print(screen{Writer: &b, width: 5})
	if b.String() != "N\tTEXT\n1234567\ta\\tb\\nc\\\\\n" {
		t.Errorf("%q", b.String())
	}
}

func TestTailOnATerminal(t *testing.T) {
	var b strings.Builder
	a := screenApp(&b, 80)
	show := a.tailText(reporter{&prices.Table{}})
	i := ledger.InvocationRow{ID: 3, Tool: "codex", Chain: 2, Cwd: "/home/me/src", Mode: rewrite.Resume, Reason: rewrite.Extends}
	if err := show("began", i); err != nil {
		t.Fatal(err)
	}
	i.Outcome, i.Duration = "ok", sql.NullInt64{Int64: 2500, Valid: true}
	if err := show("ended", i); err != nil {
		t.Fatal(err)
	}
	at := clock(0).Local().Format(time.TimeOnly)
	want := at + "  #3  codex  resume: extends  running  chain 2  ~/src\n" +
		at + "  #3  codex  resume: extends  ok  2.5 s  n/a  chain 2  ~/src\n"
	if b.String() != want {
		t.Errorf("%s\nnot\n%s", b.String(), want)
	}
}

func TestAmounts(t *testing.T) {
	for nano, want := range map[int64]string{0: "$0", 1: "<$0.0001", 12_345_678: "$0.0123", 1_234_567_890: "$1.23", -5_000_000_000: "-$5.00"} {
		if got := dollars(nano); got != want {
			t.Errorf("%d: %s, not %s", nano, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234", -123: "-123"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{999: "999", 1000: "1.0 k", 999_949: "999.9 k", 999_950: "1.0 M", 2_000_000_000: "2.0 G"} {
		if got := brief(n); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
	for ms, want := range map[int64]string{900: "900 ms", 59_900: "59.9 s", 61_000: "1 m 01 s", 3_600_000: "1 h 00 m"} {
		if got := span(time.Duration(ms) * time.Millisecond); got != want {
			t.Errorf("%d: %s, not %s", ms, got, want)
		}
	}
}

func known(n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: true} }

// The tool's own price counts; else the list's; what is not known is not nothing.
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
		i    ledger.InvocationRow
		want string
	}{
		{"its own", ledger.InvocationRow{Model: "m", Input: known(5), Cost: known(2_000_000_000)}, "$2.00"},
		{"its own nothing", ledger.InvocationRow{Model: "m", Input: known(5), Cost: known(0)}, "$0"},
		{"list", ledger.InvocationRow{Model: "m", Input: known(100), Output: known(1_000_000)}, "~$2.00"},
		{"perhaps long", ledger.InvocationRow{Model: "m", Input: known(1), CacheRead: known(100), Output: known(1_000_000)}, "~$2.00 to $4.00"},
		{"long at a rate that is not known", ledger.InvocationRow{Model: "half", Input: known(101), Output: known(1)}, "n/a"},
		{"no such model", ledger.InvocationRow{Model: "other", Input: known(5)}, "n/a"},
		{"not counted", ledger.InvocationRow{Model: "m"}, "n/a"},
	} {
		if got := callCost(table, c.i).human(); got != c.want {
			t.Errorf("%s: %s, not %s", c.what, got, c.want)
		}
	}
}

// What takes its time says so, to people alone, and takes the line back.
func TestSlowly(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		takes    time.Duration
		want     string
	}{
		{true, 900 * time.Millisecond, ""},
		{true, 1300 * time.Millisecond, "\rcounting … 1.0 s\rcounting … 1.2 s\r\x1b[K"},
		{false, time.Minute, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var b strings.Builder
			a := &app{stderr: screen{Writer: &b, terminal: c.terminal}}
			failed := errors.New("failed")
			err := a.slowly("counting", func() error { time.Sleep(c.takes); return failed })
			if err != failed || b.String() != c.want {
				t.Errorf("%v: %q, %v", c.takes, b.String(), err)
			}
		})
	}
}
