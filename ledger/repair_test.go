package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"reprise/rewrite/prompt"
)

const suffix = ".then"

// used returns a ledger with some chains, closed.
func used(t *testing.T, chains int) (path string, key prompt.Key) {
	t.Helper()
	l, path := newLedger(t)
	for i := range chains {
		c := testCall(l, fmt.Sprintf(base, i), 1000)
		c.Task = fmt.Sprint("task ", i)
		_, ticket, err := Begin(l, c)
		if err != nil {
			t.Fatal(err)
		}
		finish(t, l, ticket, goodOutcome(someID, "done", 2000))
	}
	if _, err := l.db.Exec("INSERT OR REPLACE INTO answers SELECT id, session_id, chain_id, '/', " +
		"2000, x'' FROM calls"); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path, l.Key()
}

func damage(t *testing.T, path string, at, n int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, int(n)), at)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// A check reads every table.
func TestCheck(t *testing.T) {
	for _, table := range []string{"chains", "sessions", "answers", "calls"} {
		path, _ := used(t, 3)
		l, err := OpenExisting(path)
		if err != nil {
			t.Fatal(err)
		}
		var page int64
		if err := l.db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?",
			table).Scan(&page); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Check(), l.Close()); err != nil {
			t.Fatal(err)
		}
		damage(t, path, (page-1)*4096, 200)
		if l, err = OpenExisting(path); err != nil {
			t.Fatal(err)
		}
		if err := l.Check(); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", table, err)
		}
		l.Close()
	}
}

// A reset deletes nothing, and never writes over a file that was set aside before.
func TestReset(t *testing.T) {
	path, key := used(t, 1)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	aside, err := Reset(path, suffix)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(aside); err != nil || !bytes.Equal(got, before) {
		t.Errorf("the old one is not at %s: %v", aside, err)
	}
	l, err := OpenExisting(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if wantCount(t, l, 0, "SELECT count(*) FROM calls"); bytes.Equal(l.Key(), key) {
		t.Error("the new one has the old one's key")
	}
	if _, err := Reset(path, suffix); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again at once: %v", err)
	}
	if aside, err := Reset(t.TempDir()+"/none/ledger.db", suffix); err != nil || aside != "" {
		t.Errorf("none: %q, %v", aside, err)
	}
}
