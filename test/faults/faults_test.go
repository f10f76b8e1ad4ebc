// Package faults injects faults around the shim, with the player, and nothing outside of a
// temporary directory.
//
// Something is lost if the caller saw anything but the output of the tool alone; if a call
// was resumed wrongly, or two calls worked in one session; if its outcome was forgotten although it
// could be kept; or if afterwards the ledger was damaged, a session was still leased, or a
// temporary file was left.
package faults

import (
	"errors"
	"flag"
	"os"
	"slices"
	"sync"
	"testing"

	"reprise/test/harness"
	"reprise/test/player"
	"reprise/test/toolbox"
)

var all = flag.Bool("faults.all", false,
	"try each kind at more moments, and fail if one cannot be tried here")

var (
	// how many steps of a call lie between two at which it is killed; the first one varies
	stride = 100
	rounds = 1 // of calls that are made at once
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

// dir is a directory for the programs and the worlds.
var dir string

func run(m *testing.M) int {
	var err error
	if dir, err = os.MkdirTemp("", "faults-*"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	return toolbox.Tests{M: m}.Run()
}

var built = sync.OnceValues(func() (programs, error) {
	p, err := build(dir)
	return p, errors.Join(err, os.Chmod(dir, 0o755)) // root makes some calls as another user
})

// A kind is a kind of fault. try sets it up in a new world, makes calls and reports the losses.
type kind struct {
	subject, name string
	try           func(*world)
}

func TestFaults(t *testing.T) {
	toolbox.Long(t)
	t.Parallel()
	if *all {
		stride, rounds = 12, 3
	}
	for _, k := range slices.Concat(burstKinds, ledgerKinds, leaseKinds, crashKinds) {
		t.Run(k.subject+": "+k.name, k.once)
	}
}

// A call waits for 30 s for a session, meanwhile the others are tried.
func TestWaitIsOver(t *testing.T) {
	toolbox.Long(t)
	t.Parallel()
	waitIsOver.once(t)
}

// once tries a kind in a world of its own.
func (k kind) once(t *testing.T) {
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(dir, "world-*")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	inner, err := harness.Bare(dir, p.shims, p.real, p.tools)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{World: inner, t: t}
	w.must(player.Prepare(w.notes()))
	k.try(w)
	switch {
	case w.skips != nil && *all: // an untried fault must not look like a passed test
		t.Error("not tried:", w.skips)
	case w.skips != nil:
		t.Skip(w.skips)
	}
}
