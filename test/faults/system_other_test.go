//go:build !linux

package faults

import "errors"

// Faults that need ptrace, mounts or another user are tried only on Linux.
var (
	errNotHere = errors.New("it takes Linux")
	crashKinds []kind
)

func (w *world) unprivileged() {}

func (w *world) fill(int) { w.skip(errNotHere) }
