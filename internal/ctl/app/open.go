package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"reprise/config"
	"reprise/internal/ctl/view"
	"reprise/internal/prices"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/shim"
)

// OpenLedger opens the ledger; if there is none yet it fails with
// fs.ErrNotExist.
func (a *App) OpenLedger() (*ledger.Ledger, error) {
	path, err := config.LedgerFile(a.Own)
	if err != nil {
		return nil, err
	}
	l, err := ledger.OpenExisting(path)
	if err != nil {
		return nil, err
	}
	if l.Aside != "" {
		a.Stderr.Notice("the ledger of an older reprise was set aside: " + a.Tilde(l.Aside))
	}
	_ = l.RecordSpooled() // an outcome that cannot be recorded now is shown as running
	_ = l.EndLost(decide.MillisOf(a.Now))
	_ = l.CountPassthroughs()
	return l, nil
}

// OpenOrEmpty opens the ledger. If there is none it returns an empty one in memory, and fails if
// none can be made, since then every call is passed through.
func (a *App) OpenOrEmpty() (*ledger.Ledger, error) {
	l, err := a.OpenLedger()
	if !errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	path, err := config.LedgerFile(a.Own)
	if err != nil {
		return nil, err
	}
	if err := ledger.CheckCreatable(path); err != nil {
		return nil, WithHint(err, "make "+a.Tilde(
			filepath.Dir(path))+" writable; until then every call is passed through")
	}
	if l, err = ledger.OpenMemory(); err != nil {
		return nil, err
	}
	return l, l.AddPassthroughs(ledger.ReadPassthroughs(path))
}

// WithLedger calls look with the open ledger and the price list.
func (a *App) WithLedger(look func(*ledger.Ledger, view.Reporter) error) error {
	list, err := a.LoadPrices()
	if err != nil {
		return err
	}
	l, err := a.OpenOrEmpty()
	if err != nil {
		return err
	}
	defer l.Close()
	return look(l, view.Reporter{Prices: list})
}

// Config reads the configuration.
func (a *App) Config() (config.Config, error) {
	path, err := config.ConfigFile(a.Own)
	if err != nil {
		return config.Config{}, err
	}
	return config.Load(path)
}

// Configured returns the configuration, or the defaults if the file cannot be read. Then
// Configuration says so.
func (a *App) Configured() config.Config {
	c, _ := a.Configuration()
	return c
}

// Configuration returns the configuration, and the reason why no call is managed, "" if calls are.
func (a *App) Configuration() (c config.Config, wrong string) {
	c, err := a.Config()
	if err != nil {
		return config.Default(), "every call is passed through: " + a.TildeIn(err.Error())
	}
	if !c.Enabled {
		path, _ := config.ConfigFile(a.Own) // it was just read
		wrong = "every call is passed through: " + a.Tilde(path) + " switches reprise off"
	}
	return c, wrong
}

// Lasting returns until when sessions can be resumed, by the longest limits that the configuration
// has.
func (a *App) Lasting() history.Lasting {
	ttl, maxAge := a.Configured().Longest()
	return history.Lasting{Used: decide.MillisOf(a.Now.Add(-ttl)),
		Created: decide.MillisOf(a.Now.Add(-maxAge))}
}

// LoadPrices reads the built-in price list and the user's own.
func (a *App) LoadPrices() (*prices.List, error) {
	path, err := config.PricesFile(a.Own)
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	return prices.Load(a.Tilde(path), string(own))
}

// PriceForm says how a price is written.
const PriceForm = "[[price]] with model, input, cached, write and output, in dollars per " +
	"million tokens"

// MissingPrice returns the remedy for a model without a list price.
func (a *App) MissingPrice(model string) string {
	path, _ := config.PricesFile(a.Own) // it was read
	return fmt.Sprintf("no list price of %s is known; %s can hold it: %s", model, a.Tilde(path),
		PriceForm)
}

// patience is how long a command waits for a store at least.
const patience = 30 * time.Second

// OpenStore opens the store that the configuration and the environment name, for a command with
// patience. The store is nil without one. It looks for the project in a directory, "" for none.
func OpenStore(a *App, l *ledger.Ledger, directory string) (s config.Store, remote ledger.Remote,
	err error) {
	cfg, err := a.Config()
	if err == nil {
		s, err = config.ResolveStore(a.Getenv, cfg)
	}
	if err != nil || s.URL == "" {
		return s, nil, err
	}
	s.Timeout, s.UploadTimeout = max(s.Timeout, patience), max(s.UploadTimeout, patience)
	options := shim.StoreOptions(a.Environ, s)
	if options.Local = l; directory != "" {
		options.Project = shim.ProjectName(directory, s)
	}
	if remote, err = a.OpenRemote(options); err != nil {
		return s, nil, StoreFailure("open the store", err, s)
	}
	return s, remote, nil
}

// StoreFailure returns an error of a store without the secrets, with a hint.
func StoreFailure(what string, err error, s config.Store) error {
	hint := "reprise-store check says more"
	if known, is := errors.AsType[ledger.RemoteError](err); is && known.Hint() != "" {
		hint = known.Hint()
	}
	return WithHint(fmt.Errorf("%s: %s", what, shim.StoreError(err, s)), hint)
}
