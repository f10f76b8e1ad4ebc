package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without rights: root can read the memory of every process.
const nobody = 65534

// The tool finds the store's key neither in its own environment nor in the parent's, which is the
// shim.
func TestTheKeyIsOutOfReach(t *testing.T) {
	const look = `PATH=/usr/bin:/bin; for p in $$ $PPID; do tr '\0' '\n' 2>/dev/null </proc/$p/environ | grep -c "$1"; done; true`
	key := strings.Repeat("0123456789abcdef", 4)
	for name, test := range map[string]struct{ look, want string }{
		"the key": {"REPRISE_STORE_KEY=" + key[:9], "0\n0\n"},
		"all":     {"^DIR=", "1\n0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := shimmed(t, strings.ReplaceAll(look, "$1", test.look), "-p", "hi")
			cmd.Env = append(cmd.Env, "REPRISE_STORE_KEY="+key)
			if os.Geteuid() == 0 {
				program, err := os.ReadFile(cmd.Path)
				if err != nil {
					t.Fatal(err)
				}
				cmd.Path = filepath.Join(t.TempDir(), "shim")
				if err := os.WriteFile(cmd.Path, program, 0o755); err != nil {
					t.Fatal(err)
				}
				giveAway(t, filepath.Dir(cmd.Dir))
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody,
					Gid: nobody}}
			}
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != test.want {
				t.Errorf("%v: %q, want %q", err, out, test.want)
			}
		})
	}
}

// giveAway makes a directory with everything in it nobody's.
func giveAway(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The binary is asked for options and its version without the store's variables too.
func TestNoProbeHasTheKey(t *testing.T) {
	cmd := shimmed(t, `case "$*" in *--help*)
		echo "${REPRISE_STORE_KEY-none}" >>"$DIR/asked" ;;
	esac`, "-p", "--new-option", "hi")
	cmd.Env = append(cmd.Env, "REPRISE_STORE_KEY="+strings.Repeat("0123456789abcdef", 4))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	asked, err := os.ReadFile(filepath.Join(cmd.Dir, "asked"))
	if err != nil || strings.ReplaceAll(string(asked), "none\n", "") != "" {
		t.Errorf("%v: asked with %q", err, asked)
	}
}
