package watch

import (
	"errors"
	"os"

	"github.com/fsnotify/fsnotify"
)

// A source provides the events of directories.
type source struct {
	add    func(dir string) error
	events <-chan fsnotify.Event
	lost   <-chan struct{} // reports that events were lost
	close  func()
}

func newSource() (*source, error) {
	if os.Getenv("FSNOTIFY_DEBUG") == "1" {
		return nil, errors.New("fsnotify would write on the caller's stderr")
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	lost := make(chan struct{}, 1)
	go readErrors(w.Errors, lost)
	// Closing waits: the system takes ten milliseconds to release watches. A process that ends
	// meanwhile waits for that.
	return &source{w.Add, w.Events, lost, func() { go w.Close() }}, nil
}

// readErrors never blocks fsnotify, which can hold a lock that add needs while it reports an error.
func readErrors(failures <-chan error, lost chan<- struct{}) {
	for err := range failures {
		if !errors.Is(err, fsnotify.ErrEventOverflow) {
			continue
		}
		select {
		case lost <- struct{}{}:
		default: // it is already reported
		}
	}
}
