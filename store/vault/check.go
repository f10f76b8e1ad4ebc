package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"reprise/store"
	"reprise/store/wire"
)

// formatEntry says in clear text how the store is written, and that it was tested.
const formatEntry = "format"

// layout is the version of names and contents.
const layout = 1

// sampled is how many registers a test unseals.
const sampled = 50

type format struct {
	Version int       `json:"version"`
	Tested  time.Time `json:"tested"`
}

// A check reads the store's format, and tests and formats a new store.
type check struct {
	done   chan struct{}
	format format
	err    error
}

// A database is an engine that keeps conditions on writes by its nature. Its format is not read, which
// would delay the first request on its one connection.
type database interface {
	Connect(ctx context.Context) error
}

// startCheck starts a check in the background, which also connects.
func (v *Vault) startCheck() *check {
	c := &check{done: make(chan struct{})}
	v.check = c
	go func() {
		defer close(c.done)
		if d, ok := v.engine.(database); ok {
			c.err = d.Connect(v.context)
			return
		}
		c.format, c.err = v.readFormat(v.context)
	}()
	return c
}

// ready waits for the check. Writers of new registers need it: those of existing ones know from
// these that the store was tested, and reads need no test. It tries again what failed for a while.
func (v *Vault) ready(ctx context.Context) error {
	v.mu.Lock()
	c := v.check
	select {
	case <-c.done:
		if c.err != nil && !errors.Is(c.err, store.ErrUnsafe) && !errors.Is(c.err, store.ErrNewer) {
			c = v.startCheck()
		}
	default:
	}
	v.mu.Unlock()
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readFormat reads the format, and writes it if the store is new and keeps conditions on writes.
func (v *Vault) readFormat(ctx context.Context) (format, error) {
	var f format
	content, _, _, err := v.engine.Read(ctx, formatEntry)
	if errors.Is(err, store.ErrAbsent) {
		return v.format(ctx)
	}
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(content, &f); err != nil {
		return f, fmt.Errorf("%s: %w: %w", formatEntry, store.ErrBroken, err)
	}
	if f.Version > layout {
		return f, store.ErrNewer
	}
	return f, nil
}

// format tests a new store and writes its format. Another machine may do the same at once.
func (v *Vault) format(ctx context.Context) (format, error) {
	f := format{layout, v.options.Now().UTC().Truncate(time.Second)}
	if err := v.options.SelfTest(ctx, v.engine); err != nil {
		return f, err
	}
	content, err := json.Marshal(f)
	if err != nil {
		return f, err
	}
	if _, err := v.engine.Swap(ctx, formatEntry, "", content); err != nil && !errors.Is(err, store.ErrMoved) && !errors.Is(err, store.ErrUnknown) {
		return f, err
	}
	return f, nil
}

// An expirer is an engine that can tell when the store removes what is not rewritten, 0 for never.
type expirer interface {
	Expiry(ctx context.Context) (time.Duration, error)
}

// Test implements wire.Service.
func (v *Vault) Test(ctx context.Context) (wire.Report, error) {
	var r wire.Report
	if err := v.ready(ctx); err != nil {
		return r, err
	}
	if _, _, _, err := v.engine.Read(ctx, formatEntry); err != nil && !errors.Is(err, store.ErrAbsent) {
		return r, err // it makes a connection if the last one has ended
	}
	start := v.options.Now()
	if _, _, _, err := v.engine.Read(ctx, formatEntry); err != nil && !errors.Is(err, store.ErrAbsent) {
		return r, err
	}
	r.Latency, r.Tested = v.options.Now().Sub(start), v.tested()
	if e, ok := v.engine.(expirer); ok {
		expiry, err := e.Expiry(ctx)
		r.Expiry, r.KnowExpiry = expiry, err == nil // credentials that may not ask are no fault of the store
	}
	for _, prefix := range []string{prefixTask, prefixOpening} {
		if err := v.sample(ctx, prefix, &r); err != nil {
			return r, err
		}
	}
	return r, nil
}

// tested returns when the store was tested, zero if it needs no test.
func (v *Vault) tested() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.check.format.Tested
}

// sample counts which of some registers the keys unseal.
func (v *Vault) sample(ctx context.Context, prefix string, r *wire.Report) error {
	entries, err := v.engine.List(ctx, prefix)
	if err != nil {
		return err
	}
	entries = entries[:min(sampled, len(entries))]
	read := func(ctx context.Context, entry string) (any, error) {
		_, err := v.readEntry(ctx, entry)
		if errors.Is(err, store.ErrBroken) {
			return false, nil
		}
		return true, err
	}
	return v.readAll(ctx, entries, read, func(fits any) error {
		if fits.(bool) {
			r.Registers++
		} else {
			r.OtherKeys++
		}
		return nil
	})
}
