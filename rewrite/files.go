package rewrite

import (
	"path"
	"strings"
)

// below returns the elements of a path relative to home, nil if they do not match pattern. In the
// pattern * matches one element or part of one. A path that is not clean matches nothing, since it
// might lead elsewhere.
func below(home, file, pattern string) []string {
	rest, ok := strings.CutPrefix(file, home+"/")
	if !ok || path.Clean(file) != file {
		return nil
	}
	if matched, err := path.Match(pattern, rest); err != nil || !matched {
		return nil
	}
	return strings.Split(rest, "/")
}

// Literal escapes a path so that it matches only itself in a pattern.
func Literal(path string) string {
	if !strings.ContainsAny(path, `*?[\`) {
		return path // making a Replacer takes longer than all else here
	}
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
