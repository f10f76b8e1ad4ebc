package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
)

// measuredRuns is how often each way is run. The median of 50 varies by some hundredths of a millisecond on an idle machine.
const measuredRuns = 50

// overhead is the name of the check, which is made only if it is asked for.
const overhead = "overhead"

// measureOverhead runs a command that does nothing, directly and through the shim in turns, in a separate home.
func measureOverhead(a *app.App) setup.Check {
	fail := func(err error) setup.Check {
		return setup.Problem(overhead, "cannot be measured: "+err.Error(), "install the shims again")
	}
	shims := setup.ShimsIn(setup.ShimDirectory(a))
	if len(shims) == 0 {
		return setup.Note(overhead, "there is no shim in "+a.Tilde(setup.ShimDirectory(a)), "run ./install.sh")
	}
	name := shims[0]
	shimPath := filepath.Join(setup.ShimDirectory(a), name)
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
	if with < without {
		return setup.OK(overhead, fmt.Sprintf("the shim costs a call that it passes through less than can be measured on a machine this busy (median of %d: %.1f ms)",
			measuredRuns, milliseconds(with)))
	}
	return setup.OK(overhead, fmt.Sprintf("the shim costs a call that it passes through %.1f ms (%.1f instead of %.1f, median of %d)",
		milliseconds(with-without), milliseconds(with), milliseconds(without), measuredRuns))
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
