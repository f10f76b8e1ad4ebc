package watch

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"reprise/rewrite"

	"github.com/fsnotify/fsnotify"
)

// A script is a source of events that the test makes.
type script struct {
	event  chan fsnotify.Event
	fail   error
	added  []string
	closed bool
}

func (s *script) source() *source {
	add := func(dir string) error {
		if s.fail == nil {
			s.added = append(s.added, dir)
		}
		return s.fail
	}
	return &source{add, s.event, func() { s.closed = true }}
}

// play runs a watcher on scripted events, where time costs nothing.
func play(t *testing.T, fail error, act func(s *script, r *record)) *record {
	t.Helper()
	r := &record{dir: t.TempDir()}
	put(t, r.dir+"/a.jsonl", "")
	synctest.Test(t, func(t *testing.T) {
		s := &script{event: make(chan fsnotify.Event), fail: fail}
		w, err := begin([]rewrite.Follow{{Dir: r.dir, Name: "*.jsonl", Lines: true}}, r.handle,
			s.source())
		if err != nil {
			t.Fatal(err)
		}
		r.watcher = w
		act(s, r)
		w.Stop()
		if !s.closed {
			t.Error("the source is left open")
		}
	})
	return r
}

func TestChangesAreGathered(t *testing.T) {
	play(t, nil, func(s *script, r *record) {
		for range 50 {
			grow(t, r.dir+"/a.jsonl", "x\n")
			s.event <- fsnotify.Event{Name: r.dir + "/a.jsonl", Op: fsnotify.Write}
		}
		time.Sleep(settle - 1)
		synctest.Wait()
		if n := len(r.all()); n != 0 {
			t.Errorf("%d lines before things have settled", n)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if n := len(r.all()); n != 50 {
			t.Errorf("%d lines, want 50", n)
		}
	})
}

func TestAFileThatNeverRests(t *testing.T) {
	play(t, nil, func(s *script, r *record) {
		for range 10 {
			grow(t, r.dir+"/a.jsonl", "x\n")
			s.event <- fsnotify.Event{Name: r.dir + "/a.jsonl", Op: fsnotify.Write}
			time.Sleep(settle / 2)
		}
		synctest.Wait()
		if n := len(r.all()); n < 8 {
			t.Errorf("%d lines of 10 while the file grows", n)
		}
	})
}

// A relaxed watcher has no events. It goes on reading the files that have grown.
func TestRelaxed(t *testing.T) {
	play(t, nil, func(s *script, r *record) {
		grow(t, r.dir+"/a.jsonl", "1\n")
		s.event <- fsnotify.Event{Name: r.dir + "/a.jsonl", Op: fsnotify.Write}
		time.Sleep(settle)
		r.watcher.Relax()
		synctest.Wait()
		if !s.closed {
			t.Error("the source is still open")
		}
		grow(t, r.dir+"/a.jsonl", "2\n")
		put(t, r.dir+"/b.jsonl", "x\n")
		time.Sleep(readPause)
		synctest.Wait()
		if got := r.all(); !slices.Equal(got, []string{"a.jsonl: 1\n", "a.jsonl: 2\n"}) {
			t.Errorf("a relaxed watcher has read %q", got)
		}
		r.watcher.Relax()
	})
}

func TestNoWatchesToBeHad(t *testing.T) {
	for _, fail := range []error{syscall.ENOSPC, syscall.EMFILE, syscall.EACCES} {
		r := play(t, os.NewSyscallError("add", fail), func(s *script, r *record) {
			grow(t, r.dir+"/a.jsonl", "x\n")
		})
		if got := r.all(); !slices.Equal(got, []string{"a.jsonl: x\n"}) {
			t.Errorf("%v: %q", fail, got)
		}
	}
}

func TestOldDirectoriesAreNotWatched(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-30 * 24 * time.Hour)
	for i := range maxFirst + 50 {
		name := filepath.Join(dir, time.Unix(int64(i)*86400, 0).UTC().Format("2006/01/02"))
		put(t, name+"/a.jsonl", "x\n")
		for _, path := range []string{name + "/a.jsonl", name} {
			if err := os.Chtimes(path, old, old.Add(time.Duration(i)*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := &script{}
	w, err := begin([]rewrite.Follow{{Dir: dir, Name: "*.jsonl", Lines: true}},
		func(string, []byte) {}, s.source())
	if err != nil {
		t.Fatal(err)
	}
	w.Stop()
	if len(s.added) > maxFirst+1 || !slices.Contains(s.added, dir) {
		t.Errorf("%d directories are watched", len(s.added))
	}
	if slices.Contains(s.added, filepath.Join(dir, "1970/01/01")) {
		t.Error("the oldest directory is watched")
	}
}

func TestBadPattern(t *testing.T) {
	if _, err := Start([]rewrite.Follow{{Dir: t.TempDir(), Name: "["}}, nil); err == nil {
		t.Error("no error")
	}
}

func TestManyEventsWhileDirectoriesAppear(t *testing.T) {
	r := &record{dir: t.TempDir()}
	w := follow(t, r.dir, true, r, true)
	for i := range 300 {
		put(t, filepath.Join(r.dir, string(rune('a'+i%26)), "x", "y",
			time.Duration(i).String()+".jsonl"), "1\n2\n")
	}
	w.Stop()
	if got := r.all(); len(got) != 600 {
		t.Errorf("%d lines, want 600", len(got))
	}
}
