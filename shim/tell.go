package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"

	"github.com/mattn/go-isatty"
)

// TellCommand is shimctl's command that runs the user's command for a budget that a job has passed.
const TellCommand = "tell-budget"

// tellEnv has the user's command. In argv other users could read it.
const tellEnv = "REPRISE_BUDGET_COMMAND"

// tellLimit is how long the user's command may run.
const tellLimit = time.Minute

// tell starts the user's command for budgets that the call's job has passed, once in each of their periods. Nothing waits for
// the command, and it has none of the caller's streams.
func (c *call) tell() reason.Code {
	command := c.rule.Budget.Command
	if command == "" || c.decision.Exceeded == "" {
		return ""
	}
	job, d := c.decision.Chain, c.decision
	if d.Mode == rewrite.Stopped {
		job = c.book().ChainHere(c.record, d)
	}
	due, err := c.ledger.ClaimTold(c.record, job, d.Reason, c.record.Limits.Budget.Passed(d.Spent))
	if err != nil {
		c.log.fault("see which budgets are to be told of", err)
	}
	for _, p := range due {
		environ := unsetEnv(c.env.Environ, nil)
		for _, entry := range [][2]string{
			{tellEnv, command}, {"REPRISE_BUDGET", p.Key}, {"REPRISE_BUDGET_USED", amount(p, p.Used)}, {"REPRISE_BUDGET_LIMIT", amount(p, p.Limit)},
			{"REPRISE_BUDGET_CHAIN", strconv.FormatInt(job, 10)}, {"REPRISE_BUDGET_TASK", c.record.Task}, {"REPRISE_BUDGET_TOOL", c.name},
			{"REPRISE_BUDGET_DIRECTORY", c.record.Cwd},
		} {
			environ = setEnv(environ, entry[0], entry[1])
		}
		if err := startShimctl(environ, TellCommand); err != nil {
			c.log.fault("start budget.command", err)
		}
	}
	return ""
}

// noteResumed prints a line on stderr, if the user allows it, after the day's first resumed call that a person made at a
// terminal. It never writes to a program.
func (c *call) noteResumed() {
	by := c.record.Caller
	if !c.config.DailyNote || c.talk != nil || c.parsed.Format != rewrite.Text || !by.Person || len(by.Processes) > 0 {
		return
	}
	for _, stream := range []*os.File{c.env.Stdin, c.env.Stdout, c.env.Stderr} {
		if !isatty.IsTerminal(stream.Fd()) {
			return
		}
	}
	due, err := c.ledger.ClaimDaily(ledger.NoteResumed, decide.MillisOf(c.env.Now()))
	if err != nil {
		c.log.fault("see whether to print the daily note", err)
	}
	if due {
		fmt.Fprintln(c.env.Stderr, "reprise: resumed an earlier session; shimctl why says more (once a day)")
	}
}

// printVerbose prints one line about the call on stderr if REPRISE_VERBOSE is 1.
func (c *call) printVerbose(mode rewrite.Mode, reason reason.Code) {
	if c.env.Get("REPRISE_VERBOSE") != "1" {
		return
	}
	unshared := c.whyUnshared()
	if unshared != "" {
		unshared = "; not shared: " + unshared
	}
	fmt.Fprintf(c.env.Stderr, "reprise: %s: %s (%s)%s\n", c.name, mode, reason, unshared)
}

// amount writes money in dollars, anything else as a number.
func amount(p decide.Passed, n int64) string {
	if p.Reason == reason.BudgetSpent {
		return strconv.FormatFloat(float64(n)/1e9, 'f', -1, 64)
	}
	return strconv.FormatInt(n, 10)
}

// TellBudget runs the user's command, in a process that nobody waits for. A failure is a line in the log.
func TellBudget(env Env) error {
	command := env.Get(tellEnv)
	// An agent that the command may call is not counted for the job that it tells of.
	environ := setEnv(unsetEnv(env.Environ, []string{tellEnv}), "REPRISE_OFF", "1")
	failed := runTold(command, environ, tellLimit)
	if failed == nil {
		return nil
	}
	c := newCall(env)
	c.name = env.Get("REPRISE_BUDGET_TOOL")
	c.configure() // it opens the log
	c.log.fault("run budget.command", failed)
	return failed
}

// runTold runs a command for so long at most, and ends what it leaves running.
func runTold(command string, environ []string, limit time.Duration) error {
	if command == "" {
		return errors.New("there is no command")
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Env, cmd.Dir = environ, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("it took longer than %s", limit)
	}
	return err
}
