package app

import (
	"errors"
	"io/fs"
	"path/filepath"

	"reprise/config"
	"reprise/internal/ctl/view"
	"reprise/ledger"
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
	_ = l.Settle() // an outcome that cannot be recorded now is shown as running
	_ = l.CountPassed()
	return l, nil
}

// OpenOrEmpty opens the ledger. If there is none it returns an empty one.
func (a *App) OpenOrEmpty() (*ledger.Ledger, error) {
	l, err := a.OpenLedger()
	if errors.Is(err, fs.ErrNotExist) {
		return openEmpty(a)
	}
	return l, err
}

// openEmpty returns a ledger in memory for one that does not exist. It fails if none can be made,
// since then every call is passed through.
func openEmpty(a *App) (*ledger.Ledger, error) {
	path, err := config.LedgerFile(a.Own)
	if err != nil {
		return nil, err
	}
	if err := ledger.CheckCreatable(path); err != nil {
		return nil, WithHint(err, "make "+a.Tilde(filepath.Dir(path))+" writable; until then every call is passed through")
	}
	l, err := ledger.OpenMemory()
	if err != nil {
		return nil, err
	}
	return l, l.AddPassed(ledger.ReadPassed(path))
}

// WithLedger calls look with the open ledger and the price list.
func (a *App) WithLedger(look func(*ledger.Ledger, view.Reporter) error) error {
	return a.WithCalls(a.OpenOrEmpty, look)
}

// WithCalls calls look with a ledger and the price list.
func (a *App) WithCalls(open func() (*ledger.Ledger, error), look func(*ledger.Ledger, view.Reporter) error) error {
	list, err := a.LoadPrices()
	if err != nil {
		return err
	}
	l, err := open()
	if err != nil {
		return err
	}
	defer l.Close()
	return look(l, view.Reporter{Prices: list})
}
