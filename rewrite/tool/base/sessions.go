package base

import (
	"strconv"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// InProject returns where to follow a session's file, which the caller names: in a directory within
// the one of the first of dirs, or else somewhere below all. claude cuts and hashes a long name.
func InProject(home string, dirs []string, within string) rewrite.Follow {
	const longest = 200 // bytes
	root := home + "/projects"
	if len(dirs) == 0 || len(dirs[0]) > longest {
		return rewrite.Follow{Dir: root, Lines: true}
	}
	return rewrite.Follow{Dir: root + "/" + rewrite.Dashed(dirs[0]) + within, Root: root,
		Lines: true}
}

// IsUUID reports whether id is a UUID in lower case.
func IsUUID(id string) bool {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("123456789abcdef", r) {
			return '0'
		}
		return r
	}, id) == "00000000-0000-0000-0000-000000000000"
}

// AtLeast reports whether a version is at least major.minor.patch. An unknown version counts as the
// newest.
func AtLeast(version string, want ...int) bool {
	parts := strings.Split(version, ".")
	for i, w := range want[:min(len(want), len(parts))] {
		if n, err := strconv.Atoi(parts[i]); err != nil || n != w {
			return err != nil || n > w
		}
	}
	return true
}

// Reads are the files that a tool reads by itself at the start. In a path {a,b} stands for either
// word, and an option in braces for each of the values. A path that begins with ~/ is in the tool's
// home. A path that begins with ^/ is looked for in the directories above the working directory
// too. Where a pattern begins with options, their values are paths as they stand.
type Reads struct {
	Home     string                               // as people know it
	Dir      func(env func(string) string) string // nil if the sessions are in the home
	Settings []string
	Hooks    []string // files that can have hooks, beside the settings
	Watched  Watched
}

// Watched are files that shape a session, and why a call is fresh if they have changed. A file
// counts for the first of them that lists it.
type Watched []struct {
	Guard reason.Code
	Paths []string
}

// Into adds the files to a call. Values returns the values of an option.
func (r Reads) Into(c *rewrite.CommandLine, env func(string) string,
	values func(option string) []string) {
	home := c.Home
	if r.Dir != nil {
		home = r.Dir(env)
	}
	expand := func(guard reason.Code, patterns []string) (all []rewrite.Watch) {
		for _, pattern := range patterns {
			for _, path := range expanded(pattern, values) {
				w := rewrite.Watch{Path: path, Guard: guard}
				if !strings.HasPrefix(pattern, "{--") {
					w = watch(home, r.Home, guard, path)
				}
				all = append(all, w)
			}
		}
		return all
	}
	for _, w := range expand("", r.Settings) {
		c.SettingsFiles = append(c.SettingsFiles, w.Path)
	}
	c.HookFiles = append(c.HookFiles, expand("", r.Hooks)...)
	for _, w := range r.Watched {
		c.Watched = append(c.Watched, expand(w.Guard, w.Paths)...)
	}
}

func watch(home, shown string, guard reason.Code, path string) rewrite.Watch {
	if below, own := strings.CutPrefix(path, "~/"); own {
		named, _, _ := strings.Cut(below, "/*")
		return rewrite.Watch{Path: home + "/" + below, Name: shown + "/" + named, Guard: guard}
	}
	below, above := strings.CutPrefix(path, "^/")
	return rewrite.Watch{Path: below, Above: above, Guard: guard}
}

// expanded returns the paths that a pattern stands for.
func expanded(pattern string, values func(option string) []string) (paths []string) {
	before, rest, _ := strings.Cut(pattern, "{")
	words, after, found := strings.Cut(rest, "}")
	if !found {
		return []string{pattern}
	}
	for word := range strings.SplitSeq(words, ",") {
		of := []string{word}
		if strings.HasPrefix(word, "--") {
			of = values(word)
		}
		for _, value := range of {
			for _, end := range expanded(after, values) {
				paths = append(paths, before+value+end)
			}
		}
	}
	return paths
}
