package view

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
)

// A terminal gets the columns that hold anything, and each line as far as there is room. A long
// name leaves room for the columns after it.
func TestTableOnATerminal(t *testing.T) {
	for width, want := range map[int]string{
		0: "N  WIDE                          LAST\n" +
			"7  日本語のとても長い名前の仕事  x\\u001b[2Jy\n" +
			"8  b                             -\n",
		36: "N  WIDE           LAST\n" +
			"7  日本語のとて>  x\\u001b[2Jy\n" +
			"8  b              -\n",
		14: "N  WIDE   LAST\n7  日本>  x\\u>\n8  b      -\n",
	} {
		var b strings.Builder
		table := NewTable("N", "WIDE", "EMPTY", "LAST")
		table.Add(NumberCell(7), TextCell("日本語のとても長い名前の仕事"), TextCell(""),
			TextCell("x\x1b[2Jy"))
		table.Add(NumberCell(8), TextCell("b"), TextCell(""), TextCell(""))
		table.Print(Screen{Writer: &b, Terminal: true, Width: width})
		for line := range strings.Lines(b.String()) {
			if line = strings.TrimSpace(line); width > 0 && runewidth.StringWidth(line) > width {
				t.Errorf("width %d: %q has %d", width, line, runewidth.StringWidth(line))
			}
		}
		if b.String() != want {
			t.Errorf("width %d:\n%s\nnot\n%s", width, b.String(), want)
		}
	}
}

// Sentences are never cut: a terminal folds them, a program reads each on one line.
func TestFolded(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		width    int
		want     string
	}{
		{true, 0, "CHECK   FINDS\nledger  all is well with /a/very/long/path here\n"},
		{true, 25, "CHECK   FINDS\nledger  all is well with\n        /a/very/long/path\n        " +
			"here\n"},
		{false, 10, "CHECK\tFINDS\nledger\tall is well with /a/very/long/path here\n"},
	} {
		var b strings.Builder
		table := NewFoldedTable("CHECK", "FINDS")
		table.Add(TextCell("ledger"), TextCell("all is well with /a/very/long/path here"))
		table.Print(Screen{Writer: &b, Terminal: c.terminal, Width: c.width})
		if b.String() != c.want {
			t.Errorf("%+v:\n%s", c, b.String())
		}
	}
	var b strings.Builder
	Screen{Writer: &b, Width: 9}.Notice("One sentence.", "And another\x1b.")
	if want := "One\nsentence.\nAnd\nanother\\u001b.\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
	help := Screen{Width: 16}.Paragraphs("One two three\nfour.\n\n  as  it is\n  too\nFive.")
	if want := "One two three\nfour.\n\n  as  it is\n  too Five."; help != want {
		t.Errorf("%q", help)
	}
}

// A role without a name is shown as --role takes it.
func TestRoleCell(t *testing.T) {
	for role, want := range map[string]Cell{
		"":                   {Human: "-"},
		"coder":              {Human: "coder", Raw: "coder"},
		"#mine, in my words": {Human: "#mine, in my words", Raw: "#mine, in my words"},
		" #0123456789abcdef": {Human: "#01234567", Raw: "#0123456789abcdef"},
	} {
		if got := RoleCell(role); got != want {
			t.Errorf("%q: %+v", role, got)
		}
	}
}

func TestTableForPrograms(t *testing.T) {
	var b strings.Builder
	table := NewTable("N", "TEXT")
	table.Add(NumberCell(1234567), TextCell("a\tb\nc\x1b\\t\xff\ufffd"))
	table.Print(Screen{Writer: &b, Width: 5})
	if b.String() != "N\tTEXT\n1234567\ta\\tb\\nc\\u001b\\\\t\\xff\ufffd\n" {
		t.Errorf("%q", b.String())
	}
}

func TestAmounts(t *testing.T) {
	for nano, want := range map[int64]string{0: "$0", 1: "<$0.0001", 12_345_678: "$0.0123",
		1_234_567_890: "$1.23", -5_000_000_000: "-$5.00"} {
		if got := dollars(nano); got != want {
			t.Errorf("%d: %s, not %s", nano, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567",
		-1234: "-1,234", -123: "-123"} {
		if got := Thousands(n); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{999: "999", 1000: "1.0 k", 999_949: "999.9 k",
		999_950: "1.0 M", 2_000_000_000: "2.0 G"} {
		if got := ShortNumber(n); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 9949: "9.9 kB",
		999_949: "999.9 kB", 1_234_567: "1.2 MB", 4_567_000_000_000: "4567.0 GB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s, not %s", n, got, want)
		}
	}
	for n, want := range map[Number]string{50507.7: "50.5 k", -16_000: "-16.0 k", 12.4: "12",
		-0.2: "0"} {
		if got := Amount("tokens", n); got != want {
			t.Errorf("%f: %s, not %s", n, got, want)
		}
	}
	for n, want := range map[Number]string{50507.7: "50508", -0.6: "-1"} {
		if got := AmountCell("tokens", n); got.Raw != want {
			t.Errorf("%f: %s, not %s", n, got.Raw, want)
		}
	}
	for n, want := range map[Number]string{Unknown: "null", Number(math.Inf(1)): "null",
		-0.5: "-0.5"} {
		if got, err := json.Marshal(n); string(got) != want || err != nil {
			t.Errorf("%g: %s, not %s: %v", n, got, want, err)
		}
	}
	for n, want := range map[Number]string{-1e-17: "0.0%", -0.1: "-10.0%"} {
		if got := AmountCell("share", n).Raw; got != want {
			t.Errorf("%g: %s, not %s", n, got, want)
		}
	}
	for ms, want := range map[int64]string{900: "900 ms", 59_900: "59.9 s", 61_000: "1 m 01 s",
		3_600_000: "1 h 00 m"} {
		if got := Duration(time.Duration(ms) * time.Millisecond); got != want {
			t.Errorf("%d: %s, not %s", ms, got, want)
		}
	}
}

// The first error of a write is kept, even if nobody looked at it.
func TestWriteError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	s := NewScreen(full)
	if s.Err() != nil {
		t.Error(s.Err())
	}
	table := NewTable("N")
	table.Print(s)
	if !errors.Is(s.Err(), syscall.ENOSPC) {
		t.Error(s.Err())
	}
}
