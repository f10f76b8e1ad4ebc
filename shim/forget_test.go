package shim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/ledger"
)

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
	text := strings.Join(append(stays[:len(stays):len(stays)], goes...), "\n") // the last line has no end
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
		if len(data) != len(text) || strings.Contains(string(data), id) || strings.Count(string(data), "secret") != 2 {
			t.Errorf("%q", data)
		}
	}
	if n, err := ForgetInLog(filepath.Join(t.TempDir(), "none"), c); n != 0 || err != nil {
		t.Errorf("no log: %d, %v", n, err)
	}
}

// A log that is set aside in this moment is the one that is read and written, not the one that has its name now.
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
	for name, want := range map[string]string{path: new, path + ".1": "{\"chain\":8}\n{}         \n"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("%s holds %q, want %q, %v", filepath.Base(name), text, want, err)
		}
	}
}
