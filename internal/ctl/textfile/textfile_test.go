package textfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func holds(t *testing.T, path, want string, mode os.FileMode) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || string(text) != want {
		t.Errorf("%s holds %q (%v), want %q", filepath.Base(path), text, err, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != mode {
		t.Errorf("%s: %v (%v), want %v", filepath.Base(path), info.Mode(), err, mode)
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.Symlink("file", link),
		Replace(file, 0o640, []byte("one"))); err != nil {
		t.Fatal(err)
	}
	holds(t, file, "one", 0o640)
	if err := Replace(link, 0o600, []byte("two")); err != nil {
		t.Fatal(err)
	}
	holds(t, file, "two", 0o640)
	if target, err := os.Readlink(link); err != nil || target != "file" {
		t.Errorf("the link leads to %q (%v)", target, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v is left (%v)", left, err)
	}
	if err := Replace(dir, 0o600, []byte("three")); err == nil {
		t.Error("a directory is replaced")
	}
	nowhere := filepath.Join(dir, "none", "file")
	if err := Replace(nowhere, 0o600, []byte("four")); err == nil ||
		err.Error() != "no such file or directory" {
		t.Error(err)
	}
}

// Who replaces a file of another user, as root does with sudo, leaves it theirs.
func TestReplaceKeepsTheOwner(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := errors.Join(os.WriteFile(file, []byte("one"), 0o640),
		os.Chown(file, 1234, 5678)); err != nil {
		t.Skip("only root may give files away: ", err)
	}
	if err := Replace(file, 0o600, []byte("two")); err != nil {
		t.Fatal(err)
	}
	holds(t, file, "two", 0o640)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t); owner.Uid != 1234 || owner.Gid != 5678 {
		t.Errorf("it belongs to %d:%d", owner.Uid, owner.Gid)
	}
}

// A line that one of several writers added at the same time is never lost.
func TestWriteAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "reprise", "config.toml")
	for _, old := range []string{"", "one"} {
		existed := old != ""
		done := make(chan error)
		for _, text := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			go func() {
				done <- Edit{File: file, Existed: existed, Old: old,
					New: old + text}.Write()
			}()
		}
		written := 0
		for range 8 {
			if <-done == nil {
				written++
			}
		}
		if written != 1 {
			t.Errorf("%d of 8 have written, with a file before: %v", written, existed)
		}
		if err := os.WriteFile(file, []byte("one"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A file that is not regular is not replaced: /dev/null, say, by the superuser.
func TestReplaceWritesToAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Replace(pipe, 0o600, []byte("one")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 9)
	if n, err := f.Read(got); err != nil || string(got[:n]) != "one" {
		t.Errorf("the pipe got %q (%v)", got[:n], err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("it is %v now (%v)", info.Mode(), err)
	}
}
