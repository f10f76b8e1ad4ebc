// Command faults breaks things around the shim and shows what was lost by it: for each
// kind of fault how many calls were made, and what of them was not as without the shim,
// or not remembered. It uses a fake tool, and nothing outside of a temporary folder.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"text/tabwriter"
)

// A kind is a kind of fault. try sets it up in a new world, makes calls and says what
// was lost.
type kind struct {
	subject, name string
	try           func(*world)
}

// kinds is every kind, by subject.
var kinds = slices.Concat(burstKinds)

func main() {
	times := flag.Int("n", 3, "how often each kind is tried")
	only := flag.String("run", "", "only the kinds whose subject and name match this pattern")
	markdown := flag.Bool("markdown", false, "print the table as docs/faults.md has it")
	flag.Parse()
	lost, err := printTable(os.Stdout, *times, *only, *markdown)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	if lost {
		os.Exit(1)
	}
}

// printTable tries the kinds and prints a row for each as it is done.
func printTable(out io.Writer, times int, only string, markdown bool) (lost bool, err error) {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "faults-*")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	p, err := build(dir)
	if err != nil {
		return false, err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SUBJECT\tFAULT\tTRIED\tCALLS\tLOST")
	for _, k := range kinds {
		if !pattern.MatchString(k.subject + ": " + k.name) {
			continue
		}
		calls, losses := 0, []string(nil)
		for i := range times {
			n, l, err := try(k, p, filepath.Join(dir, fmt.Sprint("world", i)))
			if err != nil {
				return lost, err
			}
			calls, losses = calls+n, append(losses, l...)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\n", k.subject, k.name, times, calls, len(losses))
		for _, l := range losses {
			lost = true
			fmt.Fprintf(os.Stderr, "%s: %s: %s\n", k.subject, k.name, l)
		}
	}
	return lost, w.Flush()
}

// try tries a kind once, in a world of its own.
func try(k kind, p programs, dir string) (calls int, lost []string, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return 0, nil, err
	}
	defer os.RemoveAll(dir)
	w, err := newWorld(p, dir)
	if err != nil {
		return 0, nil, err
	}
	k.try(w)
	return w.calls, w.lost, nil
}
