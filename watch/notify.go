package watch

import (
	"errors"
	"os"

	"github.com/fsnotify/fsnotify"
)

// A source provides the events of directories.
type source interface {
	add(dir string) error
	events() <-chan fsnotify.Event
	lost() <-chan struct{} // reports that events were lost
	close()
}

type notify struct {
	watcher  *fsnotify.Watcher
	overflow chan struct{}
}

func newNotify() (source, error) {
	if os.Getenv("FSNOTIFY_DEBUG") == "1" {
		return nil, errors.New("fsnotify would write on the caller's stderr")
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	n := notify{w, make(chan struct{}, 1)}
	go n.readErrors()
	return n, nil
}

// readErrors never blocks fsnotify, which can hold a lock that add needs while it reports an error.
func (n notify) readErrors() {
	for err := range n.watcher.Errors {
		if !errors.Is(err, fsnotify.ErrEventOverflow) {
			continue
		}
		select {
		case n.overflow <- struct{}{}:
		default: // it is already reported
		}
	}
}

func (n notify) add(dir string) error          { return n.watcher.Add(dir) }
func (n notify) events() <-chan fsnotify.Event { return n.watcher.Events }
func (n notify) lost() <-chan struct{}         { return n.overflow }

// close does not wait: the system takes ten milliseconds to release watches. A process that ends
// meanwhile waits for that.
func (n notify) close() { go n.watcher.Close() }
