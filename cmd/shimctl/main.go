// Command shimctl shows what the shims did, and why.
package main

import (
	"os"

	"reprise/fleet"
	"reprise/internal/ctl"
	"reprise/shim/front"
)

func main() { os.Exit(ctl.Run(front.AccountHome(), fleet.Open)) }
