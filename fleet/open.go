package fleet

import (
	"context"
	"fmt"

	"reprise/fleet/wire"
	"reprise/ledger"
	"reprise/rewrite/prompt"
)

// A remote is the book of a store behind the helper.
type remote struct {
	*Book
	client *wire.Client
}

// Open is the ledger.OpenRemote of a store behind the helper, which it starts.
func Open(o ledger.RemoteOptions) (ledger.Remote, error) {
	if o.Key != "" {
		if err := wire.HideMemory(); err != nil {
			return nil, fmt.Errorf("hide the store's key: %w", err)
		}
	}
	config := wire.Config{URL: o.URL, Key: o.Key, KeyFile: o.KeyFile, Timeout: o.Timeout,
		UploadTimeout: o.Upload}
	client, err := wire.Start(o.Helper, o.Environ, config)
	if err != nil {
		return nil, err
	}
	return &remote{&Book{
		Local: o.Local, Registers: client, Bundles: client, Kept: client, Project: o.Project,
		Host: o.Host, Place: o.Place,
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
	return r.complete(ctx, u)
}

// Stop implements ledger.Remote.
func (r *remote) Stop() { r.client.Stop() }

// Close implements ledger.Remote.
func (r *remote) Close() { _ = r.client.Close() } // it fails only if the connection is closed
