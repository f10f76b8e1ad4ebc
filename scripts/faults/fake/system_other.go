//go:build !linux

package main

// outlive: no other system ends us with our parent.
func outlive() {}
