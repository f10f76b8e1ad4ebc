package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"reprise/fleet/store"
)

// formatEntry says in clear text how the store is written, and that it was tested.
const formatEntry = "format"

// layout is the version of names and contents.
const layout = 2

// renewed is the age at which the format is written anew, before a store removes it as old.
const renewed = 24 * time.Hour

type format struct {
	Version int    `json:"version"`
	ID      string `json:"id"` // random; each entry is bound to it
	// when it was last seen that the store keeps conditions on writes
	Tested  time.Time `json:"tested"`
	Written time.Time `json:"written"`
}

// idSize is the length of a store's ID.
const idSize = 32

// checkLimit is the limit for reading the format and for the test of a new store, which can be far
// away: the helper ends it for the calls to come, even if the call waits for it no more.
const checkLimit = time.Minute

// ready returns the store's format. It reads the format again after a failure that might pass.
func (v *Vault) ready() (format, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.checked {
		ctx, cancel := context.WithTimeout(v.context, checkLimit)
		defer cancel()
		v.format, v.failed = v.readFormat(ctx)
		v.checked = v.failed == nil || errors.Is(v.failed, store.ErrUnsafe) ||
			errors.Is(v.failed, store.ErrNewer)
	}
	return v.format, v.failed
}

// readFormat reads the format. It tests a new store, and writes the format if the store keeps
// conditions on writes.
func (v *Vault) readFormat(ctx context.Context) (format, error) {
	f, version, err := v.storedFormat(ctx)
	now := v.options.Now().UTC().Truncate(time.Second)
	switch {
	case errors.Is(err, store.ErrAbsent), errors.Is(err, store.ErrBroken):
		f = format{Version: layout, ID: random(), Tested: now}
		if err = v.options.SelfTest(ctx, v.engine); err != nil {
			return f, err
		}
	case err != nil || now.Sub(f.Written) < renewed:
		return f, err
	}
	f.Written = now
	content, err := json.Marshal(f)
	if err != nil {
		return f, err
	}
	_, err = v.engine.Swap(ctx, formatEntry, version, content)
	if errors.Is(err, store.ErrMoved) || errors.Is(err, store.ErrUnknown) {
		f, _, err = v.storedFormat(ctx) // of another machine that was faster
	}
	return f, err
}

// storedFormat returns the format that the store has, and its version, with store.ErrBroken too.
func (v *Vault) storedFormat(ctx context.Context) (f format, version string, err error) {
	e, err := v.engine.Read(ctx, formatEntry)
	if err != nil {
		return f, "", err
	}
	if err := json.Unmarshal(e.Content, &f); err != nil {
		return f, e.Version, fmt.Errorf("%s: %w: %w", formatEntry, store.ErrBroken, err)
	}
	if f.Version > layout {
		return f, "", store.ErrNewer
	}
	if len(f.ID) != idSize {
		return f, e.Version, fmt.Errorf("%s: %w: the store has no ID", formatEntry, store.ErrBroken)
	}
	return f, e.Version, nil
}

// Test asks the store whether it can be used. It returns when the store was first seen to keep
// conditions on writes, on the tester's clock, and how long a read takes.
func (v *Vault) Test(ctx context.Context) (tested time.Time, latency time.Duration, err error) {
	f, err := v.ready()
	if err != nil {
		return tested, 0, err
	}
	start := v.options.Now()
	_, err = v.engine.Read(ctx, formatEntry)
	return f.Tested, v.options.Now().Sub(start), err
}
