package binary

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"reprise/shim/front"
	"reprise/test/toolbox"
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
	toolbox.Program(t, "copy", "tool", string(text))
	toolbox.Program(t, "real", "tool", "#!/bin/sh\n")
	toolbox.Program(t, "other", "tool", "#!/bin/sh\n")
	toolbox.Program(t, ".", "tool", "#!/bin/sh\n")
	must(os.WriteFile("plain/tool", nil, 0o600))
	must(os.Symlink("/nowhere/tool", "dangling/tool"))
	copied := front.Identify("copy/tool")
	real := front.Identify("real/tool")

	tests := []struct {
		name, path, configured string
		tried                  string
		want                   string // "" for not found
	}{
		{"next on PATH", "R/ours:R/real:R/other", "", "", "R/real/tool"},
		{"before us on PATH", "R/real:R/ours", "", "", "R/real/tool"},
		{"before and behind us", "R/other:R/ours:R/real", "", "", "R/real/tool"},
		{"before us and nothing behind us", "R/other:R/real:R/ours", "", "", "R/other/tool"},
		{"our directory twice", "R/ours:R/ours:R/real", "", "", "R/real/tool"},
		{"our directory with a slash", "R/ours:R/ours/:R/real", "", "", "R/real/tool"},
		{"our directory by a link", "R/link:R/real", "", "", "R/real/tool"},
		{"a copy of us", "R/ours:R/copy:R/real", "", "", "R/copy/tool"},
		{"a copy that was tried", "R/ours:R/copy:R/real", "", copied, "R/real/tool"},
		{"all were tried", "R/ours:R/copy:R/real", "", copied + "," + real, ""},
		{"a directory of that name", "R/dir:R/real", "", "", "R/real/tool"},
		{"not executable", "R/plain:R/real", "", "", "R/real/tool"},
		{"a dangling link", "R/dangling:R/real", "", "", "R/real/tool"},
		{"a directory that is not there", "R/none:R/real", "", "", "R/real/tool"},
		{"an empty element", "R/ours::R/real", "", "", "./tool"},
		{"an empty PATH", "", "", "", "./tool"},
		{"a relative directory", "real", "", "", "real/tool"},
		{"configured", "R/real", "R/other/tool", "", "R/other/tool"},
		{"configured is us", "R/real", "R/ours/tool", "", "R/real/tool"},
		{"configured is not there", "R/real", "R/none/tool", "", "R/real/tool"},
		{"only us", "R/ours:R/link", "", "", ""},
		{"none", "R/none", "", "", ""},
	}
	for _, test := range tests {
		in := func(s string) string { return strings.ReplaceAll(s, "R/", root+"/") }
		got, err := Resolve("tool", in(test.configured), in(test.path),
			front.ReadGuard("7:1:"+test.tried, 7, front.Self()).Skip())
		if got.Path != in(test.want) || (test.want == "") != errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %q, %v; want %q", test.name, got.Path, err, in(test.want))
		}
	}
	for tried, want := range map[string]string{
		real: root + "/other/tool", real + "," + front.Identify("other/tool"): root + "/other/tool",
		front.Identify("other/tool") + "," + real: root + "/real/tool",
	} {
		got, err := newProgram(front.Find("tool", "", root+"/ours:"+root+"/real:"+root+"/other",
			front.ReadGuard("7:1:"+tried, 7, front.Self()).Skip(), true))
		if got.Path != want {
			t.Errorf("behind %s: %q, %v; want %q", tried, got.Path, err, want)
		}
	}
	// nothing but a configured path that was tried before
	if got, _ := front.Find("tool", root+"/other/tool", root+"/ours",
		front.Self()+","+front.Identify("other/tool"), true); got != root+"/other/tool" {
		t.Errorf("the configured path once more: %q", got)
	}
	lost := &Search{Name: "tool", Environ: []string{"PATH=" + root + "/real"},
		guard: front.ReadGuard(fmt.Sprintf("7:%d:", front.MaxHops), 7, "")}
	if _, err := lost.Program(); !errors.Is(err, errLoop) {
		t.Errorf("after %d hops: %v", front.MaxHops, err)
	}
	if got, err := Resolve("hard", "", root, front.Self()); !errors.Is(err, ErrNotFound) {
		t.Errorf("a hard link of ours is taken for real: %q, %v", got.Path, err)
	}
}
