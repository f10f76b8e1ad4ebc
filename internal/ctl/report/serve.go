package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"

	"github.com/spf13/cobra"
)

func ServeCommand(a *app.App) *cobra.Command {
	var port uint16
	c := &cobra.Command{
		Use: "serve", Short: "show the report live in a browser of this machine",
		Long: `Serves the report to browsers of this machine, live: the page follows the calls as they start and end, and leads
from a day to its chains, from a chain to its calls, and to everything recorded about a call. It prints the address, which
contains a secret that is made anew for each start: without it no other user can look. It only reads the ledger.
Ctrl-C ends it.`,
		Args: app.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(c.Context(), app.Endings()...)
			defer stop()
			return serve(a, ctx, port)
		},
	}
	c.Flags().Uint16Var(&port, "port", 0, "listen on this `PORT` of 127.0.0.1; 0 takes a free one")
	app.CompleteFlag(c, "port", nil)
	return c
}

// Limits of the server.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = 2 * time.Minute // a large ledger takes a while
	endTimeout   = time.Second
)

func serve(a *app.App, ctx context.Context, port uint16) error {
	path, err := config.LedgerFile(a.Own)
	if err != nil {
		return err
	}
	prices, err := a.LoadPrices()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if errors.Is(err, syscall.EADDRINUSE) {
		return app.WithHint(fmt.Errorf("port %d is in use", port), "without --port a free one is taken")
	}
	if err != nil {
		return fmt.Errorf("listen on port %d: %w", port, err)
	}
	source := &source{path: path}
	defer source.close()
	guard := newGuard(listener.Addr().String())
	guard.next = newSite(a, source, view.Reporter{Prices: prices}, guard.base()).handler()
	server := &http.Server{Handler: guard, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, MaxHeaderBytes: 1 << 14,
		ErrorLog: log.New(io.Discard, "", 0)}
	fmt.Fprintln(a.Stdout, guard.address())
	a.Stderr.Notice("open this address in a browser of this machine; Ctrl-C ends the server")
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if server.Shutdown(ending) != nil {
		_ = server.Close()
	}
	return nil
}
