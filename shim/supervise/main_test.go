package supervise

import (
	"os"
	"testing"
	"time"

	"reprise/scripts/toolbox"
	"reprise/shim/front"
)

func TestMain(m *testing.M) {
	toolbox.StartAnew(front.Ignored)
	beat = 250 * time.Millisecond
	os.Exit(m.Run())
}
