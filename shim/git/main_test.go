package git

import (
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Timeout = time.Minute // git's answers are tested, also on a busy machine
	os.Exit(m.Run())
}
