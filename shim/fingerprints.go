package shim

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/disk"
	"reprise/shim/git"
	"reprise/shim/variables"
)

// Limits on the files that the tool reads by itself: their number, and their bytes together.
const (
	maxWatched      = 100
	maxWatchedBytes = 4 << 20
)

// fingerprintSize is how many bytes of each digest are kept.
const fingerprintSize = 8

// fingerprints digests everything that must be equal. Settings can contain system prompts and
// variables credentials, so only names and keyed digests are kept. named says that the chain has a
// task.
func (f *found) fingerprints(line rewrite.CommandLine,
	unset []string, named bool) decide.Fingerprints {
	digest := f.digester()
	var settings, auth []decide.NamedDigest
	add := func(guard reason.Code, name, value string) {
		if guard == "" {
			guard = reason.SettingsChanged
		}
		d := decide.NamedDigest{Guard: guard, Name: name, Value: digest(name + "\x00" + value)}
		if guard == reason.AuthChanged {
			auth = append(auth, d)
		} else {
			settings = append(settings, d)
		}
	}
	for _, s := range line.Settings {
		value := s.Value
		if s.File {
			for _, path := range s.Paths() {
				if content, present := f.fileContent(path, disk.MaxSettings); present {
					value += "\x00" + content
				}
			}
		}
		add(s.Guard, s.Name, value)
	}
	for _, s := range rewrite.Environment(f.tool, variables.Unset(f.env.Environ, unset...), named) {
		// the credential cannot be read, so it counts as another one
		if strings.HasSuffix(s.Name, "_FILE_DESCRIPTOR") {
			s.Value = f.unique()
		}
		add(s.Guard, s.Name, s.Value)
	}
	for _, name := range unset {
		add(reason.SettingsChanged, "unset "+name, "")
	}
	f.watched(line, add)
	add(reason.DirectoryReplaced, "directory", f.book.own(disk.DirectoryID(f.cwd)))
	add(reason.UserChanged, "uid", f.book.own(strconv.Itoa(os.Getuid())))
	return decide.Fingerprints{
		Settings: decide.NewDigests(settings), Auth: decide.NewDigests(auth),
		Model: line.Model, Runtime: f.runtime(),
	}
}

// revision returns the working directory's place in the repository's history, zero if there is
// none.
func (f *found) revision() decide.Revision {
	repo, err := git.Find(f.cwd)
	if err != nil {
		return decide.Revision{}
	}
	digest := f.digester()
	branch, commit := repo.Head(f.env.Environ)
	return decide.Revision{
		Repository: digest("repository " + repo.Root + "\x00" +
			f.book.own(disk.DirectoryID(repo.Dir)) + "\x00" + repo.Remotes()),
		Branch: digest("branch " + branch), Head: commit,
	}
}

// runtime identifies the tool's program: the file, or the version if other machines have it too.
func (f *found) runtime() string {
	if own := f.book.own(f.real.Fingerprint()); own != "" {
		return own
	}
	return f.name + " " + f.real.Version()
}

func (f *found) digester() func(string) string {
	digest := f.book.key().Digester()
	return func(text string) string {
		d := digest(text)
		return hex.EncodeToString(d[:fingerprintSize])
	}
}

// watched adds the files that the tool reads by itself, and the files that instructions import.
func (f *found) watched(line rewrite.CommandLine, add func(guard reason.Code, name, value string)) {
	seen, left := map[string]bool{}, int64(maxWatchedBytes)
	var read func(w rewrite.Watch, path string, name func() string)
	read = func(w rewrite.Watch, path string, name func() string) {
		if seen[path] || len(seen) > maxWatched {
			return
		}
		content, present := f.fileContent(path, min(disk.MaxSettings, left))
		if !present {
			return
		}
		left -= int64(len(content))
		seen[path] = true
		add(w.Guard, name(), content)
		if w.Guard != reason.InstructionsChanged {
			return
		}
		for _, imported := range rewrite.Imports(content) {
			if rest, found := strings.CutPrefix(imported, "~/"); found {
				imported = filepath.Join(f.env.Get("HOME"), rest)
			}
			read(w, disk.Absolute(filepath.Dir(path), imported), func() string { return imported })
		}
	}
	found := directories{}
	for _, w := range line.Watched {
		for _, path := range found.paths(w, f.cwd) {
			read(w, path, func() string { return watchedName(w, path, f.cwd) })
		}
	}
}

// watchedName returns the name of a watched file for people.
func watchedName(w rewrite.Watch, path, cwd string) string {
	switch rest, err := filepath.Rel(cwd, path); {
	case w.Name != "" && strings.Contains(w.Path, "*"):
		return w.Name + path[strings.LastIndex(w.Path[:strings.Index(w.Path, "*")], "/"):]
	case w.Name != "":
		return w.Name
	case err == nil:
		return rest
	}
	return path
}

// directories remembers which directories exist: several watched files are below ".claude" or the
// like, which most directories lack.
type directories map[string]bool

func (d directories) exists(dir string) bool {
	exists, known := d[dir]
	if !known {
		_, err := os.Stat(dir)
		exists = !disk.IsAbsent(err)
		d[dir] = exists
	}
	return exists
}

// paths returns the paths that a Watch refers to. Files need not exist; patterns are expanded.
func (d directories) paths(w rewrite.Watch, cwd string) []string {
	if filepath.IsAbs(w.Path) {
		return expand("/", w.Path)
	}
	var paths []string
	first, _, deeper := strings.Cut(w.Path, "/")
	for dir := cwd; ; dir = filepath.Dir(dir) {
		if !deeper || d.exists(filepath.Join(dir, first)) {
			paths = append(paths, expand(dir, w.Path)...)
		}
		if !w.Above || dir == filepath.Dir(dir) {
			return paths
		}
	}
}

// maxDepth is how many levels ** stands for at most.
const maxDepth = 8

// expand returns the paths below a directory that match a path: * is any part of a name, ** any
// directories. If there are too many of these, or they are too deep, it returns the unread ones
// too.
func expand(dir, path string) (found []string) {
	above, below, deep := strings.Cut(path, "**/")
	switch {
	case deep:
		dirs := expand(dir, above)
		for depth := 0; depth <= maxDepth && len(dirs) < maxWatched; depth++ {
			var next []string
			for _, dir := range dirs {
				found, next = append(found, expand(dir, below)...),
					append(next, expand(dir, "*")...)
			}
			dirs = next
		}
		found = append(found, dirs...)
	case !strings.Contains(path, "*"):
		return []string{filepath.Join(dir, path)}
	default:
		found = disk.Matches(filepath.Join(rewrite.Literal(dir),
			strings.ReplaceAll(rewrite.Literal(path), `\*`, "*")))
	}
	return found[:min(len(found), maxWatched)]
}
