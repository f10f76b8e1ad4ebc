package fleet

import (
	"context"
	"fmt"
	"time"

	"reprise/fleet/wire"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
)

// A remote is the book of a store behind the helper.
type remote struct {
	*Book
	client *wire.Client
}

// Open is the ledger.OpenRemote of a store behind the helper, which it starts.
func Open(o ledger.RemoteOptions) (ledger.Remote, error) {
	if o.Keys != "" {
		if err := wire.HideMemory(); err != nil {
			return nil, fmt.Errorf("hide the store's key: %w", err)
		}
	}
	config := wire.Config{URL: o.URL, Keys: o.Keys, KeyFile: o.KeyFile, Timeout: o.Timeout, UploadTimeout: o.Upload}
	client, err := wire.Start(o.Helper, o.Environ, config)
	if err != nil {
		return nil, err
	}
	return &remote{&Book{
		Local: o.Local, Registers: client, Bundles: client, Project: o.Project, Host: o.Host, Place: o.Place,
		HasTree: o.HasTree, Timeout: o.Timeout, Upload: o.Upload,
	}, client}, nil
}

// Connect implements ledger.Remote.
func (r *remote) Connect(ctx context.Context) error {
	digests, err := r.client.Hello(ctx)
	if err == nil {
		r.Digests = prompt.Key(digests)
	}
	return err
}

// Complete implements ledger.Remote.
func (r *remote) Complete(ctx context.Context, left []byte) error {
	u, err := DecodeUnfinished(left)
	if err != nil {
		return err
	}
	r.Project, r.Place = u.Project, u.Place
	return r.complete(ctx, u)
}

// Reset implements ledger.Remote.
func (r *remote) Reset(ctx context.Context, c ledger.ChainName) (ledger.Kept, error) {
	return r.keeper().Reset(ctx, c)
}

// Forget implements ledger.Remote.
func (r *remote) Forget(ctx context.Context, c ledger.ChainName, dry bool) (ledger.Kept, error) {
	return r.keeper().Forget(ctx, c, dry)
}

func (r *remote) keeper() Keeper { return Keeper{r.client, r.Project, decide.MillisOf(time.Now())} }

// Stop implements ledger.Remote.
func (r *remote) Stop() { r.client.Stop() }

// Close implements ledger.Remote.
func (r *remote) Close() { _ = r.client.Close() } // it fails only if the connection is closed
