package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

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
	sealed, err := v.seal(ctx, v.keys[0], b.Name, packed.Bytes())
	if err != nil {
		return store.Bundle{}, err
	}
	b.Size = int64(len(sealed))
	return b, v.engine.Put(ctx, b.Name, sealed)
}

// Load implements store.Bundles. It makes the root if that does not exist.
func (v *Vault) Load(ctx context.Context, b store.Bundle, root string, paths, replace []string) error {
	if !isBundle(b.Name) || b.Digest == "" {
		return fmt.Errorf("%w: no bundle", store.ErrBroken)
	}
	here, err := v.digest(ctx, root, paths)
	if here == b.Digest || err != nil {
		return err
	}
	if here != "" && !slices.Contains(replace, here) {
		return store.ErrChanged
	}
	sealed, err := store.ReadOne(ctx, v.engine, store.MaxObject, b.Name)
	if err != nil {
		return err
	}
	packed, _, err := v.unseal(ctx, b.Name, sealed.Content)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer dir.Close()
	return bundle.Unpack(ctx, bytes.NewReader(packed), b.Digest, dir, paths, replace, v.options.Limits)
}

// digest returns the digest of the files that are below a root now, "" if there are none.
func (v *Vault) digest(ctx context.Context, root string, paths []string) (string, error) {
	dir, err := os.OpenRoot(root)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer dir.Close()
	digest, err := bundle.Digest(ctx, dir, paths, v.options.Limits)
	if errors.Is(err, store.ErrTooLarge) {
		err = store.ErrChanged // no bundle is as large
	}
	return digest, err
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

// isBundle reports whether a name is one that Save gives.
func isBundle(name string) bool {
	return len(name) == len(prefixBundle)+32 && name[:len(prefixBundle)] == prefixBundle
}
