// Command reprise-store connects the shims and shimctl with a shared store. They start it where one
// is configured.
package main

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"reprise/store"
	"reprise/store/helper"
	"reprise/store/s3"
)

func main() {
	engines := helper.Engines{
		Open: func(_ context.Context, text string) (store.Store, error) {
			u, err := url.Parse(text)
			if err != nil {
				return nil, fmt.Errorf("no engine for %s", text)
			}
			return s3.Open(u)
		},
	}
	os.Exit(helper.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, engines))
}
