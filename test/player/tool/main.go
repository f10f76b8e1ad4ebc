// Command tool is the tool by whose name it is run, as the player plays it.
package main

import (
	"os"
	"path/filepath"

	"reprise/test/player"
)

func main() { os.Exit(player.Play(filepath.Base(os.Args[0]))) }
