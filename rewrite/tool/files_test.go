package tool

import (
	"path"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/test/tooltest"
)

// A home or a project can have a name that reads as a pattern.
func TestSessionPathsInOddDirectories(t *testing.T) {
	const home, cwd = `/h/cfg[1]*?\`, `/w/[a]*`
	for _, name := range rewrite.Names {
		tool, _ := rewrite.Lookup(name)
		for _, pattern := range rewrite.SessionPaths(tool, home, cwd, tooltest.SomeID) {
			real := home + strings.NewReplacer(`\[`, `[`, `\*`, `*`, `*`, "x", `\?`, `?`, `\\`,
				`\`).Replace(strings.TrimPrefix(pattern, rewrite.Literal(home)))
			if ok, err := path.Match(pattern, real); err != nil || !ok {
				t.Errorf("%s: %s does not match %s: %v", name, pattern, real, err)
			}
			if other := strings.Replace(real, "cfg[1]*?", "cfg1xx", 1); other == real {
				t.Errorf("%s is not below the home", real)
			} else if ok, _ := path.Match(pattern, other); ok {
				t.Errorf("%s: %s matches %s", name, pattern, other)
			}
		}
	}
}

// A directory can be named ~ or ^: no tool takes a path that an option or a variable names for one
// in its home, or above the working directory.
func TestPathsInOptionsStandAsTheyAre(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"HOME": "/home/me", "OPENCODE_CONFIG": "~/x.json"}[name]
	}
	for _, tt := range []struct {
		tool string
		args []string
		want string
	}{
		{"claude", []string{"-p", "hi", "--settings", "~/x.json"}, "~/x.json"},
		{"claude", []string{"-p", "hi", "--settings=^/x.json"}, "^/x.json"},
		{"opencode", []string{"run", "hi"}, "~/x.json"},
	} {
		tool, _ := rewrite.Lookup(tt.tool)
		call := tool.Parse(rewrite.Input{Args: tt.args, Env: env})
		if !slices.Contains(call.SettingsFiles, tt.want) {
			t.Errorf("%s %q reads %q, not %s", tt.tool, tt.args, call.SettingsFiles, tt.want)
		}
	}
}
