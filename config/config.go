// Package config knows where reprise keeps its files and reads the one file that a user can write.
//
// It reads nothing from the working directory, never writes, and does no work before it is called.
// Invariant: a Config returned without an error contains only checked values; one returned with
// an error is the zero Config: everything is disabled.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"reprise/rewrite"
	_ "reprise/rewrite/tool" // registers the tools
)

// Config is the user's configuration, with every value checked.
type Config struct {
	Enabled    bool // false: every call becomes the real binary
	Policy          // unless a rule says otherwise
	Rules      []Rule
	PresetsOff []string // names of the built-in rules that do not apply
	// share of the model's context, 0 to 1; above it a session is not resumed
	ContextLimit float64
	GateTimeout  time.Duration // how long a resumed run's output is held back at most
	Tools        map[string]Tool
	Prune        Prune
	Store        Store
}

// Policy is the settings that decide when calls are resumed, and how. A rule can make some of them
// for its calls.
type Policy struct {
	TTL        time.Duration // a session idle for longer is not resumed
	MaxAge     time.Duration // a session that began longer ago is not resumed
	Unnamed    rewrite.Unnamed
	ResumeSame bool // a call that repeats a prompt of the session is resumed
	// so is a call of a named job with another template than the session's
	Unrelated   bool
	WholePrompt bool // a resumed session is never sent only the new part
	NoCopies    bool // a session is resumed itself, not a copy of it
	Busy        Busy
	// calls are resumed although their rule's resumes have cost more than the fresh runs
	ResumeDearer bool
	// the provider is asked to keep a prompt for an hour where the pauses between calls make that
	// cheaper
	KeepHour bool
	Rollout  float64 // share of the chains that are resumed, 0 to 1
}

// Tool is the configuration of one tool.
type Tool struct {
	Enabled  bool
	Path     string   // absolute path of the real binary; empty: the next one on PATH
	UnsetEnv []string // variables that are removed for a managed run
}

// Prune selects the sessions that shimctl prune keeps.
type Prune struct {
	Auto       PruneAuto
	KeepWithin time.Duration // sessions used within this time
}

// PruneAuto says which sessions the shims remove, at most once a day.
type PruneAuto string

// The values of prune.auto.
const (
	PruneCopies PruneAuto = "copies" // sessions that copies have continued
	PruneAll    PruneAuto = "all"    // all that shimctl prune removes
	PruneOff    PruneAuto = "off"
)

// KeepSuperseded is how long a session stays that copies have continued.
const KeepSuperseded = 24 * time.Hour

// Busy is how to handle a call of a session that another process is using.
type Busy string

// The values of busy.
const (
	BusyFresh Busy = "fresh" // a separate session
	// a copy of it as the last run left it if the tool can make one, else a separate session
	BusyFork Busy = "fork"
	BusyWait Busy = "wait" // the same one, once it is free
)

// Default returns the configuration that holds without a file.
func Default() Config {
	c := Config{
		Enabled: true,
		Policy: Policy{
			TTL:     30 * time.Minute,
			MaxAge:  24 * time.Hour,
			Unnamed: rewrite.UnnamedEvidence,
			Busy:    BusyFork,
			Rollout: 1,
		},
		ContextLimit: 0.8,
		GateTimeout:  15 * time.Second,
		Tools:        map[string]Tool{},
		Prune:        Prune{Auto: PruneCopies, KeepWithin: 7 * 24 * time.Hour},
		Store:        Store{Timeout: 2 * time.Second},
	}
	for _, name := range rewrite.Names {
		c.Tools[name] = Tool{Enabled: true}
	}
	return c
}

// Load reads the configuration file at path. If there is none it returns the defaults. Errors in
// the file are returned as Mistakes.
func Load(path string) (Config, error) {
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	// only a path that starts with ~/ needs it, and reports if it is missing
	home, _ := homeDir(os.Getenv)
	return Parse(path, text, home)
}

// maxFile exceeds any real configuration. It keeps a path named by mistake from filling the memory.
const maxFile = 1 << 20

// read returns the text of a regular file. Anything else could block the call, as a named pipe
// does; only the null device is allowed, as a usual way to say "no file".
func read(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() && path != os.DevNull:
		return "", fmt.Errorf("%s: not a regular file", path)
	case info.Size() > maxFile:
		return "", fmt.Errorf("%s: larger than %d bytes", path, maxFile)
	}
	text, err := os.ReadFile(path)
	return string(text), err
}
