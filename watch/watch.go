package watch

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"reprise/rewrite"
)

// The pauses between two looks at the files: until the watcher is relaxed, and then. Where a look
// at all files takes long, the next one comes rest times as much later: to follow ten thousand
// files took 13 % of a processor with a rest of ten. Meanwhile the files that have grown are read.
const (
	pause        = 10 * time.Millisecond
	relaxedPause = 200 * time.Millisecond
	rest         = 30
)

// A Watcher follows files until it is stopped.
type Watcher struct {
	trees  []*tree       // of files that are read line by line
	wholes []*tree       // of files that are read whole, at the end
	pause  time.Duration // until the next look

	relaxing, stopping chan struct{}
	relax, stop        func() // close these channels, once
	done               chan struct{}
}

// Start starts following files. From then on handle is called, always from one goroutine, with a
// file's path and its new content: one line with the newline (the last of a file can lack it), or
// by Stop a whole file. The data are valid until handle returns. Files that cannot be read are
// skipped; an error means that a directory or a pattern is invalid.
func Start(follows []rewrite.Follow, handle func(path string, data []byte)) (*Watcher, error) {
	return begin(follows, handle, pause)
}

func begin(follows []rewrite.Follow, handle func(path string, data []byte),
	pause time.Duration) (*Watcher, error) {
	w := &Watcher{pause: pause, relaxing: make(chan struct{}), stopping: make(chan struct{}),
		done: make(chan struct{})}
	w.relax = sync.OnceFunc(func() { close(w.relaxing) })
	w.stop = sync.OnceFunc(func() { close(w.stopping) })
	for _, f := range follows {
		t, err := newTree(f, handle)
		if err != nil {
			return nil, fmt.Errorf("follow %s: %w", filepath.Join(f.Dir, f.Name), err)
		}
		if f.Lines {
			w.trees = append(w.trees, t)
		} else {
			w.wholes = append(w.wholes, t)
		}
	}
	go w.loop()
	return w, nil
}

// Relax makes the looks rarer, since nothing is urgent any more: they read only the files that have
// grown before. It can be called again.
func (w *Watcher) Relax() { w.relax() }

// Stop passes on all new lines, and ends. It can be called again.
func (w *Watcher) Stop() {
	w.stop()
	<-w.done
}

// loop owns everything that Start has set up.
func (w *Watcher) loop() {
	defer close(w.done)
	var last time.Time // the end of the last look at all files
	took, relaxing := time.Duration(0), w.relaxing
	for {
		var look <-chan time.Time // nil if there are only whole files
		if len(w.trees) > 0 {
			look = time.After(w.pause)
		}
		select {
		case <-look:
			began := time.Now()
			all := relaxing != nil && began.Sub(last) >= rest*took
			for _, t := range w.trees {
				if all {
					t.check()
				} else {
					t.readOn()
				}
			}
			if all {
				last = time.Now()
				took = last.Sub(began)
			}
		case <-relaxing:
			w.pause, relaxing = relaxedPause, nil
		case <-w.stopping:
			w.finish()
			return
		}
	}
}

// finish checks every file once more. A file that is not where it was expected is looked for
// elsewhere.
func (w *Watcher) finish() {
	for _, t := range w.trees {
		if !t.check() && t.root != "" {
			t.dir, t.root = t.root, ""
			t.walk(t.see)
		}
		t.end()
	}
	for _, t := range w.wholes {
		t.walk(t.seeWhole)
	}
}
