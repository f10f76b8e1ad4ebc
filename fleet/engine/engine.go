// Package engine opens the store that a URL names. It links all engines.
//
// Only the helper binary and tests import it. Its invariant: no error contains anything of the URL
// that may be secret.
package engine

import (
	"context"
	"errors"
	"net/url"

	"reprise/fleet/postgres"
	"reprise/fleet/s3"
	"reprise/fleet/store"
)

// Open returns the store of an s3:// or postgres:// URL. It does not connect.
func Open(ctx context.Context, text string) (store.Store, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	u, err := url.Parse(text)
	if err != nil { // it quotes the URL
		return nil, errors.New("the store's URL cannot be parsed: special characters of a password must be escaped")
	}
	switch u.Scheme {
	case "s3":
		s, err := s3.Open(u)
		if err != nil {
			return nil, err
		}
		return s, nil
	case "postgres", "postgresql":
		s, err := postgres.Open(u)
		if err != nil {
			return nil, err
		}
		return s, nil
	default:
		return nil, errors.New("the store's URL must begin with s3:// or postgres://")
	}
}
