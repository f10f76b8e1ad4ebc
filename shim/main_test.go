package shim

import (
	"os"
	"testing"

	"reprise/shim/front"
	"reprise/test/toolbox"
)

func TestMain(m *testing.M) {
	toolbox.StartAnew(front.Ignored)
	os.Exit(m.Run())
}
