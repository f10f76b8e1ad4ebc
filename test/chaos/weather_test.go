package chaos

import (
	"database/sql"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"reprise/ledger"
	"reprise/test/harness"

	_ "github.com/mattn/go-sqlite3" // the ledger's driver
)

// A faultScenario is a fault of a world for a round.
type faultScenario struct {
	name    string
	through bool // no call can be managed: each must be passed through unchanged
	damage  bool // the ledger is removed afterwards
	begin   func(w *World, rng *rand.Rand) (end func() error, err error)
}

var weathers = []faultScenario{
	{"state directory is a file", true, false, replaced((*World).State, func(path string) error {
		return os.WriteFile(path, nil, 0o600)
	})},
	{"state directory is a link that leads nowhere", true, false,
		replaced((*World).State, func(path string) error {
			return os.Symlink("/nowhere/at/all", path)
		})},
	{"ledger is a directory", true, false, replaced((*World).Ledger, func(path string) error {
		return os.Mkdir(path, 0o700)
	})},
	{"ledger is somebody else's", true, true, foreignLedger},
	{"ledger is of a newer version", true, true, newerLedger},
	{"ledger's first page is garbage", true, true,
		damaged(func(w *World, rng *rand.Rand) error { return overwrite(w.Ledger(), 0, rng) })},
	{"ledger has garbage in the middle", false, true,
		damaged(func(w *World, rng *rand.Rand) error { return overwrite(w.Ledger(), -1, rng) })},
	{"ledger is cut in half", false, true, damaged(func(w *World, _ *rand.Rand) error {
		return truncate(w.Ledger(), 2)
	})},
	{"ledger is empty", false, true, damaged(func(w *World, _ *rand.Rand) error {
		return os.Truncate(w.Ledger(), 0)
	})},
	{"ledger is gone, its journal is not", false, true,
		damaged(func(w *World, _ *rand.Rand) error { return os.Remove(w.Ledger()) })},
	{"journal is cut in half", false, true, damaged(func(w *World, _ *rand.Rand) error {
		return truncate(w.Ledger()+"-wal", 2)
	})},
	{"journal has garbage in the middle", false, true,
		damaged(func(w *World, rng *rand.Rand) error {
			return overwrite(w.Ledger()+"-wal", -1, rng)
		})},
	{"ledger and journal are gone", false, true, damaged(func(*World, *rand.Rand) error {
		return nil
	})},
	{"ledger is locked now and then", false, false, lockedLedger},
	{"ledger is locked", false, false, heldLedger},
	{"configuration is broken", true, false, brokenConfig},
	{"configuration is a directory", true, false,
		replaced((*World).Config, func(path string) error { return os.Mkdir(path, 0o700) })},
	{"clock was set ahead", false, false, clock(2 * time.Hour)},
	// not the reverse of the one before
	{"clock was set back", false, false, clock(-5 * time.Hour)},
	{"disk is slow", false, false, slowDisk},
	{"no directory for temporary files", false, false,
		replaced(func(w *World) string { return w.Tmp }, func(path string) error { return nil })},
	{"temporary files have no room", false, false,
		replaced(func(w *World) string { return w.Tmp }, func(path string) error {
			return os.Symlink("/dev/full", path)
		})},
	{"log is a directory", false, false,
		replaced(func(w *World) string { return filepath.Join(w.State(), "shim.log") },
			func(path string) error { return os.Mkdir(path, 0o700) })},
}

// change chooses a round's fault scenario at random, and sets it up.
func (w *World) change(rng *rand.Rand) (undo func() error, err error) {
	w.weather, w.all = "fair", false
	undo = func() error { return nil }
	if rng.IntN(3) == 0 {
		w.tally.add("weather: fair")
		return undo, nil
	}
	if _, err := os.Stat(w.Ledger()); err != nil { // the first round, or it was removed
		return undo, nil
	}
	chosen := draw(rng, weathers)
	w.weather, w.all = chosen.name, chosen.through
	w.tally.add("weather: " + chosen.name)
	end, err := chosen.begin(w, rng)
	if err != nil {
		return undo, err
	}
	return func() error {
		err := end()
		if chosen.damage {
			err = errors.Join(err, w.throwAway())
		}
		return err
	}, nil
}

// replaced moves a file aside and puts something else in its place.
func replaced(which func(*World) string, put func(path string) error) func(*World,
	*rand.Rand) (func() error, error) {
	return func(w *World, _ *rand.Rand) (func() error, error) {
		path := which(w)
		aside := filepath.Join(w.Root, "aside")
		moved := os.Rename(path, aside)
		if moved != nil && !errors.Is(moved, fs.ErrNotExist) {
			return nil, moved
		}
		return func() error {
			err := os.RemoveAll(path)
			if moved == nil {
				err = errors.Join(err, os.Rename(aside, path))
			}
			return err
		}, put(path)
	}
}

// damaged breaks the ledger, in half of the cases after its log was folded into it.
func damaged(do func(*World, *rand.Rand) error) func(*World, *rand.Rand) (func() error, error) {
	return func(w *World, rng *rand.Rand) (func() error, error) {
		if rng.IntN(2) == 0 {
			if err := w.sql("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
				return nil, err
			}
		}
		err := do(w, rng)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // there is no log
		}
		return func() error { return nil }, err
	}
}

// overwrite writes garbage over a piece of a file, at its start or anywhere.
func overwrite(path string, at int64, rng *rand.Rand) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	if at < 0 {
		at = rng.Int64N(info.Size())
	}
	garbage := make([]byte, 1+rng.IntN(6000))
	for i := range garbage {
		garbage[i] = byte(rng.Uint32())
	}
	if at == 0 {
		garbage = append(garbage, make([]byte, 100)...)
	}
	_, err = f.WriteAt(garbage, at)
	return err
}

func truncate(path string, by int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()/by)
}

// throwAway removes the ledger, as its user would after such damage.
func (w *World) throwAway() error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.RemoveAll(w.Ledger() + suffix); err != nil {
			return err
		}
	}
	return nil
}

// settle makes the ledger record the outcomes in its spool.
func (w *World) settle() error {
	l, err := ledger.OpenExisting(w.Ledger())
	if err != nil {
		return err
	}
	return errors.Join(l.RecordSpooled(), l.Close())
}

// sql runs a statement on the ledger.
func (w *World) sql(statement string, args ...any) error {
	db, err := harness.OpenLedger(w.Ledger())
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(statement, args...)
	return err
}

func foreignLedger(w *World, _ *rand.Rand) (func() error, error) {
	if err := w.throwAway(); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite3", "file:"+w.Ledger()+"?mode=rwc")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	_, err = db.Exec("CREATE TABLE theirs (a); PRAGMA application_id = 7")
	return func() error { return nil }, err
}

func newerLedger(w *World, _ *rand.Rand) (func() error, error) {
	return func() error { return nil }, w.sql("PRAGMA user_version = 99")
}

// heldLedger keeps the ledger locked for the whole round.
func heldLedger(w *World, _ *rand.Rand) (func() error, error) {
	db, err := harness.OpenLedger(w.Ledger())
	if err != nil {
		return nil, err
	}
	_, err = db.Exec("BEGIN IMMEDIATE")
	return func() error {
		_, err := db.Exec("ROLLBACK")
		return errors.Join(err, db.Close())
	}, err
}

// lockedLedger keeps the ledger locked for moments.
func lockedLedger(w *World, rng *rand.Rand) (func() error, error) {
	stop, stopped := make(chan struct{}), make(chan error)
	rng = rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())) // the round continues with its own
	go func() {
		for {
			end, err := heldLedger(w, rng)
			if err == nil {
				time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
				err = end()
			}
			select {
			case <-stop:
				stopped <- err
				return
			case <-time.After(time.Duration(rng.IntN(200)) * time.Millisecond):
			}
		}
	}()
	return func() error {
		close(stop)
		return <-stopped
	}, nil
}

func brokenConfig(w *World, rng *rand.Rand) (func() error, error) {
	text := draw(rng, []string{"ttl = = 3", "no_such_key = 1\n", "\x00\xff",
		"[tool.claude]\npath = 3\n"})
	return func() error { return w.Configure(harness.ResumesAll) },
		os.WriteFile(w.Config(), []byte(text), 0o600)
}

// clock shifts the time relative to the ledger's last write. No session known by then can be
// continued.
func clock(by time.Duration) func(*World, *rand.Rand) (func() error, error) {
	return func(w *World, _ *rand.Rand) (func() error, error) {
		for _, r := range w.runs("*") {
			w.stale[r.Session] = true
		}
		if err := w.settle(); err != nil { // an outcome in the spool would come with its own time
			return nil, err
		}
		if err := harness.AgeLedger(w.Ledger(), by); err != nil {
			return nil, err
		}
		return func() error { clear(w.stale); return nil }, nil
	}
}

// slowDisk runs another process that syncs all the time.
func slowDisk(w *World, _ *rand.Rand) (func() error, error) {
	path := filepath.Join(w.Root, "load")
	cmd := exec.Command("nice", "sh", "-c",
		`while :; do dd if=/dev/zero of="$0" bs=64k count=16 conv=fsync 2>/dev/null; done`, path)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() error {
		err := cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		time.Sleep(50 * time.Millisecond)
		return errors.Join(err, os.RemoveAll(path))
	}, nil
}
