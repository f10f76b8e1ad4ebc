package supervise

import (
	"os"
	"testing"
	"time"

	"reprise/shim/front"
	"reprise/test/toolbox"
)

func TestMain(m *testing.M) {
	toolbox.StartAnew(front.Ignored)
	beat = 250 * time.Millisecond
	os.Exit(m.Run())
}
