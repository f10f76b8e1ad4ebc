package rewrite

import (
	"path"
	"strings"
)

// SessionPaths returns the tool's SessionPaths below the home.
func SessionPaths(t Tool, home, cwd, id string) (paths []string) {
	for _, pattern := range t.SessionPaths(cwd, id) {
		paths = append(paths, Literal(home)+"/"+pattern)
	}
	return paths
}

// FilesOf returns everything that the tool stores for the session with the file at path. ok is
// false if path is no such file. A path that is not clean is none, since it might lead elsewhere.
func FilesOf(t Tool, home, id, file string) (files SessionFiles, ok bool) {
	patterns := t.SessionPaths("", id)
	below, ok := strings.CutPrefix(file, home+"/")
	if !ok || path.Clean(file) != file || t.Descriptor().SessionQuery != "" {
		return SessionFiles{}, false
	}
	if matched, err := path.Match(patterns[len(patterns)-1], below); err != nil || !matched {
		return SessionFiles{}, false
	}
	return t.SessionFiles(id, below), true
}

// Literal escapes a path so that it matches only itself in a pattern.
func Literal(path string) string {
	if !strings.ContainsAny(path, `*?[\`) {
		return path // making a Replacer takes longer than all else here
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
