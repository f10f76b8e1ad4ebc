// Package config says where reprise keeps its files and reads the one file a user may write.
//
// It never reads anything from the working directory, never writes, and does no work before it is called.
// Its invariant: a Config handed out without an error holds only values that have been checked, and one
// handed out with an error is the zero Config, in which everything is disabled.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"reprise/rewrite"
)

// Config is the user's configuration, every value checked.
type Config struct {
	Enabled      bool // false: every call becomes the real binary
	Policy            // where no rule says otherwise
	Rules        []Rule
	Presets      bool          // the rules that are built in hold as well
	PresetsOff   []string      // but for those of these names
	ErrorLimit   int           // a session with more errors is not resumed
	ContextLimit float64       // share of the model's context, 0 to 1; above it a session is not resumed
	GateTimeout  time.Duration // how long a resumed run's output is held back at most
	Tools        map[string]Tool
	Log          Log
	Prune        Prune
}

// Policy is what a rule may set for its calls.
type Policy struct {
	TTL       time.Duration // a session idle for longer is not resumed
	MaxAge    time.Duration // nor one that was started longer ago
	Unnamed   Unnamed       // what a call without a name needs to be resumed
	Identical Identical
	Delta     Delta
	Busy      Busy
	BusyLimit time.Duration // how long a session is waited for at most, where Busy says so
	Dearer    Dearer
	Rollout   float64 // share of the chains that are resumed, 0 to 1
}

// Tool is what is configured for one tool.
type Tool struct {
	Enabled  bool
	Path     string   // absolute path of the real binary; empty: the next one on PATH
	UnsetEnv []string // variables that a managed run does not get
}

// Log is what is configured for the shim's log.
type Log struct {
	Level    LogLevel
	MaxBytes int64
}

// Prune is what shimctl prune keeps.
type Prune struct {
	Auto        bool          // the shims start it, at most once a day
	KeepWithin  time.Duration // sessions used within this time
	KeepLast    int           // and so many of each chain's newest
	KeepHistory time.Duration // chains and calls in the ledger; 0 for ever
}

// Unnamed is what a call whose task nothing names needs to be resumed.
type Unnamed string

// What it may need: evidence that it goes on with the session's own work, a prompt that extends the session's, or a name.
const (
	UnnamedEvidence Unnamed = "evidence"
	UnnamedExtends  Unnamed = "extends"
	UnnamedOff      Unnamed = "off"
)

// Identical says what becomes of a call whose prompt the session has been sent already.
type Identical string

const (
	IdenticalFresh  Identical = "fresh"
	IdenticalResume Identical = "resume"
)

// Delta says whether a resumed session is sent only what is new.
type Delta string

const (
	DeltaAuto Delta = "auto"
	DeltaOff  Delta = "off"
)

// Busy says what becomes of a call whose session another process is using.
type Busy string

const (
	BusyFresh Busy = "fresh" // a session of its own
	BusyFork  Busy = "fork"  // a copy of it as the last run left it, where the tool can, else one of its own
	BusyWait  Busy = "wait"  // the same one, once it is free
)

// Dearer says what becomes of a call whose rule's resumes have cost more than its fresh runs.
type Dearer string

const (
	DearerFresh  Dearer = "fresh"
	DearerResume Dearer = "resume"
)

// LogLevel says how much is written to the log.
type LogLevel string

const (
	LogInfo  LogLevel = "info"
	LogDebug LogLevel = "debug"
	LogOff   LogLevel = "off"
)

// Default is the configuration of a user who has written none.
func Default() Config {
	c := Config{
		Enabled: true,
		Policy: Policy{
			TTL:       30 * time.Minute,
			MaxAge:    24 * time.Hour,
			Identical: IdenticalFresh, Unnamed: UnnamedEvidence,
			Delta:     DeltaAuto,
			Busy:      BusyFork,
			BusyLimit: 30 * time.Second,
			Dearer:    DearerFresh,
			Rollout:   1,
		},
		Presets:      true,
		ErrorLimit:   3,
		ContextLimit: 0.8,
		GateTimeout:  15 * time.Second,
		Tools:        map[string]Tool{},
		Log:          Log{Level: LogInfo, MaxBytes: 1 << 20},
		Prune:        Prune{KeepWithin: 7 * 24 * time.Hour},
	}
	for _, name := range rewrite.Names {
		c.Tools[name] = Tool{Enabled: true}
	}
	return c
}

// Load reads the configuration file at path. A file that is not there means the defaults. What is wrong in the
// file are Mistakes.
func Load(path string) (Config, error) {
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	home, _ := homeDir(os.Getenv) // only a path that starts with ~/ needs it, and it says so
	return Parse(path, text, home)
}

// maxFile is far more than anyone writes; it keeps a path named by mistake from filling the memory.
const maxFile = 1 << 20

// read returns the text of a regular file. Anything else could hold up the call that waits for it, as a
// named pipe does; the null device alone is a usual way to say "no file".
func read(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() && path != os.DevNull {
		return "", fmt.Errorf("%s: not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s: larger than %d bytes", path, maxFile)
	}
	return string(text), err
}
