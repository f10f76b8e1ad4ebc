// Command shim is installed as claude, codex, gemini and vibe, and stands in front
// of the real commands of these names.
package main

import (
	"os"
	"runtime"

	"reprise/shim"
)

// The tool is to be made by the first thread: see shim.start.
func init() { runtime.LockOSThread() }

func main() { os.Exit(shim.Main(shim.OSEnv())) }
