package shim

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/shim/front"
	"reprise/shim/supervise"
)

// probeTimeout is how long a new binary can take to print the help. gemini takes more than two
// seconds to start.
const probeTimeout = 10 * time.Second

// learn returns the options that the real binary's help names. Each binary is run once for
// that; the ledger keeps the answer.
func (c *call) learn() rewrite.Probe {
	if _, err := c.target(); err != nil {
		return rewrite.Probe{}
	}
	if c.openLedger() != "" {
		return rewrite.Probe{} // without a ledger every call would run --help
	}
	// A version manager's shim is one file for all tools.
	fingerprint := c.real.fingerprint()
	known, err := c.knownBinary(fingerprint)
	if err != nil {
		c.log.fault("read what is known of the binary", err)
		return rewrite.Probe{}
	}
	if known.Probed {
		return known.Probe
	}
	probe := Ask(c.tool, c.real.path, c.env.Environ)
	asks := c.tool.Descriptor().AsksVersion
	if asks {
		probe.Version = Version(c.real.path, c.env.Environ)
	}
	if c.preview || asks && probe.Version == "" { // it might have been too slow: the next call asks again
		return probe
	}
	c.learnBinary(fingerprint, func(b *ledger.Binary) { b.Probed, b.Probe = true, probe })
	return probe
}

// knownBinary reads the ledger's row of a binary.
func (c *call) knownBinary(fingerprint string) (ledger.Binary, error) {
	return inTime(c, func() (ledger.Binary, error) { return c.ledger.Binary(c.name, fingerprint) })
}

// learnBinary records the facts that the call has shown of the binary.
func (c *call) learnBinary(fingerprint string, add func(*ledger.Binary)) {
	path, version, now := c.real.path, c.real.version(), decide.MillisOf(c.env.Now())
	_, err := inTime(c, func() (none struct{}, err error) {
		return none, c.ledger.LearnBinary(c.name, fingerprint, now, func(b *ledger.Binary) {
			b.Path, b.Version = path, cmp.Or(b.Version, version)
			add(b)
		})
	})
	if err != nil {
		c.log.fault("keep what is known of the binary", err)
	}
}

// Ask runs a binary with its help option, without stdin and terminal, and parses the output.
func Ask(tool rewrite.Tool, path string, environ []string) rewrite.Probe {
	help, err := ask(path, environ, probeTimeout, tool.HelpArgs()...)
	if err != nil {
		return rewrite.Probe{}
	}
	return tool.Options(string(help))
}

// ask runs a program and returns the stdout, or the stderr if that is empty: opencode writes the help
// there. After the limit the program's process group is killed. A child that keeps the output open is
// not waited for. The program runs in a separate session, so that it has no terminal, and ends with the
// shim, which a signal can end meanwhile.
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
	err := startAlone(cmd)
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
func Locate(env Env, name, configured string) Place {
	p := Place{Name: name}
	ours := ourShims(env, name)
	path := env.path()
	if first, err := resolve(name, "", path, ""); err == nil {
		p.First, p.Ours = first.path, slices.Contains(ours, first.id)
	}
	if real, err := resolve(name, configured, path, strings.Join(ours, ",")); err == nil {
		p.Real, p.Wrapper = real.path, isWrapper(real, name, path, strings.Join(ours, ","))
	}
	return p
}

// managers are the programs that version managers start under a tool's name, to run the version of the tool that they choose.
var managers = map[string]string{"mise": "mise", "volta-shim": "volta"}

// Manager returns the version manager that a tool's name leads to, "" if there is none. asdf has a script for each tool.
func Manager(path string) string {
	text := readStart(path, 256)
	if bytes.HasPrefix(text, []byte("#!")) && bytes.Contains(text, []byte("asdf exec")) {
		return "asdf"
	}
	return managers[filepath.Base(canonical(path))]
}

// Version returns a binary's version: from the installation, since gemini takes seconds to print it, or else the first line that it
// prints with --version, "" if that fails.
func Version(path string, environ []string) string {
	if version := InstalledVersion(path); version != "" {
		return version
	}
	out, err := ask(path, environ, probeTimeout, "--version")
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return line
}

// InstalledVersion returns a binary's version without running it, "" if the installation has none.
func InstalledVersion(path string) string { return (target{real: canonical(path)}).version() }

// ourShims returns the IDs of the installed shims of a name: those beside the running program
// and those in the default directory.
func ourShims(env Env, name string) []string {
	dirs := []string{filepath.Dir(executablePath())}
	if dir, err := config.BinDir(env.Own); err == nil {
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

// fingerprint identifies a build of a binary, without running it.
func (t target) fingerprint() string {
	return fmt.Sprintf("%s %s %d %d", t.real, t.id, t.info.Size(), t.info.ModTime().UnixNano())
}

// Fingerprint identifies a build of the binary at a path, "" if there is none.
func Fingerprint(path string) string {
	t, err := found(path, front.Identify(path), true)
	if err != nil {
		return ""
	}
	return t.fingerprint()
}

// version returns the binary's version without running it: from the file's name, where claude's
// own installer puts it, from the npm package that it is a command of or that consists of it, or from
// the Python package that it is a script of; "" if there is none of these.
func (t target) version() string {
	if managers[filepath.Base(t.real)] != "" {
		return "" // a version there is were the manager's own
	}
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
		text, _ := readRegular(filepath.Join(dir, "package.json"), maxSettings)
		_ = json.Unmarshal([]byte(text), &pkg) // invalid JSON leaves pkg without commands
		for _, command := range pkg.Bin {
			if filepath.Join(dir, command) == t.real {
				return pkg.Version
			}
		}
		// A package for one platform has no command: another package runs the program in it.
		if len(pkg.Bin) == 0 && strings.Contains(dir, "/node_modules/") && filepath.Join(dir, "bin", filepath.Base(t.real)) == t.real {
			return pkg.Version
		}
	}
	return pythonVersion(t.real)
}

// pythonVersion returns the version of the Python package with entry points that name a script
// beside it; "" if there is none, or several of different versions.
func pythonVersion(script string) string {
	bin, name := filepath.Split(script)
	files, err := filepath.Glob(filepath.Join(rewrite.Literal(bin), "../lib/python3*/*-packages/*.dist-info/entry_points.txt"))
	if err != nil {
		return "" // a malformed pattern
	}
	version := ""
	for _, file := range files {
		text, err := readRegular(file, maxSettings)
		if err != nil || !hasEntry(text, name) {
			continue
		}
		_, v, _ := strings.Cut(filepath.Base(filepath.Dir(file)), "-") // the package's name has no dash in .dist-info
		v = strings.TrimSuffix(v, ".dist-info")
		if version != "" && v != version {
			return ""
		}
		version = v
	}
	return version
}

// hasEntry reports whether the text of an entry_points.txt names a command.
func hasEntry(text, name string) bool {
	for line := range strings.Lines(text) {
		if entry, _, ok := strings.Cut(line, "="); ok && strings.TrimRight(entry, " \t") == name {
			return true
		}
	}
	return false
}
