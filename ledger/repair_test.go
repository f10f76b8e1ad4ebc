package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
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
	if _, err := l.db.Exec("INSERT OR REPLACE INTO answers SELECT id, session_id, '/', 2000, x'', x'' FROM invocations"); err != nil {
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

// Every page in its turn is damaged. What is repaired is whole, has the old key, and
// resumes nothing; what cannot be repaired stays as it is.
func TestRepair(t *testing.T) {
	original, key := used(t, 40)
	text, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	repaired, recovered, explained := 0, int64(0), 0
	for page := int64(0); page < int64(len(text)/4096); page++ {
		path := t.TempDir() + "/ledger.db"
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		damage(t, path, page*4096, 4096)
		r, err := Repair(path, suffix)
		if errors.Is(err, ErrSound) {
			continue // a page that nothing is on
		}
		damaged := path + suffix
		if err != nil {
			damaged = path
		}
		if got, err := os.ReadFile(damaged); err != nil || len(got) != len(text) {
			t.Errorf("page %d: the damaged ledger is not at %s: %v", page, damaged, err)
		}
		if err != nil {
			continue
		}
		repaired++
		recovered = max(recovered, r.Chains)
		l, err := OpenExisting(path)
		if err != nil {
			t.Fatalf("page %d: %v", page, err)
		}
		if err := l.Check(); err != nil || !bytes.Equal(l.Key(), key) {
			t.Errorf("page %d: %v", page, err)
		}
		wantCount(t, l, 0, "SELECT count(*) FROM sessions WHERE state = ?", decide.Live)
		wantCount(t, l, 0, "SELECT count(*) FROM pragma_foreign_key_check")
		if r.Sessions > 0 && r.Chains == 40 {
			c := testCall(l, fmt.Sprintf(base, 39)+"\n\nRound 2 of the job.", 3000)
			c.Task = "task 39"
			d, _, err := Begin(l, c)
			if err != nil || d.Reason == reason.PreviousUnknown && d.Detail != reason.Repaired {
				t.Errorf("page %d: %+v, %v", page, d, err)
			} else if d.Reason == reason.PreviousUnknown {
				explained++
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if explained == 0 {
		t.Error("no call after a repair says that it was one")
	}
	if repaired < len(text)/4096/2 || recovered < 40 {
		t.Errorf("%d of %d damaged ledgers were repaired, at most %d of 40 chains recovered", repaired, len(text)/4096, recovered)
	}
}

// A brief check leaves out the calls, and nothing else.
func TestCheckBriefly(t *testing.T) {
	for _, table := range []string{"chains", "sessions", "answers", "invocations"} {
		path, _ := used(t, 3)
		l, err := OpenExisting(path)
		if err != nil {
			t.Fatal(err)
		}
		var page int64
		if err := l.db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?", table).Scan(&page); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.CheckBriefly(), l.Close()); err != nil {
			t.Fatal(err)
		}
		damage(t, path, (page-1)*4096, 200)
		if l, err = OpenExisting(path); err != nil {
			t.Fatal(err)
		}
		whole, brief := l.Check(), l.CheckBriefly()
		if !errors.Is(whole, ErrDamaged) || errors.Is(brief, ErrDamaged) != (table != "invocations") {
			t.Errorf("%s: %v; briefly %v", table, whole, brief)
		}
		l.Close()
	}
}

func TestNothingToRepair(t *testing.T) {
	path, _ := used(t, 1)
	if _, err := Repair(path, suffix); !errors.Is(err, ErrSound) {
		t.Errorf("a sound ledger: %v", err)
	}
	if _, err := Repair(t.TempDir()+"/ledger.db", suffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	foreign := t.TempDir() + "/ledger.db"
	l, err := Open(foreign)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.db.Exec("PRAGMA application_id = 7"); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Repair(foreign, suffix); !errors.Is(err, ErrForeign) {
		t.Errorf("somebody else's: %v", err)
	}
}

// A reset deletes nothing, and never writes over what was set aside before.
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
	if wantCount(t, l, 0, "SELECT count(*) FROM invocations"); bytes.Equal(l.Key(), key) {
		t.Error("the new one has the old one's key")
	}
	if _, err := Reset(path, suffix); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again at once: %v", err)
	}
	if aside, err := Reset(t.TempDir()+"/none/ledger.db", suffix); err != nil || aside != "" {
		t.Errorf("none: %q, %v", aside, err)
	}
}
