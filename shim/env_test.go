package shim

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/shim/front"
)

// The tool gets all variables of the caller, also those that os.Environ leaves out.
func TestEnviron(t *testing.T) {
	const ask = "REPRISE_TEST_ENVIRON"
	if os.Getenv(ask) != "" {
		os.Stdout.WriteString(strings.Join(OSEnv().Environ, "\n") + "\n")
		os.Exit(0)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := []string{ask + "=1", "TWICE=first", "GOMAXPROCS=3", "TWICE=second", "EMPTY=",
		"no equals sign"}
	p, err := os.StartProcess(os.Args[0], []string{"shim.test", "-test.run=^TestEnviron$"},
		&os.ProcAttr{Env: want, Files: []*os.File{nil, w, os.Stderr}})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	n, _ := r.Read(buf)
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSpace(string(buf[:n])), "\n"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAccountHome(t *testing.T) {
	u, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	t.Setenv("HOME", "/elsewhere")
	if got := front.AccountHome(); got != u.HomeDir && got != "" {
		t.Errorf("%q, want %q", got, u.HomeDir)
	}
	if text, err := os.ReadFile("/etc/passwd"); err == nil && len(text) > 0 && u.Uid == "0" &&
		front.AccountHome() == "" {
		t.Error("root has no home")
	}
}

func TestOwnVariables(t *testing.T) {
	used, unused := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(used, ".local/state/reprise"), 0o700); err != nil {
		t.Fatal(err)
	}
	others, othersUsed := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(othersUsed, ".config/reprise"), 0o700); err != nil {
		t.Fatal(err)
	}
	ofRoot := others // the directory of root's files
	if os.Geteuid() == 0 {
		ofRoot = unused
		for _, home := range []string{others, othersUsed} {
			if err := os.Chown(home, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct{ name, home, account, want string }{
		{"another user's home", others, unused, ofRoot},
		{"another user's home, where reprise was used", othersUsed, unused, othersUsed},
		{"another user's home, without an account", others, "", others},
		{"another home", "/h", used, used},
		{"an account where reprise was never used", "/h", unused, "/h"},
		{"no account", "/h", "", "/h"},
		{"a home that is no path", "h", used, "h"},
		{"no home", "", used, ""},
		{"the account's home", used, used, used},
		{"an account whose home is no path", "/h", "x", "/h"},
	} {
		env := Env{Environ: []string{"HOME=" + tt.home, "XDG_STATE_HOME=/s"},
			AccountHome: tt.account}
		if got := env.Own("HOME"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if env.Own("XDG_STATE_HOME") != "/s" || env.Get("HOME") != tt.home {
			t.Errorf("%s: other variables have changed", tt.name)
		}
	}
}
