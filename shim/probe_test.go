package shim

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A child that a program leaves behind with its output is not waited for, and does not lose what the program said.
func TestAskWaitsForNoChild(t *testing.T) {
	path := executableFile(t, t.TempDir(), "tool", "#!/bin/sh\n(sleep 20; echo late) &\necho $! $*\n")
	out, err := ask(path, os.Environ(), 10*time.Second, "--help")
	pid, said, _ := strings.Cut(string(out), " ")
	if err != nil || said != "--help\n" {
		t.Errorf("%q, %v", out, err)
	}
	child, _ := strconv.Atoi(pid)
	if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
		t.Errorf("the child: %v", err)
	}
}

// When the time is up all that still runs is ended, children too.
func TestAskKeepsItsLimit(t *testing.T) {
	dir := t.TempDir()
	path := executableFile(t, dir, "tool", "#!/bin/sh\ntrap '' TERM INT HUP\nsleep 60 &\necho $! >"+dir+"/pid\nwait\n")
	done := make(chan error, 1)
	go func() {
		_, err := ask(path, os.Environ(), 500*time.Millisecond)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("no error")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it is waited for all the same")
	}
	text, err := os.ReadFile(dir + "/pid")
	if err != nil {
		t.Fatal(err)
	}
	child, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	for range 500 {
		if state, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat"); err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("its child lives on")
}
