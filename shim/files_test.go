package shim

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/binary"
	"reprise/shim/disk"
	"reprise/test/toolbox"
)

// places are the kinds of entries at the path of a file.
var places = map[string]func(path string) error{
	"nothing": func(string) error { return nil },
	"a file":  func(path string) error { return os.WriteFile(path, []byte("{}"), 0o600) },
	"a link to a file": func(path string) error {
		return errors.Join(os.WriteFile(path+".2", []byte("{}"), 0o600),
			os.Symlink(path+".2", path))
	},
	"a broken link":   func(path string) error { return os.Symlink("nowhere", path) },
	"a directory":     func(path string) error { return os.Mkdir(path, 0o700) },
	"a FIFO":          func(path string) error { return syscall.Mkfifo(path, 0o600) },
	"a link to zeros": func(path string) error { return os.Symlink("/dev/zero", path) },
	"a link to stdin": func(path string) error { return os.Symlink("/dev/stdin", path) },
	"a large file": func(path string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, disk.MaxSettings+1))
	},
}

func TestFilesThatAreNotRegular(t *testing.T) {
	stdin, err := os.Create(filepath.Join(t.TempDir(), "stdin"))
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	type want struct{ named, settings reason.Code }
	for what, want := range map[string]want{
		"nothing": {}, "a file": {}, "a link to a file": {}, "a broken link": {},
		"a directory":       {named: reason.Unreadable},
		"a FIFO":            {reason.Unreadable, reason.Unreadable},
		"a link to zeros":   {reason.Unreadable, reason.Unreadable},
		"the file of stdin": {reason.Unreadable, reason.Unreadable},
		// an image, say: it counts by its size and time
		"a large file": {settings: reason.Unreadable},
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		put := places[what]
		if put == nil {
			put = func(path string) error { return os.Symlink(stdin.Name(), path) }
		}
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		c := &found{asked: &asked{env: Env{Stdin: stdin}}}
		c.line.Mode = rewrite.Fresh
		c.line.Settings = []rewrite.Setting{{Name: "--x", Value: "{}"},
			{Name: "--mcp-config", Value: `{"a":1}` + "\x00" + path, File: true}}
		if got := whyOf(c.checkFiles()); got != want.named {
			t.Errorf("%s, named by the caller: %q, want %q", what, got, want.named)
		}
		c.line.Settings, c.line.SettingsFiles = nil, []string{path}
		if got := whyOf(c.checkFiles()); got != want.settings {
			t.Errorf("%s, in the place of settings: %q, want %q", what, got, want.settings)
		}
	}
}

// No path makes the shim wait, or read without an end.
func TestContentOfAnything(t *testing.T) {
	for what, put := range places {
		path := filepath.Join(t.TempDir(), "file")
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		c := &asked{}
		content, present := c.fileContent(path, disk.MaxSettings)
		again, _ := (&asked{started: c.started.Add(1)}).fileContent(path, disk.MaxSettings)
		absent := what == "nothing" || what == "a broken link" || what == "a directory"
		unknown := what == "a FIFO" || what == "a link to zeros"
		if what == "a link to stdin" {
			continue // it depends on stdin; it has not been waited for
		}
		if present == absent || unknown == (content == again) {
			t.Errorf("%s: %q, then %q, present: %v", what, content, again, present)
		}
	}
	if _, present := (&asked{}).fileContent(strings.Repeat(`{"a":1}`, 10_000),
		disk.MaxSettings); present {
		t.Error("a text that is no path is a file")
	}
}

func TestReadRegularStopsAtItsLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := disk.Read(path, 5); text != "12345" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := disk.Read(path, 4); text != "" || !errors.Is(err, disk.ErrTooLarge) {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := disk.Read("/dev/zero", 4); !errors.Is(err, disk.ErrNotRegular) {
		t.Error(err)
	}
}

// whyOf returns the reason of a pass, "" for none.
func whyOf(err error) reason.Code {
	if err == nil {
		return ""
	}
	return passOf(err).why
}

// A project's settings are read in the directory that the tool works in, which an option can name.
func TestSettingsOfTheWorkingDirectory(t *testing.T) {
	for line, file := range map[string]string{
		"droid exec --cwd DIR":  ".factory/settings.json",
		"copilot -C DIR -p":     ".github/copilot/settings.json",
		"vibe --workdir=DIR -p": ".vibe/config.toml",
	} {
		project, elsewhere := t.TempDir(), t.TempDir()
		toolbox.Write(t, filepath.Join(project, file), "own")
		toolbox.Write(t, filepath.Join(elsewhere, file), "another's")
		t.Chdir(elsewhere)
		args := append(strings.Fields(strings.Replace(line, "DIR", project, 1)), "hi")
		c := &found{asked: &asked{env: Env{Args: args, Environ: []string{"HOME=/h"}}},
			cwd: project}
		c.tool, _ = rewrite.Lookup(args[0])
		c.line = c.tool.Parse(rewrite.Input{Args: args[1:], Env: c.env.Get})
		info, err := os.Stat(project)
		if err != nil {
			t.Fatal(err)
		}
		c.real = binary.Program{Path: "/x/1.0.102", Real: "/x/1.0.102", Info: info}
		settings := c.hostEnv().Settings
		if len(settings) != 1 || settings[0].Text != "own" {
			t.Errorf("%q reads %+v", args, settings)
		}
		if err := os.Remove(filepath.Join(elsewhere, file)); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(elsewhere, file), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.checkFiles(); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// ".." behind a symbolic link is the directory above the link's target.
func TestSettingsBehindALink(t *testing.T) {
	dir := t.TempDir()
	toolbox.Write(t, filepath.Join(dir, "target/x.json"), "own")
	toolbox.Write(t, filepath.Join(dir, "x.json"), "another's")
	if err := os.MkdirAll(filepath.Join(dir, "target/below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target/below", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, path := range []string{"link/../x.json", dir + "/link/../x.json"} {
		c := &found{asked: &asked{}, cwd: dir}
		c.tool, _ = rewrite.Lookup("claude")
		c.line = rewrite.CommandLine{Mode: rewrite.Fresh, SettingsFiles: []string{path}}
		settings := c.hostEnv().Settings
		if len(settings) != 1 || settings[0].Text != "own" {
			t.Errorf("%s is %+v", path, settings)
		}
	}
}
