package shim

import (
	"path/filepath"

	"reprise/config"
	"reprise/fleet/wire"
)

// StoreHelper returns the path of the program that speaks with a store. It lies beside the running one.
func StoreHelper() string { return filepath.Join(filepath.Dir(executablePath()), wire.HelperName) }

// OpenStore starts the helper of a store, without waiting for either.
func OpenStore(s config.Store, environ []string) (*wire.Client, error) {
	return wire.Start(StoreHelper(), unsetEnv(environ, nil), wire.Config{
		URL: s.URL, Keys: s.Key, KeyFile: s.KeyFile,
		Timeout: s.Timeout, UploadTimeout: s.UploadTimeout,
	})
}
