package binary

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/tool/base"
	"reprise/shim/disk"
	"reprise/shim/front"
	"reprise/shim/variables"
)

// npx puts the commands of the package that it runs before all others on PATH, so before the shims.
// The shim of npx changes only that. It has npx start the command with a shell of its choice,
// itself, which puts the shims first again and becomes npm's usual shell. The tool's shim then
// finds the binary that npx has chosen, whatever the version, right behind itself.

// Npx is the name of the shim that stands before npx.
const Npx = "npx"

// shellEnv is the setting of npm that names this shell.
const shellEnv = "npm_config_script_shell"

// Npx becomes the real npx.
func (s *Search) Npx() int {
	self, args := Executable(), s.Args
	if variables.Get(s.Environ, shellEnv) == self && len(args) > 0 && isScript(args[1:]) {
		return s.npxShell(filepath.Dir(self), args[1:])
	}
	environ := s.Environ
	replaced := front.Identify(self) == "" // npm would find no shell
	if variables.Get(s.Environ, "REPRISE_OFF") != "1" && !replaced && len(args) > 0 &&
		runsTool(args[1:]) && !s.hasShell() && s.asksShell() {
		environ = variables.Set(environ, shellEnv, self)
	}
	return s.Become(environ, nil)
}

// npxShell runs a script of npm as npm itself does, but with the shims first on PATH.
func (s *Search) npxShell(shims string, args []string) int {
	environ := slices.DeleteFunc(slices.Clone(s.Environ), func(entry string) bool {
		return strings.HasPrefix(entry, shellEnv+"=")
	})
	environ = variables.Set(environ, "PATH", shims+":"+variables.Path(s.Environ))
	sh, err := Resolve("sh", "", variables.Path(s.Environ), "")
	if err == nil {
		runtime.LockOSThread()
		front.Restore()
		err = execOrSh(sh.Path, append([]string{"sh"}, args...), environ)
	}
	return s.CannotRun(fmt.Errorf("run sh: %w", err))
}

// isScript reports whether these are npm's arguments of a shell. npm 8 has -- before the command.
func isScript(args []string) bool {
	return len(args) == 2 && args[0] == "-c" || len(args) == 3 && args[0] == "-c" && args[1] == "--"
}

// Options of npx with a value: a package, a command for the shell, and the usual others. The value
// of any other option is taken for the command: then the call is left alone.
var (
	npxPackage = []string{"--package", "-p"}
	npxCall    = []string{"--call", "-c"}
	npxOthers  = []string{"--cache", "--registry", "--userconfig", "--prefix", "--workspace", "-w",
		"--loglevel"}
	npxValues = slices.Concat(npxPackage, npxCall, npxOthers)
)

// runsTool reports whether the arguments of npx name a tool, or a package that has it, as the
// command. With a package alone npx starts the user's own shell.
func runsTool(args []string) bool {
	hasTool, calls := false, false
	for i := 0; i < len(args); i++ {
		option, value, joined := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			return i+1 < len(args) && (hasTool || isTool(args[i+1]))
		case !strings.HasPrefix(option, "-"):
			return hasTool || isTool(args[i])
		case !joined && slices.Contains(npxValues, option):
			if i++; i < len(args) {
				value = args[i]
			}
		}
		hasTool = hasTool || slices.Contains(npxPackage, option) && isTool(value)
		calls = calls || slices.Contains(npxCall, option)
	}
	return hasTool && calls
}

// isTool reports whether npx takes a word for a tool or the package, of any version.
func isTool(word string) bool {
	if at := strings.LastIndex(word, "@"); at > 0 {
		word = word[:at]
	}
	return slices.ContainsFunc(rewrite.Names, func(name string) bool {
		tool, _ := rewrite.Lookup(name)
		return word == name || slices.Contains(tool.Descriptor().Packages, word)
	})
}

// hasShell reports whether npm is told which shell to use, by the environment or by a file.
func (s *Search) hasShell() bool {
	if slices.ContainsFunc(s.Environ, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.EqualFold(strings.ReplaceAll(name, "-", "_"), shellEnv)
	}) {
		return true
	}
	files := []string{filepath.Join(variables.Get(s.Environ, "HOME"), ".npmrc"),
		variables.Get(s.Environ, "npm_config_userconfig"),
		variables.Get(s.Environ, "npm_config_globalconfig")}
	if npx, err := s.Program(); err == nil {
		files = append(files, filepath.Join(filepath.Dir(npx.Path), "../etc/npmrc"))
	}
	if dir, err := os.Getwd(); err == nil {
		files = append(files, projectConfigs(dir)...)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, _ := disk.Read(file, disk.MaxSettings)
		return strings.Contains(text, "script-shell")
	})
}

// projectConfigs returns the files that npm might take for the project's configuration: in the
// first directory above with a package.json or node_modules, and in those above it that have a
// package.json, which might be the workspace's; or else in dir.
func projectConfigs(dir string) (files []string) {
	exists := func(dir, name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	for at, below := dir, ""; at != below; at, below = filepath.Dir(at), at {
		if exists(at, "package.json") || files == nil && exists(at, "node_modules") {
			files = append(files, filepath.Join(at, ".npmrc"))
		}
	}
	if files == nil {
		files = []string{filepath.Join(dir, ".npmrc")}
	}
	return files
}

// asksShell reports whether npx starts the command with the shell that is set. Before npm 8.18
// it did not: the tool, and the programs that it runs, would have got the variable.
func (s *Search) asksShell() bool {
	npx, err := s.Program()
	version := npx.Version()
	return err != nil || version == "" || base.AtLeast(version, 8, 18)
}
