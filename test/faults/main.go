// Command faults injects faults around the shim and shows what was lost: for each kind of fault how
// many calls were made, and which of their effects differed from a call without the shim or were
// not recorded. It uses the player, and nothing outside of a temporary directory.
//
// A call counts as lost if the caller saw anything but what the tool alone would have shown; if it was
// resumed wrongly, or two calls worked in one session; if its outcome was forgotten although it could be
// kept; or if afterwards the ledger was damaged, a session was still leased, or a temporary file was left.
// The slowest is the longest time that a call took beyond the tool's own, including the start.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	"reprise/test/toolbox"
)

// A kind is a kind of fault. try sets it up in a new world, makes calls and records what was lost.
type kind struct {
	subject, name string
	try           func(*world)
}

// ownKinds are the kinds that are tried only here, by subject. kinds also has those that ordinary
// tests try.
var (
	ownKinds = slices.Concat(burstKinds, ledgerKinds, leaseKinds, crashKinds)
	kinds    = slices.Concat(ownKinds, testedKinds)
)

func main() {
	times := flag.Int("n", 3, "how often each kind is tried")
	only := flag.String("run", "", "only the kinds whose subject and name match this pattern")
	flag.Parse()
	toolbox.RestoreSignals()
	failed, err := tryAll(os.Stdout, *times, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

func tryAll(out io.Writer, times int, only string) (failed bool, err error) {
	dir, err := newDirectory()
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	p, err := build(dir)
	if err != nil {
		return false, err
	}
	return p.printTable(out, dir, kinds, times, only)
}

// printTable tries the kinds and prints a row for each as it is done. It fails for a kind that lost
// something or was not tried, and for a pattern that matches none.
func (p programs) printTable(out io.Writer, dir string, kinds []kind, times int, only string) (failed bool, err error) {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "| %-16s | %-44s | tried | calls | slowest | lost |\n| --- | --- | ---: | ---: | ---: | ---: |\n", "subject", "fault")
	tried := false
	for _, k := range kinds {
		if !pattern.MatchString(k.subject + ": " + k.name) {
			continue
		}
		r, err := k.repeat(p, dir, times)
		if err != nil {
			return true, err
		}
		tried = true
		if r.skips != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "not tried: %s: %s: %v\n", k.subject, k.name, r.skips)
			continue
		}
		calls, slowest := "", ""
		if r.calls > 0 {
			calls, slowest = strconv.Itoa(r.calls), fmt.Sprint(r.worst.Milliseconds(), " ms")
		}
		fmt.Fprintf(out, "| %-16s | %-44s | %5d | %5s | %7s | %4d |\n", k.subject, k.name, times, calls, slowest, len(r.lost))
		for _, l := range r.lost {
			failed = true
			fmt.Fprintf(os.Stderr, "%s: %s: %s\n", k.subject, k.name, l)
		}
	}
	if !tried {
		return true, fmt.Errorf("find a kind that matches %q: there is none", only)
	}
	return failed, nil
}

// newDirectory creates the directory of all worlds. Other users may enter it: root makes some calls as
// another user.
func newDirectory() (string, error) {
	dir, err := os.MkdirTemp("", "faults-*")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755)
}

// A summary is the result of a kind.
type summary struct {
	calls int
	worst time.Duration
	lost  []string
	skips error
}

func (k kind) repeat(p programs, dir string, times int) (s summary, err error) {
	for range times {
		w, err := k.once(p, dir)
		if err != nil {
			return s, err
		}
		s.calls, s.lost, s.skips = s.calls+w.calls, append(s.lost, w.lost...), w.skips
		s.worst = max(s.worst, w.worst)
	}
	return s, nil
}

// once tries a kind in a world of its own.
func (k kind) once(p programs, dir string) (*world, error) {
	dir, err := os.MkdirTemp(dir, "world-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w, err := newWorld(p, dir)
	if err != nil {
		return nil, err
	}
	k.try(w)
	return w, nil
}
