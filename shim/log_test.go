package shim

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reprise/ledger"
)

func TestLogFromSeveralGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "shim.log")
	l := &log{path: path, tool: "tool", now: time.Now}
	var writers sync.WaitGroup
	for range 20 {
		writers.Go(func() { l.fault("do", os.ErrInvalid) })
	}
	writers.Wait()
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), `"message":"do"`) != 20 ||
		strings.Count(string(text), "\n") != 20 {
		t.Errorf("%v, log:\n%s", err, text)
	}
}

// Nothing but a file is written to, and that is the user's alone.
func TestWhatIsNoLogFile(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	victim := path("victim")
	err := errors.Join(os.WriteFile(victim, nil, 0o644), os.Symlink(victim, path("link")),
		os.Symlink(path("none"), path("dangling")),
		syscall.Mkfifo(path("pipe"), 0o600), os.Mkdir(path("directory"), 0o700),
		os.WriteFile(path("wide"), []byte("1\n"), 0o666))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "dangling", "pipe", "directory"} {
		if f, err := openLogFile(path(name), 1000); err == nil {
			f.Close()
			t.Errorf("a %s is taken for the log", name)
		}
	}
	if _, err := os.Lstat(path("none")); err == nil {
		t.Error("a file was made at the end of a link")
	}
	for range 2 { // the second time it is put aside
		f, err := openLogFile(path("wide"), 1)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		for _, name := range []string{"wide", "wide.1"} {
			if info, err := os.Stat(path(name)); err != nil || info.Mode() != 0o600 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
	}
}

// Of two shims that find the log too large one sets it aside; the other does not put the new one in
// its place.
func TestTheLogIsSetAsideOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shim.log")
	if err := os.WriteFile(path, []byte("the old log\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var opened [2]*os.File
	for i := range opened {
		f, _, err := openPrivate(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		opened[i] = f
	}
	if aside, err := setAside(opened[0], path); !aside || err != nil {
		t.Fatalf("%v, %v", aside, err)
	}
	if aside, err := setAside(opened[1], path); aside || err != nil {
		t.Errorf("while the first is at it: %v, %v", aside, err)
	}
	opened[0].Close()
	if err := os.WriteFile(path, []byte("the new log\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if aside, err := setAside(opened[1], path); !aside || err != nil {
		t.Errorf("afterwards: %v, %v", aside, err)
	}
	for name, want := range map[string]string{path: "the new log\n", path + ".1": "the old log\n"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v", filepath.Base(name), text, err)
		}
	}
}

func TestForgetInLog(t *testing.T) {
	const id = "11111111-2222-4333-8444-555555555555"
	c := ledger.ChainName{ID: 7, Cwd: "/p", Task: "secret", Role: "coder", NativeIDs: []string{id}}
	goes := []string{
		`{"level":"info","chain":7,"mode":"fresh"}`,
		`{"level":"error","error":"lstat /x/` + id + `.jsonl"}`,
		`{"level":"debug","chain":9,"cwd":"/p","task":"secret","role":"coder"}`,
		`cut short: ` + id,
	}
	stays := []string{
		`{"level":"info","chain":70,"mode":"fresh"}`,
		`{"level":"debug","chain":9,"cwd":"/p","task":"secret","role":"reviewer"}`,
		`{"level":"debug","chain":9,"cwd":"/q","task":"secret","role":"coder"}`,
		`x`,
		``,
	}
	path := filepath.Join(t.TempDir(), "shim.log")
	// the last line has no end
	text := strings.Join(append(stays[:len(stays):len(stays)], goes...), "\n")
	for _, name := range []string{path, path + ".1"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n, err := ForgetInLog(path, c)
	if err != nil || n != 2*len(goes) {
		t.Errorf("%d lines, %v", n, err)
	}
	for _, name := range []string{path, path + ".1"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range stays {
			if !strings.Contains(string(data), line+"\n") {
				t.Errorf("%s is gone", line)
			}
		}
		if len(data) != len(text) || strings.Contains(string(data), id) ||
			strings.Count(string(data), "secret") != 2 {
			t.Errorf("%q", data)
		}
	}
	if n, err := ForgetInLog(filepath.Join(t.TempDir(), "none"), c); n != 0 || err != nil {
		t.Errorf("no log: %d, %v", n, err)
	}
}

// If a log is set aside in this moment, that log is read and written, not the new one of the same
// name.
func TestForgetWhileTheLogIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shim.log")
	old, new := "{\"chain\":8}\n{\"chain\":7}\n", "{\"chain\":7}\n{\"chain\":8}\n"
	if err := os.WriteFile(path, []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(new), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := forgetIn(f, ledger.ChainName{ID: 7}); n != 1 || err != nil {
		t.Errorf("%d lines, %v", n, err)
	}
	for name, want := range map[string]string{path: new, path +
		".1": "{\"chain\":8}\n{}         \n"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s holds %q, want %q, %v", filepath.Base(name), text, want, err)
		}
	}
}
