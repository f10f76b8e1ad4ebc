package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"reprise/config"
	"reprise/fleet"
	"reprise/fleet/store"
	"reprise/fleet/wire"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/shim"

	"github.com/spf13/cobra"
)

// patience is how long a command waits for each answer of a store that it was asked about.
const patience = 30 * time.Second

const noKeyHint = "set REPRISE_STORE_KEY, REPRISE_STORE_KEY_FILE, or key_file under [store]"

// storeSettings returns the store that the configuration and the environment name. Its URL is "" if there is
// none.
func (a *app) storeSettings() (config.Store, error) {
	cfg, err := a.config()
	if err != nil {
		return config.Store{}, err
	}
	return config.ResolveStore(a.getenv, cfg)
}

// openStore starts the helper of a store.
func (a *app) openStore(s config.Store) (*wire.Client, error) {
	if s.Key == "" && s.KeyFile == "" {
		return nil, fmt.Errorf("%w: none is configured", store.ErrKey)
	}
	return shim.OpenStore(s, a.configured().MaxAge, a.environ)
}

// askedStore starts the helper of the store for a command that was asked about it.
func (a *app) askedStore() (config.Store, *wire.Client, error) {
	s, err := a.storeSettings()
	if err == nil && s.URL == "" {
		err = usageError{"no store is configured", "set REPRISE_STORE, or url under [store]"}
	}
	if err != nil {
		return s, nil, err
	}
	s.Timeout = max(s.Timeout, patience)
	client, err := a.openStore(s)
	if err != nil {
		return s, nil, storeFailure("open the store", err, s)
	}
	return s, client, nil
}

// within returns a context that ends after a store's timeout.
func within(timeout time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), timeout, fmt.Errorf("no answer within %s", timeout))
}

// storeFailure returns an error of a store without its secrets, with a hint.
func storeFailure(what string, err error, s config.Store) error {
	return hinted{fmt.Errorf("%s: %s", what, shim.StoreError(err, s)), storeHint(err)}
}

// storeHint returns what can be done about an error of a store.
func storeHint(err error) string {
	for _, known := range []struct {
		kind error
		hint string
	}{
		{store.ErrKey, noKeyHint + " to 32 bytes as 64 hexadecimal digits, as openssl rand -hex 32 makes them; a key's file must be private"},
		{store.ErrDenied, "check the store's credentials: for s3:// those of AWS's tools (AWS_ACCESS_KEY_ID, AWS_PROFILE), for postgres:// the URL's"},
		{store.ErrNoStore, "create the bucket or database, or correct the URL"},
		{store.ErrUnsafe, "use a server that keeps If-Match and If-None-Match on writes; nothing is shared until then"},
		{store.ErrNewer, "install the newer reprise"},
		{errMissingHelper, "./install.sh --store installs it"},
		{store.ErrUnreachable, "check the URL and the network; until then every call is as without a store"},
	} {
		if errors.Is(err, known.kind) {
			return known.hint
		}
	}
	return "shimctl doctor checks the store"
}

// storeFlag adds --store, which takes the calls from the store, to a command.
func storeFlag(c *cobra.Command, from *bool) {
	c.Flags().BoolVar(from, "store", false, "all machines' calls")
}

// callsOf returns what opens the calls of a command: those of this machine, or with --store of all machines.
func (a *app) callsOf(store bool, flags *filterFlags) func() (*ledger.Ledger, error) {
	if !store {
		return a.openOrEmpty
	}
	return func() (*ledger.Ledger, error) {
		var since decide.Millis
		if flags != nil {
			f, err := a.filter(nil, flags)
			if err != nil {
				return nil, err
			}
			since = earliest(f)
		}
		return a.storeCalls(since)
	}
}

// storeCalls returns a ledger in memory with the calls of all machines of the store, from a time on.
func (a *app) storeCalls(since decide.Millis) (*ledger.Ledger, error) {
	s, client, err := a.askedStore()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ctx := context.Background()
	hello, err := client.Hello(ctx)
	if err != nil {
		return nil, storeFailure("open the store", err, s)
	}
	calls, err := ui.WithProgress(a.stderr, "reading the store's log", func() ([]ledger.LoggedCall, error) { return sharedCalls(ctx, client, since) })
	if err != nil {
		return nil, storeFailure("read the store's log", err, s)
	}
	return ledger.FromLog(calls, hello.DigestKey)
}

// sharedCalls returns the calls of a store's log from a time on. If it fails, they are those that were read.
func sharedCalls(ctx context.Context, log store.Log, since decide.Millis) (calls []ledger.LoggedCall, err error) {
	err = fleet.Calls(ctx, log, max(since, 0), func(c ledger.LoggedCall) error {
		calls = append(calls, c)
		return nil
	})
	return calls, err
}

// earliest returns the time from which on a filter selects calls.
func earliest(f ledger.Filter) decide.Millis { return max(f.Times().Since, 0) }
