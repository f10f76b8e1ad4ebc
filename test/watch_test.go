package test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"reprise/internal/tested"
	"reprise/test/toolbox"
)

// Renovate's managers find each pin of the list, and the same in the README: so one pull request changes both.
func TestRenovateFindsEveryPin(t *testing.T) {
	var config struct {
		CustomManagers []struct {
			ManagerFilePatterns, MatchStrings []string
			DatasourceTemplate                string
		}
	}
	if err := json.Unmarshal([]byte(read(t, "../renovate.json")), &config); err != nil {
		t.Fatal(err)
	}
	files := map[string]map[string]string{"internal/tested/tested.json": {}, "README.md": {}}
	for _, m := range config.CustomManagers {
		for _, pattern := range m.ManagerFilePatterns {
			for file, found := range files {
				if !regexp.MustCompile(strings.Trim(pattern, "/")).MatchString(file) {
					continue
				}
				for _, pin := range regexp.MustCompile(m.MatchStrings[0]).FindAllStringSubmatch(read(t, "../"+file), -1) {
					found[m.DatasourceTemplate+" "+pin[1]] = pin[2]
				}
			}
		}
	}
	for file, found := range files {
		for _, tool := range tested.Own().Tools {
			name := map[bool]string{false: "npm ", true: "pypi "}[tool.Python()] + tool.Package()
			if found[name] != tool.Version() {
				t.Errorf("%s: %s at %q, want %s", file, name, found[name], tool.Version())
			}
		}
		if len(found) != len(tested.Own().Tools) {
			t.Errorf("%s: also found what is no pin: %v", file, found)
		}
	}
}

// watching is a directory with a report, and a stand-in for gh that notes what it is asked and answers with the file of its first two words.
func watching(t *testing.T) (dir string, run func(name string, args ...string) (string, int)) {
	t.Helper()
	dir = t.TempDir()
	if err := toolbox.Make(filepath.Join(dir, "tools")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "report.md"), "what differs\n")
	put(t, filepath.Join(dir, "tools", "gh"), `#!/bin/sh
echo "$*" >>asked
case $* in *--body-file*) for body; do :; done; cat "$body" >>asked ;; esac
[ ! -e fails ] || exit 1
file=$1-$2
case $* in *'--status success'*) file=$file-good ;; esac
[ ! -e "$file" ] || cat "$file"
`)
	return dir, func(name string, args ...string) (string, int) {
		t.Helper()
		script, err := filepath.Abs("../scripts/watch/" + name)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(script, args...)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + filepath.Join(dir, "tools"), "TMPDIR=" + dir}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

// One issue is opened, updated and closed. Where nothing could be told, it stays as it is.
func TestOneIssue(t *testing.T) {
	const ask = "issue list --label drift --state open --limit 1 --json number --jq .[].number\n"
	for _, test := range []struct{ open, outcome, want string }{
		{"", "1", ask + "label create drift --force\nissue create --label drift --title T --body-file BODY\nwhat differs\n"},
		{"7\n", "1", ask + "issue edit 7 --title T --body-file BODY\nwhat differs\n"},
		{"7\n", "0", ask + "issue close 7 --comment The last run found nothing any more.\n"},
		{"", "0", ask},
		{"7\n", "2", ""},
		{"", "", ""},
	} {
		dir, run := watching(t)
		put(t, filepath.Join(dir, "issue-list"), test.open)
		put(t, filepath.Join(dir, "asked"), "")
		out, code := run("issue.sh", "drift", "T", test.outcome, "report.md")
		asked := regexp.MustCompile(`--body-file \S+`).ReplaceAllString(read(t, filepath.Join(dir, "asked")), "--body-file BODY")
		if asked != test.want || code != 0 {
			t.Errorf("outcome %q, open issue %q: exit %d, %s, asked\n%swant\n%s", test.outcome, test.open, code, out, asked, test.want)
		}
	}
}

// A watch that has not ended well for days is noticed, and that gh has no answer is no answer.
func TestWatcher(t *testing.T) {
	run := func(ago time.Duration) string {
		return time.Now().Add(-ago).UTC().Format(time.RFC3339) + " success URL1\n"
	}
	const day = 24 * time.Hour
	for _, test := range []struct {
		good, want string
		fails      bool
		code       int
	}{
		{run(30 * time.Hour), "The last run of drift.yml that ended well began 1 days ago.\n", false, 0},
		{run(4 * day), "The last run of drift.yml that ended well began 4 days ago.\n\nThe last runs:\n\n    2026-11-25 failure URL2\n", false, 1},
		{"", "No scheduled run of drift.yml has ended well.\n", false, 1},
		{"", "", true, 2},
	} {
		dir, alive := watching(t)
		put(t, filepath.Join(dir, "run-list-good"), test.good)
		put(t, filepath.Join(dir, "run-list"), "2026-11-25 failure URL2\n")
		if test.fails {
			put(t, filepath.Join(dir, "fails"), "")
		}
		if out, code := alive("alive.sh", "drift.yml", "3"); code != test.code || !strings.HasPrefix(out, test.want) {
			t.Errorf("good run %q: exit %d, says %q, want %d, %q", test.good, code, out, test.code, test.want)
		}
	}
}
