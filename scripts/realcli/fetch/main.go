// Command fetch installs the real CLIs that the tests use into their cache, all at once.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"
	"reprise/scripts/realcli"
)

func main() {
	var all errgroup.Group
	for _, pin := range append(slices.Collect(maps.Values(realcli.Pins)), realcli.SmallerClaude, realcli.OldClaude, realcli.Kilo) {
		all.Go(func() error {
			_, err := realcli.Install(pin)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
