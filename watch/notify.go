package watch

import (
	"os"

	"github.com/fsnotify/fsnotify"
)

// A source provides the events of directories.
type source struct {
	add    func(dir string) error
	events <-chan fsnotify.Event
	close  func()
}

// newSource returns nil if there are no events.
func newSource() *source {
	if os.Getenv("FSNOTIFY_DEBUG") == "1" {
		return nil // fsnotify would write on the caller's stderr
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil
	}
	go func() {
		for range w.Errors { // fsnotify would wait for a reader; Stop finds files with lost events
		}
	}()
	// Closing waits: the system takes ten milliseconds to release watches. A process that ends
	// meanwhile waits for that.
	return &source{w.Add, w.Events, func() { go w.Close() }}
}
