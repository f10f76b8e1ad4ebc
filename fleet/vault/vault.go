// Package vault keeps registers and bundles in a shared store, sealed with the store's key.
//
// A store's reader learns sizes, counts and times from it, and its writer can only make entries
// missing or broken. Invariants: an entry is accepted only under the name it was sealed for; of
// all registers of one name at most one is authoritative; no write is ever repeated.
package vault

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"reprise/fleet/bundle"
	"reprise/fleet/store"
)

// Options are a Vault's needs besides an engine.
type Options struct {
	Key    store.Key
	Limits bundle.Limits
	// fails with store.ErrUnsafe if conditions on writes are ignored
	SelfTest func(context.Context, store.Store) error
	Now      func() time.Time
}

// A Vault is an open store. It is safe for concurrent use.
type Vault struct {
	engine  store.Store
	options Options
	keys    *keys
	context context.Context // of the check

	mu      sync.Mutex // guards the result of the check
	checked bool       // nothing else can come of it
	format  format
	failed  error
}

var _ store.Shared = (*Vault)(nil)

// Open returns a vault on an engine. It connects without waiting for that.
func Open(ctx context.Context, engine store.Store, options Options) *Vault {
	v := &Vault{engine: engine, options: options, keys: derive(options.Key), context: ctx}
	go func() { _, _ = v.ready() }() // the first request that needs it reports the failure
	return v
}

func (v *Vault) unseal(name string, sealed []byte) ([]byte, error) {
	f, err := v.ready()
	if err != nil {
		return nil, err
	}
	return v.keys.unseal(f.ID, name, sealed)
}

// random returns a name that is used once.
func random() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// Save implements store.Shared.
func (v *Vault) Save(ctx context.Context, root string, paths []string) (store.Bundle, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return store.Bundle{}, err
	}
	defer dir.Close()
	var packed bytes.Buffer
	digest, err := bundle.Pack(&packed, dir, paths, v.options.Limits)
	if err != nil {
		return store.Bundle{}, err
	}
	f, err := v.ready()
	if err != nil {
		return store.Bundle{}, err
	}
	b := store.Bundle{Name: prefixBundle + random(), Digest: digest}
	sealed := v.keys.seal(f.ID, b.Name, packed.Bytes())
	if _, err := v.engine.Swap(ctx, b.Name, "", sealed); err != nil {
		return store.Bundle{}, err
	}
	return b, nil
}

// Load implements store.Shared.
func (v *Vault) Load(ctx context.Context, b store.Bundle, root string,
	paths, replace []string) error {
	if !isBundle(b.Name) || b.Digest == "" {
		return fmt.Errorf("%w: no bundle", store.ErrBroken)
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer dir.Close()
	fetch := func() (io.Reader, error) {
		sealed, err := v.engine.Read(ctx, b.Name)
		if err != nil {
			return nil, err
		}
		packed, err := v.unseal(b.Name, sealed.Content)
		return bytes.NewReader(packed), err
	}
	return bundle.Unpack(ctx, fetch, b.Digest, dir, paths, replace, v.options.Limits)
}

// Drop implements store.Shared.
func (v *Vault) Drop(ctx context.Context, names ...string) error {
	for _, name := range names {
		if !isBundle(name) {
			return errors.New("not the name of a bundle")
		}
	}
	return v.engine.Delete(ctx, names...)
}

// prefixBundle begins the names of bundles.
const prefixBundle = "b/"

// isBundle reports whether Save gives a name of this form.
func isBundle(name string) bool {
	return len(name) == len(prefixBundle)+32 && name[:len(prefixBundle)] == prefixBundle
}
