package shim

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"reprise/shim/front"
)

// guardEnv is the variable that keeps shims from finding each other for ever.
const guardEnv = "REPRISE_GUARD"

// A target is a real binary.
type target struct {
	path string // as found
	real string // with symbolic links resolved
	info fs.FileInfo
	id   string
}

var (
	errNotFound = errors.New("not found")
	errLoop     = errors.New("loop")
)

// resolve finds the real binary among the files that are not in skip. See front.Find.
func resolve(name, configured, path, skip string) (target, error) {
	return found(front.Find(name, configured, path, skip, false))
}

func found(path, id string, ok bool) (target, error) {
	if !ok {
		return target{}, errNotFound
	}
	t := target{path: path, id: id}
	var err error
	if t.info, err = os.Stat(t.path); err != nil {
		return target{}, errNotFound // removed since
	}
	t.real = canonical(t.path)
	return t, nil
}

// target returns the real binary, and finds it on the first call.
func (c *call) target() (target, error) {
	if c.real.path != "" {
		return c.real, nil
	}
	if c.guard.Hops() >= front.MaxHops {
		return target{}, errLoop
	}
	configured := c.config.Tools[c.name].Path
	if c.startedByNpx() { // with a binary of its own choice, first on PATH
		configured = ""
	}
	again := !c.preview && c.unstarted == nil // there, shims are skipped, not tried programs
	t, err := found(front.Find(c.name, configured, c.env.path(), c.skip, again))
	if err == nil {
		c.real = t
	}
	return t, err
}

// startedByNpx reports whether npx has started the tool: not something that npx has started, like the tool's own commands.
func (c *call) startedByNpx() bool {
	command, _, _ := strings.Cut(c.env.Get("npm_lifecycle_script"), " ")
	return c.env.Get("npm_lifecycle_event") == "npx" && strings.Trim(command, `'"`) == c.name
}

// candidates returns the paths of all executables of the tool's name on PATH, each once.
func (c *call) candidates() []string {
	var found []string
	skip := ""
	for {
		t, err := resolve(c.name, "", c.env.path(), skip)
		if err != nil {
			return found
		}
		found, skip = append(found, t.path), skip+","+t.id
	}
}

func executablePath() string {
	path, _ := os.Executable() // callers do not find anything under ""
	return path
}
