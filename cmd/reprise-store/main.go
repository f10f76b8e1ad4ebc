// Command reprise-store connects the shims and shimctl with a shared store. They start it where one
// is configured. Package helper is all of it.
package main

import (
	"os"

	"reprise/fleet/helper"
	"reprise/fleet/s3"
)

func main() {
	os.Exit(helper.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, s3.Open))
}
