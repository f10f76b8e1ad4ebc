package shim

import (
	"errors"
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
	self, err := os.Executable()
	must(err)
	text, err := os.ReadFile(self)
	must(err)
	if os.Link(self, "ours/tool") != nil { // on another file system a link must do
		must(os.Symlink(self, "ours/tool"))
	}
	must(os.Symlink("ours", "link"))
	must(os.Link("ours/tool", "hard"))
	executableFile(t, "copy", "tool", string(text))
	executableFile(t, "real", "tool", "#!/bin/sh\n")
	executableFile(t, "other", "tool", "#!/bin/sh\n")
	executableFile(t, ".", "tool", "#!/bin/sh\n")
	must(os.WriteFile("plain/tool", nil, 0o600))
	must(os.Symlink("/nowhere/tool", "dangling/tool"))
	copied := identify(t, "copy/tool")
	real := identify(t, "real/tool")

	tests := []struct {
		name, path, configured string
		guard                  guard
		want                   string // "" for not found
	}{
		{"next on PATH", "R/ours:R/real:R/other", "", guard{}, "R/real/tool"},
		{"before us on PATH", "R/real:R/ours", "", guard{}, "R/real/tool"},
		{"our folder twice", "R/ours:R/ours:R/real", "", guard{}, "R/real/tool"},
		{"our folder with a slash", "R/ours:R/ours/:R/real", "", guard{}, "R/real/tool"},
		{"our folder by a link", "R/link:R/real", "", guard{}, "R/real/tool"},
		{"a copy of us", "R/ours:R/copy:R/real", "", guard{}, "R/copy/tool"},
		{"a copy that was tried", "R/ours:R/copy:R/real", "", guard{hops: 1, tried: []string{copied}}, "R/real/tool"},
		{"all were tried", "R/ours:R/copy:R/real", "", guard{hops: 2, tried: []string{copied, real}}, ""},
		{"a folder of that name", "R/dir:R/real", "", guard{}, "R/real/tool"},
		{"not executable", "R/plain:R/real", "", guard{}, "R/real/tool"},
		{"a dangling link", "R/dangling:R/real", "", guard{}, "R/real/tool"},
		{"a folder that is not there", "R/none:R/real", "", guard{}, "R/real/tool"},
		{"an empty element", "R/ours::R/real", "", guard{}, "./tool"},
		{"an empty PATH", "", "", guard{}, "./tool"},
		{"a relative folder", "real", "", guard{}, "real/tool"},
		{"configured", "R/real", "R/other/tool", guard{}, "R/other/tool"},
		{"configured is us", "R/real", "R/ours/tool", guard{}, "R/real/tool"},
		{"configured is not there", "R/real", "R/none/tool", guard{}, "R/real/tool"},
		{"only us", "R/ours:R/link", "", guard{}, ""},
		{"none", "R/none", "", guard{}, ""},
	}
	for _, test := range tests {
		in := func(s string) string { return strings.ReplaceAll(s, "R/", root+"/") }
		got, err := resolve("tool", in(test.configured), in(test.path), test.guard.skip())
		if got.path != in(test.want) || (test.want == "") != errors.Is(err, errNotFound) {
			t.Errorf("%s: %q, %v; want %q", test.name, got.path, err, in(test.want))
		}
	}
	lost := &call{name: "tool", env: Env{Environ: []string{"PATH=" + root + "/real"}}, guard: guard{hops: maxHops}}
	if _, err := lost.target(); !errors.Is(err, errLoop) {
		t.Errorf("after %d hops: %v", maxHops, err)
	}
	if got, err := resolve("hard", "", root, guard{}.skip()); !errors.Is(err, errNotFound) {
		t.Errorf("a hard link of ours is taken for real: %q, %v", got.path, err)
	}
}

func identify(t *testing.T, path string) string {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return idOf(info).String()
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
	}
	for _, test := range tests {
		g := readGuard(test.value, 7)
		if g.hops != test.hops || strings.Join(g.tried, ",") != test.tried {
			t.Errorf("%q reads as %+v", test.value, g)
		}
	}
	var g guard
	for i := range 3 {
		g = readGuard(g.with(fileID{1, uint64(i + 10)}, 7), 7)
	}
	if g.hops != 3 || strings.Join(g.tried, ",") != "1.a,1.b,1.c" {
		t.Errorf("after three targets: %+v", g)
	}
}
