package app

import (
	"errors"
	"fmt"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/shim"
)

// patience is how long a command waits for each answer of a store that it was asked about.
const patience = 30 * time.Second

// OpenStore opens the store that the configuration and the environment name, for a command that
// waits for each answer. The store is nil without one. project is called with its settings.
func OpenStore(a *App, l *ledger.Ledger, project func(config.Store) string) (s config.Store,
	remote ledger.Remote, err error) {
	cfg, err := a.Config()
	if err == nil {
		s, err = config.ResolveStore(a.Getenv, cfg)
	}
	if err != nil || s.URL == "" {
		return s, nil, err
	}
	s.Timeout, s.UploadTimeout = max(s.Timeout, patience), max(s.UploadTimeout, patience)
	options := shim.StoreOptions(a.Environ, s)
	options.Local, options.Project = l, project(s)
	if remote, err = a.OpenRemote(options); err != nil {
		return s, nil, StoreFailure("open the store", err, s)
	}
	return s, remote, nil
}

// StoreFailure returns an error of a store without the secrets, with a hint.
func StoreFailure(what string, err error, s config.Store) error {
	hint := "reprise-store check says more"
	var known ledger.RemoteError
	if errors.As(err, &known) && known.Hint() != "" {
		hint = known.Hint()
	}
	return WithHint(fmt.Errorf("%s: %s", what, shim.StoreError(err, s)), hint)
}
