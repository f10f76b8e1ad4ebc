package base

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

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
