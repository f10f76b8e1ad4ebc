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
	beat, scoutPatience = 250*time.Millisecond, 250*time.Millisecond
	os.Exit(m.Run())
}

// isClosed reports whether a channel is closed. Nothing can be sent on it.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
