package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"reprise/fleet/bundle"
	"reprise/fleet/store"
)

// Save implements store.Bundles.
func (v *Vault) Save(ctx context.Context, root string, paths []string) (store.Bundle, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return store.Bundle{}, err
	}
	defer dir.Close()
	var packed bytes.Buffer
	digest, err := bundle.Pack(ctx, &packed, dir, paths, v.options.Limits)
	if err != nil {
		return store.Bundle{}, err
	}
	b := store.Bundle{Name: prefixBundle + random(), Digest: digest}
	sealed, err := v.seal(ctx, b.Name, packed.Bytes())
	if err != nil {
		return store.Bundle{}, err
	}
	if err := v.engine.Put(ctx, b.Name, sealed); err != nil {
		return store.Bundle{}, err
	}
	return b, nil
}

// Load implements store.Bundles.
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
		sealed, err := store.ReadOne(ctx, v.engine, store.MaxObject, b.Name)
		if err != nil {
			return nil, err
		}
		packed, err := v.unseal(ctx, b.Name, sealed.Content)
		return bytes.NewReader(packed), err
	}
	return bundle.Unpack(ctx, fetch, b.Digest, dir, paths, replace, v.options.Limits)
}

// Drop implements store.Bundles.
func (v *Vault) Drop(ctx context.Context, names ...string) error {
	for _, name := range names {
		if !isBundle(name) {
			return errors.New("not the name of a bundle")
		}
	}
	return v.engine.Delete(ctx, names...)
}

// isBundle reports whether Save gives a name of this form.
func isBundle(name string) bool {
	return len(name) == len(prefixBundle)+32 && name[:len(prefixBundle)] == prefixBundle
}
