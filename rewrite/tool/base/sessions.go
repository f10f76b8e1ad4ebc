package base

import (
	"cmp"
	"path"
	"slices"
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
	return rewrite.Follow{Dir: root + "/" + Dashed(dirs[0]) + within, Root: root, Lines: true}
}

// Dashed returns a path with everything but letters and digits replaced, as JavaScript does: a
// character beyond U+FFFF becomes two dashes.
func Dashed(path string) string {
	var b strings.Builder
	for _, r := range path {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case r > 0xffff:
			b.WriteString("--")
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// IsUUID reports whether id is a UUID in lower case.
func IsUUID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, r := range []byte(id) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (r == '-') || !dash && (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return false
		}
	}
	return true
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

// Watches returns files that a tool reads by itself. A path that begins with ~/ is in home, which
// people know as shown. A path that begins with ^/ is looked for in the directories above the
// working directory too.
func Watches(home, shown string, guard reason.Code, paths ...string) []rewrite.Watch {
	watches := make([]rewrite.Watch, len(paths))
	for i, path := range paths {
		w := &watches[i]
		w.Path, w.Guard = path, guard
		if below, own := strings.CutPrefix(path, "~/"); own {
			named, _, _ := strings.Cut(below, "/*")
			w.Path, w.Name = home+"/"+below, shown+"/"+named
		}
		if below, above := strings.CutPrefix(path, "^/"); above {
			w.Path, w.Above = below, true
		}
	}
	return watches
}

// AdministratorFiles returns an administrator's settings and the defaults beside them, as gemini
// and qwen look for them: where the variables of the tool say, or else in dirs.
func AdministratorFiles(env func(string) string, tool string, dirs ...string) (files []string) {
	for _, dir := range dirs {
		settings := cmp.Or(env(tool+"_SYSTEM_SETTINGS_PATH"), dir+"/settings.json")
		files = append(files, settings, cmp.Or(env(tool+"_SYSTEM_DEFAULTS_PATH"),
			path.Dir(settings)+"/system-defaults.json"))
	}
	slices.Sort(files)
	return slices.Compact(files)
}
