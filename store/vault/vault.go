// Package vault keeps registers, bundles and a log of calls in a shared store, sealed with the store's key.
//
// A store's reader learns sizes, counts and times from it, and its writer can only make entries
// missing or broken. Its invariants: an entry is accepted only under the name it was sealed for; of
// all registers of one name at most one is authoritative; no write is ever repeated.
package vault

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"reprise/store"
	"reprise/store/bundle"
	"reprise/store/wire"
)

// parallel is how many entries are read at once.
const parallel = 16

// Options are what a Vault needs besides its engine.
type Options struct {
	Keys     []Key  // the first writes, all read
	Engine   string // the scheme of the store's URL
	Limits   bundle.Limits
	SelfTest func(context.Context, store.Store) error // fails with store.ErrUnsafe if conditions on writes are ignored
	Now      func() time.Time
}

// A Vault is an open store. It is safe for concurrent use.
type Vault struct {
	engine  store.Store
	options Options
	keys    []*keys
	context context.Context        // of the check
	full    atomic.Pointer[string] // a day of the log to pack

	mu    sync.Mutex
	check *check // the one under way, or the last
}

var _ wire.Service = (*Vault)(nil)

// Open returns a vault on an engine. It connects without waiting for that: ctx ends the attempt.
func Open(ctx context.Context, engine store.Store, options Options) (*Vault, error) {
	if len(options.Keys) == 0 {
		return nil, errNoKey
	}
	v := &Vault{engine: engine, options: options, context: ctx}
	for _, key := range options.Keys {
		v.keys = append(v.keys, derive(key))
	}
	v.startCheck()
	return v, nil
}

// Hello implements wire.Service. The digests' key is the last one's: while machines are given a new
// first key one by one, all have the same last one.
func (v *Vault) Hello(context.Context) (wire.Hello, error) {
	return wire.Hello{DigestKey: v.keys[len(v.keys)-1].digests, Engine: v.options.Engine}, nil
}

// seal seals content for a name in this store.
func (v *Vault) seal(ctx context.Context, k *keys, name string, content []byte) ([]byte, error) {
	f, err := v.ready(ctx)
	if err != nil {
		return nil, err
	}
	return k.seal(f.ID, name, content), nil
}

// unseal returns an entry's content and the index of its key.
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

// readAll calls use with the content of entries, in order. Entries that are gone, or that none of the
// keys unseals, are left out.
func (v *Vault) readAll(ctx context.Context, names []string, read func(context.Context, string) (any, error), use func(any) error) error {
	for len(names) > 0 {
		n := min(parallel, len(names))
		found := make([]any, n)
		group, groupContext := errgroup.WithContext(ctx)
		for i, name := range names[:n] {
			group.Go(func() (err error) {
				found[i], err = read(groupContext, name)
				if errors.Is(err, store.ErrAbsent) || errors.Is(err, store.ErrBroken) || errors.Is(err, store.ErrNewer) {
					found[i], err = nil, nil
				}
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for _, entry := range found {
			if entry == nil {
				continue
			}
			if err := use(entry); err != nil {
				return err
			}
		}
		names = names[n:]
	}
	return nil
}

// random returns a name that is used once.
func random() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}
