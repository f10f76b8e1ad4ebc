package selftest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"reprise/fleet/selftest"
	"reprise/fleet/store"
	"reprise/test/stores/mem"
)

// A careless store breaks one promise.
type careless struct {
	*mem.Store
	fault string
	mu    sync.Mutex
}

// Swap implements store.Store.
func (c *careless) Swap(ctx context.Context, key, old string, value []byte) (string, error) {
	if c.fault == "race" { // it checks, and writes later
		now, _ := c.Read(ctx, key)
		if old != now.Version {
			return "", store.ErrMoved
		}
		time.Sleep(time.Millisecond)
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	version, err := c.Store.Swap(ctx, key, old, value)
	ignores := c.fault == "all" || c.fault == "race" || c.fault == "creation" && old == "" ||
		c.fault == "version" && old != ""
	switch {
	case errors.Is(err, store.ErrMoved) && (ignores || c.fault == "lies"):
		now, _ := c.Read(ctx, key)
		if version, err = c.Store.Swap(ctx, key, now.Version, value); c.fault == "lies" {
			return "", store.ErrMoved
		}
	case err == nil && c.fault == "refuses" && old != "":
		return "", store.ErrMoved
	case err == nil && c.fault == "constant":
		return "1", nil
	case c.fault == "unknown":
		return "", store.ErrUnknown
	}
	return version, err
}

func TestRun(t *testing.T) {
	for fault, want := range map[string]string{
		"all": "second creation", "creation": "second creation", "version": "old version",
		"lies": "refused write was made", "refuses": "right version",
		"constant": "left the version", "unknown": "not known", "": "",
	} {
		s := &careless{Store: mem.New(), fault: fault}
		err := selftest.Run(t.Context(), s)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fault, err)
		}
		if unsafe := want != "" && fault != "unknown"; errors.Is(err, store.ErrUnsafe) != unsafe {
			t.Errorf("%s: %v", fault, err)
		}
		if left, err := s.List(t.Context(), ""); err != nil || len(left) != 0 {
			t.Errorf("%s leaves %v, %v", fault, left, err)
		}
	}
}

// A server that checks, and writes later, is found by writers at once.
func TestRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := selftest.Run(t.Context(), &careless{Store: mem.New(), fault: "race"})
		if !errors.Is(err, store.ErrUnsafe) || !strings.Contains(err.Error(), "4 of 4 writers") {
			t.Error(err)
		}
	})
}
