package shim

import (
	"errors"
	"testing"

	"reprise/config"
)

func TestStoreErrorIsPrintable(t *testing.T) {
	got := StoreError(errors.New("a\u009b1m\u202eb\nreprise: c\x1b é"), config.Store{})
	if want := "a\ufffd1m\ufffdb\ufffdreprise: c\ufffd é"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
