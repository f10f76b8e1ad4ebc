package shim

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/supervise"

	"golang.org/x/sys/unix"
)

// startPrune starts shimctl prune once a day: of all old sessions if the configuration asks for it, else of those that
// copies have continued.
func (c *call) startPrune() {
	settings, now := c.config.Prune, c.env.Now()
	what, args := ledger.PruneAll, []string{"prune", "--yes"}
	if !settings.Auto {
		if settings.Superseded == 0 {
			return
		}
		what, args = ledger.PruneSuperseded, []string{"prune", "--yes", "--superseded"}
	}
	due, err := c.ledger.ClaimDaily(what, millis(now))
	if due && err == nil && !settings.Auto {
		due, err = c.ledger.HasSuperseded(millis(now.Add(-settings.Superseded)))
	}
	if err != nil {
		c.log.fault("see whether to prune", err)
	}
	if !due {
		return
	}
	if err := c.startShimctl(args...); err != nil {
		c.log.fault("start prune", err)
	}
}

// startAlone starts a program without the descriptors that the caller has left open: another process
// may be waiting for their end.
func startAlone(cmd *exec.Cmd) error {
	open, _ := os.ReadDir("/dev/fd") // some systems have none
	for _, entry := range open {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd < 3 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			syscall.CloseOnExec(fd)
			defer func() { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, flags) }() // the tool inherits it
		}
	}
	return cmd.Start()
}

// pinPause is the time between two attempts to write to a locked ledger.
const pinPause = 50 * time.Millisecond

// pin records the session's ID and the tool's process while the tool runs. It writes in a
// goroutine, so that the ledger does not delay the tool's output.
func (c *call) pin(id string, pid int) {
	session := c.ticket.Session
	if session == 0 {
		return // an observed call: the caller manages the session
	}
	go func() {
		err := c.ledger.Pin(session, id, pid)
		for ; errors.Is(err, ledger.ErrLocked); err = c.ledger.Pin(session, id, pid) {
			time.Sleep(pinPause)
		}
		if err != nil {
			c.log.fault("record session id", err)
		}
		if err := c.ledger.Fold(); err != nil {
			c.log.fault("tidy up ledger", err)
		}
	}()
}

// finish records how the run ended.
func (c *call) finish(a *supervise.Attempt, st supervise.Status) {
	turns := a.Input.Talk != nil && c.ticket.Session != 0
	file, stamp := "", decide.Stamp("")
	if !turns {
		file, stamp = c.storedSession(a)
	}
	seen := *a.Stream.Seen()
	seen.Failed = seen.Failed || a.Broken || a.Prompted // what the session was sent is not known
	if a.Undelivered() != nil {                         // the session has an answer that the caller has not
		seen.Failed, seen.TurnLimit, seen.Outside = true, false, reason.Interrupted
	}
	if a.Stopped != 0 {
		seen.Outside = reason.Interrupted
	}
	// No event ends a text. gemini 0.61.0, told to end while a tool runs, exits with 0 and leaves what looks like an answer.
	seen.Failed = seen.Failed || a.Stopped != 0 && c.parsed.Format == rewrite.Text
	if a.Stopped != 0 && st != (supervise.Status{}) {
		seen.Answer, seen.Texts = "", nil // the answer is cut short, and digests of it would take time
	}
	var o ledger.Outcome
	var err error
	if turns {
		o, err = c.finishTurns(a, st, seen)
	} else {
		o = c.outcome(seen, st, a.Plan)
		o.Place = c.place(c.record.Cwd)
		o.File, o.Stamp, o.Left = file, stamp, c.leftFiles(&o, seen.Files)
		c.leaves(&o)
		err = c.finishIn(&o)
	}
	if err != nil {
		c.log.fault("record outcome", err)
	}
	c.log.done(c.decision, c.record.Rule, &o)
	a.Close()
}

// outcome returns the outcome of a run or turn, without the state of its session.
func (c *call) outcome(seen rewrite.StreamState, st supervise.Status, plan rewrite.Plan) ledger.Outcome {
	o := ledger.Outcome{
		Now: millis(c.env.Now()), Exit: st.Exit, Signal: int(st.Signal), Seen: seen, IDFormat: rewrite.StreamJSON, Sent: len(plan.Prompt), WhyWhole: plan.WhyWhole,
	}
	if c.rule.Rule != nil {
		o.Resets = c.rule.ResetBy(seen.Answer)
	}
	return o
}

// storedSession returns the file and the stamp of the session that a run has ended with. If it is a
// row, the stream reads it.
func (c *call) storedSession(a *supervise.Attempt) (file string, stamp decide.Stamp) {
	file, stamp = c.sessionFile(a.Stream.Seen().ID)
	if stamp != "" && c.tool.Descriptor().SessionQuery != "" {
		a.Unbroken(func() { a.Stream.File(file, []byte(stamp)) })
	}
	return file, stamp
}

// sessionFile returns the path of the file in which the tool keeps a session, and the session's
// present stamp, "" if there is none. If several files match a pattern, it is the last by name.
func (c *call) sessionFile(id string) (string, decide.Stamp) {
	if id == "" {
		return "", ""
	}
	err := fs.ErrNotExist
	for _, pattern := range c.tool.SessionPaths(c.record.Home, c.record.Cwd, id) {
		for _, path := range slices.Backward(sessionFiles(c.tool, matches(pattern))) {
			var stamp decide.Stamp
			if stamp, err = c.stamp(path, id); err == nil {
				return path, stamp
			}
		}
	}
	c.log.fault("find session file", err)
	return "", ""
}

// matches returns the files that match a pattern, none if the pattern is malformed. If only its
// directory part has wildcards, it does not list the directories: one may contain thousands of
// sessions.
func matches(pattern string) []string {
	dir, name := filepath.Split(pattern)
	if strings.ContainsAny(name, `*?[\`) {
		found, _ := filepath.Glob(pattern)
		return found
	}
	dirs, _ := filepath.Glob(filepath.Clean(dir))
	var found []string
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			found = append(found, path)
		}
	}
	return found
}

// countPassed counts a headless call that is passed through, for status. It never waits; if it
// cannot write, the call is not counted.
func (c *call) countPassed(reason reason.Code) reason.Code {
	tool, known := rewrite.Lookup(c.name)
	if !known {
		return ""
	}
	in := c.invocation()
	if !rewrite.Missed(tool, in, reason) {
		return ""
	}
	if c.tool == nil { // the configuration cannot be read: nothing is known of the call yet
		c.parsed = tool.Parse(in)
		if c.parsed.Mode == rewrite.Passthrough && !rewrite.Missed(tool, in, c.parsed.Reason) {
			return ""
		}
	}
	if _, err := c.target(); err != nil {
		return "" // nothing will run
	}
	path, err := config.LedgerFile(c.env.Own)
	if err != nil {
		return ""
	}
	if cwd, err := workingDir(c.parsed.Dir); err == nil {
		_ = ledger.NotePassed(path, ledger.Passed{Tool: c.name, Cwd: cwd, Reason: reason, When: millis(c.started), Detail: c.failure()})
	}
	return ""
}

// failure says where the user's configuration has its first mistake, or what else failed, "" for nothing. It holds no value
// of the configuration.
func (c *call) failure() string {
	var mistakes config.Mistakes
	switch {
	case c.failed == nil:
		return ""
	case errors.As(c.failed, &mistakes):
		return mistakes[0].Place()
	}
	return c.failed.Error()
}

// noteNoResume records that a binary does not know the resume option.
func (c *call) noteNoResume(why reason.Code) {
	if why != reason.RefusedNoResume {
		return
	}
	probe := rewrite.Probe{Known: true}
	if err := c.ledger.SetProbe(c.name, c.runtime(), probe, millis(c.env.Now())); err != nil {
		c.log.fault("keep probe", err)
	}
}
