// Package shim carries out one call of a shimmed tool: it finds the real binary,
// and either becomes it or runs it under supervision, resumed where the ledger
// shows that the call continues an earlier one.
//
// It never prints anything of its own on the caller's stdout, unless the user's budget stops the call, and on stderr
// only then, when there is no tool to run, or if REPRISE_VERBOSE or daily_note asks for it. It never reads
// configuration from the working directory.
//
// Invariant: if anything fails inside reprise before the tool has started, the real
// binary still runs, with the caller's own arguments and all of its stdin.
package shim

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	_ "reprise/rewrite/tool" // registers the tools
	"reprise/shim/front"
	"reprise/shim/supervise"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// A call is one invocation of a shim.
type call struct {
	env    Env
	name   string
	guard  front.Guard
	skip   string // IDs of the files that are not the real binary
	config config.Config
	log    *log

	talk     *supervise.Conversation // where stdin is one
	tool     rewrite.Tool
	parsed   rewrite.Call
	stdin    supervise.Source
	ledger   *ledger.Ledger
	shared   *sharing // nil if sessions are not shared with other machines
	unshared string   // why not, although there is a store
	real     target

	rule  config.Match
	unset []string // variables that are removed from the tool's environment

	decision decide.Decision
	ticket   *ledger.Ticket
	record   *ledger.Call
	started  time.Time
	early    *early           // nil unless turns of a conversation were recorded before the tool's end
	signals  *supervise.Inbox // for the tool
	copied   string           // the file of the copy that the shim has written for the run, "" if there is none

	facts   decide.Fingerprints // that a scout was started with
	preview bool                // only explain: record nothing, run nothing
	failed  error               // the last failure inside reprise
}

// Main carries out the call and returns its exit code. If this process becomes the real
// binary, Main does not return.
func Main(env Env) int {
	supervise.IgnoreAsCaller()
	c := newCall(env)
	if !startPoller() {
		return c.execReal(nil) // at once: opening any file would end the process
	}
	if env.Get("REPRISE_OFF") == "1" {
		return c.passthrough(reason.SwitchedOff)
	}
	if reason := c.runSteps(c.parse, c.key, c.decide); reason != "" {
		return c.passthrough(reason)
	}
	if c.parsed.Mode == rewrite.Observe {
		return c.observe()
	}
	if c.decision.Mode == rewrite.Stopped {
		return c.stop()
	}
	if c.talk != nil && c.talk.Waits {
		return c.scout()
	}
	return c.run()
}

// runSteps runs steps until one returns a reason, and returns that reason: the real binary is
// to run instead. If a step panics the reason is Fault.
func (c *call) runSteps(steps ...func() reason.Code) (reason reason.Code) {
	defer func() {
		if broken := recover(); broken != nil {
			reason = c.fault("prepare the call", fmt.Errorf("%v", broken))
		}
	}()
	for _, step := range steps {
		if reason := step(); reason != "" {
			return reason
		}
	}
	return ""
}

func newCall(env Env) *call {
	c := &call{
		env: env, started: env.Now(), name: toolName(env), log: &log{}, signals: supervise.NewInbox(), stdin: &supervise.Staged{From: env.Stdin},
	}
	c.guard = front.ReadGuard(env.Get(guardEnv), os.Getpid(), front.Self())
	c.skip = c.guard.Skip()
	return c
}

// toolName returns the name by which the program was called if that is a tool's, or else the
// name of the program's file.
func toolName(env Env) string {
	if len(env.Args) > 0 {
		if name := filepath.Base(env.Args[0]); slices.Contains(rewrite.Names, name) {
			return name
		}
	}
	return filepath.Base(executablePath())
}

// parse reads the configuration and the command line. It returns a reason if the call is not
// to be managed.
func (c *call) parse() reason.Code {
	if reason := c.configure(); reason != "" {
		return reason
	}
	var managed bool
	if c.tool, managed = rewrite.Lookup(c.name); !managed {
		return reason.NotManaged
	}
	c.parsed = c.parseAs(c.invocation())
	if c.parsed.Mode == rewrite.Passthrough {
		return c.parsed.Reason
	}
	// A tool can fail at its first write if nobody reads it (codex 0.169.0: exit code 101).
	// Behind the shim's pipe it would not.
	if front.Closed(c.env.Stdout.Fd()) || supervise.HungUp(int(c.env.Stdout.Fd())) {
		return reason.StdoutGone
	}
	return ""
}

// parseAs parses a command line, if an option is not known with what the binary's --help reveals.
func (c *call) parseAs(in rewrite.Invocation) rewrite.Call {
	parsed := c.tool.Parse(in)
	if parsed.Reason == reason.UnknownOption {
		in.Learned = c.learn()
		parsed = c.tool.Parse(in)
	}
	return parsed
}

// invocation returns the command line and what is needed to parse it.
func (c *call) invocation() rewrite.Invocation {
	return rewrite.Invocation{
		Args: c.env.Args[min(1, len(c.env.Args)):], Env: c.env.Get,
		StdinTTY:  isatty.IsTerminal(c.env.Stdin.Fd()),
		StdoutTTY: isatty.IsTerminal(c.env.Stdout.Fd()),
	}
}

func (c *call) configure() reason.Code {
	path, err := config.ConfigFile(c.env.Own)
	if err != nil {
		return c.fault("find configuration", err)
	}
	if c.config, err = config.Load(path); err != nil {
		c.openLog(config.Default().Log)
		c.fault("read configuration", err)
		return reason.ConfigMistake
	}
	c.openLog(c.config.Log)
	if !c.config.Enabled || !c.config.Tools[c.name].Enabled {
		return reason.Disabled
	}
	return ""
}

// fault logs a failure inside reprise and returns the reason Fault.
func (c *call) fault(what string, err error) reason.Code {
	c.log.fault(what, err)
	c.failed = fmt.Errorf("%s: %w", what, err)
	return reason.Fault
}

func (c *call) openLog(settings config.Log) {
	if c.preview {
		return
	}
	path, err := config.LogFile(c.env.Own)
	if err != nil {
		return // there is no home directory
	}
	if c.env.Get("REPRISE_LOG") == "debug" {
		settings.Level = config.LogDebug
	}
	c.log = newLog(path, settings, c.name, c.env.Now)
}

// target returns the real binary, and finds it on the first call.
func (c *call) target() (target, error) {
	if c.real.path != "" {
		return c.real, nil
	}
	if c.guard.Hops() >= front.MaxHops {
		return target{}, errLoop
	}
	find := resolveBehind
	if c.preview {
		find = resolve // what is skipped are shims, not what was tried
	}
	t, err := find(c.name, c.config.Tools[c.name].Path, c.env.path(), c.skip)
	if err == nil {
		c.real = t
	}
	return t, err
}

// passthrough becomes the real binary, with all of the caller's stdin. It returns only if that
// fails.
func (c *call) passthrough(why reason.Code) int {
	c.log.passthrough(why)
	c.printVerbose(rewrite.Passthrough, why)
	c.runSteps(func() reason.Code { return c.countPassed(why) })
	stdin, err := c.stdin.HandOn()
	if err != nil {
		return c.cannotRun(cmp.Or(c.failed, err)) // why it must be handed on at all, if that is a failure
	}
	if c.shared != nil && c.shared.client != nil {
		c.shared.client.Stop()
	}
	return c.execReal(stdin)
}

// Main runs in the process's first thread. An exec from another thread would lose signals that
// are pending for the first one, and a tool that another thread has started would be killed
// when that thread ends.
func init() { runtime.LockOSThread() }

// startPoller makes Go open its poller now, and reports whether that was possible. If no
// descriptors are left when Go opens it later, Go ends the process.
func startPoller() bool {
	if !spare(4) {
		return false
	}
	r, w, err := os.Pipe()
	if err != nil {
		return false
	}
	r.Close()
	w.Close()
	return true
}

// spare reports whether n more descriptors can be opened.
func spare(n int) bool {
	var got []int
	for range n {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0) // Go has opened 0 if it was closed
		if err != nil {
			break
		}
		got = append(got, fd)
	}
	for _, fd := range got {
		unix.Close(fd)
	}
	return len(got) == n
}
