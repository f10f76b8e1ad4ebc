package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/config"
	"reprise/rewrite"
)

// probeTimeout bounds the one --help that a new binary is asked for; gemini takes
// more than two seconds to start.
const probeTimeout = 10 * time.Second

// learn asks the real binary's own help for the options it knows. Each binary is
// asked once; the answer is kept in the ledger.
func (c *call) learn() rewrite.Probe {
	if _, err := c.target(); err != nil {
		return rewrite.Probe{}
	}
	if c.openLedger() != "" {
		return rewrite.Probe{} // asking at every call would be felt
	}
	fingerprint := c.real.fingerprint()
	probe, known, err := c.ledger.Probe(fingerprint)
	if err != nil {
		c.log.fault("read probe", err)
		return rewrite.Probe{}
	}
	if known {
		return probe
	}
	probe = Ask(c.tool, c.real.path, c.env.Environ)
	if c.preview {
		return probe
	}
	if err := c.ledger.SetProbe(fingerprint, probe, millis(c.env.Now())); err != nil {
		c.log.fault("keep probe", err)
	}
	return probe
}

// Ask runs a binary for its help, without stdin and terminal, and reads the answer.
func Ask(tool rewrite.Tool, path string, environ []string) rewrite.Probe {
	help, err := ask(path, environ, probeTimeout, tool.HelpArgs()...)
	if err != nil {
		return rewrite.Probe{}
	}
	return tool.Options(string(help))
}

// ask returns what a program prints. It takes no longer than the limit, whatever the program leaves behind: what
// still holds its output is not waited for, and what runs when the time is up is killed. A session of its own
// keeps it from the terminal, and makes it and its children one group.
func ask(path string, environ []string, limit time.Duration, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = limit / 20
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it has ended well, and left a child with its output
	}
	return out, err
}

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

// fingerprint tells one build of a binary from another: a shim of ours never asks
// the binary itself for it.
func (t target) fingerprint() string {
	return fmt.Sprintf("%s %s %d %d", t.real, t.id, t.info.Size(), t.info.ModTime().UnixNano())
}

// version is the binary's version as its place tells it, without running it: a
// file named by its version, as claude's own installer lays them, the npm package
// that it is a command of, or the Python package that it is a script of; "" where
// none is found.
func (t target) version() string {
	if name := filepath.Base(t.real); strings.Count(name, ".") == 2 && strings.Trim(name, "0123456789.") == "" {
		return name
	}
	dir := t.real
	for range 3 {
		dir = filepath.Dir(dir)
		var pkg struct {
			Version string
			Bin     map[string]string
		}
		text, _ := os.ReadFile(filepath.Join(dir, "package.json"))
		_ = json.Unmarshal(text, &pkg) // what is none names no command
		for _, command := range pkg.Bin {
			if filepath.Join(dir, command) == t.real {
				return pkg.Version
			}
		}
	}
	return pythonVersion(t.real)
}

// pythonVersion is the version of the Python package that a script belongs to: the
// one installed beside it whose entry points name it; "" if there are none, or
// several of different versions.
func pythonVersion(script string) string {
	bin, name := filepath.Split(script)
	files, err := filepath.Glob(filepath.Join(rewrite.Literal(bin), "../lib/python3*/*-packages/*.dist-info/entry_points.txt"))
	if err != nil {
		return "" // the pattern is broken
	}
	version := ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !hasEntry(string(text), name) {
			continue
		}
		_, v, _ := strings.Cut(filepath.Base(filepath.Dir(file)), "-") // a package's own name has no dash there
		v = strings.TrimSuffix(v, ".dist-info")
		if version != "" && v != version {
			return ""
		}
		version = v
	}
	return version
}

// hasEntry reports whether a file of entry points has one of that name.
func hasEntry(text, name string) bool {
	for line := range strings.Lines(text) {
		if entry, _, ok := strings.Cut(line, "="); ok && strings.TrimRight(entry, " \t") == name {
			return true
		}
	}
	return false
}
