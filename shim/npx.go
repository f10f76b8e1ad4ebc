package shim

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/shim/front"
)

// npx puts the commands of the package that it runs before all others on PATH, so before the shims. The shim of npx changes
// only that. It has npx start the command with a shell of its choice, itself, which puts the shims first again and becomes
// npm's usual shell. The tool's shim then finds the binary that npx has chosen, whatever its version, right behind itself.

// Npx is the name of that shim.
const Npx = "npx"

// shellEnv is the setting of npm that names this shell. npm before 7 does not know it.
const shellEnv = "npm_config_script_shell"

// npx becomes the real npx.
func (c *call) npx() int {
	self, args := executablePath(), c.env.Args
	if c.env.Get(shellEnv) == self && len(args) == 3 && args[1] == "-c" {
		return c.npxShell(filepath.Dir(self), args[2])
	}
	environ := c.env.Environ
	replaced := front.Identify(self) == "" // npm would find no shell
	if c.env.Get("REPRISE_OFF") != "1" && !replaced && len(args) > 0 && runsTool(args[1:]) && !c.hasShell() {
		environ = setEnv(environ, shellEnv, self)
	}
	return c.execWith(environ, nil)
}

// npxShell runs a script of npm as npm itself does, but with the shims first on PATH.
func (c *call) npxShell(shims, script string) int {
	environ := slices.DeleteFunc(slices.Clone(c.env.Environ), func(entry string) bool { return strings.HasPrefix(entry, shellEnv+"=") })
	environ = setEnv(environ, "PATH", shims+":"+c.env.path())
	sh, err := resolve("sh", "", c.env.path(), "")
	if err == nil {
		runtime.LockOSThread()
		front.Restore()
		err = execOrSh(sh.path, []string{"sh", "-c", script}, environ)
	}
	return c.cannotRun(fmt.Errorf("run sh: %w", err))
}

// npxValues are the options of npx whose value is the next argument, as far as they are used. If another one has a value, that is taken for the
// command, and the call is left alone.
var npxValues = []string{"--package", "-p", "--call", "-c", "--cache", "--registry", "--userconfig", "--prefix", "--workspace", "-w", "--loglevel"}

// runsTool reports whether the arguments of npx name a tool, or a package that has it, as what is to be run.
func runsTool(args []string) bool {
	for i := 0; i < len(args); i++ {
		option, value, joined := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			return i+1 < len(args) && isTool(args[i+1])
		case !strings.HasPrefix(option, "-"):
			return isTool(args[i])
		case !joined && slices.Contains(npxValues, option):
			if i++; i < len(args) {
				value = args[i]
			}
		}
		if (option == "--package" || option == "-p") && isTool(value) {
			return true
		}
	}
	return false
}

// isTool reports whether npx takes a word for a tool or its package, of any version.
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
func (c *call) hasShell() bool {
	if slices.ContainsFunc(c.env.Environ, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.EqualFold(strings.ReplaceAll(name, "-", "_"), shellEnv)
	}) {
		return true
	}
	files := []string{filepath.Join(c.env.Get("HOME"), ".npmrc"), c.env.Get("npm_config_userconfig"), c.env.Get("npm_config_globalconfig")}
	if npx, err := c.target(); err == nil {
		files = append(files, filepath.Join(filepath.Dir(npx.path), "../etc/npmrc"))
	}
	dir, err := os.Getwd()
	for parent := ""; err == nil && parent != dir; parent, dir = dir, filepath.Dir(dir) {
		files = append(files, filepath.Join(dir, ".npmrc"))
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, _ := os.ReadFile(file)
		return bytes.Contains(text, []byte("script-shell"))
	})
}

// startedByNpx reports whether npx has started the tool: not something that npx has started, like the tool's own commands.
func (c *call) startedByNpx() bool {
	command, _, _ := strings.Cut(c.env.Get("npm_lifecycle_script"), " ")
	return c.env.Get("npm_lifecycle_event") == "npx" && strings.Trim(command, `'"`) == c.name
}
