package faults

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/ledger"
	"reprise/test/harness"
)

// ledgerKinds break the ledger of a user of the shims. The next call must pass through unchanged,
// doctor must find the fault, and the advertised fix must repair it.
var ledgerKinds = []kind{
	broken("garbage from the start", overwrite(0, 4096)),
	broken("garbage in a table", damageTable("sessions")),
	broken("garbage in the table of its key", damageTable("meta")),
	broken("garbage in every page but two", func(w *world) { w.eachPage(2) }),
	broken("garbage in every page but the first", func(w *world) { w.eachPage(1) }),
	broken("cut in half", func(w *world) { w.must(os.Truncate(w.Ledger(), w.size()/2)) }),
	broken("cut to ten bytes", func(w *world) { w.must(os.Truncate(w.Ledger(), 10)) }),
	broken("a newer schema", statement("PRAGMA user_version = 999")),
	broken("a foreign SQLite file", statement("PRAGMA application_id = 7")),
	broken("a table is gone", statement("DROP TABLE leases")),
	broken("a directory in its place",
		inPlace(func(path string) error { return os.Mkdir(path, 0o700) })),
	broken("a named pipe in its place",
		inPlace(func(path string) error { return syscall.Mkfifo(path, 0o600) })),
	broken("a device in its place", inPlace(func(path string) error {
		return os.Symlink("/dev/full", path)
	})),
	broken("a link in a circle in its place",
		inPlace(func(path string) error { return os.Symlink(path, path) })),
	broken("a directory in the place of its log", func(w *world) {
		w.must(errors.Join(os.RemoveAll(w.Ledger()+"-wal"), os.Mkdir(w.Ledger()+"-wal", 0o700)))
	}),
	{"the ledger", "read-only", func(w *world) {
		w.unprivileged()
		w.use()
		w.must(os.Chmod(w.Ledger(), 0o400))
		w.passes(call{prompt: job(1)})
		w.must(os.Chmod(w.Ledger(), 0o600))
		w.whole()
	}},
	{"the ledger", "in a read-only directory", func(w *world) {
		w.unprivileged()
		w.use()
		w.must(os.Chmod(w.state(""), 0o500))
		w.call(call{prompt: job(1)})
		w.must(os.Chmod(w.state(""), 0o700))
		w.whole()
	}},
	{"the ledger", "no home to have it in", func(w *world) {
		w.passes(call{prompt: job(1), sh: "export XDG_STATE_HOME=/proc/none"})
	}},
	{"the ledger", "no room on its disk", func(w *world) { w.fill(0) }},
	{"the ledger", "no room left in the midst of a call", func(w *world) {
		for pages := range 12 {
			w.fill(2 * pages)
		}
	}},
	{"the ledger", "no file may grow (RLIMIT_FSIZE)", func(w *world) {
		w.use()
		for _, blocks := range []int{32, 64, 96, 128, 192, 256, 512} {
			w.call(call{prompt: job(1), sh: fmt.Sprintf("ulimit -f %d", blocks)})
		}
		w.whole()
	}},
	{"the ledger", "few open files (RLIMIT_NOFILE)", func(w *world) {
		w.use()
		for files := 9; files < 24; files++ {
			w.call(call{prompt: job(1), sh: fmt.Sprintf("ulimit -n %d", files)})
		}
		w.whole()
	}},
	{"the ledger", "locked by another process for writing", func(w *world) {
		w.locked("BEGIN IMMEDIATE")
		w.recorded(5)
	}},
	{"the ledger", "locked by another process for reading too", func(w *world) {
		w.locked("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
	}},
	{"the ledger", "locked again and again, by a slow disk, for many calls at once",
		func(w *world) {
			const calls = 24
			w.use()
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for {
					release := w.lock("BEGIN IMMEDIATE")
					time.Sleep(2 * ledger.LockTimeout)
					release()
					select {
					case <-stop:
						return
					case <-time.After(ledger.LockTimeout / 4):
					}
				}
			}()
			var started []*exec.Cmd
			for n := range calls {
				started = append(started, w.start(
					call{prompt: job(0), task: fmt.Sprint("task ", n)}))
			}
			for _, c := range started {
				w.must(c.Wait())
			}
			close(stop)
			<-stopped
			w.resumes(call{prompt: job(1)}, true)
			w.recorded(calls + 2)
		}},
	{"the ledger", "locked when the call ends", func(w *world) {
		w.use()
		done := make(chan harness.Result)
		go func() { done <- w.run(call{prompt: job(1), ms: 300}) }()
		w.wait(func() bool { return len(w.runs()) == 2 })
		release := w.lock("BEGIN IMMEDIATE")
		<-done
		release()
		w.resumes(call{prompt: job(2)}, true) // its outcome was kept and is recorded first
		w.sound(0)
	}},
	{"the ledger", "its file lock kept", func(w *world) {
		w.use()
		f, err := os.OpenFile(w.Ledger()+".lock", os.O_RDWR, 0)
		w.must(errors.Join(err, syscall.Flock(int(f.Fd()), syscall.LOCK_EX)))
		w.passes(call{prompt: job(1)})
		w.must(f.Close())
		w.resumes(call{prompt: job(1)}, true)
		w.recorded(3)
	}},
	{"the ledger", "thrown away between two calls", func(w *world) {
		w.use()
		w.must(errors.Join(os.Remove(w.Ledger()), os.Remove(w.Ledger()+"-wal"),
			os.Remove(w.Ledger()+"-shm")))
		w.resumes(call{prompt: job(1)}, false)
	}},
	{"the ledger", "thrown away during a call", func(w *world) {
		w.use()
		done := make(chan harness.Result)
		go func() { done <- w.call(call{prompt: job(1), ms: 200}) }()
		w.wait(func() bool { return len(w.runs()) == 2 })
		w.must(os.RemoveAll(w.state("")))
		<-done
		w.resumes(call{prompt: job(2)}, false)
	}},
	{"the ledger", "garbage in its log", func(w *world) {
		w.use()
		w.must(os.WriteFile(w.Ledger()+"-wal", bytes.Repeat([]byte("garbage "), 4096), 0o600))
		w.call(call{prompt: job(1)})
		w.whole()
	}},
	{"the ledger", "its log is cut", func(w *world) {
		for cut := range int64(10) {
			w.call(call{prompt: job(0), task: fmt.Sprint("task ", cut)})
			info, err := os.Stat(w.Ledger() + "-wal")
			w.must(err)
			w.must(os.Truncate(w.Ledger()+"-wal", info.Size()*cut/10))
			w.call(call{prompt: job(1), task: fmt.Sprint("task ", cut)})
			w.whole()
		}
		if slices.ContainsFunc(w.runs(), midTurn) {
			w.lose("a session was resumed in the midst of a turn")
		}
	}},
	{"the ledger", "garbage in its index", func(w *world) {
		w.use()
		w.must(os.WriteFile(w.Ledger()+"-shm", bytes.Repeat([]byte("garbage "), 4096), 0o600))
		w.resumes(call{prompt: job(1)}, true)
		w.sound(0)
	}},
	obstructed("a directory in the place of its file lock", ".lock", func(path, _ string) error {
		return os.Mkdir(path, 0o700)
	}, true),
	obstructed("a named pipe in the place of its file lock", ".lock", func(path, _ string) error {
		return syscall.Mkfifo(path, 0o600)
	}, true),
	obstructed("a link planted in the place of its file lock", ".lock",
		func(path, victim string) error { return os.Symlink(victim, path) }, true),
	obstructed("a file in the place of what waits", ".spool", func(path, _ string) error {
		return os.WriteFile(path, nil, 0o600)
	}, false),
	obstructed("a link planted in the place of what waits", ".spool",
		func(path, victim string) error {
			return os.Symlink(filepath.Dir(victim), path)
		}, false),
	{"the log", "a named pipe in its place", func(w *world) {
		w.unusableLog(func(path string) error { return syscall.Mkfifo(path, 0o600) })
	}},
	{"the log", "a link planted in its place", func(w *world) {
		victim := filepath.Join(w.Root, "victim")
		w.must(os.WriteFile(victim, []byte("dear\n"), 0o644))
		w.unusableLog(func(path string) error { return os.Symlink(victim, path) })
		if text, err := os.ReadFile(victim); err != nil || string(text) != "dear\n" {
			w.lose("it was written to: %q, %v", text, err)
		}
	}},
	{"the log", "a directory in its place", func(w *world) {
		w.unusableLog(func(path string) error { return os.Mkdir(path, 0o700) })
	}},
}

// use makes the first call, which creates the ledger.
func (w *world) use() { w.call(call{prompt: job(0)}) }

// broken is a ledger damaged by damage, which shimctl doctor --fix fixes.
func broken(name string, damage func(*world)) kind {
	return kind{"the ledger", name, func(w *world) {
		w.use()
		_, _ = w.shimctl("status") // folds the log into the file
		damage(w)
		w.passes(call{prompt: job(1)})
		if out, err := w.shimctl("doctor"); err == nil ||
			!strings.Contains(out, "problem\tledger\t") {
			w.lose("doctor does not see it: %s", out)
		}
		before := w.ledgers()
		if out, err := w.shimctl("doctor", "--fix", "--yes"); err != nil {
			w.lose("shimctl doctor --fix does not mend it: %s", out)
		}
		if after := w.ledgers(); after != before+1 {
			w.lose("%d files named ledger.db* after %d", after, before)
		}
		if out, err := w.shimctl("doctor"); err != nil {
			w.lose("it is not mended: %s", out)
		}
		w.resumes(call{prompt: job(1), task: "mended"}, false)
		w.resumes(call{prompt: job(2), task: "mended"}, true)
	}}
}

// obstructed puts something in place of a file beside the ledger, for a call that ends while
// another process has the ledger. kept reports whether its outcome can be kept all the same.
func obstructed(name, part string, create func(path, victim string) error, kept bool) kind {
	return kind{"the ledger", name, func(w *world) {
		w.use()
		victim := filepath.Join(w.Root, "victim", "file")
		w.must(errors.Join(os.Mkdir(filepath.Dir(victim), 0o755),
			os.WriteFile(victim, []byte("dear\n"), 0o644)))
		w.must(errors.Join(os.RemoveAll(w.Ledger()+part), create(w.Ledger()+part, victim)))
		c := w.start(call{prompt: job(1), ms: 300})
		w.wait(func() bool { return len(w.runs()) == 2 })
		release := w.lock("BEGIN IMMEDIATE")
		w.must(c.Wait())
		release()
		w.resumes(call{prompt: job(2)}, kept)
		if entries, err := os.ReadDir(filepath.Dir(victim)); err != nil || len(entries) != 1 {
			w.lose("something was put where the link leads: %v, %v", entries, err)
		}
		if text, err := os.ReadFile(victim); err != nil || string(text) != "dear\n" {
			w.lose("something was written where the link leads: %q, %v", text, err)
		}
	}}
}

// ledgers counts the ledgers, those set aside included.
func (w *world) ledgers() (n int) {
	names, err := filepath.Glob(w.Ledger() + "*")
	w.must(err)
	for _, name := range names {
		switch filepath.Ext(strings.TrimSuffix(strings.TrimSuffix(name, "-wal"), "-shm")) {
		case ".lock", ".spool", ".passed", ".old":
		default:
			if !strings.HasSuffix(name, "-wal") && !strings.HasSuffix(name, "-shm") {
				n++
			}
		}
	}
	return n
}

func (w *world) shimctl(args ...string) (string, error) {
	out, err := w.Command("shimctl", harness.Call{Args: args}).CombinedOutput()
	return string(out), err
}

func overwrite(at, n int64) func(*world) {
	return func(w *world) {
		f, err := os.OpenFile(w.Ledger(), os.O_WRONLY, 0)
		w.must(err)
		_, err = f.WriteAt(bytes.Repeat([]byte("garbage "), int(n/8)), at)
		w.must(errors.Join(err, f.Close()))
	}
}

// eachPage writes garbage into the middle of each page from one on.
func (w *world) eachPage(from int64) {
	for at := from * 4096; at < w.size(); at += 4096 {
		overwrite(at, 2048)(w)
	}
}

func damageTable(name string) func(*world) {
	return func(w *world) {
		var page int64
		db := w.open()
		w.must(db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?", name).Scan(&page))
		w.must(db.Close())
		overwrite((page-1)*4096, 2048)(w)
	}
}

func (w *world) size() int64 {
	info, err := os.Stat(w.Ledger())
	w.must(err)
	return info.Size()
}

func statement(text string) func(*world) {
	return func(w *world) {
		db := w.open()
		defer db.Close()
		_, err := db.Exec(text)
		w.must(err)
	}
}

func inPlace(create func(path string) error) func(*world) {
	return func(w *world) {
		w.must(errors.Join(os.Remove(w.Ledger()), create(w.Ledger())))
	}
}

func (w *world) open() *sql.DB {
	db, err := harness.OpenLedger(w.Ledger())
	w.must(err)
	return db
}

// lock locks the ledger as another program would.
func (w *world) lock(how string) (release func()) {
	db := w.open()
	for {
		_, err := db.Exec(how)
		if err == nil {
			return func() { db.Close() }
		}
		time.Sleep(time.Millisecond) // a call is just writing
	}
}

// locked makes calls while another process has the ledger.
func (w *world) locked(how string) {
	w.use()
	release := w.lock(how)
	for range 3 {
		w.passes(call{prompt: job(1)})
	}
	release()
	w.resumes(call{prompt: job(1)}, true)
}

// recorded checks that the ledger has so many calls, and that all ended well.
func (w *world) recorded(calls int) {
	db := w.open()
	defer db.Close()
	var all, ok int
	w.must(db.QueryRow("SELECT count(*), count(CASE outcome WHEN 'ok' THEN 1 END) "+
		"FROM calls").Scan(&all, &ok))
	if all != calls || ok != calls {
		w.lose("%d calls are recorded, %d of them as ended well, of %d", all, ok, calls)
	}
}

// whole checks that the ledger is intact and usable.
func (w *world) whole() {
	if out, err := w.shimctl("doctor"); err != nil {
		w.lose("doctor says %s", out)
	}
	w.resumes(call{prompt: job(1), task: "after"}, false)
	w.resumes(call{prompt: job(2), task: "after"}, true)
}

func (w *world) unusableLog(create func(path string) error) {
	w.must(errors.Join(os.MkdirAll(w.state(""), 0o700), create(w.state("shim.log"))))
	w.use()
	w.resumes(call{prompt: job(1)}, true)
}
