// Package vault keeps registers and bundles in a shared store, sealed with the store's key.
//
// A store's reader learns sizes, counts and times from it, and its writer can only make entries
// missing or broken. Invariants: an entry is accepted only under the name it was sealed for; of
// all registers of one name at most one is authoritative; no write is ever repeated.
package vault

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"reprise/fleet/bundle"
	"reprise/fleet/store"
	"reprise/fleet/wire"
)

// parallel is how many entries are read at once. Twice as many are in memory.
const parallel = 16

// Options are a Vault's needs besides an engine.
type Options struct {
	Keys     []Key // at least one: the first writes, all read
	Limits   bundle.Limits
	SelfTest func(context.Context, store.Store) error // fails with store.ErrUnsafe if conditions on writes are ignored
	Now      func() time.Time
}

// A Vault is an open store. It is safe for concurrent use.
type Vault struct {
	engine  store.Store
	options Options
	keys    []*keys
	context context.Context // of the check

	mu    sync.Mutex
	check *check // the one under way, or the last
}

var _ wire.Service = (*Vault)(nil)

// Open returns a vault on an engine. It connects without waiting for that: ctx ends the attempt.
func Open(ctx context.Context, engine store.Store, options Options) *Vault {
	v := &Vault{engine: engine, options: options, context: ctx}
	for _, key := range options.Keys {
		v.keys = append(v.keys, derive(key))
	}
	v.startCheck()
	return v
}

// Hello implements wire.Service. The digests' key is the last one's: while machines are given a new
// first key one by one, all have the same last one.
func (v *Vault) Hello(context.Context) ([]byte, error) { return v.keys[len(v.keys)-1].digests, nil }

// seal seals content for a name in this store.
func (v *Vault) seal(ctx context.Context, k *keys, name string, content []byte) ([]byte, error) {
	f, err := v.ready(ctx)
	if err != nil {
		return nil, err
	}
	return k.seal(f.ID, name, content), nil
}

// unseal returns an entry's content and the index of the key.
func (v *Vault) unseal(ctx context.Context, name string, sealed []byte) ([]byte, int, error) {
	f, err := v.ready(ctx)
	if err != nil {
		return nil, 0, err
	}
	for i, k := range v.keys {
		var content []byte
		if content, err = k.unseal(f.ID, name, sealed); err == nil {
			return content, i, nil
		}
	}
	return nil, 0, fmt.Errorf("%s: %w", name, err)
}

// readAll calls use with each of the entries that exist, in order. It leaves out what use fails on with store.ErrBroken or
// store.ErrNewer. gone reports that some do not exist.
func (v *Vault) readAll(ctx context.Context, names []string, most int64, use func(name string, e store.Entry) error) (gone bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		names   []string
		entries map[string]store.Entry
		err     error
	}
	answers := make(chan answer) // the next is read while one is used
	go func() {
		defer close(answers)
		for some := range slices.Chunk(names, parallel) {
			entries, err := v.engine.Read(ctx, most, some...)
			select {
			case answers <- answer{some, entries, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	for a := range answers {
		if a.err != nil {
			return gone, a.err
		}
		gone = gone || len(a.entries) < len(a.names)
		for _, name := range a.names {
			entry, there := a.entries[name]
			if !there {
				continue
			}
			if err := use(name, entry); err != nil && !errors.Is(err, store.ErrBroken) && !errors.Is(err, store.ErrNewer) {
				return gone, err
			}
		}
	}
	return gone, context.Cause(ctx) // if the time was over, not all was read
}

// random returns a name that is used once.
func random() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}
