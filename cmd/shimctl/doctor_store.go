package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ui"
	"reprise/store"
	"reprise/store/wire"
)

// errNoStore reports that no store is configured.
var errNoStore = errors.New("no store is configured")

// openStore connects with the configured store. It fails with errNoStore if there is none.
func (a *app) openStore(cfg config.Config) (*wire.Client, config.Store, error) {
	s, err := config.ResolveStore(a.getenv, cfg)
	if err != nil {
		return nil, s, err
	}
	if s.URL == "" {
		return nil, s, errNoStore
	}
	if s.Key == "" && s.KeyFile == "" {
		return nil, s, hinted{errors.New("the store has no key: nothing is shared"), "set REPRISE_STORE_KEY, or key_file under [store]"}
	}
	client, err := wire.Start(filepath.Join(a.shimDirectory(), wire.HelperName), a.environ, wire.Config{
		URL: s.URL, Keys: s.Key, KeyFile: s.KeyFile, Timeout: s.Timeout, UploadTimeout: s.UploadTimeout, MaxSession: s.MaxSession,
		MaxAge: cfg.MaxAge,
	}, nil)
	if errors.Is(err, fs.ErrNotExist) {
		err = hinted{fmt.Errorf("%s is not in %s: nothing is shared", wire.HelperName, a.tilde(a.shimDirectory())), "install reprise again"}
	}
	return client, s, err
}

// checkStore asks the store, if one is configured, whether it can be used.
func (a *app) checkStore(cfg config.Config) []check {
	client, s, err := a.openStore(cfg)
	if errors.Is(err, errNoStore) {
		return nil
	}
	c := check{Name: "store", Result: "ok"}
	var r wire.Report
	if err == nil {
		defer client.Close()
		r, err = client.Test(context.Background())
	}
	if err != nil {
		c.Result, c.Finds, c.Fix = "problem", a.tildeIn(err.Error()), storeFix(err)
		return []check{c}
	}
	finds := []string{s.Shown(), "answers in " + ui.Duration(r.Latency)}
	if !r.Tested.IsZero() {
		finds = append(finds, "keeps conditions on writes, tested "+r.Tested.Format(time.DateOnly))
	}
	switch {
	case r.OtherKeys > 0 && r.Registers == 0:
		c.Result, c.Fix = "problem", "give this machine the key of the others"
		finds = append(finds, fmt.Sprintf("this key unseals none of %s", ui.Count(int64(r.OtherKeys), "register")))
	case r.OtherKeys > 0:
		c.Result, c.Fix = "note", "if a key was replaced, name the new and the old one, in this order"
		finds = append(finds, fmt.Sprintf("this key does not unseal %d of %s", r.OtherKeys, ui.Count(int64(r.OtherKeys+r.Registers), "register")))
	case r.KnowExpiry && r.Expiry == 0:
		c.Result, c.Fix = "note", "give the bucket a lifecycle rule that removes what is some days older than max_age"
		finds = append(finds, "nothing removes what is old")
	case r.Expiry > 0 && r.Expiry < cfg.MaxAge:
		c.Result, c.Fix = "note", "give it more days than max_age"
		finds = append(finds, "its lifecycle rule removes sessions that could be resumed")
	}
	c.Finds = strings.Join(finds, ", ")
	return []check{c}
}

// storeFix returns what helps against an error of the store.
func storeFix(err error) string {
	if hint := hintFor(err); hint != "" {
		return hint
	}
	for _, known := range []struct {
		err error
		fix string
	}{
		{store.ErrUnsafe, "use a store that keeps conditions on writes, as the documentation lists them"},
		{store.ErrNewer, "install the newer reprise here too"},
		{store.ErrDenied, "set the credentials as the store's own tools find them"},
		{store.ErrNoStore, "create the bucket or the database, or correct url under [store]"},
		{store.ErrUnreachable, "correct url under [store], or wait: until then every call is fresh"},
		{store.ErrBroken, "empty the bucket's prefix, or the tables: its sessions are lost"},
	} {
		if errors.Is(err, known.err) {
			return known.fix
		}
	}
	return "correct [store] in the configuration, or the key"
}
