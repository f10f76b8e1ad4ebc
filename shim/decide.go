package shim

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/rewrite"
)

// UnknownWindow is the context window that is assumed where a tool does not tell
// its own, in tokens.
const UnknownWindow = 200_000

// minBase is how much text an unnamed job must have, in bytes, for its prompt to
// tell it from another.
const minBase = 200

// minEvident is the same where there is evidence that the call goes on with the job: enough to be no mere word.
const minEvident = 24

// key opens the ledger and gathers what says where the call belongs: the tool, and
// where it works.
func (c *call) key() rewrite.Reason {
	if _, err := c.target(); err != nil {
		return rewrite.Fault // passthrough finds the same, and says it
	}
	if reason := c.openLedger(); reason != "" {
		return reason
	}
	cwd, err := workingDir(c.parsed.Dir)
	if err != nil {
		return c.fault("find working directory", err)
	}
	if c.parsed.Mode == rewrite.Fresh {
		if reason := c.checkFiles(); reason != "" {
			return reason
		}
		c.parsed = c.tool.ResolveWithEnv(c.parsed, c.surroundings(cwd))
	}
	if c.parsed.Mode == rewrite.Passthrough {
		return c.parsed.Reason
	}
	c.record = &ledger.Call{
		Tool: c.name, Cwd: cwd, Home: canonical(c.parsed.Home), Format: c.parsed.Format,
		Now: millis(c.started), NoResume: c.parsed.NoResume, Copies: c.parsed.Copies, File: fileState,
	}
	return ""
}

func (c *call) openLedger() rewrite.Reason {
	if c.ledger != nil {
		return ""
	}
	path, err := config.LedgerFile(c.env.Own)
	if err != nil {
		return c.fault("find ledger", err)
	}
	open := ledger.Open
	if c.preview {
		open = openPreview
	}
	if c.ledger, err = open(path); err != nil {
		return c.fault("open ledger", err)
	}
	return ""
}

// surroundings reads the settings files that the call asks for, and finds out which
// version of the tool it is for.
func (c *call) surroundings(cwd string) rewrite.HostEnv {
	s := rewrite.HostEnv{Version: c.real.version(), Settings: map[string]string{}, Dirs: projectDirs(cwd)}
	for _, path := range c.parsed.SettingsFiles {
		if text, err := readRegular(path, maxSize(path)); err == nil {
			s.Settings[path] = text
		}
	}
	return s
}

// decide reads the prompt and lets the ledger say what becomes of the call.
func (c *call) decide() rewrite.Reason {
	if c.parsed.Mode == rewrite.Observe {
		return "" // its session is the caller's
	}
	reason := c.readPrompt()
	if reason == rewrite.StdinOpen && c.talk != nil {
		return c.parsed.NoScout // "": decided when the prompt is there
	}
	if reason != "" {
		return reason
	}
	if err := c.begin(); err != nil {
		return c.fault("record call", err)
	}
	c.log.decided(c.decision, c.record)
	return ""
}

// busyPause is how often a session that is waited for is looked at.
const busyPause = 50 * time.Millisecond

// begin has the ledger decide, once the session is free where the rule says to wait
// for that. A signal meanwhile ends us as it would the tool.
func (c *call) begin() (err error) {
	until := c.started
	if c.rule.Busy == config.BusyWait && (c.talk == nil || !c.talk.waits) {
		until = until.Add(c.rule.BusyLimit)
	}
	for {
		c.record.Wait = c.env.Now().Before(until)
		if c.decision, c.ticket, err = c.ledger.Begin(c.record); !errors.Is(err, ledger.ErrHeld) {
			return err
		}
		time.Sleep(busyPause)
		c.record.Now = millis(c.env.Now())
	}
}

// readPrompt puts the prompt together as the tool would.
func (c *call) readPrompt() rewrite.Reason {
	if c.parsed.Stdin == rewrite.StdinFrames {
		return c.readOpening()
	}
	var reason rewrite.Reason
	var err error
	if c.stdin, reason, err = stage(c.env.Stdin, c.parsed.Stdin); err != nil {
		return c.fault("read stdin", err)
	}
	if reason != "" {
		return reason
	}
	text := c.tool.EffectivePrompt(c.parsed, c.stdin.data)
	if strings.TrimSpace(text) == "" {
		return rewrite.BadUsage
	}
	if c.parsed.Stdin == rewrite.StdinPrompt && rewrite.IsSlashCommand(text) {
		return rewrite.SlashCommand
	}
	c.record.Prompt = rewrite.NewPrompt(text, c.ledger.Key())
	return c.matchRules()
}

// readOpening reads a conversation up to its first message, which is the prompt.
func (c *call) readOpening() (reason rewrite.Reason) {
	if c.talk == nil {
		c.talk = newConversation(c.env.Stdin)
		if reason, err := c.talk.open(); err != nil {
			return c.fault("read stdin", err)
		} else if reason != "" {
			return reason
		}
	}
	var text string
	if c.parsed, text, reason = c.parsed.Opened(c.talk.opening()); reason != "" {
		return reason
	}
	c.record.Prompt = rewrite.NewPrompt(text, c.ledger.Key())
	return c.matchRules()
}

// matchRules finds the rule that holds for the call, and lets it say which job the
// call belongs to.
func (c *call) matchRules() rewrite.Reason {
	c.rule = c.config.Match(config.Subject{
		Tool: c.name, Cwd: c.record.Cwd, Env: c.env.Get, Args: withoutPrompt(c.parsed), Prompt: c.record.Prompt.Text,
		Digest: c.ledger.Key().Name,
	})
	apply(c.rule, c.config, c.record)
	c.record.Limits.WholePrompt = c.record.Limits.WholePrompt || c.parsed.KeepPrompt
	if c.rule.Busy == config.BusyFork {
		c.record.ForkPoint = c.forkPoint
	}
	if c.env.Get("REPRISE_FRESH") == "1" {
		c.record.Fresh = rewrite.ForcedFresh
	}
	c.unset = slices.Concat(c.config.Tools[c.name].UnsetEnv, c.rule.UnsetEnv)
	c.guards()
	return ""
}

// withoutPrompt returns the command line without the prompt, which has patterns of
// its own.
func withoutPrompt(parsed rewrite.Call) []string {
	return slices.DeleteFunc(slices.Clone(parsed.Args), func(arg string) bool {
		return parsed.Prompt != "" && (arg == parsed.Prompt || strings.HasSuffix(arg, "="+parsed.Prompt))
	})
}

// apply writes down what a rule says of a call.
func apply(m config.Match, c config.Config, r *ledger.Call) {
	r.Rule, r.Scope, r.Task, r.Role, r.Attempt = m.Name, m.Scope, m.Task, m.Role, m.Attempt
	r.Never, r.Strict, r.Resets = m.Never, m.Strict, m.Resets
	if m.Fresh {
		r.Fresh = rewrite.ContextReset
	}
	r.Prompt.Again = sentAgain(r.Tool, m.Keep())
	r.Limits = ledger.Limits{
		TTL: ledger.Millis(m.TTL.Milliseconds()), MaxAge: ledger.Millis(m.MaxAge.Milliseconds()),
		ErrorLimit: c.ErrorLimit, ContextShare: c.ContextLimit,
		MinBase: minBase, MinEvident: minEvident, UnknownWindow: UnknownWindow,
		Unnamed:      ledger.Unnamed(m.Unnamed),
		ResumeSame:   m.Identical == config.IdenticalResume,
		WholePrompt:  m.Delta == config.DeltaOff,
		HoldOut:      1 - m.Rollout,
		ResumeDearer: m.Dearer == config.DearerResume,
	}
}

// sentAgain returns what has a piece of the prompt sent again: a rule, or the tool, which acts on some words anew each
// time.
func sentAgain(name string, keep func(string) bool) func(string) bool {
	tool, known := rewrite.Lookup(name)
	return func(text string) bool {
		return known && tool.ActsOn(text) || keep != nil && keep(text)
	}
}

// maxTail is how much of a session's file is looked through for its last message, in
// bytes: far more than the longest line that claude 2.1.329 writes behind one.
const maxTail = 4 << 20

// forkPoint finds the last message in so much of a session's file as our last run
// left, or says why there is none. What another process writes behind that does not
// count.
func (c *call) forkPoint(path string, size int64) (message string, why rewrite.Reason) {
	if fileState(path, size) == ledger.FileGone {
		return "", rewrite.SessionGone
	}
	file, err := os.Open(path)
	if err != nil {
		return "", rewrite.SessionGone
	}
	defer file.Close()
	tail := make([]byte, min(size, maxTail))
	if _, err := file.ReadAt(tail, size-int64(len(tail))); err != nil {
		return "", rewrite.SessionMoved
	}
	if !bytes.HasSuffix(tail, []byte("\n")) {
		return "", rewrite.SessionMoved
	}
	if message = c.tool.ForkPoint(tail); message == "" {
		return "", rewrite.NoForkPoint
	}
	return message, ""
}
