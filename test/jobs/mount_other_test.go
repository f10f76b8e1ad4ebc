//go:build !linux

package jobs

import "errors"

func mountSmall(string) error { return errors.ErrUnsupported }

func unmount(string) {}
