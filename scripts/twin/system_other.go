//go:build !linux

package twin

import (
	"errors"
	"os"
)

// leftovers returns 0: it is for Linux only.
func (w *World) leftovers() int { return 0 }

func terminal() (ours, theirs *os.File, err error) { return nil, nil, errors.ErrUnsupported }
