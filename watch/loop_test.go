package watch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"reprise/rewrite"
)

// play runs a watcher where time costs nothing.
func play(t *testing.T, act func(r *record)) *record {
	t.Helper()
	r := &record{dir: t.TempDir()}
	put(t, r.dir+"/a.jsonl", "")
	put(t, r.dir+"/sub/old.jsonl", "old\n")
	synctest.Test(t, func(t *testing.T) {
		r.watcher = followAs(t, rewrite.Follow{Dir: r.dir, Name: "*.jsonl", Lines: true}, r, true)
		act(r)
		r.watcher.Stop()
	})
	return r
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

// A file that has grown is read at each pause, even where a look at all files takes long.
func TestALookThatTakesLong(t *testing.T) {
	dir, lines := t.TempDir(), 0
	put(t, dir+"/a.jsonl", "")
	synctest.Test(t, func(t *testing.T) {
		w, err := Start([]rewrite.Follow{{Dir: dir, Name: "*.jsonl", Lines: true}},
			func(string, []byte) {
				if lines++; lines == 1 {
					time.Sleep(time.Second)
				}
			})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			grow(t, dir+"/a.jsonl", "x\n")
			time.Sleep(time.Second + 2*pause)
		}
		synctest.Wait()
		if lines != 2 {
			t.Errorf("%d lines are read, want 2", lines)
		}
		w.Stop()
	})
}

// A file that is away while its directory is looked at, and comes back as it was, has no new text.
func TestAwayForALook(t *testing.T) {
	play(t, func(r *record) {
		here, away := r.dir+"/sub", r.dir+".away"
		for _, move := range [][2]string{{here, away}, {away, here}} {
			if err := os.Rename(move[0], move[1]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * pause)
			synctest.Wait()
		}
		if got := r.all(); len(got) > 0 {
			t.Errorf("passed on %q", got)
		}
	})
}

// Another file can get the identity of a removed one. It is new from the start.
func TestIdentityOfARemovedFile(t *testing.T) {
	r := play(t, func(r *record) {
		if err := os.Remove(r.dir + "/sub/old.jsonl"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * pause)
		synctest.Wait()
		put(t, r.dir+"/sub/new.jsonl", "new and longer\n")
	})
	if got := r.all(); !slices.Equal(got, []string{"sub/new.jsonl: new and longer\n"}) {
		t.Errorf("passed on %q", got)
	}
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
