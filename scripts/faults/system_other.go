//go:build !linux

package main

import "errors"

// What takes ptrace, mounts or another user is tried on Linux alone.
var (
	errNotHere = errors.New("it takes Linux")
	crashKinds []kind
)

func (w *world) unprivileged() {}

func (w *world) fill(int) { w.skip(errNotHere) }
