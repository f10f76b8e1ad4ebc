package shim

import (
	"os"
	"testing"

	"reprise/scripts/toolbox"
	"reprise/shim/front"
)

func TestMain(m *testing.M) {
	toolbox.StartAnew(front.Ignored)
	os.Exit(m.Run())
}
