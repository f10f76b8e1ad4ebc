package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"reprise/config"
	"reprise/internal/prices"
)

// LoadPrices reads the built-in price list and the user's own.
func (a *App) LoadPrices() (*prices.Table, error) {
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

// MissingPrice says what to do for a model that the price lists do not have.
func (a *App) MissingPrice(model string) string {
	path := "prices.toml"
	if file, err := config.PricesFile(a.Own); err == nil {
		path = a.Tilde(file)
	}
	return fmt.Sprintf("no list price of %s is known; %s can hold it (docs/reference/configuration.md#prices)", model, path)
}
