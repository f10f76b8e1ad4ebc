// Command reprise-store connects the shims and shimctl with a shared store. They start it where one
// is configured.
package main

import (
	"os"

	"reprise/fleet/engine"
	"reprise/fleet/helper"
	"reprise/fleet/selftest"
)

func main() {
	engines := helper.Engines{Open: engine.Open, SelfTest: selftest.Run}
	os.Exit(helper.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, engines))
}
