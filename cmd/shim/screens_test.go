package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/test/sample"
	"reprise/test/toolbox"

	"github.com/creack/pty"
	"github.com/mattn/go-runewidth"
)

var colors = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// What a person asks first ends by itself on a terminal of any size, with less as the pager, and no line of it is wider.
func TestScreensFit(t *testing.T) {
	less, err := exec.LookPath("less")
	if err != nil {
		t.Skip(err)
	}
	state := "XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(sample.Ledger(t, 400, false)))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []pty.Winsize{{Rows: 24, Cols: 80}, {Rows: 30, Cols: 100}, {Rows: 40, Cols: 120}} {
		for _, args := range []string{"status", "status --since 2026-01-01", "why", "why 7", "why identical", "--help", "status --help", "show --help", "doctor --help", "explain --help", "help rule"} {
			cmd := exec.Command(self, strings.Fields(args)...)
			cmd.Args[0] = "shimctl"
			cmd.Env = append(toolbox.Home(t.TempDir()), state, "TERM=xterm", "LANG=C.UTF-8", "PATH="+tools, "PAGER="+less)
			for _, line := range strings.Split(colors.ReplaceAllString(showSized(t, cmd, size).end(), ""), "\r\n") {
				if wide := runewidth.StringWidth(line); wide > int(size.Cols) {
					t.Errorf("%s on %d columns: a line of %d: %s", args, size.Cols, wide, line)
				}
			}
		}
	}
}
