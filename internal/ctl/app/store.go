package app

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"reprise/config"
	"reprise/fleet/store"
	"reprise/fleet/wire"
	"reprise/shim"
)

// Patience is how long a command waits for each answer of a store that it was asked about.
const Patience = 30 * time.Second

// StoreSettings returns the store that the configuration and the environment name. The URL is "" if there is
// none.
func StoreSettings(a *App) (config.Store, error) {
	cfg, err := a.Config()
	if err != nil {
		return config.Store{}, err
	}
	return config.ResolveStore(a.Getenv, cfg)
}

// OpenStore starts the helper of a store.
func OpenStore(a *App, s config.Store) (*wire.Client, error) {
	if s.Key == "" && s.KeyFile == "" {
		return nil, fmt.Errorf("%w: none is configured", store.ErrKey)
	}
	return shim.OpenStore(s, a.Environ)
}

// AskedStore starts the helper of the store for a command that was asked about it.
func AskedStore(a *App) (config.Store, *wire.Client, error) {
	s, err := StoreSettings(a)
	if err == nil && s.URL == "" {
		err = Usage("no store is configured", "set REPRISE_STORE, or url under [store]")
	}
	if err != nil {
		return s, nil, err
	}
	s.Timeout, s.UploadTimeout = max(s.Timeout, Patience), max(s.UploadTimeout, Patience)
	client, err := OpenStore(a, s)
	if err != nil {
		return s, nil, StoreFailure("open the store", err, s)
	}
	return s, client, nil
}

// Within returns a context that ends after a store's timeout.
func Within(timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), timeout, fmt.Errorf("no answer within %s", timeout))
}

// StoreFailure returns an error of a store without the secrets, with a hint.
func StoreFailure(what string, err error, s config.Store) error {
	return WithHint(fmt.Errorf("%s: %s", what, shim.StoreError(err, s)), cmp.Or(store.Hint(err), "reprise-store check says more"))
}
