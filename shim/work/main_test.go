package work

import (
	"os"
	"testing"
	"time"

	"reprise/shim/git"
)

func TestMain(m *testing.M) {
	git.Timeout = time.Minute // what git answers is tested, also on a busy machine
	os.Exit(m.Run())
}
