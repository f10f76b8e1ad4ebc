package work

import (
	"os"
	"testing"
	"time"

	"reprise/shim/git"
)

func TestMain(m *testing.M) {
	git.Timeout = time.Minute // git's answers are tested, also on a busy machine
	os.Exit(m.Run())
}
