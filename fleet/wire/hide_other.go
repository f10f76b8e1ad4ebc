//go:build !linux

package wire

// HideMemory does nothing: this system has no such switch.
func HideMemory() error { return nil }
