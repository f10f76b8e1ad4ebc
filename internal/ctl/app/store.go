package app

import (
	"cmp"
	"fmt"
	"time"

	"reprise/config"
	"reprise/fleet/store"
	"reprise/fleet/wire"
	"reprise/shim"
)

// patience is how long a command waits for each answer of a store that it was asked about.
const patience = 30 * time.Second

// OpenStore starts the helper of the store that the configuration and the environment name, for a command that waits for each answer.
// The client is nil without a store.
func OpenStore(a *App) (s config.Store, client *wire.Client, err error) {
	cfg, err := a.Config()
	if err == nil {
		s, err = config.ResolveStore(a.Getenv, cfg)
	}
	if err != nil || s.URL == "" {
		return s, nil, err
	}
	s.Timeout, s.UploadTimeout = max(s.Timeout, patience), max(s.UploadTimeout, patience)
	if s.Key == "" && s.KeyFile == "" {
		err = fmt.Errorf("%w: none is configured", store.ErrKey)
	} else {
		client, err = shim.OpenStore(s, a.Environ)
	}
	if err != nil {
		return s, nil, StoreFailure("open the store", err, s)
	}
	return s, client, nil
}

// StoreFailure returns an error of a store without the secrets, with a hint.
func StoreFailure(what string, err error, s config.Store) error {
	return WithHint(fmt.Errorf("%s: %s", what, shim.StoreError(err, s)), cmp.Or(store.Hint(err), "reprise-store check says more"))
}
