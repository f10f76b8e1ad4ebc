package remove

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

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

func ForgetCommand(a *app.App) *cobra.Command {
	var f forgetFlags
	c := &cobra.Command{
		Use: "forget CHAIN", Short: "remove all traces of a chain",
		Long: `Removes a chain's sessions, calls and names from the ledger and the log. The
old content is overwritten. CHAIN is a number in shimctl status, a task with all its chains, or the start of a
session's ID. From a store that machines share, it removes the chain with its bundles, but
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
	chains, err := app.FindChains(l, name)
	if err != nil {
		return unlessStored(a, name, err, func(s *storedChains) (bool, error) { return forgetStored(a, name, s, f) })
	}
	var all []chainTraces
	var what []string
	for _, c := range chains {
		traces, words, err := findTraces(a, l, c, f.sessions)
		defer traces.stored.close()
		if err != nil {
			return err
		}
		all, what = append(all, traces), append(what, words)
	}
	if ok, err := a.Agreed("forget "+strings.Join(what, "; "), f.Consent); !ok {
		return err
	}
	for _, traces := range all {
		if err := traces.forget(a, l, f.sessions); err != nil {
			return err
		}
	}
	return nil
}

// chainTraces are what there is of a chain besides the ledger.
type chainTraces struct {
	chain  ledger.ChainName
	stored *storedChains
	files  chainFiles
}

// findTraces finds what is to be forgotten of a chain, and says it. It fails if something must stay.
func findTraces(a *app.App, l *ledger.Ledger, c ledger.ChainName, sessions bool) (t chainTraces, words string, err error) {
	t.chain = c
	if t.stored, err = storedChain(a, l, c); err != nil {
		return t, "", err
	}
	if sessions {
		if t.files, err = findFiles(l, c.ID); err != nil {
			return t, "", err
		}
	}
	would, err := l.Forget(c, true)
	if err != nil {
		return t, "", err
	}
	inStore, err := t.stored.forget(true)
	words = fmt.Sprintf("chain %d: %s, %s", c.ID, view.Count(would.Sessions, "session"), view.Count(would.Calls, "call")) + storedWords("; ", inStore)
	if sessions {
		words += ", and " + t.files.words()
	}
	return t, words, err
}

func (t chainTraces) forget(a *app.App, l *ledger.Ledger, sessions bool) error {
	inStore, err := t.stored.forget(false)
	if err != nil {
		return err
	}
	if words := storedWords("forgot ", inStore); words != "" {
		a.Stdout.Notice(words)
	}
	for _, files := range t.files {
		if err := removeSession(l, files); err != nil {
			return err
		}
	}
	f, err := l.Forget(t.chain, false)
	if err != nil {
		return err
	}
	path, err := config.LogFile(a.Own)
	if err != nil {
		return err
	}
	lines, err := shim.ForgetInLog(path, t.chain)
	if err != nil {
		return err
	}
	a.Stdout.Notice(fmt.Sprintf("forgot chain %d: %s, %s, %s of the log", t.chain.ID, view.Count(f.Sessions, "session"), view.Count(f.Calls, "call"),
		view.Count(int64(lines), "line")))
	if sessions {
		a.Stdout.Notice("removed " + t.files.words())
	}
	return nil
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

// chainFiles are the files of a chain's sessions, as far as they are there.
type chainFiles []*sessionfile.Files

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
			found = append(found, files)
		}
	}
	return found, nil
}

func (c chainFiles) words() string {
	bytes := int64(0)
	for _, f := range c {
		bytes += f.Bytes()
	}
	return fmt.Sprintf("the files of %s (%s)", view.Count(int64(len(c)), "session"), view.Size(bytes))
}
