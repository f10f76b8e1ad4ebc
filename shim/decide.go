package shim

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim/caller"
	"reprise/shim/disk"
	"reprise/shim/git"
	"reprise/shim/supervise"
)

// UnknownWindow is the context window, in tokens, that is assumed if a tool does not report
// one and that of the model is not known.
const UnknownWindow = 200_000

// LeastIdentical is how long, in bytes, the prompt of an unnamed job must be to identify it, so also for identical = "resume"
// to apply to a repeated one.
const LeastIdentical = 200

// minEvident is the same if there is evidence that the call continues the job.
const minEvident = 24

// LeastBase returns how long, in bytes, the prompt of a job that nothing names must be for a later call to continue it.
func LeastBase(p config.Policy) int {
	return decide.Limits{MinBase: LeastIdentical, MinEvident: minEvident, Unnamed: decide.Unnamed(p.Unnamed)}.LeastBase()
}

// key opens the ledger and fills in the parts of the chain's key that need no prompt: tool,
// working directory and the tool's home.
func (c *call) key() reason.Code {
	if _, err := c.target(); err != nil {
		return reason.Fault // passthrough fails in the same way, and reports it
	}
	if reason := c.openLedger(); reason != "" {
		return reason
	}
	cwd, err := workingDir(c.parsed.Dir)
	if err != nil {
		return c.fault("find working directory", err)
	}
	if c.parsed.Mode == rewrite.Fresh {
		if c.search.IsWrapper() {
			return reason.Wrapper
		}
		if reason := c.checkFiles(); reason != "" {
			return reason
		}
		c.parsed = c.tool.ResolveWithEnv(c.parsed, c.hostEnv(cwd))
	}
	if c.parsed.Mode == rewrite.Passthrough {
		return c.parsed.Reason
	}
	if c.known, err = c.knownBinary(c.real.Fingerprint()); err != nil {
		return c.fault("read what is known of the binary", err)
	}
	if c.known.Refuses && c.parsed.Mode == rewrite.Fresh {
		return reason.AddedRefused
	}
	c.record = &ledger.Call{
		Record: ledger.Record{Tool: c.name, Cwd: cwd, Format: c.parsed.Format},
		Home:   disk.Canonical(c.parsed.Home), Now: decide.MillisOf(c.started), NoResume: c.parsed.NoResume, Copies: c.parsed.Copies, Stored: c.stored,
	}
	if reason := c.leaveChosen(); reason != "" {
		return reason
	}
	c.share(cwd)
	return ""
}

// leaveChosen leaves a new session to the caller that chose the ID if the tool cannot copy another one to that ID, or
// if the session is there already, which the tool refuses.
func (c *call) leaveChosen() reason.Code {
	if c.parsed.ChosenID == "" || c.parsed.Mode != rewrite.Fresh || c.parsed.Copies && !c.hasSession(c.parsed.ChosenID) {
		return ""
	}
	c.parsed.ChosenID = ""
	if c.parsed.Format == rewrite.Text {
		return reason.CallerSession
	}
	c.parsed.Mode, c.parsed.Reason = rewrite.Observe, reason.CallerSession
	return ""
}

// hostEnv reads the settings files that the call depends on, and the tool's version.
func (c *call) hostEnv(cwd string) rewrite.HostEnv {
	s := rewrite.HostEnv{Version: c.real.Version(), Settings: map[string]string{}, Dirs: git.ProjectDirs(cwd)}
	if s.Version == "" && c.tool.Descriptor().AsksVersion {
		s.Version = c.learn().Version
	}
	for _, path := range c.parsed.SettingsFiles {
		if text, err := disk.Read(path, maxSize(path)); err == nil {
			s.Settings[path] = text
		}
	}
	s.Hooks = c.hookFiles(cwd)
	return s
}

// hookFiles reads the files that can have hooks.
func (c *call) hookFiles(cwd string) (files []rewrite.HookFile) {
	found, left := directories{}, int64(maxWatchedBytes)
	for _, w := range c.parsed.HookFiles {
		paths := found.paths(w, cwd)
		for _, path := range paths {
			text, err := disk.Read(path, min(disk.MaxSettings, left))
			if disk.IsAbsent(err) {
				continue
			}
			left -= int64(len(text))
			files = append(files, rewrite.HookFile{Path: path, Text: text, Unread: err != nil})
		}
		if len(paths) >= maxWatched && strings.Contains(w.Path, "*") { // there can be more
			files = append(files, rewrite.HookFile{Path: w.Path, Unread: true})
		}
	}
	return files
}

// decide reads the prompt and has the ledger decide.
func (c *call) decide() reason.Code {
	if c.parsed.Mode == rewrite.Observe {
		return "" // the caller manages the session
	}
	why := c.readPrompt()
	if why == reason.StdinOpen && c.talk != nil {
		return c.parsed.NoScout // "": decided when the prompt is there
	}
	if why != "" {
		return why
	}
	if err := c.begin(); err != nil {
		why := c.fault("record call", err)
		if ledger.IsLocked(err) { // the tool runs unchanged, and the call is recorded when it ends
			c.parsed.Mode, c.parsed.Reason, c.unset = rewrite.Observe, why, nil
			c.ticket = c.ledger.ObserveLate(c.record, why, "", len(c.record.Prompt.Text))
			return ""
		}
		return why
	}
	c.log.decided(c.decision, c.record)
	return ""
}

const (
	busyLimit   = 30 * time.Second       // a call waits for a busy session at most
	busyPause   = 50 * time.Millisecond  // between two looks at a busy session
	recordLimit = 500 * time.Millisecond // a conversation is recorded within this time, but on a very busy machine
)

// begin has the ledger decide and record the call. If the rule says to wait for a busy session, it
// first waits; so it does for a moment if a conversation seems to follow one that is not recorded
// yet: a caller can make the next call as soon as it has the answer. A signal then ends the shim, as
// it would end the tool.
func (c *call) begin() (err error) {
	until, recorded := c.started, c.env.Now().Add(recordLimit)
	if c.rule.Busy == config.BusyWait && (c.talk == nil || !c.talk.Waits) {
		until = until.Add(busyLimit)
	}
	for {
		now := c.env.Now()
		c.record.Wait, c.record.WaitForRecord = now.Before(until), c.talk != nil && c.parsed.Copies && now.Before(recorded)
		err = c.book().begin()
		if !errors.Is(err, ledger.ErrHeld) {
			return err
		}
		time.Sleep(busyPause)
		c.record.Now = decide.MillisOf(c.env.Now())
	}
}

// mostOpened is more than the number of descriptors that are opened once stdin is being read. Without
// them the tool could not be started, and stdin could not be handed on.
const mostOpened = 20

// readPrompt reads stdin and composes the prompt as the tool does.
func (c *call) readPrompt() reason.Code {
	if c.parsed.Stdin != rewrite.StdinUnused && c.talk == nil && !spare(mostOpened) {
		return c.fault("read stdin", syscall.EMFILE)
	}
	if c.parsed.Stdin == rewrite.StdinFrames {
		return c.readOpening()
	}
	silence := c.parsed.Silence
	if c.preview && silence == rewrite.SilenceAwaited {
		silence = rewrite.SilenceFails // a preview does not wait
	}
	stdin, why, err := supervise.Stage(c.env.Stdin, c.parsed.Stdin, silence)
	c.stdin, c.parsed.Silent = stdin, stdin.Silent
	switch {
	case err != nil:
		return c.fault("read stdin", err)
	case why != "":
		return why
	}
	text := c.tool.EffectivePrompt(c.parsed, stdin.Data)
	if strings.TrimSpace(text) == "" {
		return reason.BadUsage
	}
	if c.parsed.Stdin == rewrite.StdinPrompt && prompt.IsSlashCommand(text) {
		return reason.SlashCommand
	}
	return c.takePrompt(text)
}

// takePrompt cuts the prompt into blocks, and applies the rules to it.
func (c *call) takePrompt(text string) reason.Code {
	if prompt.HasTooManyBlocks(text) {
		return reason.StdinTooBig
	}
	c.record.Prompt = prompt.New(text, c.book().key())
	return c.matchRules()
}

// readOpening reads a conversation up to the first message, which is the prompt.
func (c *call) readOpening() (reason reason.Code) {
	if c.talk == nil {
		c.talk = supervise.NewConversation(c.env.Stdin)
		c.stdin = c.talk
		if reason, err := c.talk.Open(); err != nil {
			return c.fault("read stdin", err)
		} else if reason != "" {
			return reason
		}
	}
	var text string
	if c.parsed, text, reason = c.parsed.Opened(c.talk.Opening()); reason != "" {
		return reason
	}
	return c.takePrompt(text)
}

// matchRules applies the first rule that matches the call, and computes the guards.
func (c *call) matchRules() reason.Code {
	c.record.Caller = caller.Find()
	c.rule = c.config.Match(config.Subject{
		Tool: c.name, Cwd: c.record.Cwd, Env: c.env.Get, Args: argsForRules(c.parsed), Prompt: c.record.Prompt.Text,
		Run: c.record.Caller.Run().Identity(), Digest: c.book().key().Name,
	})
	apply(c.rule, c.config, c.record)
	c.record.MayKeepHour = c.rule.KeepHour && c.parsed.HourCache != ""
	c.record.Limits.WholePrompt = c.record.Limits.WholePrompt || c.parsed.KeepPrompt
	if c.rule.Busy == config.BusyFork {
		c.record.ForkPoint = c.forkPoint
	}
	c.record.Sends = func(d decide.Decision) (int, reason.Code) {
		t := newTarget(c.record.Prompt, d)
		text, _ := t.Prompt()
		return len(text), t.Why()
	}
	c.record.HookSet = c.parsed.HookSet
	if c.env.Get("REPRISE_FRESH") == "1" {
		c.record.Fresh = reason.ForcedFresh
	}
	c.unset = c.config.Tools[c.name].UnsetEnv
	c.guards()
	return ""
}

// argsForRules returns the command line without the prompt, for which rules have a pattern of
// its own.
func argsForRules(parsed rewrite.Call) []string {
	return slices.DeleteFunc(slices.Clone(parsed.Args), func(arg string) bool {
		return parsed.Prompt != "" && (arg == parsed.Prompt || strings.HasSuffix(arg, "="+parsed.Prompt))
	})
}

// guards computes what must be equal between a session and a call that resumes it, and the
// working directory's place in the repository's history.
func (c *call) guards() {
	r := c.record
	r.Fingerprints = c.fingerprints()
	r.Place = c.place(c.record.Cwd)
	r.Project = c.projectRoot()
	r.History = func(commit string) reason.Code {
		return askGit(c, func() reason.Code { return git.History(r.Cwd, commit, r.Place.Head, c.env.Environ) })
	}
	r.WorkGone = func(left, commit string) bool {
		return askGit(c, func() bool { return c.workGone(left, commit) })
	}
	r.FindWork = func(left, id string) string {
		return askGit(c, func() string { return c.findWork(left, id) })
	}
	r.Tree = func() string {
		return askGit(c, func() string { return git.Tree(r.Cwd, c.env.Environ) })
	}
}

// errorLimit is the number of failed runs after which a session is not resumed.
const errorLimit = 3

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
		ErrorLimit: errorLimit, ContextShare: c.ContextLimit,
		MinBase: LeastIdentical, MinEvident: minEvident, UnknownWindow: UnknownWindow,
		Unnamed:      decide.Unnamed(m.Unnamed),
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
