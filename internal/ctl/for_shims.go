package ctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"reprise/fleet"
	"reprise/fleet/wire"
	"reprise/internal/ctl/app"
	"reprise/shim"

	"github.com/spf13/cobra"
)

// staleUnfinished is the age that shows that nobody finishes a call's remaining work.
const staleUnfinished = 24 * time.Hour

// finishSharedCommand is started by the shims. Nobody reads the output.
func finishSharedCommand(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use: shim.FinishCommand + " FILE", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return finishShared(a, args[0]) },
	}
}

func finishShared(a *app.App, path string) error {
	if err := wire.HideMemory(); err != nil {
		return fmt.Errorf("hide the store's key: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read what a call has left to do: %w", err)
	}
	removeStale(filepath.Dir(path))
	u, err := fleet.DecodeUnfinished(text)
	if err == nil {
		err = complete(a, u)
	}
	if err == nil {
		err = os.Remove(path)
	}
	return err
}

func complete(a *app.App, u *fleet.Unfinished) error {
	s, client, err := app.OpenStore(a)
	if client == nil {
		return cmp.Or(err, errors.New("no store is configured"))
	}
	defer client.Close()
	l, err := a.OpenLedger()
	if err != nil {
		return err
	}
	defer l.Close()
	host, _ := os.Hostname()
	book := &fleet.Book{
		Local: l, Registers: client, Bundles: client, Project: u.Project, Host: host, Place: u.Place,
		Timeout: s.Timeout, Upload: s.UploadTimeout,
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), book.Upload, fmt.Errorf("no answer within %s", book.Upload))
	defer cancel()
	if err := book.Complete(ctx, u); err != nil {
		return app.StoreFailure("put the session into the store", err, s)
	}
	return nil
}

// removeStale removes what processes that were killed have left.
func removeStale(dir string) {
	paths, _ := filepath.Glob(filepath.Join(dir, shim.UnfinishedFiles))
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > staleUnfinished {
			_ = os.Remove(path)
		}
	}
}
