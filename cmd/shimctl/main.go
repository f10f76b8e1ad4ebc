// Command shimctl shows the decisions of the shims, and the reasons. Package ctl is all of it.
package main

import (
	"os"

	"reprise/fleet"
	"reprise/internal/ctl"
	"reprise/shim/front"
)

func main() { os.Exit(ctl.Run(front.AccountHome(), fleet.Open)) }
