package app

import (
	"strings"

	"reprise/config"
)

// Config reads the configuration.
func (a *App) Config() (config.Config, error) {
	path, err := config.ConfigFile(a.Own)
	if err != nil {
		return config.Config{}, err
	}
	return config.Load(path)
}

// Configured returns the configuration, or the defaults if the file cannot be read. Then
// Configuration says what is wrong.
func (a *App) Configured() config.Config {
	c, _ := a.Configuration()
	return c
}

// Configuration returns the configuration, and why no call is managed, if so.
func (a *App) Configuration() (c config.Config, wrong string) {
	path, err := config.ConfigFile(a.Own)
	if err == nil {
		c, err = config.Load(path)
	}
	if err != nil {
		return config.Default(), err.Error() + "; every call is passed through"
	}
	if !c.Enabled {
		wrong = a.Tilde(path) + " switches reprise off"
	}
	return c, wrong
}

// RetiredWords says what to do about keys of the configuration that do nothing any more.
func RetiredWords(keys []string) string {
	return strings.Join(keys, ", ") + ", which does nothing any more and will be a mistake in the next release"
}
