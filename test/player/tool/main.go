// Command tool plays the tool named like the command.
package main

import (
	"os"
	"path/filepath"

	"reprise/test/player"
)

func main() { os.Exit(player.Play(filepath.Base(os.Args[0]))) }
