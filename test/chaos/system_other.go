//go:build !linux

package main

// limitFiles does nothing: it is for Linux only.
func limitFiles(pid int, size uint64) {}
