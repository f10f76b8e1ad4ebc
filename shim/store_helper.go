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

// hideKey keeps the tool, which is a child of this process, from reading the store's key here.
func (c *call) hideKey() error {
	if c.shared == nil && len(unsetEnv(c.env.Environ, nil)) == len(c.env.Environ) {
		return nil
	}
	return wire.HideMemory()
}
