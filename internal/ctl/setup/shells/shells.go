// Package shells finds out what the user's shells run for a tool's name, and edits the files that they read at their start.
//
// A shell is asked, not guessed: a fresh one reads its files and says what it would run. What a file says is only used to
// explain that, and for shells that do not answer.
//
// It knows neither the configuration nor the ledger. Its invariant: only the block between its own two marks is ever changed.
package shells

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/shim"
)

// A World is what the shells are started in.
type World struct {
	Home      string   // the home directory
	ConfigDir string   // where fish has its directory
	ZshDir    string   // ZDOTDIR, "" where it is not set
	Login     string   // path of the login shell, "" where it is not known
	Path      []string // the directories of the caller's PATH
	Environ   []string // the caller's variables
	Shims     string   // the directory of the shims
	Tools     []string // the names to ask for
}

// NewWorld returns the world of this environment.
func NewWorld(environ []string, shims string, tools []string) World {
	get := shim.Env{Environ: environ}.Get
	w := World{
		Home: filepath.Clean(get("HOME")), Login: get("SHELL"), Path: filepath.SplitList(get("PATH")),
		Environ: environ, Shims: shims, Tools: tools,
	}
	w.ConfigDir = get("XDG_CONFIG_HOME")
	if !filepath.IsAbs(w.ConfigDir) {
		w.ConfigDir = filepath.Join(w.Home, ".config")
	}
	// Where ~/.zshenv sets ZDOTDIR, a fresh zsh does so itself, once that file is read.
	if text, _ := os.ReadFile(filepath.Join(w.Home, ".zshenv")); !strings.Contains(string(text), "ZDOTDIR") && filepath.IsAbs(get("ZDOTDIR")) {
		w.ZshDir = get("ZDOTDIR")
	}
	return w
}

// A Shell is a program that people type commands into.
type Shell struct {
	Path  string // where it is, "" if it is not installed
	Login bool   // whether it is the user's login shell
	*kind
}

// Name returns bash, zsh, fish or sh.
func (s Shell) Name() string { return s.name }

// A start is a way to start a shell. Each reads other files.
type start struct {
	name  string
	flags []string
	files []string // the block stands in the first one that exists, or else in the last one
}

// A kind is all that tells one shell from another.
type kind struct {
	name    string
	aliases []string // other names of its binary
	dir     func(World) string
	starts  []start
	files   []string // every file that it reads at its start, as patterns below dir
	script  string   // see ask.go
}

// Names of the starts.
const (
	Interactive = "interactive"
	Nested      = "nested" // where the shims are on PATH already, as a session's PATH has them
	Login       = "login"
	LoginScript = "login -c" // as scripts start one: not interactive
)

func home(w World) string { return w.Home }

var (
	bashLogin = []string{".bash_profile", ".bash_login", ".profile"}
	kinds     = []*kind{
		{
			name: "bash", dir: home, script: bashScript,
			starts: []start{
				{Interactive, []string{"-i"}, []string{".bashrc"}},
				{Nested, []string{"-i"}, []string{".bashrc"}},
				{Login, []string{"-l", "-i"}, bashLogin},
				{LoginScript, []string{"-l"}, bashLogin},
			},
			files: append(slices.Clone(bashLogin), ".bashrc", ".bash_aliases"),
		},
		{
			name: "zsh", script: zshScript,
			dir: func(w World) string { return cmp.Or(w.ZshDir, w.Home) },
			starts: []start{
				{Interactive, []string{"-i"}, []string{".zshrc"}},
				{Nested, []string{"-i"}, []string{".zshrc"}},
				{Login, []string{"-l", "-i"}, []string{".zlogin", ".zshrc"}},
				{LoginScript, []string{"-l"}, []string{".zlogin", ".zprofile"}},
			},
			files: []string{".zshenv", ".zprofile", ".zshrc", ".zlogin"},
		},
		{
			name: "fish", script: fishScript,
			dir: func(w World) string { return filepath.Join(w.ConfigDir, "fish") },
			starts: []start{
				{Interactive, []string{"-i"}, []string{"config.fish"}},
				{Nested, []string{"-i"}, []string{"config.fish"}},
				{Login, []string{"-l", "-i"}, []string{"config.fish"}},
			},
			files: []string{"conf.d/*.fish", "config.fish", "functions/*.fish"},
		},
		{
			name: "sh", aliases: []string{"dash", "ash"}, dir: home, script: shScript,
			starts: []start{{Login, []string{"-l"}, []string{".profile"}}},
			files:  []string{".profile"},
		},
	}
)

// Find returns the shells that matter: the login shell, and those that have a file of their own to read.
func Find(w World) []Shell {
	var found []Shell
	for _, k := range kinds {
		s := Shell{kind: k}
		if base := filepath.Base(w.Login); w.Login != "" && (base == k.name || slices.Contains(k.aliases, base)) {
			s.Login = true
			if Runnable(w.Login) {
				s.Path = w.Login
			}
		}
		if s.Path == "" {
			s.Path = LookUp(k.name, w.Path)
		}
		if s.Login || len(s.StartFiles(w)) > 0 {
			found = append(found, s)
		}
	}
	return found
}

// LookUp returns the path of a program, "" if PATH has none.
func LookUp(name string, path []string) string {
	for _, dir := range path {
		if file := filepath.Join(dir, name); filepath.IsAbs(dir) && Runnable(file) {
			return file
		}
	}
	return ""
}

// Runnable reports whether the path is that of a program.
func Runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// StartFiles returns the files that exist of those that the shell reads at its start.
func (k *kind) StartFiles(w World) (files []string) {
	for _, pattern := range k.files {
		found, _ := filepath.Glob(filepath.Join(rewrite.Literal(k.dir(w)), pattern)) // the patterns are sound
		files = append(files, found...)
	}
	return files
}

// file returns the file in which a block for the start stands.
func (k *kind) file(w World, s start) string {
	for _, name := range s.files {
		path := filepath.Join(k.dir(w), name)
		if _, err := os.Lstat(path); err == nil { // be it a dangling link
			return path
		}
	}
	return filepath.Join(k.dir(w), s.files[len(s.files)-1])
}

// EveryStartFile returns the files that exist of those that any of our shells reads at its start.
func EveryStartFile(w World) (files []string) {
	for _, k := range kinds {
		for _, file := range k.StartFiles(w) {
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files
}
