// Command shim is installed under the name of each tool, such as claude, and stands in front
// of the real command of that name. Package shim is all of it.
package main

import (
	"os"

	"reprise/fleet"
	"reprise/shim"
	"reprise/shim/front"
)

func main() {
	env := shim.OSEnv()
	env.AccountHome, env.OpenRemote = front.AccountHome(), fleet.Open
	os.Exit(shim.Main(env))
}
