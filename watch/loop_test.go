package watch

import (
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"reprise/rewrite"
)

// play runs a watcher where time costs nothing.
func play(t *testing.T, act func(r *record)) {
	t.Helper()
	r := &record{dir: t.TempDir()}
	put(t, r.dir+"/a.jsonl", "")
	synctest.Test(t, func(t *testing.T) {
		r.watcher = followAs(t, rewrite.Follow{Dir: r.dir, Name: "*.jsonl", Lines: true}, r, true)
		act(r)
		r.watcher.Stop()
	})
}

func TestAFileThatNeverRests(t *testing.T) {
	play(t, func(r *record) {
		for range 10 {
			grow(t, r.dir+"/a.jsonl", "x\n")
			time.Sleep(pause / 2)
		}
		synctest.Wait()
		if n := len(r.all()); n < 8 {
			t.Errorf("%d lines of 10 while the file grows", n)
		}
	})
}

// A relaxed watcher looks at the files more rarely.
func TestRelaxed(t *testing.T) {
	play(t, func(r *record) {
		grow(t, r.dir+"/a.jsonl", "1\n")
		time.Sleep(pause)
		r.watcher.Relax()
		synctest.Wait()
		grow(t, r.dir+"/a.jsonl", "2\n")
		time.Sleep(relaxedPause - time.Nanosecond)
		synctest.Wait()
		if got := r.all(); !slices.Equal(got, []string{"a.jsonl: 1\n"}) {
			t.Errorf("a relaxed watcher has read %q early", got)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := r.all(); !slices.Equal(got, []string{"a.jsonl: 1\n", "a.jsonl: 2\n"}) {
			t.Errorf("a relaxed watcher has read %q", got)
		}
		r.watcher.Relax()
	})
}

func TestBadPattern(t *testing.T) {
	if _, err := Start([]rewrite.Follow{{Dir: t.TempDir(), Name: "["}}, nil); err == nil {
		t.Error("no error")
	}
}

func TestManyDirectoriesAppear(t *testing.T) {
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
