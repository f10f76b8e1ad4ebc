// Command shim is installed as claude, codex, gemini and vibe, and stands in front
// of the real commands of these names.
package main

import (
	"os"

	"reprise/shim"
)

func main() {
	env := shim.OSEnv()
	env.AccountHome = shim.AccountHome()
	os.Exit(shim.Main(env))
}
