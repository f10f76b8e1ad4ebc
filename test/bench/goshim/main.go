// Command goshim is the shim that most people would write in Go: it becomes the next executable of
// its name on PATH that is not itself. It exists for comparison.
package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	own, err := os.Stat("/proc/self/exe")
	if err != nil {
		os.Exit(126)
	}
	for _, dir := range strings.Split(os.Getenv("PATH"), ":") {
		path := filepath.Join(dir, filepath.Base(os.Args[0]))
		if info, err := os.Stat(path); err == nil && !os.SameFile(info, own) && info.Mode()&0o111 != 0 {
			_ = syscall.Exec(path, os.Args, os.Environ())
		}
	}
	os.Exit(127)
}
