// Package shim carries out one call of a shimmed tool: it finds the real binary,
// and either becomes it or runs it under supervision, resumed where the ledger
// shows that the call continues an earlier one.
//
// It never prints anything of its own on the caller's stdout, and on stderr only when there is no tool to run, or if
// REPRISE_VERBOSE asks for it. It never reads configuration from the working directory.
//
// Invariant: if anything fails inside reprise before the tool has started, the real
// binary still runs, with the caller's own arguments and all of its stdin.
package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	_ "reprise/rewrite/tool" // registers the tools
	"reprise/shim/binary"
	"reprise/shim/supervise"
)

// A call is one invocation of a shim.
type call struct {
	env    Env
	name   string
	search *binary.Search
	config config.Config
	log    *log

	talk     *supervise.Conversation // where stdin is one
	tool     rewrite.Tool
	parsed   rewrite.Call
	stdin    supervise.Source
	ledger   *ledger.Ledger
	shared   *sharedBook // nil if other machines cannot go on with the session
	unshared string      // why not, although there is a store
	real     binary.Program

	known ledger.Binary // the facts about the real one
	rule  config.Match
	unset []string // variables that are removed from the tool's environment

	decision decide.Decision
	ticket   *ledger.Ticket
	record   *ledger.Call
	started  time.Time
	early    *early           // nil unless turns of a conversation were recorded before the tool's end
	signals  *supervise.Inbox // for the tool
	files    []leftFile       // of the project, once looked for
	copied   string           // the file of the copy that the shim has written for the run, "" if there is none

	facts   decide.Fingerprints // that a scout was started with
	preview bool                // only explain: record nothing, run nothing
	failed  error               // the last failure inside reprise

	ledgerTime time.Duration // that the ledger has taken before the tool's start
	slow       bool          // the ledger has taken too long
	spoke      bool          // the tool has printed something
	asking     atomic.Int32  // above 0 while git is asked
}

func newCall(env Env) *call {
	c := &call{
		env: env, started: env.Now(), name: toolName(env), log: &log{}, signals: supervise.NewInbox(), stdin: &supervise.Staged{From: env.Stdin},
	}
	c.search = binary.NewSearch(c.name, env.Args, env.Environ, env.Stderr, func(what string, err error) { c.log.fault(what, err) })
	return c
}

// toolName returns the name of the program as called if that is a tool's, or else the
// name of the program's file.
func toolName(env Env) string {
	if len(env.Args) > 0 {
		if name := filepath.Base(env.Args[0]); slices.Contains(rewrite.Names, name) {
			return name
		}
	}
	return filepath.Base(binary.Executable())
}

func (c *call) configure() reason.Code {
	path, err := config.ConfigFile(c.env.Own)
	if err != nil {
		return c.fault("find configuration", err)
	}
	if c.config, err = config.Load(path); err != nil {
		c.openLog()
		c.fault("read configuration", err)
		return reason.ConfigMistake
	}
	c.openLog()
	if !c.config.Enabled || !c.config.Tools[c.name].Enabled {
		return reason.Disabled
	}
	return ""
}

func (c *call) openLog() {
	if c.preview {
		return
	}
	path, err := config.LogFile(c.env.Own)
	if err != nil {
		return // there is no home directory
	}
	c.log = &log{path: path, debug: c.env.Get("REPRISE_LOG") == "debug", tool: c.name, now: c.env.Now}
}

func (c *call) openLedger() reason.Code {
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
	if c.ledger, err = inTime(c, func() (*ledger.Ledger, error) { return open(path) }); err != nil {
		return c.fault("open ledger", err)
	}
	if c.ledger.Aside != "" {
		c.log.setAside(c.ledger.Aside)
	}
	return ""
}

// openPreview opens the ledger for reading. If there is none yet, it returns an empty one in
// memory.
func openPreview(path string) (*ledger.Ledger, error) {
	l, err := ledger.OpenExisting(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ledger.OpenMemory()
	}
	return l, err
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

// fault logs a failure inside reprise and returns the reason Fault.
func (c *call) fault(what string, err error) reason.Code {
	c.log.fault(what, err)
	c.failed = fmt.Errorf("%s: %w", what, err)
	return reason.Fault
}
