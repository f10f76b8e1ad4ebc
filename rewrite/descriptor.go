package rewrite

import (
	"path"
	"slices"
	"strings"
	"unicode/utf16"
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
	// Paths are the files where the tool can keep a session, relative to Home, the most likely one
	// first. {id} stands for the session's ID, {short} for the beginning, {dir} for the working
	// directory, Dashed, and {name} for the base name. Each can contain * as in filepath.Glob; of
	// several matches the last by name counts. The last path matches all that the others do.
	Paths []string
	// Files are everything that the tool stores for a session, with {id}, {file} for the session's
	// file, {own} for it without the extension, and {project} for the directory above its own.
	Files SessionFiles
	// SessionQuery, if set, says that the files of Paths are SQLite databases where a
	// session is a row: an SQL query with the session's ID as the only parameter. It returns a JSON
	// array, which must change with each turn and contain no text of the session.
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

	// AwaitsStdin says that the tool waits for the end of a stdin that it reads. Otherwise it gives
	// up on a silent one after a while, and goes on without data beside a prompt in argv.
	AwaitsStdin bool

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

// HelpArgs returns the arguments that make the tool print the help of the headless mode: of the
// first word of managed calls, if the tool has such words.
func (d *Descriptor) HelpArgs() []string {
	return append(slices.Clone(d.Managed[:min(1, len(d.Managed))]), "--help")
}

// SessionPaths returns the tool's Paths of a session, with the home.
func SessionPaths(t Tool, home, cwd, id string) []string {
	paths := filled(t.Descriptor().Paths, "{id}", id, "{short}", id[:min(8, len(id))],
		"{dir}", Dashed(cwd), "{name}", Literal(cwd[strings.LastIndex(cwd, "/")+1:]))
	for i := range paths {
		paths[i] = Literal(home) + "/" + paths[i]
	}
	return paths
}

// FilesOf returns everything that the tool stores for the session with the file at path. ok is
// false if path is no such file. A path that is not clean is none, since it might lead elsewhere.
func FilesOf(t Tool, home, id, file string) (files SessionFiles, ok bool) {
	d, patterns := t.Descriptor(), SessionPaths(t, home, "", id)
	below, ok := strings.CutPrefix(file, home+"/")
	if !ok || path.Clean(file) != file || d.SessionQuery != "" {
		return SessionFiles{}, false
	}
	if matched, err := path.Match(patterns[len(patterns)-1], file); err != nil || !matched {
		return SessionFiles{}, false
	}
	places := []string{"{id}", id, "{file}", below, "{own}", strings.TrimSuffix(below, ".jsonl"),
		"{project}", path.Dir(path.Dir(below))}
	files = d.Files
	files.Paths, files.Named = filled(files.Paths, places...), filled(files.Named, places...)
	files.Lock = strings.ReplaceAll(files.Lock, "{id}", id)
	return files, true
}

// filled returns patterns with values in the places that have names.
func filled(patterns []string, places ...string) []string {
	all, values := slices.Clone(patterns), strings.NewReplacer(places...)
	for i := range all {
		all[i] = values.Replace(all[i])
	}
	return all
}

// Dashed returns a path with everything but letters and digits replaced, as JavaScript does: a
// character beyond U+FFFF becomes two dashes.
func Dashed(path string) string {
	var b strings.Builder
	for _, r := range path {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Repeat("-", utf16.RuneLen(r)))
		}
	}
	return b.String()
}

// Literal escapes a path so that it matches only itself in a pattern.
func Literal(path string) string { return literal.Replace(path) }

var literal = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`)
