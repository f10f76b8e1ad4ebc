package git

import (
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	Timeout = time.Minute // what git answers is tested, also on a busy machine
	os.Exit(m.Run())
}
