package ctl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/history"
	"reprise/shim/supervise"

	"golang.org/x/sys/unix"
)

// redrawEvery is how often the screen is drawn again: times on it are relative.
const redrawEvery = time.Second

// What a terminal is sent, as every one of today knows it: xterm's own screen for programs, and where the cursor is.
const (
	ownScreen  = "\x1b[?1049h\x1b[?25l"
	leftScreen = "\x1b[?25h\x1b[?1049l"
	toTop      = "\x1b[H"
	lineEnd    = "\x1b[K\r\n" // what stood there before goes
	clearBelow = "\x1b[J"
)

// runWatch shows the status, and keeps it up to date until ctx ends, a signal comes, or the user leaves.
func runWatch(a *app.App, ctx context.Context, flags app.FilterFlags, columns []string) error {
	if kind := a.Getenv("TERM"); !a.Stdout.Terminal || kind == "" || kind == "dumb" {
		return app.WithHint(errors.New("--watch needs a terminal that can move its cursor"), "shimctl log --follow shows the calls as they happen")
	}
	prices, err := a.LoadPrices()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	keys, restore := readKeys(a.Stdin)
	defer restore()
	fmt.Fprint(a.Stdout, ownScreen)
	defer fmt.Fprint(a.Stdout, leftScreen)
	w := watcher{app: a, reporter: view.Reporter{Prices: prices}, flags: flags}
	defer w.close()
	for {
		a.Now = time.Now()
		a.Stdout.Measure()
		if err := w.read(); err != nil {
			return err
		}
		lines := a.Stdout.Drawn(func(s view.Screen) {
			frame := *a
			frame.Stdout = s
			frame.Stdout.Height = max(0, s.Height-1) // for the last line
			if len(w.seen.decisions) == 0 {
				printFirst(&frame, w.seen)
				s.Notice(noCallMade(w.filter))
				return
			}
			printScreen(&frame, w.seen, columns)
		})
		if height := a.Stdout.Height; height > 0 {
			lines = lines[:min(len(lines), max(0, height-2))]
		}
		leave := "q leaves"
		if keys == nil {
			leave = "Ctrl-C leaves"
		}
		lines = append(lines, a.Stdout.Paint(view.Dim, leave))
		fmt.Fprint(a.Stdout, toTop+strings.Join(append(lines, ""), lineEnd)+clearBelow)
		select {
		case <-ctx.Done():
			return context.Canceled
		case key := <-keys:
			if key == 'q' || key == 'Q' {
				return nil
			}
		case <-time.After(redrawEvery):
		}
	}
}

// readKeys returns the keys that the user types, each as it is typed, nil if stdin is no terminal. restore sets the terminal as it was.
func readKeys(stdin *os.File) (keys <-chan byte, restore func()) {
	fd := int(stdin.Fd())
	before, err := unix.IoctlGetTermios(fd, supervise.GetTermios)
	if err != nil {
		return nil, func() {}
	}
	single := *before
	single.Lflag &^= unix.ICANON | unix.ECHO
	single.Cc[unix.VMIN], single.Cc[unix.VTIME] = 1, 0
	_ = unix.IoctlSetTermios(fd, supervise.SetTermios, &single) // else a key is read with its line
	typed := make(chan byte)
	go func() {
		var key [1]byte
		for n, err := stdin.Read(key[:]); err == nil && n == 1; n, err = stdin.Read(key[:]) {
			typed <- key[0]
		}
	}()
	return typed, func() { _ = unix.IoctlSetTermios(fd, supervise.SetTermios, before) }
}

// A watcher reads what the status shows, whenever the ledger has changed.
type watcher struct {
	app      *app.App
	reporter view.Reporter
	flags    app.FilterFlags
	ledger   *ledger.Ledger // nil until there is one
	version  int64          // of the ledger, when it was read
	filter   history.Filter
	seen     overview
}

func (w *watcher) close() {
	if w.ledger != nil {
		w.ledger.Close()
	}
}

func (w *watcher) read() (err error) {
	if w.ledger == nil {
		if w.ledger, err = w.app.OpenLedger(); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return err
		}
		w.version = -1
	}
	version, err := history.DataVersion(w.ledger)
	if err != nil || version == w.version {
		return err
	}
	w.version = version
	if w.filter, err = app.Filter(w.app, w.ledger, w.flags); err != nil {
		return err
	}
	w.seen, err = readOverview(w.app, w.ledger, w.reporter, w.filter)
	return err
}
