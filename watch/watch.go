package watch

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"reprise/rewrite"

	"github.com/fsnotify/fsnotify"
)

// settle is how long changes are collected before the files are checked. It counts from the first
// change, so that a file that changes constantly is checked too. Where a check takes long, the next
// one waits for the tenfold: following takes at most a tenth of a processor.
const settle = 5 * time.Millisecond

// readPause is the time between two reads of the growing files when events are no longer used.
const readPause = 200 * time.Millisecond

// A Watcher follows files until it is stopped.
type Watcher struct {
	trees  []*tree         // of files that are read line by line
	wholes []*wholes       // files that are read at the end
	source *source         // nil if there are no events: Stop will find everything
	seen   map[string]bool // directories that are watched, or too old to be
	dirty  bool            // there was a change since the last check
	took   time.Duration   // the last check

	relaxing, stopping chan struct{}
	relax, stop        func() // close these channels, once
	done               chan struct{}
}

// Start starts following files. From then on handle is called, always from one goroutine, with a
// file's path and its new content: one line with the newline (the last of a file can lack it), or
// by Stop a whole file. The data are valid until handle returns. Files that cannot be read are
// skipped; an error means that a directory or a pattern is invalid.
func Start(follows []rewrite.Follow, handle func(path string, data []byte)) (*Watcher, error) {
	return begin(follows, handle, newSource())
}

func begin(follows []rewrite.Follow, handle func(path string, data []byte), src *source) (*Watcher,
	error) {
	w := &Watcher{
		source: src, seen: map[string]bool{},
		relaxing: make(chan struct{}), stopping: make(chan struct{}), done: make(chan struct{}),
	}
	w.relax = sync.OnceFunc(func() { close(w.relaxing) })
	w.stop = sync.OnceFunc(func() { close(w.stopping) })
	for _, f := range follows {
		t, err := newTree(f, handle)
		if err != nil {
			w.quit()
			return nil, fmt.Errorf("follow %s: %w", filepath.Join(f.Dir, f.Name), err)
		}
		if f.Lines {
			w.survey(t)
			w.trees = append(w.trees, t)
			continue
		}
		whole := &wholes{t, handle, map[string]stamp{}}
		t.walk(func(string) {}, whole.note)
		w.wholes = append(w.wholes, whole)
	}
	go w.loop()
	return w, nil
}

// Relax ends the use of events. From then on the files that have grown are read now and then, and
// all others by Stop. The system takes ten milliseconds to release watches, and would hold up the
// end of the process by them. It can be called again.
func (w *Watcher) Relax() { w.relax() }

// Stop passes on all new lines, and ends. It can be called again.
func (w *Watcher) Stop() {
	w.stop()
	<-w.done
}

// loop owns everything that Start has set up.
func (w *Watcher) loop() {
	defer close(w.done)
	var events <-chan fsnotify.Event
	if w.source != nil {
		events = w.source.events
	}
	var settled, reads <-chan time.Time
	relaxing := w.relaxing
	for {
		if w.dirty && settled == nil {
			settled = time.After(max(settle, 10*w.took))
		}
		select {
		case e, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			w.handleEvent(e)
		case <-settled:
			settled = nil
			w.checkAll()
		case <-relaxing:
			relaxing, events = nil, nil
			w.quit()
			reads = time.Tick(readPause)
		case <-reads:
			w.readOn()
		case <-w.stopping:
			w.quit()
			w.finish()
			return
		}
	}
}

// handleEvent notes an event. It does not matter which file or directory has appeared or changed:
// all are checked.
func (w *Watcher) handleEvent(e fsnotify.Event) {
	path := filepath.Clean(e.Name)
	for _, t := range w.trees {
		holds := t.holds(path)
		if holds && e.Has(fsnotify.Remove|fsnotify.Rename) {
			t.tails.gone(path, e.Has(fsnotify.Remove))
		}
		w.dirty = w.dirty || e.Has(fsnotify.Create) || holds && e.Has(fsnotify.Write)
	}
}

// checkAll checks the files of all trees, and watches new directories. Of a tree that is not there
// yet it watches the place where it will appear.
func (w *Watcher) checkAll() {
	began := time.Now()
	w.dirty = false
	for _, t := range w.trees {
		w.check(t)
		w.await(t)
	}
	w.took = time.Since(began)
}

// check checks the files of a tree, and reports whether there are any.
func (w *Watcher) check(t *tree) (found bool) {
	t.walk(w.watch, func(path string, info fs.FileInfo) {
		found = true
		t.tails.check(path, info)
	})
	return found
}

// readOn reads the files that have grown before.
func (w *Watcher) readOn() {
	for _, t := range w.trees {
		t.tails.readOn()
	}
}

// finish checks every file once more. A file that is not where it was expected is looked for
// elsewhere.
func (w *Watcher) finish() {
	for _, t := range w.trees {
		if !w.check(t) && t.root != "" {
			t.dir, t.root = t.root, ""
			w.check(t)
		}
		t.tails.end()
	}
	for _, ws := range w.wholes {
		ws.walk(func(string) {}, ws.read)
	}
}

// quit stops using events.
func (w *Watcher) quit() {
	if w.source != nil {
		w.source.close()
		w.source = nil
	}
}

// watch subscribes to the events of a directory, if that is possible.
func (w *Watcher) watch(dir string) {
	if w.source != nil && !w.seen[dir] {
		w.seen[dir] = w.source.add(dir) == nil
	}
}
