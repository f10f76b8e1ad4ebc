// Package ctl is shimctl: a file a command; packages below have the code that several commands
// need.
//
// It never runs a tool for a call and decides nothing about one. Invariants: screens only read; a
// command that writes shows the change first, and asks, except config set and report.
package ctl

import (
	"os"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/doctor"
	"reprise/internal/ctl/remove"
	"reprise/internal/ctl/report"
	"reprise/internal/ctl/rule"
	"reprise/internal/ctl/setup"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/ledger"

	"github.com/spf13/cobra"
)

var commands = []func(*app.App) *cobra.Command{
	statusCommand,
	showCommand,
	logCommand,
	why.Command,
	remove.ResetCommand,
	statsCommand,
	report.Command,
	rule.Command,
	setup.Command,
	doctor.Command,
	remove.PruneCommand,
	demoCommand,
	configCommand,
	bundledCommand, finishSharedCommand,
	completionCommand,
	versionCommand,
}

// Run runs the command and returns the exit code. accountHome is "" to look below HOME only; open
// opens a store that machines share.
func Run(accountHome string, open ledger.OpenRemote) int {
	a := &app.App{Stdin: os.Stdin,
		Stdout: view.NewScreen(os.Stdout), Stderr: view.NewScreen(os.Stderr),
		Environ: os.Environ(), AccountHome: accountHome, OpenRemote: open, Now: time.Now()}
	return a.Run(newRoot(a), os.Args[1:])
}
