package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"
	"reprise/config"
	"reprise/internal/prune"
	"reprise/internal/sessionfile"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/shim"
)

func forgetCommand(a *app) *cobra.Command {
	var sessions bool
	c := &cobra.Command{
		Use: "forget CHAIN", Short: "remove all traces of a chain",
		Long: `Removes a chain's sessions, calls and names from the ledger, the log and the index of sessions --all. The
old content is overwritten. CHAIN is its number in shimctl status, the name of its task, or the start of the
ID of one of its sessions. The tool's own files stay, unless --sessions is given.`,
		Args: oneArgument("the number or the task of a chain, or the id of a session"),
		RunE: func(_ *cobra.Command, args []string) error { return a.forget(args[0], sessions) },
	}
	c.Flags().BoolVar(&sessions, "sessions", false, "also remove the tool's session files")
	return c
}

func (a *app) forget(name string, sessions bool) error {
	l, err := a.openLedger()
	if errors.Is(err, fs.ErrNotExist) {
		return noChain(name)
	}
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := findChain(l, name)
	if err != nil {
		return err
	}
	removed, bytes := int64(0), int64(0)
	if sessions {
		if removed, bytes, err = removeSessions(l, c.ID); err != nil {
			return err
		}
	}
	f, err := l.Forget(c)
	if err != nil {
		return err
	}
	lines, err := a.forgetInLog(c)
	if err = errors.Join(err, a.forgetHistory(c)); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "forgot chain %d: %s, %s, %s of the log\n", c.ID, ui.Count(f.Sessions, "session"), ui.Count(f.Calls, "call"),
		ui.Count(int64(lines), "line"))
	if sessions {
		fmt.Fprintf(a.stdout, "removed the files of %s (%s)\n", ui.Count(removed, "session"), ui.Size(bytes))
	}
	return nil
}

// removeSessions removes the files of all sessions of a chain, or none if one of
// them must stay.
func removeSessions(l *ledger.Ledger, chain int64) (removed, bytes int64, err error) {
	sessions, err := l.SessionFiles(chain)
	if err != nil {
		return 0, 0, err
	}
	var finder sessionfile.Finder
	found := make([]*sessionfile.Files, len(sessions))
	for i, s := range sessions {
		if s.Held {
			return 0, 0, fmt.Errorf("forget chain %d: %w", chain, ledger.ErrInUse)
		}
		var why prune.Reason
		if found[i], why = finder.Find(s); why != "" && why != prune.Gone {
			return 0, 0, hinted{fmt.Errorf("remove session %s: it is %s", s.NativeID, why),
				"nothing was removed; without --sessions the tool's files stay where they are"}
		}
	}
	for i, s := range sessions {
		if found[i] == nil {
			continue
		}
		if err := removeSession(l, s, found[i]); err != nil {
			return removed, bytes, err
		}
		removed, bytes = removed+1, bytes+found[i].Bytes()
	}
	return removed, bytes, nil
}

func (a *app) forgetInLog(c ledger.ChainName) (int, error) {
	path, err := config.LogFile(a.own)
	if err != nil {
		return 0, err
	}
	return shim.ForgetInLog(path, c)
}
