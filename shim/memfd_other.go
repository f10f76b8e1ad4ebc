//go:build !linux

package shim

import "errors"

func memfd() (int, error) { return -1, errors.ErrUnsupported }
