package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

func passed(cwd string, when decide.Millis) Passthrough {
	return Passthrough{Tool: "claude", Cwd: cwd, Reason: reason.OptedOut, When: when}
}

func TestPassed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	const day = 86_400_000
	for _, p := range []Passthrough{passed("/a", 1), passed("/a", 2),
		passed("/b", 3), passed("/a", day)} {
		if err := NotePassthrough(path, p); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := os.Stat(path + passthroughSuffix); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 2 { // the second time there is nothing left
		if err := l.CountPassthroughs(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path + passthroughSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	wantCount(t, l, 4, "SELECT sum(calls) FROM passed")
	wantCount(t, l, 2, "SELECT calls FROM passed WHERE cwd = '/a' AND last = 2")
	if _, _, err := l.DropBefore(day, false); err != nil {
		t.Fatal(err)
	}
	wantCount(t, l, 1, "SELECT sum(calls) FROM passed")
	if err := l.Check(); err != nil {
		t.Error(err)
	}
}

// However many calls are passed through, two files of bounded size hold the latest of them.
func TestPassedIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	const calls = 5000
	for n := range calls {
		if err := NotePassthrough(path,
			passed(fmt.Sprintf("/some/where/%d", n), decide.Millis(n))); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{passthroughSuffix, oldPassthroughSuffix} {
		if info, err := os.Stat(path + suffix); err != nil ||
			info.Size() > maxPassthroughBytes+1000 {
			t.Errorf("%s: %v, %v", suffix, info.Size(), err)
		}
	}
	all := ReadPassthroughs(path)
	if len(all) < 500 || len(all) >= calls || all[len(all)-1].When != calls-1 ||
		!slices.IsSortedFunc(all, func(a, b Passthrough) int { return int(a.When - b.When) }) {
		t.Errorf("%d calls are left, the last is %+v", len(all), all[len(all)-1])
	}
}

// Calls at once lose nothing of each other; text that is no line is skipped.
func TestPassedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	if err := os.WriteFile(path+passthroughSuffix,
		[]byte("{\"Tool\":\"cla\nnonsense\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var noting sync.WaitGroup
	for n := range 50 {
		noting.Go(func() {
			if err := NotePassthrough(path,
				passed("/"+strings.Repeat("d", 100), decide.Millis(n))); err != nil {
				t.Error(err)
			}
		})
	}
	noting.Wait()
	if all := ReadPassthroughs(path); len(all) != 50 {
		t.Errorf("%d calls", len(all))
	}
}

// Nothing that lies in the way of the file is waited for or written to.
func TestPassedInTheWay(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
		"link":      func(path string) error { return os.Symlink("/dev/null", path) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		path := filepath.Join(t.TempDir(), "ledger.db")
		if err := put(path + passthroughSuffix); err != nil {
			t.Fatal(err)
		}
		if err := NotePassthrough(path, passed("/a", 1)); err == nil {
			t.Errorf("%s: no error", name)
		}
		if all := ReadPassthroughs(path); all != nil {
			t.Errorf("%s: %v", name, all)
		}
	}
	if err := NotePassthrough(filepath.Join(t.TempDir(),
		"file", "ledger.db"), passed("/a", 1)); err != nil {
		t.Error(err)
	}
}

func TestCheckCreatable(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "a", "b", "ledger.db")
	if err := CheckCreatable(path); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 0 {
		t.Errorf("it leaves %v, %v", entries, err)
	}
	if err := os.WriteFile(filepath.Join(root, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckCreatable(path); err == nil {
		t.Error("a file is no directory")
	}
}
