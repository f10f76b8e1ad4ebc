package shim

import (
	"path/filepath"
	"slices"
	"strings"

	"reprise/config"
)

// A Place says where a tool's name leads to on PATH.
type Place struct {
	Name  string
	First string // the executable that a caller gets, "" for none
	Ours  bool   // that is a shim of ours
	Real  string // the binary behind the shim, "" for none
}

// Locate looks a tool's name up as a caller and as the shim do.
func Locate(env Env, name, configured string) Place {
	p := Place{Name: name}
	ours := ourShims(env, name)
	path := env.path()
	if first, err := resolve(name, "", path, ""); err == nil {
		p.First, p.Ours = first.path, slices.Contains(ours, first.id)
	}
	if real, err := resolve(name, configured, path, strings.Join(ours, ",")); err == nil {
		p.Real = real.path
	}
	return p
}

// Version asks a binary for its version, "" where it does not say.
func Version(path string, environ []string) string {
	out, err := ask(path, environ, probeTimeout, "--version")
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// ourShims identifies the shims that are installed: those beside the running
// program, and those in the usual directory.
func ourShims(env Env, name string) []string {
	dirs := []string{filepath.Dir(executablePath())}
	if dir, err := config.BinDir(env.Own); err == nil {
		dirs = append(dirs, dir)
	}
	var ids []string
	for _, dir := range dirs {
		if id := identify(filepath.Join(dir, name)); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}
