// Drift changes each field of each recorded event of all tools, and checks what callers get then.
// The tests of rewrite do the same with a sample.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

func main() {
	cmd := exec.Command("go", "test", "./rewrite/tool", "-run", "^TestEventShapesDrift$", "-count", "1", "-v", "-drift.all")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		os.Exit(1)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error: run the tests:", err)
		os.Exit(1)
	}
}
