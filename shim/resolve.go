package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
// file named by its version, as claude's own installer lays them, or the
// package.json of an npm package around it; "" where neither is found.
func (t target) version() string {
	path, err := filepath.EvalSymlinks(t.path)
	if err != nil {
		return ""
	}
	if name := filepath.Base(path); strings.Count(name, ".") == 2 && strings.Trim(name, "0123456789.") == "" {
		return name
	}
	for range 3 {
		path = filepath.Dir(path)
		var pkg struct{ Version string }
		text, err := os.ReadFile(filepath.Join(path, "package.json"))
		if err == nil && json.Unmarshal(text, &pkg) == nil {
			return pkg.Version
		}
	}
	return ""
}

var (
	errNotFound = errors.New("not found")
	errLoop     = errors.New("loop")
)

// resolve finds the real binary: the configured path, else the next executable of
// that name on PATH which is neither this program nor one that this process has
// tried before. Files are compared by device and inode, never by name.
func resolve(name, configured, path string, g guard) (target, error) {
	if g.hops >= maxHops {
		return target{}, errLoop
	}
	skip := append(slices.Clone(g.tried), self().String())
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
