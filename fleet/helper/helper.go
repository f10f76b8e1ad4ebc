// Package helper is the program that connects the shims and shimctl with a shared store. It alone
// links engines, compression and encryption, so that a call without a store pays for none of them.
//
// It keeps no files, and ends with its standard input. Invariants: it writes to nothing
// of the caller but the pipe, and logs no secret.
package helper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"reprise/config"
	"reprise/fleet/bundle"
	"reprise/fleet/selftest"
	"reprise/fleet/store"
	"reprise/fleet/vault"
	"reprise/fleet/wire"
)

// An OpenEngine opens an engine by a URL, without waiting for the store.
type OpenEngine func(url string) (store.Store, error)

// exitFindings is the exit code of a check that has found something, as of shimctl doctor.
const exitFindings = 3

// Main runs the helper and returns the exit code.
func Main(args []string, in, out, log *os.File, engine OpenEngine) int {
	if len(args) == 1 && args[0] == "version" {
		fmt.Fprintln(out, "reprise-store", config.Version)
		return 0
	}
	if len(args) == 1 && verbs[args[0]] != nil {
		if err := run(args[0], out, engine); err != nil {
			fmt.Fprintln(log, "error:", args[0], "the store:", err)
			if known := (*store.Error)(nil); errors.As(err, &known) && known.Hint() != "" {
				fmt.Fprintln(log, "hint:", known.Hint())
			}
			if args[0] == "check" {
				return exitFindings
			}
			return 1
		}
		return 0
	}
	if info, err := in.Stat(); len(args) > 0 || err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		fmt.Fprintln(log, "error: reprise-store takes log, prune, check or version; else the "+
			"shims start it")
		return 2
	}
	if err := wire.HideMemory(); err != nil {
		fmt.Fprintln(log, "reprise-store: hide the store's key:", err)
		return 1
	}
	// A signal for a whole container or service ends the tool, and the session is then saved.
	// Without a reader, requests are still to be carried out.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	err := wire.Serve(context.Background(), in, out,
		func(ctx context.Context, c wire.Config) (store.Shared, error) {
			return open(ctx, c.URL, c.Key, "", engine)
		})
	if err != nil {
		fmt.Fprintln(log, "reprise-store:", err)
		return 1
	}
	return 0
}

// open opens a store with a key, in a text or a file.
func open(ctx context.Context, url, keyText, keyFile string,
	openEngine OpenEngine) (*vault.Vault, error) {
	key, err := store.ReadKey(keyText, keyFile)
	if err != nil {
		return nil, err
	}
	engine, err := openEngine(url)
	if err != nil {
		return nil, err
	}
	options := vault.Options{Key: key, Limits: bundle.Usual, SelfTest: selftest.Run, Now: time.Now}
	return vault.Open(ctx, engine, options), nil
}
