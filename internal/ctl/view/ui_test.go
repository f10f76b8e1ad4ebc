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

func TestTableOnATerminal(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{
		{0, "N  WIDE                          LAST\n7  日本語のとても長い名前の仕事  x�[2Jy\n"},
		{30, "N  WIDE                 LAST\n7  日本語のとても長い…  x�[2Jy\n"},
		{20, "N  WIDE\n7  日本語のとても長…\nno room for LAST: a\nwider terminal or a\npipe shows them\n"},
	} {
		var b strings.Builder
		table := NewTable("N", "WIDE", "EMPTY", "LAST")
		table.Add(NumberCell(7), TextCell("日本語のとても長い名前の仕事"), TextCell(""), TextCell("x\x1b[2Jy"))
		table.Print(Screen{Writer: &b, Terminal: true, Width: c.width})
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

// A narrow terminal leaves out the least important columns and says which.
func TestColumns(t *testing.T) {
	for width, want := range map[int]string{
		24: "ID  NAME     COST  MODEL\n 1  a thing    $1  m\n",
		20: "ID  NAME     COST\n 1  a thing    $1\nno room for MODEL: a\nwider terminal " +
			"or a\npipe shows them\n",
		12: "ID  NAME\n 1  a thing\nno room for\nCOST, MODEL:\na wider\nterminal or\na " +
			"pipe shows\nthem\n",
	} {
		table := NewTable("ID", "NAME", "COST", "MODEL").Spare("MODEL", "COST")
		table.Add(IDCell(1), TextCell("a thing"), Cell{Human: "$1", Raw: "1", Right: true},
			TextCell("m"))
		var b strings.Builder
		table.Print(Screen{Writer: &b, Terminal: true, Width: width})
		if b.String() != want {
			t.Errorf("%d:\n%s\nnot\n%s", width, b.String(), want)
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
		{true, 10, "CHECK   FINDS\nledger  all is well with\n        /a/very/long/path\n        " +
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
		b.Reset()
		Screen{Writer: &b, Terminal: c.terminal, Width: 9}.Sentences("NOTE", Plain, "One sentence.",
			"And another.")
		if want := map[bool]string{true: "One\nsentence.\nAnd\nanother.\n",
			false: "NOTE\nOne sentence.\nAnd another.\n"}[c.terminal]; b.String() != want {
			t.Errorf("%q", b.String())
		}
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
	table.Add(NumberCell(1234567), TextCell("a\tb\nc\\"))
	table.Print(Screen{Writer: &b, Width: 5})
	if b.String() != "N\tTEXT\n1234567\ta\\tb\\nc\\\\\n" {
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
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 9999: "9.9 kB",
		10_000: "10 kB", 999_999: "999 kB", 1_234_567: "1.2 MB", 99_999_999_999: "99 GB",
		4_567_000_000_000: "4567 GB"} {
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

// A locale without UTF-8 gets other characters of the same width.
func TestASCII(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		ascii            bool
	}{
		{"", "", "", true},
		{"C", "en_US.UTF-8", "en_US.UTF-8", true},
		{"", "POSIX", "en_US.UTF-8", true},
		{"", "", "de_DE.ISO-8859-1", true},
		{"", "", "C.UTF-8", false},
		{"", "en_US.utf8", "C", false},
		{"de_DE.UTF-8", "C", "C", false},
	} {
		env := map[string]string{"LC_ALL": c.all, "LC_CTYPE": c.ctype, "LANG": c.lang}
		if s := NewScreen(os.Stdout, func(name string) string { return env[name] }); s.ASCII !=
			c.ascii {
			t.Errorf("%+v: %v", c, s.ASCII)
		}
	}
	var b strings.Builder
	table := NewTable("LEVEL", "NAME")
	table.Add(TextCell("a…"), TextCell("a very long name that is cut\x1b"))
	table.Print(Screen{Writer: &b, Terminal: true, Width: 23, ASCII: true})
	if b.String() != "LEVEL  NAME\na~     a very long nam~\n" {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	table.Print(Screen{Writer: &b, ASCII: true})
	if !strings.Contains(b.String(), "a…") {
		t.Errorf("%q: a program reads the text as it is", b.String())
	}
}

// The first error of a write is kept, even if nobody looked at it.
func TestWriteError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	s := NewScreen(full, os.Getenv)
	if s.Err() != nil {
		t.Error(s.Err())
	}
	table := NewTable("N")
	table.Print(s)
	if !errors.Is(s.Err(), syscall.ENOSPC) {
		t.Error(s.Err())
	}
}

// Each line of a sentence has its color: a pager ends it with the line. No line ends before a unit.
func TestLinesAreWhole(t *testing.T) {
	var b strings.Builder
	Screen{Writer: &b, Terminal: true, Width: 10, Colors: true}.Sentences("", Warn,
		"it took 52.8 % of 117 MB")
	if want := "\x1b[33mit took\x1b[0m\n\x1b[33m52.8 % of\x1b[0m\n\x1b[33m117 MB\x1b[0m\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
	help := Screen{Width: 16}.Paragraphs("One two three\nfour.\n\n  as  it is\n  too\nFive.")
	if want := "One two three\nfour.\n\n  as  it is\n  too Five."; help != want {
		t.Errorf("%q", help)
	}
}

// A column that is to be whole is cut after all others, and never below half of the terminal.
func TestWholeColumn(t *testing.T) {
	const decision = "fresh: other prompt (a resume was refused)"
	table := NewTable("CALL", "DECISION", "OUTCOME").Whole("DECISION")
	table.Add(TextCell("1"), TextCell(decision), TextCell("the tool has failed: exit 1"))
	for width, want := range map[int]string{
		80: "1     " + decision + "  the tool has failed: exit 1\n",
		70: "1     " + decision + "  the tool has failed…\n",
		50: "1     fresh: other prompt (a re…  the tool has fa…\n",
	} {
		var b strings.Builder
		table.Print(Screen{Writer: &b, Terminal: true, Width: width})
		if !strings.Contains(b.String(), want) {
			t.Errorf("%d columns: %q, want %q", width, b.String(), want)
		}
	}
}

// Paths are cut at the front, and before anything else.
func TestPaths(t *testing.T) {
	table := NewTable("DECISION", "DIRECTORY")
	table.Add(TextCell("fresh: settings_changed"),
		Cell{Human: "~/src/a/long/way/down/to/api", Raw: "x", Path: true})
	var b strings.Builder
	table.Print(Screen{Writer: &b, Terminal: true, Width: 43})
	if !strings.HasSuffix(b.String(), "fresh: settings_changed  …g/way/down/to/api\n") {
		t.Errorf("%q", b.String())
	}
}
