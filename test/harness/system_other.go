//go:build !linux

package harness

// leftovers returns 0: it is for Linux only.
func (w *World) leftovers() int { return 0 }

// Processes returns none: it is for Linux only.
func (w *World) Processes() []int { return nil }
