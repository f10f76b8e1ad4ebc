package ctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"reprise/internal/ctl/app"
	"reprise/shim"
	"reprise/shim/disk"

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
	left, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read what a call has left to do: %w", err)
	}
	disk.RemoveOld(filepath.Dir(path), shim.UnfinishedFiles, staleUnfinished)
	l, err := a.OpenLedger()
	if err != nil {
		return err
	}
	defer l.Close()
	s, remote, err := app.OpenStore(a, l, "") // the work names the project
	if remote == nil {
		return cmp.Or(err, errors.New("no store is configured"))
	}
	defer remote.Close()
	limit := s.UploadTimeout
	ctx, cancel := context.WithTimeoutCause(context.Background(), limit,
		fmt.Errorf("no answer within %s", limit))
	defer cancel()
	if err := remote.Complete(ctx, left); err != nil {
		return app.StoreFailure("put the session into the store", err, s)
	}
	return os.Remove(path)
}
