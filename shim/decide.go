package shim

import (
	"errors"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim/caller"
	"reprise/shim/git"
)

// LeastIdentical is how long, in bytes, the prompt of an unnamed job must be to identify it, so
// also for identical = "resume" to apply to a repeated one.
const LeastIdentical = 200

// minEvident is how long, in bytes, the prompt must be if there is evidence that the call continues
// the job.
const minEvident = 24

// LeastBase returns how long, in bytes, the prompt of a job that nothing names must be for a later
// call to continue it.
func LeastBase(p config.Policy) int {
	return decide.Limits{MinBase: LeastIdentical, MinEvident: minEvident,
		Unnamed: p.Unnamed}.LeastBase()
}

// decided is the decision on a call, and the facts it was made of.
type decided struct {
	*found
	line     rewrite.CommandLine // with the facts that stdin has added
	rule     config.Match
	unset    []string // variables that are removed from the tool's environment
	record   *ledger.Call
	decision decide.Decision
	ticket   *ledger.Ticket // nil until the call is recorded
}

// newRecord returns the call for the ledger, without the prompt.
func (f *found) newRecord(at time.Time) *ledger.Call {
	return &ledger.Call{
		Record: ledger.Record{Tool: f.name, Cwd: f.cwd, Format: f.line.Format},
		Request: decide.Request{
			Now: decide.MillisOf(at), NoResume: f.line.NoResume, Copies: f.line.Copies,
		},
		Home: f.home, Stored: f.sessions().Stored,
	}
}

// decideOn has the ledger decide on a prompt, and record the call.
func decideOn(f *found, line rewrite.CommandLine, text string, at time.Time) (*decided, error) {
	d, err := newDecided(f, line, text, at)
	if err != nil {
		return d, err
	}
	switch err := d.begin(); {
	case ledger.IsLocked(err): // the tool runs unchanged, and the call is recorded when it ends
		why := passOf(d.fault("record call", err)).why
		return d.unchanged(why, d.ledger.ObserveLate(d.record, why, len(text))), nil
	case err != nil:
		return d, d.fault("record call", err)
	}
	d.log.decided(d.decision, d.record)
	return d, nil
}

// newDecided returns all facts of a decision: the prompt in blocks, the effects of the rules, and
// the guards.
func newDecided(f *found, line rewrite.CommandLine, text string, at time.Time) (*decided, error) {
	if prompt.HasTooManyBlocks(text) {
		return nil, reason.StdinTooBig
	}
	d := &decided{found: f, line: line, record: f.newRecord(at),
		unset: f.config.Tools[f.name].UnsetEnv}
	d.record.Prompt, d.record.Caller = prompt.New(text, f.book.key()), caller.Find()
	d.matchRules()
	if f.env.Get("REPRISE_FRESH") == "1" {
		d.record.Fresh = reason.ForcedFresh
	}
	f.book.keepHere(d.record)
	d.addGuards()
	return d, nil
}

// observed returns the record of a call with a session that the caller manages.
func (f *found) observed() (*decided, error) {
	d := &decided{found: f, line: f.line, record: f.newRecord(f.started)}
	ticket, err := inTime(f.ledger, func() (*ledger.Ticket, error) {
		return f.ledger.Observe(d.record, f.line.Reason, f.line.SessionID, len(f.line.Prompt))
	})
	if err != nil {
		return d, f.fault("record call", err)
	}
	return d.unchanged(f.line.Reason, ticket), nil
}

// unchanged returns the decision that the tool runs as the caller wrote it. In any format, the
// output is shown as it is.
func (d *decided) unchanged(why reason.Code, ticket *ledger.Ticket) *decided {
	o := *d
	o.decision, o.ticket, o.unset = decide.Decision{Mode: rewrite.Observe, Reason: why}, ticket, nil
	o.line.Format = rewrite.StreamJSON
	return &o
}

const (
	busyLimit = 30 * time.Second      // a call waits for a busy session at most
	busyPause = 50 * time.Millisecond // between two looks at a busy session
	// a conversation is recorded within this time, but on a very busy machine
	recordLimit = 500 * time.Millisecond
)

// begin has the ledger decide and record the call. It waits for a busy session if the rule says so,
// and for a moment if an earlier conversation seems to be unrecorded yet: a caller can make the
// next call as soon as it has the answer. Meanwhile a signal ends the shim, as it would end the
// tool.
func (d *decided) begin() (err error) {
	until, recorded := d.started, d.env.Now().Add(recordLimit)
	if d.rule.Busy == config.BusyWait && !d.input.waits() {
		until = until.Add(busyLimit)
	}
	for {
		now := d.env.Now()
		d.record.Wait, d.record.WaitForRecord = now.Before(until), d.input.talk != nil &&
			d.line.Copies && now.Before(recorded)
		d.decision, d.ticket, err = d.book.begin(d.record)
		if !errors.Is(err, ledger.ErrHeld) {
			return err
		}
		time.Sleep(busyPause)
		d.record.Now = decide.MillisOf(d.env.Now())
	}
}

// matchRules applies the first rule that matches the call, with the tool's limits.
func (d *decided) matchRules() {
	r := d.record
	d.rule = d.config.Match(config.Subject{
		Tool: d.name, Cwd: d.cwd, Env: d.env.Get, Args: argsForRules(d.line), Prompt: r.Prompt.Text,
		Run: r.Caller.Run().Identity(), Digest: d.book.key().Name,
	})
	apply(d.rule, d.config, r)
	// Only a copy can have an ID that the caller chooses.
	if d.rule.NoCopies && d.tool.Descriptor().RoutedBySession && d.line.ChosenID == "" {
		d.line.Copies, r.Copies = false, false
	}
	r.MayKeepHour = d.rule.KeepHour && d.line.HourCache != ""
	r.Limits.WholePrompt = r.Limits.WholePrompt || d.line.KeepPrompt
	r.HookSet = d.line.HookSet
	if d.rule.Busy == config.BusyFork {
		r.ForkPoint = d.sessions().ForkPoint
	}
}

// argsForRules returns the command line without the prompt, for which rules have a pattern of
// its own.
func argsForRules(parsed rewrite.CommandLine) []string {
	return slices.DeleteFunc(slices.Clone(parsed.Args), func(arg string) bool {
		return parsed.Prompt != "" &&
			(arg == parsed.Prompt || strings.HasSuffix(arg, "="+parsed.Prompt))
	})
}

// addGuards adds to the record the facts that must be equal between a session and a call that
// resumes it, the working directory's place in the repository's history, and the questions that the
// decision can ask.
func (d *decided) addGuards() {
	r, project := d.record, d.project()
	r.Fingerprints = d.fingerprints(d.line, d.unset, r.Task != "")
	r.Revision = d.revision()
	r.Project = git.Root(d.cwd)
	r.Sends = func(decision decide.Decision) (int, reason.Code) {
		plan := newTarget(r.Prompt, decision).Plan(d.line)
		return len(plan.Prompt), plan.WholeReason
	}
	r.History = func(commit string) error {
		return askGit(d.ledger, func() error {
			return git.History(d.cwd, commit, r.Revision.Head, d.env.Environ)
		})
	}
	r.WorkGone = func(left, commit string) bool {
		return askGit(d.ledger, func() bool { return project.Gone(left, commit) })
	}
	r.FindWork = func(left, id string) string {
		return askGit(d.ledger, func() string { return project.Find(left, id) })
	}
	r.Tree = func() string {
		return askGit(d.ledger, func() string { return git.Tree(d.cwd, d.env.Environ) })
	}
}

// apply copies the settings of a rule into the ledger's call.
func apply(m config.Match, c config.Config, r *ledger.Call) {
	r.Rule, r.Scope, r.Task, r.Role, r.Attempt = m.Name, m.Scope, m.Task, m.Role, m.Attempt
	r.Captured = m.Captured
	r.Never, r.Strict, r.Resets, r.StartFrom = m.Never, m.Strict, m.Resets, m.StartFrom
	if m.Fresh {
		r.Fresh = reason.ContextReset
	}
	r.Prompt.Again = SentAgain(r.Tool, m.Keep())
	r.Limits = decide.Limits{
		TTL: decide.Millis(m.TTL.Milliseconds()), MaxAge: decide.Millis(m.MaxAge.Milliseconds()),
		ContextShare: c.ContextLimit, MinBase: LeastIdentical, MinEvident: minEvident,
		Unnamed:      m.Unnamed,
		ResumeSame:   m.ResumeSame,
		Unrelated:    m.Unrelated,
		WholePrompt:  m.WholePrompt,
		HoldOut:      1 - m.Rollout,
		ResumeDearer: m.ResumeDearer,
	}
}

// SentAgain returns a function that reports whether a part of the prompt must be sent again: a
// rule says so, or the tool acts on some word in it on every turn.
func SentAgain(name string, keep func(string) bool) func(string) bool {
	tool, known := rewrite.Lookup(name)
	return func(text string) bool {
		return known && tool.ActsOn(text) || keep != nil && keep(text)
	}
}
