package shim

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"reprise/config"
	"reprise/shim/disk"
)

// storePause is how long a store is not tried after a failure.
const storePause = 30 * time.Second

// Limits, in bytes, of a note of a failure, and of the reason.
const (
	maxFailureFile = 16 << 10
	maxFailureText = 1 << 10
)

// A StoreFailure is the last failure of a store, as a call noted it.
type StoreFailure struct {
	Store string    `json:"store"` // the URL
	When  time.Time `json:"when"`
	Why   string    `json:"why"`
}

// LastStoreFailure returns the last failure that was noted. It fails with fs.ErrNotExist if there
// is none.
func LastStoreFailure(getenv func(string) string) (StoreFailure, error) {
	path, err := config.StoreFailureFile(getenv)
	if err != nil {
		return StoreFailure{}, err
	}
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = disk.ErrNotRegular
	}
	if err != nil {
		return StoreFailure{}, err
	}
	text, err := disk.Read(path, maxFailureFile)
	if err != nil {
		return StoreFailure{}, err
	}
	var f StoreFailure
	err = json.Unmarshal([]byte(text), &f)
	return f, err
}

// storeDown reports whether the store failed so short a time ago that it is not tried. A note from
// the future counts as none: the clock was set back.
func (a *asked) storeDown(s config.Store, now time.Time) bool {
	last, err := LastStoreFailure(a.env.Own)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			a.log.fault("read the store's last failure", err)
		}
		return false
	}
	passed := now.Sub(last.When)
	return last.Store == s.URL && passed >= 0 && passed < storePause
}

func (a *asked) noteStoreDown(s config.Store, now time.Time, why error) {
	path, err := config.StoreFailureFile(a.env.Own)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		text, _ := json.Marshal(StoreFailure{Store: s.URL, When: now.Round(0),
			Why: StoreError(why, s)}) // it fails for no time of now
		err = disk.Replace(path, ".store-failure-", append(text, '\n'))
	}
	if err != nil {
		a.log.fault("note the store's failure", err)
	}
}

// StoreError returns the error of a store, without the URL and key, in characters that do nothing
// to a terminal.
func StoreError(err error, s config.Store) string {
	text := err.Error()
	for _, secret := range []string{s.URL, s.Key} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "...")
		}
	}
	text = strings.ToValidUTF8(text[:min(len(text), maxFailureText)], "")
	return strings.Map(func(r rune) rune { // a server wrote it, and it can reach a terminal
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
