package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/test/player"
)

// A Call is one call of a caller: what it sends, how it reads, and what happens to it.
type Call struct {
	ID     string
	Args   []string
	Data   string // on stdin
	Sent   string // the whole prompt, as the tool assembles it
	Script player.Script
	Stdin  string
	Reader string
	Blow   Blow
	Env    []string

	thread  *Thread
	message message
	world   *World
	beside  bool // other calls of its thread run at the same time
	verbose bool
	own     bool // the caller names the session
	limit   uint64
	limitAt time.Duration
	talk    *talk // nil unless stdin is a conversation

	out, errOut bytes.Buffer
	state       *os.ProcessState
	hit         bool // the signal came before the end
	took        time.Duration
	runs        []player.Run
}

// A Blow is a signal sent at some moment.
type Blow struct {
	Who    string // shim, tool, group; "" for none
	Signal syscall.Signal
	After  time.Duration
	Stop   time.Duration // the process is stopped for this long, then continued
}

// newCall generates a thread's next call.
func (w *World) newCall(t *Thread) *Call {
	w.mu.Lock()
	w.calls++
	id := fmt.Sprintf("e%dc%d", w.Epoch, w.calls)
	w.mu.Unlock()
	rng := rand.New(rand.NewPCG(t.rng.Uint64(), t.rng.Uint64()))
	c := &Call{ID: id, thread: t, world: w, message: t.next(), Stdin: "null", Reader: "all"}
	c.line(rng)
	c.Script = w.newScript(t, rng)
	c.pickSurroundings(rng)
	c.pickSignal(rng)
	return c
}

// line generates command line and stdin.
func (c *Call) line(rng *rand.Rand) {
	t, text := c.thread, c.message.text
	if t.Format == "frames" {
		c.Args = []string{"--output-format", "stream-json", "--verbose", "--input-format", "stream-json"}
		c.Sent, c.talk, c.Stdin = text, c.newTalk(text, rng), "talk"
		return
	}
	c.Args = slices.Clone(lines[t.Tool][t.Format])
	if t.Tool == "claude" || t.Tool == "gemini" || t.Tool == "qwen" {
		if c.own = rng.IntN(25) == 0; c.own {
			c.Args = append(c.Args, "--session-id", player.NewID())
		}
	}
	if t.Way != OnStdin && (t.Tool == "copilot" || t.Tool == "gemini" || t.Tool == "qwen") || t.Tool == "vibe" {
		c.Args = append(c.Args, "-p")
	}
	prompt := ""
	switch t.Way {
	case InArgs:
		prompt = text
		c.Stdin = []string{"null", "null", "null", "null", "null", "null", "silent", "closed"}[rng.IntN(8)]
		if t.Tool == "codex" && c.Stdin == "closed" {
			c.Stdin = "null"
		}
	case OnBoth:
		prompt, c.Data, _ = strings.Cut(text, "\n\n")
		if t.Tool == "gemini" || t.Tool == "qwen" { // stdin comes first
			at := strings.LastIndex(text, "\n\n")
			prompt, c.Data = text[at+2:], text[:at]
		}
	case OnStdin:
		c.Data = text
		if t.Tool == "codex" && rng.IntN(2) == 0 {
			c.Args = append(c.Args, "-")
		}
	}
	if c.Data != "" {
		c.Stdin = []string{"pipe", "file", "late"}[rng.IntN(3)]
	}
	c.Sent = player.Compose(t.Tool, prompt, c.Data)
	if prompt != "" {
		c.Args = append(c.Args, prompt)
	}
}

// lines are command lines without a prompt, by tool and format.
var lines = map[string]map[string][]string{
	"claude": {"text": {"-p"}, "json": {"-p", "--output-format", "json"}, "json-verbose": {"-p", "--output-format", "json", "--verbose"},
		"stream-json": {"-p", "--verbose", "--output-format=stream-json"}},
	"codex":    {"text": {"exec", "--skip-git-repo-check"}, "stream-json": {"exec", "--skip-git-repo-check", "--json"}},
	"copilot":  {"text": nil, "silent": {"--silent", "--output-format", "text"}, "stream-json": {"--output-format", "json"}},
	"droid":    {"text": {"exec"}, "json": {"exec", "--output-format", "json"}, "stream-json": {"exec", "--output-format", "stream-json"}},
	"gemini":   {"text": nil, "json": {"-o", "json"}, "stream-json": {"-o", "stream-json"}},
	"opencode": {"text": {"run"}, "stream-json": {"run", "--format", "json"}},
	"qwen":     {"text": nil, "json": {"-o", "json"}, "stream-json": {"-o", "stream-json"}},
	"vibe":     {"text": {"--output", "text"}, "json": {"--output", "json"}, "stream-json": {"--output", "streaming"}},
}

// refusals are how each tool can fail to resume. copilot, gemini and qwen have no locks, and report why; droid has none
// either, and refuses without a word.
var refusals = map[string][]player.Refusal{
	"claude": {player.Unknown, player.Busy, player.OtherID, player.Silent}, "codex": {player.Unknown, player.Busy, player.OtherID, player.Silent},
	"copilot": {player.Unknown, player.Broken}, "droid": {player.Unknown, player.OtherID}, "gemini": {player.Unknown, player.Broken, player.OtherID}, "opencode": {player.Unknown, player.Broken, player.OtherID},
	"qwen": {player.Unknown, player.OtherID}, "vibe": {player.Unknown, player.Busy, player.Broken, player.OtherID, player.Silent},
}

// newScript generates what the tool does.
func (w *World) newScript(t *Thread, rng *rand.Rand) player.Script {
	s := player.Script{Said: []string{"Answer. " + w.text(rng, t.Key, 10+rng.IntN(80))}}
	for range rng.IntN(3) {
		s.Said = append([]string{"I am looking at it."}, s.Said...)
	}
	s.Hook, s.Wind = rng.IntN(3) == 0, rng.IntN(250)
	s.Lead, s.Pause = rng.IntN(60), rng.IntN(20)
	if rng.IntN(3) == 0 {
		s.Noise = "a warning of the tool's\n"
	}
	s.NoFinal = rng.IntN(8) == 0
	s.Code = 1 + rng.IntN(255)
	s.Signal = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT}[rng.IntN(4)]
	if rng.IntN(8) == 0 {
		s.Ending = []player.Ending{player.Early, player.Middle, player.Limit, player.Status, player.Died, player.Hangs}[rng.IntN(6)]
	}
	if rng.IntN(6) == 0 {
		ways := refusals[t.Tool]
		if (t.Tool == "gemini" || t.Tool == "qwen") && t.Format == "text" {
			ways = ways[:len(ways)-1] // no output names another ID
		}
		s.OnResume = ways[rng.IntN(len(ways))]
	}
	switch {
	case rng.IntN(15) == 0:
		s.Huge = 100_000 + rng.IntN(2_000_000)
	case rng.IntN(25) == 0 && t.Format != "frames" && t.Format != "stream-json" && t.Style != Transcript:
		s.Said[len(s.Said)-1] += strings.Repeat(" and so on", 10_000+rng.IntN(600_000))
	}
	return s
}

// pickSurroundings generates how the caller reads, and the environment.
func (c *Call) pickSurroundings(rng *rand.Rand) {
	if rng.IntN(3) == 0 && c.talk == nil {
		c.Reader = []string{"slow", "slow", "file", "file", "head", "head", "gone", "closed"}[rng.IntN(8)]
	}
	if rng.IntN(20) == 0 {
		c.Env = append(c.Env, "REPRISE_FRESH=1")
		c.message.fresh = true
	}
	if c.verbose = rng.IntN(2) == 0; c.verbose {
		c.Env = append(c.Env, "REPRISE_VERBOSE=1")
	}
	if rng.IntN(10) == 0 {
		c.Env = append(c.Env, "REPRISE_LOG=debug")
	}
	if c.thread.Named {
		c.Env = append(c.Env, "REPRISE_TASK="+c.thread.Job, "REPRISE_ROLE="+c.thread.Role)
	}
	if rng.IntN(12) == 0 && c.Reader != "file" { // that would be the caller's own file
		c.limit, c.limitAt = uint64(64<<10+rng.IntN(400<<10)), time.Duration(rng.IntN(30))*time.Millisecond
	}
}

// pickSignal generates a signal.
func (c *Call) pickSignal(rng *rand.Rand) {
	after := time.Duration(rng.IntN(250)) * time.Millisecond
	if rng.IntN(3) == 0 {
		after /= 8 // while the shim still decides
	}
	kill := Blow{
		Who:    []string{"shim", "tool", "group", "shim"}[rng.IntN(4)],
		Signal: []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}[rng.IntN(4)],
		After:  after,
	}
	switch n := rng.IntN(16); {
	case c.Script.Ending == player.Hangs:
		c.Blow, c.Blow.After = kill, 300*time.Millisecond+after
		if kill.Who == "tool" {
			c.Blow.Signal = syscall.SIGKILL
		}
	case n < 2:
		c.Blow = kill
	case n == 2:
		c.Blow = Blow{Who: kill.Who, Signal: syscall.SIGSTOP, After: after, Stop: time.Duration(20+rng.IntN(300)) * time.Millisecond}
	}
}

// run makes the call, and waits for its end and for the end of its output.
func (c *Call) run() error {
	w := c.world
	if err := c.Script.Write(w.notes(), c.ID); err != nil {
		return err
	}
	cmd := c.command()
	feed, err := c.stdin(cmd)
	if err != nil {
		return err
	}
	read, err := c.outputs(cmd)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go feed(ended)
	outputs := read()
	if c.limit > 0 {
		go c.restrict(cmd.Process.Pid)
	}
	struck := make(chan struct{})
	go func() {
		defer close(struck)
		c.sendSignal(cmd.Process.Pid, ended)
	}()
	err = c.wait(cmd)
	close(ended)
	<-struck
	c.state, c.took = cmd.ProcessState, time.Since(began)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	select {
	case <-outputs:
	case <-time.After(10 * time.Second):
		w.violate(c, "its output is still held open")
	}
	c.runs = w.runs(c.ID)
	c.waitForTool()
	return nil
}

// wait waits for the end with a timeout.
func (c *Call) wait(cmd *exec.Cmd) error {
	timer := time.AfterFunc(40*time.Second, func() {
		c.world.violate(c, "hangs")
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	})
	defer timer.Stop()
	return cmd.Wait()
}

// waitForTool waits for a tool whose shim was killed: it must end too.
func (c *Call) waitForTool() {
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		left := false
		for _, r := range c.runs {
			left = left || alive(r.PID)
		}
		if !left {
			return
		}
		if time.Now().After(deadline) {
			c.world.violate(c, "its tool outlives it")
			return
		}
	}
}

func (c *Call) command() *exec.Cmd {
	w := c.world
	shim := filepath.Join(w.shims, c.thread.Tool)
	redirect := ""
	if c.Stdin == "closed" {
		redirect += " <&-"
	}
	if c.Reader == "closed" {
		redirect += " >&-"
	}
	cmd := exec.Command(shim, c.Args...)
	cmd.Args[0] = c.thread.Tool
	if redirect != "" {
		cmd = exec.Command("/bin/sh", append([]string{"-c", `exec "$0" "$@"` + redirect, shim}, c.Args...)...)
	}
	cmd.Dir = w.project(c.thread.Dir)
	cmd.Env = append([]string{"HOME=" + w.home(), "XDG_CONFIG_HOME=" + filepath.Join(w.home(), ".config"),
		"XDG_STATE_HOME=" + filepath.Join(w.home(), ".local/state"), "PATH=" + w.shims + ":" + w.fakes + ":/usr/bin:/bin", "TMPDIR=" + w.tmp(),
		player.DirEnv + "=" + w.notes(), player.CallEnv + "=" + c.ID}, c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// stdin creates the command's stdin, and returns what feeds it.
func (c *Call) stdin(cmd *exec.Cmd) (feed func(ended <-chan struct{}), err error) {
	if c.Stdin == "null" || c.Stdin == "closed" {
		return func(<-chan struct{}) {}, nil
	}
	if c.Stdin == "file" {
		path := c.world.notes("scripts", c.ID+".stdin")
		if err := os.WriteFile(path, []byte(c.Data), 0o600); err != nil {
			return nil, err
		}
		f, err := os.Open(path)
		cmd.Stdin = f
		return func(<-chan struct{}) { f.Close() }, err
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdin = theirs
	if c.talk != nil {
		c.talk.in = ours
		return func(<-chan struct{}) { theirs.Close() }, nil
	}
	return func(ended <-chan struct{}) {
		theirs.Close()
		defer ours.Close()
		half := len(c.Data)
		if c.Stdin == "late" {
			half /= 2
		}
		_, _ = io.WriteString(ours, c.Data[:half]) // the process may have been killed
		if c.Stdin != "pipe" {
			select {
			case <-ended:
			case <-time.After(map[string]time.Duration{"late": 100 * time.Millisecond, "silent": 1500 * time.Millisecond}[c.Stdin]):
			}
		}
		_, _ = io.WriteString(ours, c.Data[half:])
	}, nil
}

// outputs creates stdout and stderr, and returns a function that starts reading them. The channel
// is closed when both have ended.
func (c *Call) outputs(cmd *exec.Cmd) (begin func() <-chan struct{}, err error) {
	errRead, errWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = errWrite
	var outRead, outWrite *os.File
	if c.Reader == "file" {
		outWrite, err = os.Create(c.world.notes("scripts", c.ID+".stdout"))
	} else {
		outRead, outWrite, err = os.Pipe()
	}
	if err != nil {
		return nil, err
	}
	cmd.Stdout = outWrite
	if c.Reader == "gone" {
		outRead.Close()
	}
	return func() <-chan struct{} {
		outWrite.Close()
		errWrite.Close()
		done, errDone := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(errDone)
			_, _ = io.Copy(&c.errOut, errRead)
			errRead.Close()
		}()
		go func() {
			defer close(done)
			switch {
			case c.talk != nil:
				c.talk.lead(c, outRead)
			case outRead != nil:
				c.read(outRead)
			}
			<-errDone
		}()
		return done
	}, nil
}

// read reads as the caller does.
func (c *Call) read(f *os.File) {
	defer f.Close()
	size, pause := 64<<10, time.Duration(0)
	if c.Reader == "slow" {
		size, pause = 8<<10, time.Millisecond
	}
	buf := make([]byte, size)
	for {
		n, err := f.Read(buf)
		c.out.Write(buf[:n])
		if err != nil || c.Reader == "head" && bytes.IndexByte(c.out.Bytes(), '\n') >= 0 {
			return
		}
		time.Sleep(pause)
	}
}

// restrict limits the size of the shim's next files.
func (c *Call) restrict(pid int) {
	time.Sleep(c.limitAt)
	limitFiles(pid, c.limit)
}

// sendSignal sends the call's signal.
func (c *Call) sendSignal(pid int, ended <-chan struct{}) {
	if c.Blow.Who == "" {
		return
	}
	select {
	case <-ended:
		return
	case <-time.After(c.Blow.After):
	}
	target := 0
	switch c.Blow.Who {
	case "shim":
		target = pid
	case "group":
		target = -pid
	case "tool":
		for target == 0 {
			select {
			case <-ended:
				return
			case <-time.After(5 * time.Millisecond):
			}
			if runs := c.world.runs(c.ID); len(runs) > 0 {
				target = runs[len(runs)-1].PID
			}
		}
	}
	c.hit = c.Blow.Stop == 0
	_ = syscall.Kill(target, c.Blow.Signal) // the process may have ended at this moment
	if c.Blow.Stop > 0 {
		time.Sleep(c.Blow.Stop)
		_ = syscall.Kill(target, syscall.SIGCONT) // likewise
	}
	if c.hit && c.Blow.Signal == syscall.SIGKILL && c.Blow.Who != "tool" {
		c.world.mu.Lock()
		c.world.killed = true
		c.world.mu.Unlock()
	}
}

// answer returns what a caller takes for the answer, "" if there is none.
func (c *Call) answer() string {
	if c.state == nil || !c.state.Success() || c.Script.Ending != player.Well || c.own || c.Reader != "all" && c.Reader != "slow" && c.Reader != "file" {
		return ""
	}
	return c.Script.Said[len(c.Script.Said)-1]
}

// describe returns what helps to find out what went wrong in the call.
func (c *Call) describe() string {
	script := c.Script
	script.Said = nil
	text, _ := json.Marshal(script)
	status := "none"
	if c.state != nil {
		status = c.state.String()
	}
	t := c.thread
	b := fmt.Sprintf("call %s of %s: %s, %s in %s, style %d, named %v, way %d, stdin %s, reader %s, blow %+v, limit %d at %v, env %v, beside %v\nscript %s\nended with %s after %v\nargs %.300q\n",
		c.ID, t.Key, t.Tool, t.Format, t.Dir, t.Style, t.Named, t.Way, c.Stdin, c.Reader, c.Blow, c.limit, c.limitAt, c.Env, c.beside, text, status, c.took, c.Args)
	for _, r := range c.runs {
		r.Prompt = strconv.Itoa(len(r.Prompt)) + " bytes"
		b += fmt.Sprintf("run %.900v\n", fmt.Sprintf("%+v", r))
	}
	return b + fmt.Sprintf("stdout (%d bytes) %.400q\nstderr (%d bytes) %.400q\n", c.out.Len(), c.out.String(), c.errOut.Len(), c.errOut.String())
}
