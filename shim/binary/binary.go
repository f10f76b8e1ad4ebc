// Package binary finds the real binary behind a shim, asks it for the options and the version, and
// becomes it.
//
// It starts a binary only to ask it: package supervise runs calls. Invariant: a call passes through
// at most front.MaxHops shims.
package binary

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/config"
	"reprise/rewrite"
	"reprise/shim/disk"
	"reprise/shim/front"
	"reprise/shim/supervise"
	"reprise/shim/variables"
)

// probeTimeout is how long a new binary can take to print the help. gemini takes more than two
// seconds to start.
const probeTimeout = 10 * time.Second

// Ask runs a binary with its help option, without stdin and terminal, and parses the output.
func Ask(tool rewrite.Tool, path string, environ []string) rewrite.Probe {
	help, err := ask(path, environ, probeTimeout, tool.Descriptor().HelpArgs()...)
	if err != nil {
		return rewrite.Probe{}
	}
	return tool.Options(string(help))
}

// ask runs a program and returns the stdout, or the stderr if that is empty: opencode writes the
// help there. After the limit the program's process group is killed. A child that keeps the output
// open is not waited for. The program runs in a separate session, so that it has no terminal, and
// ends with the shim, which a signal can end meanwhile.
func ask(path string, environ []string, limit time.Duration, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = environ
	cmd.SysProcAttr = supervise.EndsWithUs()
	cmd.SysProcAttr.Setsid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = limit / 20
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := supervise.StartAlone(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the program has succeeded; a child keeps its output open
	}
	if stdout.Len() == 0 {
		return stderr.Bytes(), err
	}
	return stdout.Bytes(), err
}

// A Place is the target of a tool's name on PATH.
type Place struct {
	Name  string
	First string // the executable that a caller runs, "" for none
	Ours  bool   // First is a shim of reprise
	Real  string // the binary behind the shim, "" for none
	// Wrapper reports whether Real is a script that gets the calls as they were written.
	Wrapper bool
}

// Locate looks up a tool's name on PATH, as callers do and as the shim does.
func Locate(environ []string, own func(string) string, name, configured string) Place {
	p := Place{Name: name}
	ours := OurShims(own, name)
	path := variables.Path(environ)
	if first, err := Resolve(name, "", path, ""); err == nil {
		p.First, p.Ours = first.Path, slices.Contains(ours, first.ID)
	}
	if real, err := Resolve(name, configured, path, strings.Join(ours, ",")); err == nil {
		p.Real, p.Wrapper = real.Path, real.IsWrapper(name, path, strings.Join(ours, ","))
	}
	return p
}

// Version returns a binary's version: from the installation, since gemini takes seconds to print
// it, or else the first line that it prints with --version, "" if that fails.
func Version(path string, environ []string) string {
	if version := (Program{Real: disk.Resolve(path)}).Version(); version != "" {
		return version
	}
	out, err := ask(path, environ, probeTimeout, "--version")
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// OurShims returns the IDs of the installed shims of a name: those beside the running program
// and those in the default directory.
func OurShims(own func(string) string, name string) []string {
	dirs := []string{filepath.Dir(Executable())}
	if dir, err := config.BinDir(own); err == nil {
		dirs = append(dirs, dir)
	}
	var ids []string
	for _, dir := range dirs {
		if id := front.Identify(filepath.Join(dir, name)); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// Fingerprint identifies a build of a binary, without running it.
func (t Program) Fingerprint() string {
	return fmt.Sprintf("%s %s %d %d", t.Real, t.ID, t.Info.Size(), t.Info.ModTime().UnixNano())
}

// Fingerprint identifies a build of the binary at a path, "" if there is none.
func Fingerprint(path string) string {
	t, err := newProgram(path, front.Identify(path))
	if err != nil {
		return ""
	}
	return t.Fingerprint()
}

// Version returns the binary's version without running it: from the file's name, where claude's own
// installer puts it, from the npm package that it is a command of or that consists of it, or from
// the Python package that it is a script of; "" if there is none of these.
func (t Program) Version() string {
	if slices.Contains([]string{"mise", "volta-shim"}, filepath.Base(t.Real)) {
		return "" // a version there is were the version manager's own
	}
	if name := filepath.Base(t.Real); strings.Count(name, ".") == 2 &&
		strings.Trim(name, "0123456789.") == "" {
		return name
	}
	dir := t.Real
	for range 3 {
		dir = filepath.Dir(dir)
		var pkg struct {
			Version string
			Bin     map[string]string
		}
		text, _ := disk.Read(filepath.Join(dir, "package.json"), disk.MaxSettings)
		_ = json.Unmarshal([]byte(text), &pkg) // invalid JSON leaves pkg without commands
		for _, command := range pkg.Bin {
			if filepath.Join(dir, command) == t.Real {
				return pkg.Version
			}
		}
		// A package for one platform has no command: another package runs the program in it.
		if len(pkg.Bin) == 0 && strings.Contains(dir, "/node_modules/") &&
			filepath.Join(dir, "bin", filepath.Base(t.Real)) == t.Real {
			return pkg.Version
		}
	}
	return pythonVersion(t.Real)
}

// pythonVersion returns the version of the Python package with entry points that name a script
// beside it; "" if there is none, or several of different versions.
func pythonVersion(script string) string {
	bin, name := filepath.Split(script)
	files, err := filepath.Glob(filepath.Join(rewrite.Literal(bin),
		"../lib/python3*/*-packages/*.dist-info/entry_points.txt"))
	if err != nil {
		return "" // a malformed pattern
	}
	entry, err := regexp.Compile(`(?m)^` + regexp.QuoteMeta(name) + `[ \t]*=`)
	if err != nil {
		return "" // the name is no UTF-8, as an entry's is
	}
	version := ""
	for _, file := range files {
		text, err := disk.Read(file, disk.MaxSettings)
		if err != nil || !entry.MatchString(text) {
			continue
		}
		// the package's name has no dash in .dist-info
		_, v, _ := strings.Cut(filepath.Base(filepath.Dir(file)), "-")
		v = strings.TrimSuffix(v, ".dist-info")
		if version != "" && v != version {
			return ""
		}
		version = v
	}
	return version
}
