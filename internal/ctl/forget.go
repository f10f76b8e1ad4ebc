package ctl

import (
	"errors"
	"fmt"
	"io/fs"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/prune"
	"reprise/internal/sessionfile"
	"reprise/ledger"
	"reprise/shim"

	"github.com/spf13/cobra"
)

type forgetFlags struct {
	app.Consent
	sessions bool
}

func forgetCommand(a *app.App) *cobra.Command {
	var f forgetFlags
	c := &cobra.Command{
		Use: "forget CHAIN", Short: "remove all traces of a chain",
		Long: `Removes a chain's sessions, calls and names from the ledger and the log. The
old content is overwritten. CHAIN is its number in shimctl status, the name of its task, or the start of the
ID of one of its sessions. From a store that machines share, it removes the chain with its bundles, but
not its calls in the store's log; its task may also be one that only other machines know.`,
		Args: app.OneArgument("the number or the task of a chain, or the id of a session"),
		RunE: func(_ *cobra.Command, args []string) error { return runForget(a, args[0], f) },
	}
	c.Flags().BoolVar(&f.sessions, "sessions", false, "also remove the tool's session files")
	f.AddFlags(c)
	c.ValidArgsFunction = a.CompleteChain
	return c
}

func runForget(a *app.App, name string, f forgetFlags) error {
	l, err := a.OpenLedger()
	if errors.Is(err, fs.ErrNotExist) {
		l, err = ledger.OpenMemory()
	}
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := app.FindChain(l, name)
	if err != nil {
		return unlessStored(a, l, name, err, func(s *storedChains) (bool, error) { return forgetStored(a, name, s, f) })
	}
	stored, err := storedChain(a, l, c)
	if err != nil {
		return err
	}
	defer stored.close()
	var files chainFiles
	if f.sessions {
		if files, err = findFiles(l, c.ID); err != nil {
			return err
		}
	}
	would, err := l.Forget(c, true)
	if err != nil {
		return err
	}
	inStore, err := stored.forget(true)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("chain %d: %s, %s", c.ID, view.Count(would.Sessions, "session"), view.Count(would.Calls, "call")) + storedWords("; ", inStore)
	if f.sessions {
		what += ", and " + files.words()
	}
	if ok, err := a.Agreed("forget "+what, f.Consent); !ok {
		return err
	}
	if inStore, err = stored.forget(false); err != nil {
		return err
	}
	if words := storedWords("forgot ", inStore); words != "" {
		a.Stdout.Notice(words)
	}
	return forgetChain(a, l, c, files, f.sessions)
}

// forgetStored removes a task that only the store has. It reports whether it has one.
func forgetStored(a *app.App, task string, s *storedChains, f forgetFlags) (found bool, err error) {
	kept, err := s.forget(true)
	if err != nil || kept.Chains == 0 {
		return false, err
	}
	if ok, err := a.Agreed("forget task "+task+storedWords(": ", kept), f.Consent); !ok {
		return true, err
	}
	if kept, err = s.forget(false); err == nil {
		a.Stdout.Notice("forgot task " + task + storedWords(": ", kept))
	}
	return true, err
}

func forgetChain(a *app.App, l *ledger.Ledger, c ledger.ChainName, files chainFiles, sessions bool) error {
	if err := files.remove(l); err != nil {
		return err
	}
	f, err := l.Forget(c, false)
	if err != nil {
		return err
	}
	lines, err := forgetInLog(a, c)
	if err != nil {
		return err
	}
	a.Stdout.Notice(fmt.Sprintf("forgot chain %d: %s, %s, %s of the log", c.ID, view.Count(f.Sessions, "session"), view.Count(f.Calls, "call"),
		view.Count(int64(lines), "line")))
	if sessions {
		a.Stdout.Notice("removed " + files.words())
	}
	return nil
}

// chainFiles are the sessions of a chain whose files are there, and those files.
type chainFiles struct {
	sessions []ledger.SessionFile
	files    []*sessionfile.Files
}

// findFiles finds the files of all sessions of a chain. It fails if one of them must stay.
func findFiles(l *ledger.Ledger, chain int64) (found chainFiles, err error) {
	sessions, err := l.SessionFiles(chain)
	if err != nil {
		return found, err
	}
	var finder sessionfile.Finder
	for _, s := range sessions {
		if s.Held {
			return found, fmt.Errorf("forget chain %d: %w", chain, ledger.ErrInUse)
		}
		files, why := finder.Find(s)
		switch {
		case why != "" && why != prune.Gone:
			return found, app.WithHint(fmt.Errorf("remove session %s: it is %s", s.NativeID, why),
				"nothing was removed; without --sessions the tool's files stay where they are")
		case files != nil:
			found.sessions, found.files = append(found.sessions, s), append(found.files, files)
		}
	}
	return found, nil
}

func (c chainFiles) words() string {
	bytes := int64(0)
	for _, f := range c.files {
		bytes += f.Bytes()
	}
	return fmt.Sprintf("the files of %s (%s)", view.Count(int64(len(c.files)), "session"), view.Size(bytes))
}

func (c chainFiles) remove(l *ledger.Ledger) error {
	for i, s := range c.sessions {
		if err := removeSession(l, s, c.files[i]); err != nil {
			return err
		}
	}
	return nil
}

func forgetInLog(a *app.App, c ledger.ChainName) (int, error) {
	path, err := config.LogFile(a.Own)
	if err != nil {
		return 0, err
	}
	return shim.ForgetInLog(path, c)
}
