package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"reprise/config"
)

// measuredRuns is how often each way is run. The median of 50 varies by some hundredths of a millisecond on an idle machine.
const measuredRuns = 50

// measure runs a command that does nothing, directly and through the shim in turns, in a home of its own.
func (a *app) measure() (c check) {
	c = check{Name: "overhead", Result: "ok"}
	fail := func(err error) check {
		return check{c.Name, "problem", "cannot be measured: " + err.Error(), "install the shims again"}
	}
	shims := shimsIn(a.shimDirectory())
	if len(shims) == 0 {
		return check{c.Name, "note", "there is no shim in " + a.tilde(a.shimDirectory()), "run ./install.sh"}
	}
	name := shims[0]
	shimPath := filepath.Join(a.shimDirectory(), name)
	home, err := os.MkdirTemp("", "reprise-doctor-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(home)
	nothing := filepath.Join(home, name)
	if err := os.WriteFile(nothing, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		return fail(err)
	}
	var direct, through []time.Duration
	for range measuredRuns {
		for path, took := range map[string]*[]time.Duration{nothing: &direct, shimPath: &through} {
			cmd := exec.Command(path, "--version")
			cmd.Env = []string{"HOME=" + home, "PATH=" + home}
			start := time.Now()
			if err := cmd.Run(); err != nil {
				return fail(err)
			}
			*took = append(*took, time.Since(start))
		}
	}
	slices.Sort(direct)
	slices.Sort(through)
	with, without := through[measuredRuns/2], direct[measuredRuns/2]
	c.Finds = fmt.Sprintf("the shim costs a call that it passes through %.1f ms (%.1f instead of %.1f, median of %d)",
		milliseconds(with-without), milliseconds(with), milliseconds(without), measuredRuns)
	if with < without {
		c.Finds = fmt.Sprintf("the shim costs a call that it passes through less than can be measured on a machine this busy (median of %d: %.1f ms)",
			measuredRuns, milliseconds(with))
	}
	return c
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// checkPermissions checks the directories before anything repairs them. Other users must not read the state
// directory, nor write the configuration, which names the programs that the shims run.
func (a *app) checkPermissions() check {
	c := check{Name: "permissions", Result: "ok", Finds: "ledger, log and configuration are out of others' reach"}
	state, _ := config.StateDir(a.own)
	files := []string{state}
	entries, _ := os.ReadDir(state)
	for _, e := range entries {
		if e.Type().IsRegular() {
			files = append(files, filepath.Join(state, e.Name()))
		}
	}
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			return check{c.Name, "problem", fmt.Sprintf("%s is open to others (%04o)", a.tilde(path), info.Mode().Perm()), "chmod -R go= " + a.tilde(state)}
		}
	}
	settings, _ := config.ConfigFile(a.own)
	for _, path := range []string{filepath.Dir(settings), settings} {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o022 != 0 {
			return check{c.Name, "problem", fmt.Sprintf("others may write %s (%04o), and so choose what the shims run", a.tilde(path), info.Mode().Perm()), "chmod go-w " + a.tilde(path)}
		}
	}
	return c
}
