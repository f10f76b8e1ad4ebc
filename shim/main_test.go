package shim

import (
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"reprise/scripts/toolbox"
	"reprise/shim/front"
)

// TestMain starts the tests anew if a shell has them ignore signals, as it does for jobs in the background. A shim
// ignores what it was started with, which is recorded before Go runs.
func TestMain(m *testing.M) {
	if slices.ContainsFunc([]syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP}, front.Ignored) {
		toolbox.RestoreSignals()
		panic(syscall.Exec(executablePath(), os.Args, os.Environ()))
	}
	beat = 250 * time.Millisecond
	os.Exit(m.Run())
}
