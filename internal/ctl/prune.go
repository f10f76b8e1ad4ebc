package ctl

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/prune"
	"reprise/internal/sessionfile"
	"reprise/ledger"
	"reprise/ledger/decide"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type pruneFlags struct {
	dry, json   bool
	store       bool
	keepWithin  time.Duration
	keepLast    int
	keepHistory time.Duration
}

func pruneCommand(a *app.App) *cobra.Command {
	var f pruneFlags
	c := &cobra.Command{
		Use: "prune", Short: "remove old sessions that the shims started",
		Long: `Removes the files of sessions that the shims started and that were last used a week ago or earlier. Prints
for each session why it is kept or removed. A session that may still be needed is kept. [prune] in the
configuration says what else is kept; --keep-within or --keep-last replaces keep_within. --store also
removes from the store that machines share what was not used for three days more than max_age, as a lifecycle
rule of a bucket does by itself, and its log of calls before --keep-history.`,
		Args: app.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return runPrune(a, f, c.Flags()) },
	}
	c.Flags().BoolVarP(&f.dry, "dry-run", "n", false, "remove nothing")
	view.AddDuration(c.Flags(), &f.keepWithin, "keep-within", "keep sessions used within this `TIME`, such as 36h, 7d or 1w")
	c.Flags().IntVar(&f.keepLast, "keep-last", 0, "keep the newest `N` sessions of each chain")
	view.AddDuration(c.Flags(), &f.keepHistory, "keep-history", "also remove chains and calls last used longer ago than `TIME` from the ledger")
	c.Flags().BoolVar(&f.store, "store", false, "also prune the store that machines share")
	app.JSONFlag(c, &f.json, "shimctl.prune/1")
	return c
}

func runPrune(a *app.App, f pruneFlags, given *pflag.FlagSet) error {
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	policy, err := prunePolicy(cfg, f, given)
	if err != nil {
		return err
	}
	history := f.keepHistory
	if !given.Changed("keep-history") {
		history = cfg.Prune.KeepHistory
	}
	p := pruning{app: a, dry: f.dry, found: map[int64]*sessionfile.Files{}}
	if err := p.local(policy, history); err != nil {
		return err
	}
	var failed error
	if f.store {
		p.store, failed = pruneStore(a, cfg, history, f.dry)
	}
	if err := errors.Join(printPrune(a, p, f.json), failed); err != nil {
		return err
	}
	if p.failed > 0 {
		return fmt.Errorf("remove sessions: %s could not be removed", view.Count(p.failed, "session"))
	}
	return nil
}

func prunePolicy(cfg config.Config, f pruneFlags, given *pflag.FlagSet) (prune.Policy, error) {
	if given.Changed("keep-within") && f.keepWithin <= 0 || given.Changed("keep-history") && f.keepHistory <= 0 || f.keepLast < 0 {
		return prune.Policy{}, app.Usage("what is kept must be more than nothing", view.DurationHint)
	}
	ttl, maxAge := cfg.Longest()
	p := prune.Policy{TTL: inMillis(ttl), MaxAge: inMillis(maxAge)}
	if given.Changed("keep-within") || given.Changed("keep-last") {
		p.KeepWithin, p.KeepLast = inMillis(f.keepWithin), f.keepLast
	} else {
		p.KeepWithin = inMillis(cfg.Prune.KeepWithin)
	}
	if err := p.Check(); err != nil {
		return p, app.Usage(err.Error(), "shimctl forget CHAIN --sessions removes a chain with its sessions")
	}
	return p, nil
}

func inMillis(d time.Duration) decide.Millis { return decide.Millis(d.Milliseconds()) }

// A pruning is what prune did, or would do.
type pruning struct {
	app            *app.App
	ledger         *ledger.Ledger
	dry            bool
	finder         sessionfile.Finder
	found          map[int64]*sessionfile.Files // by session
	verdicts       []verdict
	removed, bytes int64
	failed         int64
	chains, calls  int64 // removed from the ledger
	store          *storePruning
}

// A verdict says what was done with one session.
type verdict struct {
	prune.Verdict
	bytes int64
	err   error
}

// local prunes what this machine has. A missing ledger counts as empty.
func (p *pruning) local(policy prune.Policy, history time.Duration) error {
	l, err := p.app.OpenLedger()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer l.Close()
	p.ledger = l
	if err := p.sessions(policy); err != nil {
		return err
	}
	if history > 0 {
		before := decide.Millis(p.app.Now.Add(-history).UnixMilli())
		p.chains, p.calls, err = l.DropBefore(before, p.dry)
	}
	return err
}

func (p *pruning) sessions(policy prune.Policy) error {
	files, err := p.ledger.SessionFiles(0)
	if err != nil {
		return err
	}
	for _, v := range prune.Apply(decide.Millis(p.app.Now.UnixMilli()), files, policy, p.look) {
		p.verdicts = append(p.verdicts, p.carryOut(verdict{Verdict: v}))
	}
	return nil
}

func (p *pruning) look(s ledger.SessionFile) prune.Reason {
	files, why := p.finder.Find(s)
	p.found[s.ID] = files
	return why
}

func (p *pruning) carryOut(v verdict) verdict {
	if !v.Remove {
		return v
	}
	files := p.found[v.ID]
	v.bytes = files.Bytes()
	if !p.dry {
		if v.err = removeSession(p.ledger, v.SessionFile, files); v.err != nil {
			p.failed++
			return v
		}
	}
	p.removed++
	p.bytes += v.bytes
	return v
}

// removeSession removes a session's files. Before that, it marks the session as not
// resumable; afterwards, as gone.
func removeSession(l *ledger.Ledger, s ledger.SessionFile, files *sessionfile.Files) error {
	free, err := l.Retire(s)
	if err != nil {
		return err
	}
	if !free {
		return errors.New("remove session: it has come into use")
	}
	if err := files.Remove(); err != nil {
		return err
	}
	return l.Pruned(s.ID)
}

func printPrune(a *app.App, p pruning, asJSON bool) error {
	if asJSON {
		return a.Stdout.PrintJSON(pruneJSON(p))
	}
	if len(p.verdicts) > 0 {
		t := view.NewFoldedTable("CHAIN", "TOOL", "SESSION", "USED", "SIZE", "VERDICT", "WHY")
		for _, v := range p.verdicts {
			freed, verb := view.Cell{Human: "-", Right: true}, view.TextCell("keep").As(view.Dim)
			if v.Remove {
				freed, verb = view.SizeCell(v.bytes), view.TextCell("remove")
			}
			t.Add(view.IDCell(v.Chain), view.TextCell(v.Tool), view.SessionCell(v.NativeID), a.WhenCell(v.LastUsed), freed, verb, view.TextCell(v.why()))
		}
		t.Print(a.Stdout)
		fmt.Fprintln(a.Stdout)
	}
	kept := int64(len(p.verdicts)) - p.removed
	verb := "removed"
	if p.dry {
		verb = "would remove"
	}
	sum := []string{fmt.Sprintf("%s %s (%s), %d kept", verb, view.Count(p.removed, "session"), view.Size(p.bytes), kept)}
	if p.chains+p.calls > 0 {
		sum = append(sum, fmt.Sprintf("%s %s and %s from the ledger", verb, view.Count(p.chains, "chain"), view.Count(p.calls, "call")))
	}
	if p.store != nil {
		sum = append(sum, verb+" "+p.store.words())
	}
	a.Stdout.Sentences("SUM", view.Plain, sum...)
	return nil
}

func (v verdict) why() string {
	if v.err != nil {
		return v.err.Error()
	}
	words := make([]string, len(v.Reasons))
	for i, r := range v.Reasons {
		words[i] = string(r)
	}
	return strings.Join(words, ", ")
}

type pruneReport struct {
	Schema   string           `json:"schema" doc:"name of this schema"`
	DryRun   bool             `json:"dry_run" doc:"whether this was a dry run; then removed means to be removed"`
	Removed  int64            `json:"removed" doc:"sessions removed"`
	Bytes    int64            `json:"bytes" doc:"size of their files"`
	Failed   int64            `json:"failed" doc:"sessions that could not be removed"`
	Chains   int64            `json:"ledger_chains" doc:"chains removed from the ledger"`
	Calls    int64            `json:"ledger_calls" doc:"calls removed from the ledger"`
	Store    *storePruning    `json:"store,omitempty" doc:"with --store, what was removed from it"`
	Sessions []prunedSessions `json:"sessions" doc:"the checked sessions"`
}

type prunedSessions struct {
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

func pruneJSON(p pruning) pruneReport {
	r := pruneReport{Schema: "shimctl.prune/1", DryRun: p.dry, Removed: p.removed, Bytes: p.bytes, Failed: p.failed,
		Chains: p.chains, Calls: p.calls, Store: p.store, Sessions: []prunedSessions{}}
	for _, v := range p.verdicts {
		s := prunedSessions{Chain: v.Chain, Tool: v.Tool, Session: v.NativeID, File: v.File, LastUsed: v.LastUsed.Time(),
			Remove: v.Remove, Reasons: v.Reasons}
		if v.Remove {
			s.Bytes = &v.bytes
		}
		if v.err != nil {
			s.Error = v.err.Error()
		}
		r.Sessions = append(r.Sessions, s)
	}
	return r
}
