package binary

import (
	"os"
	"testing"

	"reprise/shim/front"
	"reprise/test/toolbox"
)

func TestMain(m *testing.M) {
	ignored, _, _ := front.Signals()
	toolbox.StartAnew(ignored)
	os.Exit(m.Run())
}
