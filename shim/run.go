package shim

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim/disk"
	"reprise/shim/supervise"
	"reprise/shim/variables"
)

// ran is a run of the tool, and how it ended.
type ran struct {
	*decided
	*supervise.Attempt
	status supervise.Status
	// turns of a conversation are recorded before the tool's end
	recording sync.WaitGroup
}

// run runs the tool as decided, and once more, fresh, if it refuses the resume.
func (d *decided) run() (*ran, error) {
	var plan rewrite.Plan
	if err := d.safely(func() error { plan = d.plan(); return nil }); err != nil {
		return nil, err
	}
	d.signals.Catch()
	mode, why := d.decision.Mode, d.decision.Reason
	copied, err := d.bringSession(plan)
	if err != nil {
		mode, why = rewrite.Fresh, passOf(err).why
		d.fallBack(why)
		plan = d.freshPlan()
	}
	d.printVerbose(mode, why)
	r, err := d.runTool(plan)
	if err != nil || r.Refused() {
		d.removeUnused(r, copied)
	}
	if err == nil && r.Refused() && r.Stopped == 0 && r.Plan.Resume != "" {
		r, err = r.runFresh()
	}
	if err == nil && r.Plan.Trial {
		r, err = r.endTrial()
	}
	return r, err
}

// observe runs a call of a session that the caller manages, or that found the ledger locked. It
// changes nothing.
func (d *decided) observe() (*ran, error) {
	d.signals.Catch()
	d.printVerbose(d.decision.Mode, d.decision.Reason)
	return d.runTool(d.asWritten())
}

// asWritten returns the caller's command line.
func (d *decided) asWritten() rewrite.Plan {
	plan := rewrite.Plan{Args: d.line.Args, Prompt: d.line.Prompt, Whole: true}
	if d.record.Prompt != nil {
		plan.Prompt = d.record.Prompt.Text
	}
	return plan
}

// plan returns the command line that carries out the decision.
func (d *decided) plan() rewrite.Plan { return d.planFor(newTarget(d.record.Prompt, d.decision)) }

// freshPlan returns the command line of a run that begins anew, after any decision.
func (d *decided) freshPlan() rewrite.Plan {
	return d.planFor(rewrite.ToFresh(d.record.Prompt.Text))
}

func (d *decided) planFor(t rewrite.Target) rewrite.Plan {
	t.NewID = d.env.NewID()
	plan := d.tool.Plan(d.line, t)
	if d.ticket != nil && d.ticket.Hour {
		plan.Env = append(plan.Env, d.line.HourCache)
	}
	if plan.Resume != "" && d.ticket != nil {
		plan.Least = d.leastFirst(len(plan.Prompt))
	}
	added := len(plan.Env) > 0 || !slices.Equal(plan.Args, d.line.Args)
	plan.Trial = plan.Resume == "" && d.input.talk == nil && !d.known.Accepts && added
	if plan.Trial {
		plan.Added = addedOptions(d.line.Args, plan.Args)
	}
	return plan
}

// addedOptions returns the long options that a command line has beside the caller's.
func addedOptions(callers, args []string) (added []string) {
	for _, arg := range args {
		if name, _, _ := strings.Cut(arg, "="); strings.HasPrefix(name, "--") &&
			!slices.Contains(callers, arg) {
			added = append(added, name)
		}
	}
	return added
}

// leastFirst returns the least number of tokens in the first request of a run that resumes the
// decision's session with a prompt of sent bytes, 0 if it is not known.
func (d *decided) leastFirst(sent int) int64 {
	first := d.ticket.FirstBefore
	if !rewrite.CountsRequests(first, len(d.record.Prompt.Text)) {
		return 0
	}
	return rewrite.LeastFirstRequest(first, d.decision.Of.ContextUsed, sent)
}

// newTarget returns the target of the decision: a fresh session, or one to be resumed or forked.
func newTarget(prompt *prompt.Prompt, d decide.Decision) rewrite.Target {
	switch {
	case d.Mode == rewrite.Fork:
		return rewrite.ToFork(d.NativeID, d.ForkAt, prompt, d.Continuity, d.Whole)
	case d.Copy:
		return rewrite.ToCopy(d.NativeID, prompt, d.Continuity, d.Whole)
	case d.Mode == rewrite.Resume:
		return rewrite.ToResume(d.NativeID, prompt, d.Continuity, d.Whole)
	}
	return rewrite.ToFresh(prompt.Text)
}

// bringSession brings the resumed session from a store, and copies it if the tool makes no copy
// itself. It returns the copy's path, and fails with a pass if the resume must be abandoned.
func (d *decided) bringSession(plan rewrite.Plan) (copied string, err error) {
	if err := d.book.restore(d.ticket, d.decision); err != nil || !plan.WriteCopy {
		return "", err
	}
	err = d.safely(func() (err error) {
		copied, err = d.sessions().Copy(plan, d.env.Now())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return reason.SessionGone
		case err != nil:
			d.log.fault("copy session", err)
			return reason.RefusedBroken
		}
		return nil
	})
	return copied, err
}

// removeUnused removes the session that a run has not taken: the copy, or a new session of an ID
// that the caller chose, which the next run could not begin again.
func (d *decided) removeUnused(r *ran, file string) {
	if r != nil && r.Stopped == 0 && (r.Plan.Resume != "" || r.Plan.Trial) &&
		d.line.ChosenID != "" {
		file, _, _ = d.sessions().Find(d.line.ChosenID)
	}
	if file == "" {
		return
	}
	if err := os.Remove(file); err != nil && !disk.IsAbsent(err) {
		d.log.fault("remove copy of session", err)
	}
}

func (d *decided) fallBack(why reason.Code) {
	d.log.refused(d.decision, why)
	var err error
	if d.ticket, err = d.book.fallBack(d.ticket, why); err != nil {
		d.log.fault("record refusal", err)
	}
}

// runFresh runs the tool once more, in a new session.
func (r *ran) runFresh() (*ran, error) {
	r.Close()
	r.fallBack(r.Refusal)
	fresh, err := r.runTool(r.freshPlan())
	if r.Refusal != reason.Forgotten || err == nil && r.lacks(fresh) {
		r.noteNoResume(r.Refusal)
	}
	return fresh, err
}

// lacks reports whether the run's first request lacked the session: with the part of the prompt
// that it left out, it is no longer than a fresh run's. A longer one was short for another reason:
// there are fewer tools now than in the runs before.
func (r *ran) lacks(fresh *ran) bool {
	short, whole := r.Stream.Seen().First, fresh.Stream.Seen().First
	left := len(fresh.Plan.Prompt) - len(r.Plan.Prompt)
	return short.Known && whole.Known && rewrite.IsForgotten(short.Prompt(), whole.Prompt(), left)
}

// endTrial records whether the binary accepts the plan's additions to the call. If the run failed
// before that was known, the call runs once more as the caller wrote it. If this run gets further,
// the binary refuses the additions.
func (r *ran) endTrial() (*ran, error) {
	if !r.Refused() || r.Stopped != 0 {
		if r.Accepted() {
			r.learnBinary(r.real.Fingerprint(), func(b *ledger.Binary) { b.Accepts = true })
		}
		return r, nil
	}
	r.Close()
	d := *r.decided
	d.unset, d.line.Format = nil, rewrite.StreamJSON // the output is shown as it is in any format
	plain, err := d.runTool(d.asWritten())
	if err == nil && (plain.status == supervise.Status{} || plain.Accepted()) {
		d.learnBinary(d.real.Fingerprint(), func(b *ledger.Binary) { b.Refuses = true })
		d.fallBack(reason.AddedRefused)
	}
	return plain, err
}

// runTool runs the tool as planned, up to its end, and then moves the caller's stdin to where the
// tool would have left it. It fails if the tool cannot be started.
func (d *decided) runTool(plan rewrite.Plan) (*ran, error) {
	in, err := d.input.ForRun(plan)
	if err != nil {
		return nil, err
	}
	defer in.Close(d.env.Stdin)
	plan, remove, err := supervise.WithScratch(plan)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := remove(); err != nil {
			d.log.fault("remove scratch directory", err)
		}
	}()
	plan.Started = d.env.Now().UnixMilli()
	r := &ran{decided: d, Attempt: supervise.New(supervise.Options{
		Plan: plan, Tool: d.tool, Fault: d.log.fault, Signals: d.signals, Input: in,
	})}
	r.FinishEarly = r.finishEarly
	if d.ticket == nil {
		r.Stream = d.tool.Stream(d.line, plan, "")
		in.Talk.Scout = r.decideOnOpening
	} else {
		r.Stream, r.Pinned = d.tool.Stream(d.line, plan, d.ticket.Totals), r.pin
	}
	defer r.sweepOrphans()()
	args := append([]string{d.env.Args[0]}, plan.Args...)
	files := [3]*os.File{in.File, d.env.Stdout, d.env.Stderr}
	r.status, err = r.Run(d.real.Path, args, d.environ(plan), files, d.config.GateTimeout)
	if err == nil && !r.Refused() && in.End > 0 {
		// The next program of the caller's group reads on where the tool would have left the file.
		if _, err := d.env.Stdin.Seek(in.End, io.SeekStart); err != nil {
			d.log.fault("move to the end of stdin", err)
		}
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (d *decided) environ(plan rewrite.Plan) []string {
	nested := fmt.Sprintf("%s:%d", d.name, os.Getpid())
	environ := variables.Set(variables.Unset(d.env.Environ, d.unset...), rewrite.NestedEnv, nested)
	environ = d.search.Guarded(environ)
	for _, entry := range plan.Env {
		name, value, _ := strings.Cut(entry, "=")
		environ = variables.Set(environ, name, value)
	}
	return environ
}

// sweepOrphans removes the orphan files of the session that the run resumes, by the decision or by
// the caller's own option, and returns a function that does so after the run.
func (r *ran) sweepOrphans() (after func()) {
	observed := r.decision.Mode == rewrite.Observe
	id := r.Plan.Resume
	switch {
	case r.Plan.WriteCopy:
		id = r.Plan.NewID
	case id == "" && observed && r.tool.ValidID(r.line.SessionID):
		id = r.line.SessionID
	}
	if r.Sweep = r.sessions().Sweeper(id); r.Sweep != nil {
		r.Sweep()
	}
	return func() {
		if id == "" && observed { // the caller has asked for the latest session
			r.Sweep = r.sessions().Sweeper(r.Stream.Seen().ID)
		}
		if r.Sweep != nil {
			r.Sweep()
		}
	}
}
