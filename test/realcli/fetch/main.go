// Command fetch installs the real CLIs and the S3 server that the tests use into their caches, all
// at once.
package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"reprise/test/realcli"
	"reprise/test/servers"

	"golang.org/x/sync/errgroup"
)

func main() {
	var all errgroup.Group
	for _, pin := range append(slices.Collect(maps.Values(realcli.Pins)), realcli.SmallerClaude,
		realcli.OldClaude, realcli.Kilo) {
		all.Go(func() error {
			_, err := realcli.Install(pin)
			return err
		})
	}
	all.Go(func() error {
		_, err := servers.Versitygw.Install()
		if errors.Is(err, servers.ErrMissing) {
			fmt.Fprintln(os.Stderr, "the store on S3 is not tried:", err)
			return nil
		}
		return err
	})
	if err := all.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
