package rewrite

import (
	"path"
	"slices"
	"strings"
)

// A Descriptor is everything the rest of the program knows about a tool as data. Every list of
// tools is derived from the registered descriptors: the C table that is read before Go starts, and
// the lists in install.sh, shimctl and the tests.
type Descriptor struct {
	// Name is the command that the tool's shim is installed as.
	Name string
	// Packages are the packages of npm that have the command.
	Packages []string
	// Unattended is a call that lets the tool work without asking the user. The prompt follows.
	Unattended []string

	// Subcommands are first words of calls that are passed through.
	Subcommands []string
	// Managed, if set, lists the only first words of calls that are not passed through.
	Managed []string
	// Servers are first words that start a server: the client creates and resumes sessions itself.
	// Their calls are passed through and counted.
	Servers []string
	// Alone are options: a call with no other argument is passed through.
	Alone []string
	// Nested are the variables that the tool sets for the commands it runs. A call with one of them
	// is passed through.
	Nested []string

	// Variables are the environment variables that shape a session or the account.
	Variables Variables

	// Home returns the directory of the tool's sessions.
	Home func(env func(string) string) string
	// SessionQuery, if set, says that the files of SessionPaths are SQLite databases where a
	// session is a row: an SQL query with the session's ID as the only parameter. The row that it
	// returns must change with each turn and contain no text of the session.
	SessionQuery string
	// Travels reports that a session resumes on another machine from the files that SessionFiles
	// lists.
	Travels bool
	// RoutedBySession reports that requests to the model have the session's ID in a header: a
	// gateway can choose a backend by it.
	RoutedBySession bool
	// AsksVersion says that a binary is run with --version, once, if the version is not to be seen
	// from the package.
	AsksVersion bool

	// CachePerSession says that the provider's cache returns to a session only the text that the
	// same session has sent.
	CachePerSession bool
	// CacheByText says that it finds the longest beginning that a request shares with an earlier
	// one, also within a prompt. Otherwise a prompt that begins like another session's finds at
	// most the text in front of it.
	CacheByText bool
	// KeepsHour says that some versions can ask the provider to keep a prompt for an hour.
	KeepsHour bool

	// TellsFirst reports that the tool tells the length of a run's first request with its first
	// content, in formats that are shown as they come too.
	TellsFirst bool
	// CannotWrite is the tool's exit code if the answer cannot be written, as to /dev/full.
	// FileLimitKills reports that SIGXFSZ ends it if the stdout is a file that reaches the caller's
	// limit (ulimit -f). Writing to the shim it notices neither. Measured with claude 2.1.329,
	// codex 0.169.0, vibe 3.0.3, gemini 0.61.0, qwen 0.24.4, copilot 1.0.102, opencode 1.18.33 and
	// droid 0.225.2.
	CannotWrite    int
	FileLimitKills bool

	Hooks Hooks
}

// NestedEnv is the variable that the shim sets for the tools it starts. A call from within one is
// recognized by it.
const NestedEnv = "REPRISE_INSIDE"

// IsNested reports whether env is the environment of a command that a tool runs.
func (d *Descriptor) IsNested(env func(string) string) bool {
	return env(NestedEnv) != "" || slices.ContainsFunc(d.Nested, func(name string) bool {
		return env(name) != ""
	})
}

var tools = map[string]Tool{}

// Names are the registered tools' names, in the order of screens.
var Names []string

// Register adds a tool. The package that implements the tool calls it before main.
func Register(t Tool) {
	name := t.Descriptor().Name
	tools[name], Names = t, append(Names, name)
}

// Lookup returns the tool of that name. ok is false if there is none.
func Lookup(name string) (tool Tool, ok bool) {
	tool, ok = tools[name]
	return tool, ok
}

// SessionPaths returns the tool's SessionPaths below the home.
func SessionPaths(t Tool, home, cwd, id string) (paths []string) {
	for _, pattern := range t.SessionPaths(cwd, id) {
		paths = append(paths, Literal(home)+"/"+pattern)
	}
	return paths
}

// FilesOf returns everything that the tool stores for the session with the file at path. ok is
// false if path is no such file. A path that is not clean is none, since it might lead elsewhere.
func FilesOf(t Tool, home, id, file string) (files SessionFiles, ok bool) {
	patterns := t.SessionPaths("", id)
	below, ok := strings.CutPrefix(file, home+"/")
	if !ok || path.Clean(file) != file || t.Descriptor().SessionQuery != "" {
		return SessionFiles{}, false
	}
	if matched, err := path.Match(patterns[len(patterns)-1], below); err != nil || !matched {
		return SessionFiles{}, false
	}
	return t.SessionFiles(id, below), true
}

// Literal escapes a path so that it matches only itself in a pattern.
func Literal(path string) string {
	if !strings.ContainsAny(path, `*?[\`) {
		return path // making a Replacer takes longer than all else here
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
