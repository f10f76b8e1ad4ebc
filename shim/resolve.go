package shim

import (
	"errors"
	"io/fs"
	"os"

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

// resolve finds the real binary. See front.Find.
func resolve(name, configured, path string, skip string) (target, error) {
	return found(front.Find(name, configured, path, skip))
}

// resolveBehind finds the next binary after those that were tried. See front.FindBehind.
func resolveBehind(name, configured, path string, tried string) (target, error) {
	return found(front.FindBehind(name, configured, path, tried))
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

func executablePath() string {
	path, _ := os.Executable() // callers do not find anything under ""
	return path
}
