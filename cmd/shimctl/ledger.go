package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"reprise/config"
	"reprise/internal/ui"
	"reprise/ledger"
)

func ledgerCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "ledger COMMAND", Short: "repair the ledger, or start a new one",
		Long: `Fixes what doctor finds wrong with the ledger. Nothing is deleted: the old files are renamed, with the time
at the end of their names.`,
	}
	makeGroup(c)
	repair := &cobra.Command{
		Use: "repair", Short: "copy the readable part of a damaged ledger into a new one",
		Long: `Copies the readable part of a damaged ledger into a new one. The last events of its sessions may be lost,
so none of them is resumed again: the next call of every job is fresh.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.repairLedger() },
	}
	var consented consent
	reset := &cobra.Command{
		Use: "reset", Short: "start a new, empty ledger",
		Long: `Starts a new, empty ledger. The next call of every job is fresh, and the figures start at zero. At a terminal
it asks first; elsewhere it needs --yes.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return a.resetLedger(consented) },
	}
	consented.addFlags(reset)
	c.AddCommand(repair, reset)
	return c
}

// aside returns the ledger's path, and the suffix of a file that is moved aside now.
func (a *app) aside() (path, suffix string, err error) {
	path, err = config.LedgerFile(a.own)
	return path, a.now.UTC().Format(".20060102T150405Z"), err
}

func (a *app) resetLedger(c consent) error {
	path, suffix, err := a.aside()
	if err != nil {
		return err
	}
	_, missing := os.Lstat(path)
	switch {
	case c.dry && missing == nil:
		fmt.Fprintf(a.stdout, "would move the ledger to %s\n", ui.Printable(a.tilde(path+suffix)))
		fallthrough
	case c.dry:
		fmt.Fprintf(a.stdout, "would make a new one at %s\n", ui.Printable(a.tilde(path)))
		return nil
	case missing == nil:
		if err := a.ask("move the ledger aside and start a new one?", c); err != nil {
			return err
		}
	}
	aside, err := ledger.Reset(path, suffix)
	if aside != "" {
		fmt.Fprintf(a.stdout, "moved the ledger to %s\n", ui.Printable(a.tilde(aside)))
	}
	if err == nil {
		fmt.Fprintf(a.stdout, "made a new one at %s\n", ui.Printable(a.tilde(path)))
	}
	return err
}

func (a *app) repairLedger() error {
	path, suffix, err := a.aside()
	if err != nil {
		return err
	}
	r, err := ledger.Repair(path, suffix)
	switch {
	case errors.Is(err, ledger.ErrSound), errors.Is(err, fs.ErrNotExist):
		fmt.Fprintln(a.stderr, "nothing is wrong with the ledger")
		return nil
	case err != nil:
		return err
	}
	fmt.Fprintf(a.stdout, "moved the damaged ledger to %s\n", ui.Printable(a.tilde(r.Aside)))
	fmt.Fprintf(a.stdout, "recovered %s, %s and %s\n", ui.Count(r.Chains, "chain"), ui.Count(r.Sessions, "session"), ui.Count(r.Calls, "call"))
	return nil
}
