//go:build !linux

package shim

// whenHungUp: here a write that fails reports that the caller has closed its end.
func whenHungUp(int, <-chan struct{}, func()) {}
