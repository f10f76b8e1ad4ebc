package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// guardEnv carries what keeps shims from finding each other for ever.
const guardEnv = "REPRISE_GUARD"

// maxHops is how often one call may pass through a shim of ours.
const maxHops = 20

// A fileID tells files apart whatever name they are found under.
type fileID struct{ dev, ino uint64 }

func (id fileID) String() string { return fmt.Sprintf("%x.%x", id.dev, id.ino) }

func idOf(info fs.FileInfo) fileID {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}
}

// A guard is the chain of shims that a call has come through. Its targets count
// only inside the process that tried them: a child starts afresh, but for the
// number of hops.
type guard struct {
	hops  int
	tried []string
}

// readGuard reads "PID:HOPS:TARGET,TARGET". What it can not read counts as none.
func readGuard(value string, pid int) guard {
	fields := strings.SplitN(value, ":", 3)
	if len(fields) != 3 {
		return guard{}
	}
	hops, err := strconv.Atoi(fields[1])
	if err != nil || hops < 0 {
		return guard{}
	}
	g := guard{hops: hops}
	if fields[0] == strconv.Itoa(pid) && fields[2] != "" {
		g.tried = strings.Split(fields[2], ",")
	}
	return g
}

func (g guard) with(target fileID, pid int) string {
	return fmt.Sprintf("%d:%d:%s", pid, g.hops+1, strings.Join(append(slices.Clone(g.tried), target.String()), ","))
}

// skip are the files that are not the real binary: those that were tried, and the
// running program.
func (g guard) skip() []string { return append(slices.Clone(g.tried), self().String()) }

// A target is a real binary.
type target struct {
	path string
	info fs.FileInfo
	id   fileID
}

// fingerprint tells one build of a binary from another: a shim of ours never asks
// the binary itself for it.
func (t target) fingerprint() string {
	path := t.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return fmt.Sprintf("%s %s %d %d", path, t.id, t.info.Size(), t.info.ModTime().UnixNano())
}

// version is the binary's version as its place tells it, without running it: a
// file named by its version, as claude's own installer lays them, the npm package
// that it is a command of, or the Python package that it is a script of; "" where
// none is found.
func (t target) version() string {
	path, err := filepath.EvalSymlinks(t.path)
	if err != nil {
		return ""
	}
	if name := filepath.Base(path); strings.Count(name, ".") == 2 && strings.Trim(name, "0123456789.") == "" {
		return name
	}
	dir := path
	for range 3 {
		dir = filepath.Dir(dir)
		var pkg struct {
			Version string
			Bin     map[string]string
		}
		text, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil || json.Unmarshal(text, &pkg) != nil {
			continue
		}
		for _, command := range pkg.Bin {
			if filepath.Join(dir, command) == path {
				return pkg.Version
			}
		}
	}
	return pythonVersion(path)
}

// pythonVersion is the version of the Python package that a script belongs to: the
// one installed beside it whose entry points name it; "" if there are none, or
// several of different versions.
func pythonVersion(script string) string {
	bin, name := filepath.Split(script)
	files, err := filepath.Glob(filepath.Join(bin, "../lib/python3*/*-packages/*.dist-info/entry_points.txt"))
	if err != nil {
		return "" // the folder's name reads as a pattern, and a broken one
	}
	entry := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `\s*=`)
	version := ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !entry.Match(text) {
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

var (
	errNotFound = errors.New("not found")
	errLoop     = errors.New("loop")
)

// resolve finds the real binary: the configured path, else the next executable of
// that name on PATH which is none of those to be skipped. Files are compared by
// device and inode, never by name.
func resolve(name, configured, path string, skip []string) (target, error) {
	if configured != "" {
		if t, ok := executable(configured); ok && !slices.Contains(skip, t.id.String()) {
			return t, nil
		}
	}
	for _, dir := range strings.Split(path, string(os.PathListSeparator)) {
		if dir == "" {
			dir = "."
		}
		if t, ok := executable(dir + "/" + name); ok && !slices.Contains(skip, t.id.String()) {
			return t, nil
		}
	}
	return target{}, errNotFound
}

// self identifies the running program, also after its file was replaced.
func self() fileID {
	for _, path := range []string{"/proc/self/exe", executablePath()} {
		if info, err := os.Stat(path); err == nil {
			return idOf(info)
		}
	}
	return fileID{}
}

func executablePath() string {
	path, _ := os.Executable() // "" is then not found either
	return path
}

// executable tells whether a shell would run the file.
func executable(path string) (target, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || unix.Access(path, unix.X_OK) != nil {
		return target{}, false
	}
	return target{path: path, info: info, id: idOf(info)}, true
}
