package shim

import (
	"os"
	"testing"
	"time"

	"reprise/shim/front"
	"reprise/shim/git"
	"reprise/test/toolbox"
)

func TestMain(m *testing.M) {
	ignored, _, _ := front.Signals()
	toolbox.StartAnew(ignored)
	git.Timeout = time.Minute // git's answers are tested, also on a busy machine
	os.Exit(m.Run())
}
