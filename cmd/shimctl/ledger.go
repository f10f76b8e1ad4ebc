package main

import (
	"errors"
	"fmt"
	"io/fs"

	"reprise/config"
	"reprise/ledger"
)

var ledgerCommand = command{
	name: "ledger", args: "repair|reset", short: "mend a ledger, or begin a new one",
	long: `Mends what doctor finds wrong with the ledger. Nothing is deleted: the old files are moved aside,
under names that end in the time.

  repair  copy what can be read of a damaged ledger into a new one; no session of it is resumed again
  reset   begin a new, empty one`,
	run: runLedger,
}

func runLedger(a *app, args []string) error {
	rest, err := flags(args, nil)
	if err != nil {
		return err
	}
	if len(rest) != 1 || rest[0] != "repair" && rest[0] != "reset" {
		return usageError{"ledger takes one of repair, reset", "shimctl help ledger"}
	}
	path, err := config.LedgerFile(a.getenv)
	if err != nil {
		return err
	}
	suffix := a.now.UTC().Format(".20060102T150405Z")
	if rest[0] == "reset" {
		return a.resetLedger(path, suffix)
	}
	return a.repairLedger(path, suffix)
}

func (a *app) resetLedger(path, suffix string) error {
	aside, err := ledger.Reset(path, suffix)
	if aside != "" {
		fmt.Fprintf(a.stdout, "moved the ledger to %s\n", a.tilde(aside))
	}
	if err == nil {
		fmt.Fprintf(a.stdout, "made a new one at %s\n", a.tilde(path))
	}
	return err
}

func (a *app) repairLedger(path, suffix string) error {
	r, err := ledger.Repair(path, suffix)
	switch {
	case errors.Is(err, ledger.ErrSound), errors.Is(err, fs.ErrNotExist):
		fmt.Fprintln(a.stderr, "nothing is wrong with the ledger")
		return nil
	case err != nil:
		return err
	}
	fmt.Fprintf(a.stdout, "moved the damaged ledger to %s\n", a.tilde(r.Aside))
	fmt.Fprintf(a.stdout, "recovered %s, %s and %s\n", count(r.Chains, "chain"), count(r.Sessions, "session"), count(r.Calls, "call"))
	return nil
}
