// Command reprise-store connects the shims and shimctl with a shared store. They start it where one
// is configured.
package main

import (
	"context"
	"fmt"
	"os"

	"reprise/store"
	"reprise/store/helper"
)

func main() {
	engines := helper.Engines{
		Open: func(_ context.Context, url string) (store.Store, error) {
			return nil, fmt.Errorf("no engine for %s", url)
		},
	}
	os.Exit(helper.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, engines))
}
