package shim

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"reprise/ledger"
	"reprise/rewrite"
)

// Limits on the files that the tool reads by itself: how many, and how much of all of them is read.
const (
	maxWatched      = 100
	maxWatchedBytes = 4 << 20
)

// fingerprintSize is how many bytes are kept of the digest of one thing.
const fingerprintSize = 8

// guards gathers what must be equal between a session and a call that resumes it, and where
// the directory is in its history.
func (c *call) guards() {
	r := c.record
	r.Fingerprints = c.prints()
	r.Place = c.place(c.record.Cwd)
	r.Ancestor = func(commit string) bool {
		repo, err := findRepository(r.Cwd)
		return err == nil && repo.descends(commit, r.Place.Head, c.env.Environ)
	}
}

// prints digests each thing that must be equal. Settings may hold whole system prompts,
// variables credentials: nothing is kept of them but names and keyed digests.
func (c *call) prints() ledger.Fingerprints {
	print := c.printer()
	var settings, auth []ledger.Digest
	add := func(guard rewrite.Reason, name, value string) {
		if guard == "" {
			guard = rewrite.SettingsChanged
		}
		d := ledger.Digest{Guard: guard, Name: name, Value: print(name + "\x00" + value)}
		if guard == rewrite.AuthChanged {
			auth = append(auth, d)
		} else {
			settings = append(settings, d)
		}
	}
	for _, s := range c.parsed.Settings {
		value := s.Value
		if s.File {
			for _, path := range s.Paths() {
				if content, present := c.contentOf(path, maxSettings); present {
					value += "\x00" + content
				}
			}
		}
		add(s.Guard, s.Name, value)
	}
	for _, s := range rewrite.Environment(c.tool, without(c.env.Environ, c.unset), c.record.Task != "") {
		if strings.HasSuffix(s.Name, "_FILE_DESCRIPTOR") { // the credential cannot be read, so no other call has the same
			s.Value = c.unlikeAny()
		}
		add(s.Guard, s.Name, s.Value)
	}
	for _, name := range c.unset {
		add(rewrite.SettingsChanged, "unset "+name, "")
	}
	c.watched(add)
	add(rewrite.DirectoryReplaced, "directory", directoryID(c.record.Cwd))
	add(rewrite.UserChanged, "uid", strconv.Itoa(os.Getuid()))
	return ledger.Fingerprints{
		Settings: ledger.NewDigests(settings), Auth: ledger.NewDigests(auth),
		Model: c.parsed.Model, Runtime: c.real.fingerprint(),
	}
}

func (c *call) printer() func(string) string {
	digest := c.ledger.Key().Digester()
	return func(text string) string {
		d := digest(text)
		return hex.EncodeToString(d[:fingerprintSize])
	}
}

// watched adds the files that the tool reads by itself, and those that instructions take
// in.
func (c *call) watched(add func(guard rewrite.Reason, name, value string)) {
	seen, left := map[string]bool{}, int64(maxWatchedBytes)
	var read func(w rewrite.Watch, path, name string)
	read = func(w rewrite.Watch, path, name string) {
		if seen[path] || len(seen) > maxWatched {
			return
		}
		content, present := c.contentOf(path, min(maxSettings, left))
		if !present {
			return
		}
		left -= int64(len(content))
		seen[path] = true
		add(w.Guard, name, content)
		if w.Guard != rewrite.InstructionsChanged {
			return
		}
		for _, taken := range rewrite.Imports(content) {
			if home, found := strings.CutPrefix(taken, "~/"); found {
				taken = filepath.Join(c.env.Get("HOME"), home)
			}
			read(w, absolute(filepath.Dir(path), taken), taken)
		}
	}
	for _, w := range c.parsed.Watched {
		for _, path := range watchedPaths(w, c.record.Cwd) {
			name := path
			switch rest, err := filepath.Rel(c.record.Cwd, path); {
			case w.Name != "" && strings.Contains(w.Path, "*"):
				name = w.Name + path[strings.LastIndex(w.Path[:strings.Index(w.Path, "*")], "/"):]
			case w.Name != "":
				name = w.Name
			case err == nil:
				name = rest
			}
			read(w, path, name)
		}
	}
}

// watchedPaths returns the files that a Watch may stand for. A directory that is not there
// costs one look.
func watchedPaths(w rewrite.Watch, cwd string) []string {
	if filepath.IsAbs(w.Path) {
		return expand("/", strings.Split(w.Path[1:], "/"))
	}
	var paths []string
	for dir := cwd; ; dir = filepath.Dir(dir) {
		paths = append(paths, expand(dir, strings.Split(w.Path, "/"))...)
		if !w.Above || dir == filepath.Dir(dir) {
			return paths
		}
	}
}

// expand returns the files below a directory that the elements of a path name; each may
// have one *.
func expand(dir string, elements []string) []string {
	at := slices.IndexFunc(elements, func(e string) bool { return strings.Contains(e, "*") })
	if at < 0 {
		return []string{filepath.Join(dir, filepath.Join(elements...))}
	}
	dir = filepath.Join(dir, filepath.Join(elements[:at]...))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	before, after, _ := strings.Cut(elements[at], "*")
	var paths []string
	for _, e := range entries {
		if name := e.Name(); len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			if paths = append(paths, expand(filepath.Join(dir, name), elements[at+1:])...); len(paths) >= maxWatched {
				break
			}
		}
	}
	return paths
}
