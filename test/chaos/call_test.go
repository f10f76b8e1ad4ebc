package chaos

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/test/harness"
	"reprise/test/player"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// A Call is one call of a caller: its input, the way it reads, and the fate.
type Call struct {
	ID     string
	Args   []string
	Data   string // on stdin
	Sent   string // the whole prompt, as the tool assembles it
	Script player.Script
	Stdin  string
	To     harness.Target
	Blow   Blow
	Env    []string

	thread  *Thread
	message message
	world   *World
	beside  bool // other calls of its thread run at the same time
	verbose bool
	own     string // the ID that the caller chose for the session
	limit   uint64
	limitAt time.Duration
	talk    *talk // nil unless stdin is a conversation

	harness.Result
	hit  bool // the signal came before the end
	runs []player.Run
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
	c := &Call{ID: id, thread: t, world: w, message: t.next(), Stdin: "null"}
	c.line(rng)
	c.Script = w.newScript(t, rng)
	c.pickSurroundings(rng)
	c.pickSignal(rng)
	return c
}

// line generates command line and stdin.
func (c *Call) line(rng *rand.Rand) {
	t, text := c.thread, c.message.text
	c.Args = slices.Clone(lines[t.Tool][t.Format])
	if t.Format == "frames" {
		c.Sent, c.talk, c.Stdin = text, c.newTalk(text, rng), "talk"
		return
	}
	if t.Tool == "claude" || t.Tool == "gemini" || t.Tool == "qwen" {
		if rng.IntN(25) == 0 {
			c.own = uuid.NewString()
			c.Args = append(c.Args, "--session-id", c.own)
		}
	}
	if t.Way != OnStdin && (t.Tool == "copilot" || t.Tool == "gemini" || t.Tool == "qwen") ||
		t.Tool == "vibe" {
		c.Args = append(c.Args, "-p")
	}
	prompt := ""
	switch t.Way {
	case InArgs:
		prompt = text
		c.Stdin = draw(rng, []string{"null", "null", "null", "null", "null", "null", "silent",
			"closed"})
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
		c.Stdin = draw(rng, []string{"pipe", "file", "late"})
	}
	c.Sent = player.Compose(t.Tool, prompt, c.Data)
	if prompt != "" {
		c.Args = append(c.Args, prompt)
	}
}

// draw draws one of a list.
func draw[T any](rng *rand.Rand, list []T) T { return list[rng.IntN(len(list))] }

// lines are command lines without a prompt, by tool and format.
var lines = map[string]map[string][]string{
	"claude": {"text": {"-p"}, "json": {"-p", "--output-format", "json"},
		"json-verbose": {"-p", "--output-format", "json", "--verbose"},
		"stream-json":  {"-p", "--verbose", "--output-format=stream-json"},
		"frames": {"--output-format", "stream-json", "--verbose", "--input-format",
			"stream-json"}},
	"codex": {"text": {"exec", "--skip-git-repo-check"},
		"stream-json": {"exec", "--skip-git-repo-check", "--json"}},
	"copilot": {"text": nil, "silent": {"--silent", "--output-format", "text"},
		"stream-json": {"--output-format", "json"}},
	"droid": {"text": {"exec"}, "json": {"exec", "--output-format", "json"},
		"stream-json": {"exec", "--output-format", "stream-json"}},
	"gemini":   {"text": nil, "json": {"-o", "json"}, "stream-json": {"-o", "stream-json"}},
	"opencode": {"text": {"run"}, "stream-json": {"run", "--format", "json"}},
	"qwen":     {"text": nil, "json": {"-o", "json"}, "stream-json": {"-o", "stream-json"}},
	"vibe": {"text": {"--output", "text"}, "json": {"--output", "json"},
		"stream-json": {"--output", "streaming"}},
}

// refusals are how each tool can fail to resume. copilot, gemini and qwen have no locks, and report
// why; droid has none either, and refuses without a word.
var refusals = map[string][]player.Refusal{
	"claude":  {player.Unknown, player.Busy, player.OtherID, player.Silent},
	"codex":   {player.Unknown, player.Busy, player.OtherID, player.Silent},
	"copilot": {player.Unknown, player.Broken}, "droid": {player.Unknown, player.OtherID},
	"gemini":   {player.Unknown, player.Broken, player.OtherID},
	"opencode": {player.Unknown, player.Broken, player.OtherID},
	"qwen":     {player.Unknown, player.OtherID},
	"vibe": {player.Unknown, player.Busy, player.Broken,
		player.OtherID, player.Silent},
}

// newScript generates the tool's actions.
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
	s.Signal = draw(rng, []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP,
		syscall.SIGINT})
	if rng.IntN(8) == 0 {
		s.Ending = draw(rng, []player.Ending{player.Early, player.Middle, player.Limit,
			player.Status, player.Died, player.Hangs})
	}
	if rng.IntN(6) == 0 {
		ways := refusals[t.Tool]
		if (t.Tool == "gemini" || t.Tool == "qwen") && t.Format == "text" {
			ways = ways[:len(ways)-1] // no output names another ID
		}
		s.OnResume = draw(rng, ways)
	}
	switch {
	case rng.IntN(15) == 0:
		s.Huge = 100_000 + rng.IntN(2_000_000)
	case rng.IntN(25) == 0 && t.Format != "frames" && t.Format != "stream-json" &&
		t.Style != Transcript:
		s.Said[len(s.Said)-1] += strings.Repeat(" and so on", 10_000+rng.IntN(600_000))
	}
	return s
}

// readers are the ways a caller reads, sources the kinds of stdin.
var (
	readers = map[harness.Target]string{harness.Reader: "all", harness.Slow: "slow",
		harness.ToFile: "file", harness.Leaves: "head", harness.Gone: "gone",
		harness.Closed: "closed"}
	sources = map[string]harness.Source{"file": harness.File, "late": harness.Late,
		"silent": harness.Silent, "closed": harness.Shut}
	silence = map[string]time.Duration{"late": 100 * time.Millisecond,
		"silent": 1500 * time.Millisecond}
)

// pickSurroundings generates how the caller reads, and the environment.
func (c *Call) pickSurroundings(rng *rand.Rand) {
	if rng.IntN(3) == 0 && c.talk == nil {
		c.To = draw(rng, []harness.Target{harness.Slow, harness.Slow, harness.ToFile,
			harness.ToFile, harness.Leaves, harness.Leaves, harness.Gone, harness.Closed})
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
	if rng.IntN(12) == 0 && c.To != harness.ToFile { // that would be the caller's own file
		c.limit, c.limitAt = uint64(64<<10+rng.IntN(400<<10)),
			time.Duration(rng.IntN(30))*time.Millisecond
	}
}

// pickSignal generates a signal.
func (c *Call) pickSignal(rng *rand.Rand) {
	after := time.Duration(rng.IntN(250)) * time.Millisecond
	if rng.IntN(3) == 0 {
		after /= 8 // while the shim still decides
	}
	kill := Blow{
		Who: draw(rng, []string{"shim", "tool", "group", "shim"}),
		Signal: draw(rng, []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT,
			syscall.SIGHUP}),
		After: after,
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
		c.Blow = Blow{Who: kill.Who, Signal: syscall.SIGSTOP, After: after,
			Stop: time.Duration(20+rng.IntN(300)) * time.Millisecond}
	}
}

// run makes the call, and waits for the end of it and of the output.
func (c *Call) run() error {
	w := c.world
	err := c.Script.Write(w.notes(), c.ID)
	if err != nil {
		return err
	}
	made := harness.Call{Args: c.Args, Stdin: c.Data, From: sources[c.Stdin],
		Delay: silence[c.Stdin], To: c.To, Dir: c.thread.Dir, Group: true,
		Env: append([]string{player.DirEnv + "=" + w.notes(), player.CallEnv + "=" + c.ID},
			c.Env...), During: c.during, Limit: 40 * time.Second, Held: 10 * time.Second}
	if c.talk != nil {
		made.Talk = c.talk.lead
	}
	if c.Result, err = w.Do(c.thread.Tool, made); err != nil {
		return err
	}
	if c.Late {
		w.violate(c, "hangs")
	}
	if c.Kept {
		w.violate(c, "its output is still held open")
	}
	c.runs = w.runs(c.ID)
	c.waitForTool()
	return nil
}

// waitForTool waits for the tool after the shim was killed: it must end too.
func (c *Call) waitForTool() {
	ended := func() bool {
		alive := c.world.Processes()
		return !slices.ContainsFunc(c.runs, func(r player.Run) bool {
			return slices.Contains(alive, r.PID)
		})
	}
	if !harness.Until(5*time.Second, ended) {
		c.world.violate(c, "its tool outlives it")
	}
}

// during limits the size of the shim's next files, and sends the call's signal.
func (c *Call) during(pid int, ended <-chan struct{}) {
	if c.limit > 0 {
		time.AfterFunc(c.limitAt, func() { // it might have ended
			_ = unix.Prlimit(pid, unix.RLIMIT_FSIZE,
				&unix.Rlimit{Cur: c.limit, Max: unix.RLIM_INFINITY}, nil)
		})
	}
	c.sendSignal(pid, ended)
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
	_ = syscall.Kill(target, c.Blow.Signal) // the process might have ended at this moment
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

// callers reports whether the session is the caller's alone: claude alone copies a session to a
// chosen ID.
func (c *Call) callers() bool { return c.own != "" && c.thread.Tool != "claude" }

// answer returns the text that a caller takes for the answer, "" if there is none.
func (c *Call) answer() string {
	if c.State == nil || !c.State.Success() || c.Script.Ending != player.Well || c.callers() ||
		c.To != harness.Reader && c.To != harness.Slow && c.To != harness.ToFile {
		return ""
	}
	return c.Script.Said[len(c.Script.Said)-1]
}

// describe returns the facts about a call that went wrong.
func (c *Call) describe() string {
	script := c.Script
	script.Said = nil
	text, _ := json.Marshal(script)
	status := "none"
	if c.State != nil {
		status = c.State.String()
	}
	t := c.thread
	b := fmt.Sprintf("call %s of %s: %s, %s in %s, style %d, named %v, way %d, stdin %s, reader "+
		"%s, blow %+v, limit %d at %v, env %v, beside %v\nscript %s\nended with %s after "+
		"%v\nargs %.300q\n",
		c.ID, t.Key, t.Tool, t.Format, t.Dir, t.Style, t.Named, t.Way, c.Stdin, readers[c.To],
		c.Blow, c.limit, c.limitAt, c.Env, c.beside, text, status, c.Took, c.Args)
	for _, r := range c.runs {
		r.Prompt = strconv.Itoa(len(r.Prompt)) + " bytes"
		b += fmt.Sprintf("run %.900v\n", fmt.Sprintf("%+v", r))
	}
	return b + fmt.Sprintf("stdout (%d bytes) %.400q\nstderr (%d bytes) %.400q\n", len(c.Stdout),
		c.Stdout, len(c.Stderr), c.Stderr)
}
