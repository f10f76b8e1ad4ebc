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
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"reprise/config"
	"reprise/fleet/bundle"
	"reprise/fleet/store"
	"reprise/fleet/vault"
	"reprise/fleet/wire"
)

// Engines opens engines by URL, and tests whether one can be trusted.
type Engines struct {
	// without waiting for the store
	Open     func(ctx context.Context, url string) (store.Store, error)
	SelfTest func(ctx context.Context, s store.Store) error
}

// exitFindings is the exit code of a check that has found something, as of shimctl doctor.
const exitFindings = 3

// Main runs the helper and returns the exit code.
func Main(args []string, in, out, log *os.File, engines Engines) int {
	if len(args) == 1 && args[0] == "version" {
		fmt.Fprintln(out, "reprise-store", config.Version)
		return 0
	}
	if len(args) == 1 && verbs[args[0]] != nil {
		if err := run(args[0], out, engines); err != nil {
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
	if err := serve(in, out, engines); err != nil {
		fmt.Fprintln(log, "reprise-store:", err)
		return 1
	}
	return 0
}

// serve carries out all requests.
func serve(in io.Reader, out io.Writer, engines Engines) error {
	return wire.Serve(context.Background(), in, out,
		func(ctx context.Context, c wire.Config) (store.Shared, error) {
			key, err := store.ReadKey(c.Key, "")
			if err != nil {
				return nil, err
			}
			return open(ctx, c.URL, key, engines)
		})
}

func open(ctx context.Context, url string, key store.Key, engines Engines) (*vault.Vault, error) {
	engine, err := engines.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	options := vault.Options{Key: key, Limits: bundle.Usual, SelfTest: engines.SelfTest,
		Now: time.Now}
	return vault.Open(ctx, engine, options), nil
}
