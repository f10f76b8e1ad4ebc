package harness

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"reprise/internal/standin"
	"reprise/test/toolbox"

	"github.com/creack/pty"
)

// A Call is a command line, its streams, and a signal during it.
type Call struct {
	// {id} is replaced by the world's newest session, {id1} by the session of its first call
	Args  []string
	Stdin string
	From  Source
	To    Target
	Mixed bool // stdout and stderr are one
	Env   []string
	Dir   string // below the project
	// leads a conversation: writes stdin, and reads stdout
	Talk  func(in io.WriteCloser, out io.Reader)
	Files map[string]string // put into the project before
	Home  map[string]string // likewise into the home
	// a shell script around the tool, which is $REAL in it
	Wrap string
	// a shell script around the command, which is "$0" "$@" in it
	Around string
	Signal syscall.Signal // sent to the process, 0 for none
	// likewise typed at the terminal, in place of a signal
	Typed string
	// likewise, the columns that the terminal then has
	Size   int
	Group  bool // the signal is sent to the whole process group
	At     Moment
	After  time.Duration                        // how long after that moment
	During func(pid int, ended <-chan struct{}) // other events for the process until it has ended
	// how long a pipe is silent; 0 for longer than any tool and the shim wait
	Delay time.Duration
	Limit time.Duration // when its process group is killed, 0 for never
	// how long its output can be held open after its end; 0 for a minute, and less after a signal
	Held time.Duration
}

// A Source is a kind of stdin.
type Source int

// The kinds of stdin.
const (
	Pipe   Source = iota // with the call's Stdin; the null device if that is empty
	File                 // with the call's Stdin
	Socket               // with the call's Stdin
	Late                 // a pipe to which the call's Stdin is written in two parts
	Silent               // a pipe that stays open and silent for some seconds
	Shut                 // the descriptor is closed
)

// A Target is a kind of stdout.
type Target int

// The kinds of stdout.
const (
	Reader   Target = iota // a pipe that is read to its end
	ToFile                 // a file; stderr as well
	Gone                   // a pipe without a reader
	Leaves                 // a pipe that the reader closes after the first line
	Closed                 // the descriptor is closed
	Terminal               // a pipe, but stderr is a terminal
	// one terminal for stdout and stderr, and for stdin if the call gives none
	Screen
	ScreenOut // the same, but stderr is a pipe
	Unread    // a pipe that stays open, and is not read
	Slow      // a pipe that is read slowly
)

// A Moment is when a signal is sent.
type Moment int

// When a signal can be sent.
const (
	Start  Moment = iota // as soon as the process exists
	Middle               // when the model has begun to answer
	End                  // when stdout has begun
)

// A Result is the result of a call.
type Result struct {
	Stdout, Stderr string
	Exit           int               // -1 after a signal
	Signal         syscall.Signal    // that ended it, 0 for none
	Asked          []standin.Request // the requests to the model
	// those in the project afterwards, each with its path and content
	Files       []string
	Left        int           // processes that it left behind
	First, Last time.Duration // from the start to stdout's first and last bytes
	Ended       time.Duration // from the signal to the end, 0 without one
	Took        time.Duration
	State       *os.ProcessState
	Late        bool // it was killed at its limit
	Kept        bool // its output was held open for too long
}

// settle is how long the answer's beginning can take to get through the tool.
const settle = 700 * time.Millisecond

// Run runs the world's tool.
func (w *World) Run(c Call) (Result, error) { return w.RunAs(w.Tool, c) }

// RunAs runs one of the commands that are on the world's PATH.
func (w *World) RunAs(name string, c Call) (Result, error) {
	w.running.Add(1)
	r, err := w.Do(name, c)
	last := w.running.Add(-1) == 0
	if err != nil {
		return r, err
	}
	if last { // otherwise they can belong to a concurrent call
		r.Left = w.leftovers()
	}
	r.Files, err = listing(w.Project)
	return r, err
}

// Command returns the command of a call, without its streams.
func (w *World) Command(name string, c Call) *exec.Cmd {
	cmd := w.shell(name, c)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = filepath.Join(w.Project, c.Dir),
		append(w.env[:len(w.env):len(w.env)], c.Env...), &syscall.SysProcAttr{}
	if w.User != nil {
		*cmd.SysProcAttr = *w.User
	}
	return cmd
}

// Do is RunAs without the files and the processes that are left.
func (w *World) Do(name string, c Call) (r Result, err error) {
	before := len(w.asked())
	if r, err = w.do(name, c, func() bool { return len(w.asked()) > before }); err != nil {
		return r, fmt.Errorf("run %s: %w", name, err)
	}
	r.Asked = w.asked()[before:]
	return r, nil
}

// asked returns the requests to the model so far, none in a world without one.
func (w *World) asked() []standin.Request {
	if w.Model == nil {
		return nil
	}
	return w.Model.Asked()
}

func (w *World) do(name string, c Call, asked func() bool) (r Result, err error) {
	if err := errors.Join(put(w.Project, c.Files), put(w.Home, c.Home)); err != nil {
		return r, err
	}
	if c.Wrap != "" {
		wrapper := filepath.Join(w.Root, wrapped, name)
		script := fmt.Sprintf("#!/bin/sh\nREAL=%q\n%s\n", filepath.Join(w.bin, name), c.Wrap)
		if err := toolbox.Put(wrapper, script, 0o755); err != nil {
			return r, err
		}
		defer os.RemoveAll(wrapper)
	}
	if c.Args, err = w.fill(c.Args); err != nil {
		return r, err
	}
	cmd := w.Command(name, c)
	cmd.SysProcAttr.Setpgid = c.Group
	if c.atScreen() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	}
	cmd.WaitDelay = cmp.Or(c.Held, time.Minute)
	if c.Signal != 0 {
		cmd.WaitDelay = 5 * time.Second
	}
	in, err := w.stdin(cmd, c)
	if err != nil {
		return r, err
	}
	defer in.close()
	out, err := w.outputs(cmd, c, in)
	if err != nil {
		return r, err
	}
	defer out.close()
	if err := cmd.Start(); err != nil {
		return r, err
	}
	ended, over := make(chan struct{}), make(chan struct{})
	go in.feed(ended)
	out.started()
	sent := out.befall(c, cmd.Process.Pid, asked)
	go func() {
		defer close(over)
		if c.During != nil {
			c.During(cmd.Process.Pid, ended)
		}
	}()
	var late atomic.Bool
	if c.Limit > 0 {
		defer time.AfterFunc(c.Limit, func() {
			late.Store(true)
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}).Stop()
	}
	err = cmd.Wait()
	close(ended)
	<-over
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return r, err
	}
	took := time.Since(out.begin)
	kept := !out.read(cmd.WaitDelay)
	if r, err = out.result(cmd.ProcessState); err != nil {
		return r, err
	}
	r.Took, r.State, r.Late, r.Kept = took, cmd.ProcessState, late.Load(), kept
	select {
	case at := <-sent:
		r.Ended = time.Since(at)
	default:
	}
	return r, nil
}

// put writes files below a directory.
func put(dir string, files map[string]string) error {
	for name, text := range files {
		if err := toolbox.Put(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// fill replaces the placeholders of session IDs.
func (w *World) fill(args []string) (filled []string, err error) {
	for _, arg := range args {
		for n, id := range w.ids {
			place := fmt.Sprintf("{id%d}", n+1)
			if id == "" && strings.Contains(arg, place) {
				return nil, fmt.Errorf("find the session of call %d: there was none", n+1)
			}
			arg = strings.ReplaceAll(arg, place, id)
		}
		if strings.Contains(arg, "{id}") {
			id, err := w.NewestID()
			if err != nil {
				return nil, err
			}
			arg = strings.ReplaceAll(arg, "{id}", id)
		}
		filled = append(filled, arg)
	}
	return filled, nil
}

// atScreen reports whether stdout is a terminal.
func (c Call) atScreen() bool { return c.To == Screen || c.To == ScreenOut }

// shell returns the command. A shell starts it if descriptors must be closed, or if there is a
// script around it.
func (w *World) shell(name string, c Call) *exec.Cmd {
	const itself = `exec "$0" "$@"`
	script := c.Around
	if c.From == Shut {
		script = cmp.Or(script, itself) + " <&-"
	}
	if c.To == Closed {
		script = cmp.Or(script, itself) + " >&-"
	}
	if script != "" {
		return exec.Command("bash", append([]string{"-c", script, w.Lookup(name)}, c.Args...)...)
	}
	cmd := exec.Command(w.Lookup(name), c.Args...)
	cmd.Args[0] = name
	return cmd
}

// Lookup returns the path of a command on the world's PATH, not on ours. An absolute path is its
// own.
func (w *World) Lookup(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	i := slices.IndexFunc(w.path, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	})
	return filepath.Join(w.path[max(i, 0)], name)
}

// patience is how long a tool can take to ask its model on a busy machine.
const patience = 5 * time.Minute

// befall has the call's signal, keys or size come at their moment, and returns when that was. The
// process might have ended by then.
func (o *output) befall(c Call, pid int, asked func() bool) <-chan time.Time {
	at := make(chan time.Time, 1)
	if c.Signal == 0 && c.Typed == "" && c.Size == 0 {
		return at
	}
	go func() {
		if c.At == Middle && !Until(patience, asked) || c.At == End && !Until(patience, o.begun) {
			return
		}
		if c.At == Middle {
			time.Sleep(settle)
		}
		time.Sleep(c.After)
		at <- time.Now()
		o.act(c, pid)
	}()
	return at
}

// act types at the terminal, sets its size, or sends the signal, as the call says.
func (o *output) act(c Call, pid int) {
	switch {
	case c.Typed != "":
		_, _ = io.WriteString(o.terminal, c.Typed)
	case c.Size != 0:
		_ = pty.Setsize(o.terminal, &pty.Winsize{Rows: rows, Cols: uint16(c.Size)})
	case c.Group:
		_ = syscall.Kill(-pid, c.Signal)
	default:
		_ = syscall.Kill(pid, c.Signal)
	}
}
