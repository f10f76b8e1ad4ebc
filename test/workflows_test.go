package test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A workflow is the tested part of a workflow in GitHub's format.
type workflow struct {
	Permissions any
	Jobs        map[string]struct {
		Permissions any
		Timeout     int `yaml:"timeout-minutes"`
		Uses        string
		Steps       []struct{ Uses, Run string }
	}
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	names, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(names) < 3 {
		t.Fatalf("%q, %v", names, err)
	}
	found := map[string]workflow{}
	for _, name := range names {
		var w workflow
		if err := yaml.Unmarshal([]byte(read(t, name)), &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		found[filepath.Base(name)] = w
	}
	return found
}

// An action is named by its commit, which nobody can move, and everywhere by the same one. A
// comment says which version that is.
func TestActionsArePinned(t *testing.T) {
	pinned := regexp.MustCompile(`^\s*(?:- )?uses: ([\w./-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	own := regexp.MustCompile(`uses: \./`)
	lines := map[string]string{}
	for name := range workflows(t) {
		for line := range strings.Lines(read(t, "../.github/workflows/"+name)) {
			line = strings.TrimRight(line, "\n")
			if !strings.Contains(line, "uses:") || own.MatchString(line) {
				continue
			}
			m := pinned.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("%s: %s", name, line)
				continue
			}
			line = strings.TrimLeft(line, " -")
			if before, known := lines[m[1]]; known && before != line {
				t.Errorf("%s: %s, elsewhere %s", name, line, before)
			}
			lines[m[1]] = line
		}
	}
}

// Only the job that publishes a release can write, and the job that keeps an issue, into issues. No
// job runs for hours because something hangs.
func TestWorkflowsMayDoLittle(t *testing.T) {
	writes := map[string][]string{
		"release.yml, publish": {"attestations", "contents", "id-token"},
		"drift.yml, issue":     {"issues"},
		"watcher.yml, alive":   {"issues"},
	}
	write := regexp.MustCompile(`([\w-]+): write`)
	for name, w := range workflows(t) {
		if w.Permissions == nil {
			t.Errorf("%s leaves its permissions to the repository's settings", name)
		}
		for job, j := range w.Jobs {
			text, err := yaml.Marshal([]any{w.Permissions, j.Permissions})
			if err != nil {
				t.Fatal(err)
			}
			var may []string
			for _, m := range write.FindAllStringSubmatch(string(text), -1) {
				may = append(may, m[1])
			}
			slices.Sort(may)
			if key := name + ", " + job; !slices.Equal(may, writes[key]) ||
				strings.Contains(string(text), "write-all") {
				t.Errorf("%s: permissions %s", key, text)
			}
			if j.Timeout == 0 && j.Uses == "" {
				t.Errorf("%s, %s has no timeout", name, job)
			}
		}
	}
}

// Each program of this repository that a step runs exists and can be run.
func TestWorkflowsRunWhatIsThere(t *testing.T) {
	program := regexp.MustCompile(
		`(?m)(?:^|\s)(\./scripts/\S+|scripts/\S+|\.ci/run|\./install\.sh)`)
	runs := 0
	for name, w := range workflows(t) {
		for job, j := range w.Jobs {
			for _, step := range j.Steps {
				for _, m := range program.FindAllStringSubmatch(step.Run, -1) {
					runs++
					info, err := os.Stat("../" + m[1])
					if err != nil || !info.IsDir() && info.Mode()&0o100 == 0 {
						t.Errorf("%s, %s runs %s: %v", name, job, m[1], err)
					}
				}
			}
		}
	}
	if runs < 6 {
		t.Errorf("%d programs of ours are run", runs)
	}
}
