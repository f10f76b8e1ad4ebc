package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"reprise/config"
	"reprise/fleet/store"
	"reprise/fleet/wire"
	"reprise/shim"
)

// MissingHelperHint says what to do if the program that speaks with a store is missing.
const MissingHelperHint = "./install.sh --store installs it"

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
	s.Timeout = max(s.Timeout, Patience)
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
	return WithHint(fmt.Errorf("%s: %s", what, shim.StoreError(err, s)), StoreHint(err))
}

// StoreHint returns what can be done about an error of a store.
func StoreHint(err error) string {
	for _, known := range []struct {
		kind error
		hint string
	}{
		{store.ErrKey, "set REPRISE_STORE_KEY, REPRISE_STORE_KEY_FILE, or key_file under [store] to 32 bytes as 64 hexadecimal digits, as openssl rand -hex 32 makes them; a key's file must be private"},
		{store.ErrDenied, "check the store's credentials: those of AWS's tools (AWS_ACCESS_KEY_ID, AWS_PROFILE)"},
		{store.ErrNoStore, "create the bucket, or correct the URL"},
		{store.ErrUnsafe, "use a server that keeps If-Match and If-None-Match on writes; nothing is shared until then"},
		{store.ErrNewer, "install the newer reprise"},
		{store.ErrUnreachable, "check the URL and the network; until then every call is as without a store"},
	} {
		if errors.Is(err, known.kind) {
			return known.hint
		}
	}
	return "shimctl doctor checks the store"
}
