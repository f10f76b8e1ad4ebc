package shim

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for _, dir := range []string{"ours", "copy", "real", "dir/tool", "plain", "dangling", "other"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.Executable()
	must(err)
	text, err := os.ReadFile(program)
	must(err)
	if os.Link(program, "ours/tool") != nil { // on another file system a link must do
		must(os.Symlink(program, "ours/tool"))
	}
	must(os.Symlink("ours", "link"))
	must(os.Link("ours/tool", "hard"))
	executableFile(t, "copy", "tool", string(text))
	executableFile(t, "real", "tool", "#!/bin/sh\n")
	executableFile(t, "other", "tool", "#!/bin/sh\n")
	executableFile(t, ".", "tool", "#!/bin/sh\n")
	must(os.WriteFile("plain/tool", nil, 0o600))
	must(os.Symlink("/nowhere/tool", "dangling/tool"))
	copied := identify("copy/tool")
	real := identify("real/tool")

	tests := []struct {
		name, path, configured string
		tried                  string
		want                   string // "" for not found
	}{
		{"next on PATH", "R/ours:R/real:R/other", "", "", "R/real/tool"},
		{"before us on PATH", "R/real:R/ours", "", "", "R/real/tool"},
		{"our folder twice", "R/ours:R/ours:R/real", "", "", "R/real/tool"},
		{"our folder with a slash", "R/ours:R/ours/:R/real", "", "", "R/real/tool"},
		{"our folder by a link", "R/link:R/real", "", "", "R/real/tool"},
		{"a copy of us", "R/ours:R/copy:R/real", "", "", "R/copy/tool"},
		{"a copy that was tried", "R/ours:R/copy:R/real", "", copied, "R/real/tool"},
		{"all were tried", "R/ours:R/copy:R/real", "", copied + "," + real, ""},
		{"a folder of that name", "R/dir:R/real", "", "", "R/real/tool"},
		{"not executable", "R/plain:R/real", "", "", "R/real/tool"},
		{"a dangling link", "R/dangling:R/real", "", "", "R/real/tool"},
		{"a folder that is not there", "R/none:R/real", "", "", "R/real/tool"},
		{"an empty element", "R/ours::R/real", "", "", "./tool"},
		{"an empty PATH", "", "", "", "./tool"},
		{"a relative folder", "real", "", "", "real/tool"},
		{"configured", "R/real", "R/other/tool", "", "R/other/tool"},
		{"configured is us", "R/real", "R/ours/tool", "", "R/real/tool"},
		{"configured is not there", "R/real", "R/none/tool", "", "R/real/tool"},
		{"only us", "R/ours:R/link", "", "", ""},
		{"none", "R/none", "", "", ""},
	}
	for _, test := range tests {
		in := func(s string) string { return strings.ReplaceAll(s, "R/", root+"/") }
		got, err := resolve("tool", in(test.configured), in(test.path), readGuard("7:1:"+test.tried, 7, self()).skip())
		if got.path != in(test.want) || (test.want == "") != errors.Is(err, errNotFound) {
			t.Errorf("%s: %q, %v; want %q", test.name, got.path, err, in(test.want))
		}
	}
	for tried, want := range map[string]string{
		real: root + "/other/tool", real + "," + identify("other/tool"): root + "/other/tool",
		identify("other/tool") + "," + real: root + "/real/tool",
	} {
		got, err := resolveBehind("tool", "", root+"/ours:"+root+"/real:"+root+"/other", readGuard("7:1:"+tried, 7, self()).skip())
		if got.path != want {
			t.Errorf("behind %s: %q, %v; want %q", tried, got.path, err, want)
		}
	}
	lost := &call{name: "tool", env: Env{Environ: []string{"PATH=" + root + "/real"}}, guard: guard{hops: maxHops}}
	if _, err := lost.target(); !errors.Is(err, errLoop) {
		t.Errorf("after %d hops: %v", maxHops, err)
	}
	if got, err := resolve("hard", "", root, self()); !errors.Is(err, errNotFound) {
		t.Errorf("a hard link of ours is taken for real: %q, %v", got.path, err)
	}
}

func TestGuard(t *testing.T) {
	tests := []struct {
		value string
		hops  int
		tried string
	}{
		{"", 0, ""},
		{"7", 0, ""},
		{"7:1", 0, ""},
		{"7:x:1.2", 0, ""},
		{"7:3:", 3, ""},
		{"7:3:1.2", 3, "1.2"},
		{"7:3:1.2,3.4", 3, "1.2,3.4"},
		{"8:3:1.2", 3, ""}, // a child's
		{"77:3:1.2", 3, ""},
		{"7:99999999999999999999:1.2", 0, ""},
		{"7:-5:1.2", 0, ""},
		{"7:+5:1.2", 0, ""},
		{"7::1.2", 0, ""},
		{"7:3:" + strings.Repeat("1.2,", 1000), 0, ""},
		{"7:3:@0,1.2", 0, ""},                 // long ago: a tool was at work in between
		{"7:3:@99999999999999,1.2", 3, "1.2"}, // a clock of another machine
		{"7:3:@99999999999999", 3, ""},
		{"8:3:@99999999999999,1.2", 3, ""},
	}
	for _, test := range tests {
		g := readGuard(test.value, 7, "")
		if int(g.hops) != test.hops || g.skip() != test.tried {
			t.Errorf("%q reads as %d, %q", test.value, g.hops, g.skip())
		}
	}
	var g guard
	for i := range 3 {
		g = readGuard(g.with(fmt.Sprintf("1.%x", i+10), 7), 7, "1.2")
	}
	if g.hops != 3 || !strings.Contains(g.with("1.d", 7), ":4:@") || g.skip() != "1.2,1.a,1.b,1.c" {
		t.Errorf("after three targets: %d, %q", g.hops, g.skip())
	}
}
