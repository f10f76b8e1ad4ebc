package supervise

import (
	"os"
	"testing"
	"time"

	"reprise/shim/front"
	"reprise/test/toolbox"
)

func TestMain(m *testing.M) {
	ignored, _, _ := front.Signals()
	toolbox.StartAnew(ignored)
	beat = 250 * time.Millisecond
	os.Exit(m.Run())
}
