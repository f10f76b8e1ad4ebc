// Package remove has the commands that end sessions and remove their files: reset and prune.
//
// It never removes a session that a process uses, or a session that the shims have not begun.
// Invariant: the user has seen the sessions and chains, and agreed to their removal, before the
// first is removed.
package remove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/prune"
	"reprise/internal/sessionfile"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/shim"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type pruneFlags struct {
	app.Consent
	superseded  bool
	keepWithin  time.Duration
	keepLast    uint
	keepHistory time.Duration
}

// PruneCommand returns `shimctl prune`.
func PruneCommand(a *app.App) *cobra.Command {
	var f pruneFlags
	c := &cobra.Command{
		Use: "prune [CHAIN]", Short: "remove old sessions that the shims started, or a chain",
		Long: `Removes the files of sessions that the shims started and that were last used a week ago or earlier. Prints
the reason for each session. [prune] in the configuration has the defaults; --keep-within or --keep-last replaces
keep_within, and keeps sessions that copies continued as long as others.

With CHAIN, a name such as c12, a task with all its chains, or the start of a session's ID: removes the files of its
sessions, and all traces of it in the ledger, the log and a store that machines share. The old content is overwritten.`,
		Args: func(c *cobra.Command, args []string) error {
			for kept := range strings.FieldsSeq("keep-within keep-last keep-history superseded") {
				if len(args) == 1 && c.Flags().Changed(kept) {
					return app.Usage("--"+kept+" applies to all chains: it does not go with one "+
						"chain", "usage: "+c.UseLine())
				}
			}
			return cobra.MaximumNArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			return runPrune(a, strings.Join(args, ""), f, c.Flags())
		},
	}
	f.AddFlags(c)
	addDuration(c.Flags(), &f.keepWithin, "keep-within",
		"keep sessions used within this `TIME`, such as 36h, 7d or 1w")
	c.Flags().UintVar(&f.keepLast, "keep-last", 0, "keep the newest `N` sessions of each chain")
	addDuration(c.Flags(), &f.keepHistory, "keep-history",
		"also remove chains and calls last used longer ago than `TIME` from the ledger")
	c.Flags().BoolVar(&f.superseded, "superseded", false,
		"remove only sessions that were continued in a copy")
	app.JSONFlag(c, &f.JSON, "shimctl.prune/1")
	return c
}

func addDuration(flags *pflag.FlagSet, to *time.Duration, name, usage string) {
	flags.Func(name, usage, func(text string) (err error) {
		if *to, err = config.ParseDuration(text); err != nil || *to <= 0 {
			return errors.New("write a number above 0 and its unit (ms, s, m, h, d, w), as 36h, 7d " +
				"or 1w")
		}
		return nil
	})
}

func runPrune(a *app.App, chain string, f pruneFlags, given *pflag.FlagSet) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	policy, err := prunePolicy(cfg, f, given)
	if err != nil {
		return err
	}
	r, err := carryOut(a, chain, policy, f, !f.Yes || f.Dry)
	if err != nil {
		return err
	}
	if f.JSON {
		err = a.Stdout.PrintJSON(r)
	} else {
		printPrune(a, r)
	}
	if err == nil && !f.Yes && !f.Dry && r.Removed+r.Chains+r.Calls > 0 {
		if _, err := a.Agreed("remove this", f.Consent); err != nil {
			return err
		}
		if r, err = carryOut(a, chain, policy, f, false); err != nil {
			return err
		}
		printPruneSum(a, r)
	}
	if err == nil && r.Failed > 0 {
		err = fmt.Errorf("remove sessions: %s could not be removed",
			view.Count(r.Failed, "session"))
	}
	return err
}

// carryOut removes a chain's sessions, or all that the policy does not keep.
func carryOut(a *app.App, chain string, policy prune.Retention, f pruneFlags,
	dry bool) (r PruneReport, err error) {
	r = PruneReport{Schema: "shimctl.prune/1", DryRun: dry, Sessions: []prunedSession{}}
	l, err := a.OpenOrEmpty()
	if err != nil {
		return r, err
	}
	defer l.Close()
	if chain != "" {
		err = r.pruneChains(a, l, chain)
	} else {
		err = r.pruneOld(a, l, policy)
	}
	if err == nil && f.keepHistory > 0 {
		r.Chains, r.Calls, err = l.DropBefore(decide.MillisOf(a.Now.Add(-f.keepHistory)), dry)
	}
	return r, err
}

func prunePolicy(cfg config.Config, f pruneFlags, given *pflag.FlagSet) (prune.Retention, error) {
	ttl, maxAge := cfg.Longest()
	p := prune.Retention{TTL: inMillis(ttl), MaxAge: inMillis(maxAge)}
	if given.Changed("keep-within") || given.Changed("keep-last") {
		p.KeepWithin, p.KeepLast = inMillis(f.keepWithin), int(min(f.keepLast, math.MaxInt))
	} else {
		p.KeepWithin, p.Superseded = inMillis(cfg.Prune.KeepWithin), inMillis(config.KeepSuperseded)
	}
	if f.superseded {
		p.KeepWithin, p.KeepLast, p.Superseded = math.MaxInt64, 0, inMillis(config.KeepSuperseded)
	}
	if p.KeepsNothing() {
		return p, app.Usage("the policy keeps nothing",
			"shimctl prune CHAIN removes a chain with its sessions")
	}
	return p, nil
}

func inMillis(d time.Duration) decide.Millis { return decide.Millis(d.Milliseconds()) }

// pruneOld removes the sessions that the policy does not keep.
func (r *PruneReport) pruneOld(a *app.App, l *ledger.Ledger, policy prune.Retention) error {
	sessions, err := l.SessionFiles(0)
	if err != nil {
		return err
	}
	var finder sessionfile.Finder
	found := map[int64]*sessionfile.Files{} // by session
	for _, v := range prune.Apply(decide.MillisOf(a.Now), sessions, policy,
		func(s ledger.SessionFile) prune.Reason {
			files, why := finder.Find(s)
			if why == "" && s.Copied && files.Named() {
				why = prune.Forked
			}
			found[s.ID] = files
			return why
		}) {
		r.add(l, v, found[v.ID])
	}
	return nil
}

// pruneChains removes all traces of the chains of a name. A protected file stays.
func (r *PruneReport) pruneChains(a *app.App, l *ledger.Ledger, name string) error {
	chains, err := app.FindChains(l, name)
	if err != nil {
		return err
	}
	sessions := map[int64][]ledger.SessionFile{}
	for _, c := range chains {
		if sessions[c.ID], err = l.SessionFiles(c.ID); err != nil {
			return err
		}
		if slices.ContainsFunc(sessions[c.ID], func(s ledger.SessionFile) bool { return s.Held }) {
			return fmt.Errorf("prune chain c%d: %w", c.ID, ledger.ErrInUse)
		}
	}
	for _, c := range chains {
		if err := r.pruneChain(a, l, c, sessions[c.ID]); err != nil {
			return err
		}
	}
	return nil
}

func (r *PruneReport) pruneChain(a *app.App, l *ledger.Ledger, c ledger.ChainName,
	sessions []ledger.SessionFile) error {
	stored, err := inStore(a, l, c, "prune", func(ctx context.Context,
		remote ledger.Remote) (int64, error) {
		return remote.Forget(ctx, c, decide.MillisOf(a.Now), r.DryRun)
	})
	if err != nil {
		return err
	}
	r.Stored += stored
	var finder sessionfile.Finder
	for _, s := range sessions {
		v := prune.Verdict{SessionFile: s, Remove: true, Reasons: []prune.Reason{prune.Chosen}}
		files, why := finder.Find(s)
		if why != "" {
			v.Remove, v.Reasons[0] = false, why
		}
		r.add(l, v, files)
	}
	gone, err := l.Forget(c, r.DryRun)
	if err != nil {
		return err
	}
	r.Chains, r.Calls = r.Chains+1, r.Calls+gone.Calls
	if r.DryRun {
		return nil
	}
	path, err := config.LogFile(a.Own)
	if err != nil {
		return err
	}
	_, err = shim.ForgetInLog(path, c)
	return err
}

// add removes a session if it is to be, and reports it.
func (r *PruneReport) add(l *ledger.Ledger, v prune.Verdict, files *sessionfile.Files) {
	s := prunedSession{Chain: v.Chain, Tool: v.Tool, Session: v.NativeID, File: v.File,
		LastUsed: v.LastUsed.Time(), Remove: v.Remove, Reasons: v.Reasons}
	if v.Remove {
		bytes := files.Bytes()
		s.Bytes = &bytes
		var err error
		if !r.DryRun {
			err = removeSession(l, files)
		}
		if err == nil {
			r.Removed, r.Bytes = r.Removed+1, r.Bytes+bytes
		} else {
			r.Failed, s.Error = r.Failed+1, err.Error()
		}
	}
	r.Sessions = append(r.Sessions, s)
}

// removeSession removes a session's files. Before that, it marks the session as not
// resumable; afterwards, as gone.
func removeSession(l *ledger.Ledger, files *sessionfile.Files) error {
	free, err := l.Retire(files.Session)
	if err != nil {
		return err
	}
	if !free {
		return errors.New("remove session: it has come into use")
	}
	if err := files.Remove(); err != nil {
		return err
	}
	return l.Pruned(files.Session.ID)
}

func printPrune(a *app.App, r PruneReport) {
	if len(r.Sessions) > 0 {
		t := view.NewFoldedTable("CHAIN", "TOOL", "SESSION", "USED", "SIZE", "VERDICT", "WHY")
		for _, s := range r.Sessions {
			freed, verb := view.Cell{Human: "-", Right: true}, view.TextCell("keep")
			if s.Remove {
				verb = view.TextCell("remove")
				freed.Human, freed.Raw = view.Size(*s.Bytes), fmt.Sprint(*s.Bytes)
			}
			why := cmp.Or(s.Error, strings.Join(view.Mapped(s.Reasons, func(r prune.Reason) string {
				return string(r)
			}), ", "))
			t.Add(view.ChainCell(s.Chain), view.TextCell(s.Tool), view.SessionCell(s.Session),
				a.WhenCell(decide.MillisOf(s.LastUsed)), freed, verb, view.TextCell(why))
		}
		t.Print(a.Stdout)
		fmt.Fprintln(a.Stdout)
	}
	printPruneSum(a, r)
}

func printPruneSum(a *app.App, r PruneReport) {
	verb := "removed"
	if r.DryRun {
		verb = "would remove"
	}
	sum := []string{fmt.Sprintf("%s %s (%s), %d kept", verb, view.Count(r.Removed, "session"),
		view.Size(r.Bytes), int64(len(r.Sessions))-r.Removed)}
	if r.Chains+r.Calls > 0 {
		sum = append(sum, fmt.Sprintf("%s %s and %s from the ledger", verb,
			view.Count(r.Chains, "chain"), view.Count(r.Calls, "call")))
	}
	if r.Stored > 0 {
		sum = append(sum, fmt.Sprintf("%s %s from the store", verb,
			view.Count(r.Stored, "session")))
	}
	a.Stdout.Notice(sum...)
}

// A PruneReport is the JSON of prune.
type PruneReport struct {
	Schema   string          `json:"schema" doc:"name of this schema"`
	DryRun   bool            `json:"dry_run" doc:"whether this was a dry run; then removed means to be removed"`
	Removed  int64           `json:"removed" doc:"sessions removed"`
	Bytes    int64           `json:"bytes" doc:"size of their files"`
	Failed   int64           `json:"failed" doc:"sessions that could not be removed"`
	Chains   int64           `json:"ledger_chains" doc:"chains removed from the ledger"`
	Calls    int64           `json:"ledger_calls" doc:"calls removed from the ledger"`
	Stored   int64           `json:"store_sessions,omitempty" doc:"of a chain, sessions removed from the store that machines share"`
	Sessions []prunedSession `json:"sessions" doc:"the checked sessions"`
}

type prunedSession struct {
	Chain    int64          `json:"chain" doc:"its chain"`
	Tool     string         `json:"tool" doc:"name of the tool"`
	Session  string         `json:"session" doc:"the tool's own ID"`
	File     string         `json:"file" doc:"path of its file"`
	LastUsed time.Time      `json:"last_used" doc:"when it was last used"`
	Remove   bool           `json:"remove" doc:"whether it is removed"`
	Reasons  []prune.Reason `json:"reasons" doc:"why it is removed or kept"`
	Bytes    *int64         `json:"bytes" doc:"its size, null if it is kept"`
	Error    string         `json:"error,omitempty" doc:"why it could not be removed"`
}
