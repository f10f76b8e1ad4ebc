package rewrite

import (
	"path"
	"strings"
)

// below returns the elements of a path under home, nil unless they match pattern, of
// which * stands for one element or a part of it. A path that is not clean, and so
// might lead elsewhere, matches nothing.
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

// Literal returns a path that stands for itself in a pattern.
func Literal(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
