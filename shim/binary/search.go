package binary

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"reprise/shim/disk"
	"reprise/shim/front"
	"reprise/shim/variables"
)

// guardEnv is the variable that keeps shims from finding each other for ever.
const guardEnv = "REPRISE_GUARD"

// A Program is a real binary.
type Program struct {
	Path string // as found
	Real string // with symbolic links resolved
	ID   string // of the file
	Info fs.FileInfo
}

// ErrNotFound reports that there is no real binary.
var (
	ErrNotFound = errors.New("not found")
	errLoop     = errors.New("loop")
)

// Resolve finds the real binary among the files that are not in skip. See front.Find.
func Resolve(name, configured, path, skip string) (Program, error) {
	return newProgram(front.Find(name, configured, path, skip, false))
}

func newProgram(path, id string) (Program, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Program{}, ErrNotFound // or removed since
	}
	return Program{path, disk.Resolve(path), id, info}, nil
}

// A Search finds the real binary behind a shim, and becomes it. Programs that cannot be started are
// passed over.
type Search struct {
	Name    string   // of the tool
	Args    []string // of the call, with argv[0]
	Environ []string
	Stderr  io.Writer
	Fault   func(what string, err error) // logs a failure

	guard      front.Guard
	configured string // a path that goes first
	skip       string // IDs of the files that are not the real binary
	again      bool   // PATH is read once more if all of it was tried
	found      Program
	// unstarted says why a program on PATH was passed over, nil if none was.
	unstarted error
}

// NewSearch returns the search for a process that was started as a shim.
func NewSearch(name string, args, environ []string, stderr io.Writer,
	fault func(string, error)) *Search {
	guard := front.ReadGuard(variables.Get(environ, guardEnv), os.Getpid(), front.Self())
	return &Search{
		Name: name, Args: args, Environ: environ, Stderr: stderr, Fault: fault,
		guard: guard, skip: guard.Skip(), again: true,
	}
}

// Behind lets the search of a program that is no shim find the binary behind the shims with these
// IDs.
func (s *Search) Behind(shims []string) { s.skip, s.again = strings.Join(shims, ","), false }

// Prefer lets the search try a configured path first. npx has a binary of its own choice, first on
// PATH.
func (s *Search) Prefer(path string) {
	if !s.startedByNpx() {
		s.configured = path
	}
}

// Program returns the real binary, and finds it on the first call.
func (s *Search) Program() (Program, error) {
	if s.found.Path != "" {
		return s.found, nil
	}
	if s.guard.Hops() >= front.MaxHops {
		return Program{}, errLoop
	}
	again := s.again && s.unstarted == nil // shims are skipped, not tried programs
	p, err := newProgram(front.Find(s.Name, s.configured, variables.Path(s.Environ), s.skip, again))
	if err == nil {
		s.found = p
	}
	return p, err
}

// IsWrapper reports whether the real binary is a script for which added arguments are not harmless.
func (s *Search) IsWrapper() bool {
	return s.found.IsWrapper(s.Name, variables.Path(s.Environ), s.skip)
}

// Guarded returns an environment for the real binary, with the guard against shims that find each
// other for ever.
func (s *Search) Guarded(environ []string) []string {
	return variables.Set(environ, guardEnv, s.guard.With(s.found.ID, os.Getpid()))
}

// startedByNpx reports whether npx has started the tool: not something that npx has started, like
// the tool's own commands.
func (s *Search) startedByNpx() bool {
	command, _, _ := strings.Cut(variables.Get(s.Environ, "npm_lifecycle_script"), " ")
	return variables.Get(s.Environ, "npm_lifecycle_event") == "npx" &&
		strings.Trim(command, `'"`) == s.Name
}

// candidates returns the paths of all executables of the tool's name on PATH, each once.
func (s *Search) candidates() []string {
	var found []string
	skip := ""
	for {
		t, err := Resolve(s.Name, "", variables.Path(s.Environ), skip)
		if err != nil {
			return found
		}
		found, skip = append(found, t.Path), skip+","+t.ID
	}
}

// Executable returns the path of the running program, "" if it is not known.
func Executable() string {
	path, _ := os.Executable() // callers do not find anything under ""
	return path
}
