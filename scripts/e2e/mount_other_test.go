//go:build !linux

package e2e

import "errors"

func mountSmall(string) error { return errors.ErrUnsupported }

func unmount(string) {}
