package test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/internal/tested"
	"reprise/test/toolbox"
)

// Renovate finds each pin of the list, and each of a tool in the README too: so one pull request
// changes both. A pin that it replaces is tried.
func TestRenovateMovesEveryPin(t *testing.T) {
	var config struct {
		CustomManagers []struct {
			ManagerFilePatterns, MatchStrings             []string
			AutoReplaceStringTemplate, DatasourceTemplate string
		}
	}
	if err := json.Unmarshal([]byte(read(t, "../renovate.json")), &config); err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]bool{"internal/tested/tested.json": {}, "README.md": {}}
	list := ""
	for file := range found {
		text := read(t, "../"+file)
		for _, m := range config.CustomManagers {
			if !slices.ContainsFunc(m.ManagerFilePatterns, func(p string) bool {
				return regexp.MustCompile(strings.Trim(p, "/")).MatchString(file)
			}) {
				continue
			}
			pattern := regexp.MustCompile(m.MatchStrings[0])
			text = pattern.ReplaceAllStringFunc(text, func(match string) string {
				pin := pattern.FindStringSubmatch(match)
				found[file][m.DatasourceTemplate+" "+pin[1]+" "+pin[2]] = true
				if m.AutoReplaceStringTemplate == "" {
					return strings.Replace(match, pin[2], "999.0", 1)
				}
				return strings.NewReplacer("{{{depName}}}", pin[1], "{{{newValue}}}", "999.0",
					"{{{currentValue}}}", pin[2]).Replace(m.AutoReplaceStringTemplate)
			})
		}
		if file != "README.md" {
			list = text
		}
	}
	want := func(p tested.Tool) string {
		return map[bool]string{false: "npm ", true: "pypi "}[p.Python()] + p.Package() + " " +
			p.Version()
	}
	var moved tested.Versions
	if err := json.Unmarshal([]byte(list), &moved); err != nil {
		t.Fatal(err)
	}
	tools, all := map[string]bool{}, map[string]bool{}
	for _, tool := range tested.BuiltIn().Tools {
		tools[want(tool)], all[want(tool)] = true, true
		if now := moved.Tool(tool.Name); now.Version() != "999.0" ||
			now.Package() != tool.Package() || len(now.Rows()) != len(tool.Rows())+1 {
			t.Errorf("%s was moved to %+v", tool.Pin, now)
		}
	}
	for _, sdk := range tested.BuiltIn().SDKs {
		all[want(sdk)] = true
		if now := moved.Tool(sdk.Name); now.Version() != "999.0" {
			t.Errorf("%s was moved to %s", sdk.Pin, now.Pin)
		}
	}
	if !maps.Equal(found["README.md"], tools) ||
		!maps.Equal(found["internal/tested/tested.json"], all) {
		t.Errorf("found %v", found)
	}
}

// watching is a directory with a report, and a stand-in for gh that notes its arguments and answers
// with the file of the first two words.
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
		{"", "1", ask + "label create drift --force\nissue create --label drift --title T " +
			"--body-file BODY\nwhat differs\n"},
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
		asked := regexp.MustCompile(`--body-file \S+`).ReplaceAllString(
			read(t, filepath.Join(dir, "asked")), "--body-file BODY")
		if asked != test.want || code != 0 {
			t.Errorf("outcome %q, open issue %q: exit %d, %s, asked\n%swant\n%s", test.outcome,
				test.open, code, out, asked, test.want)
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
		{run(30 * time.Hour), "The last run of drift.yml that ended well began 1 days ago.\n",
			false, 0},
		{run(4 * day), "The last run of drift.yml that ended well began 4 days ago.\n\nThe last " +
			"runs:\n\n    2026-11-25 failure URL2\n", false, 1},
		{"", "No scheduled run of drift.yml has ended well.\n", false, 1},
		{"", "", true, 2},
	} {
		dir, alive := watching(t)
		put(t, filepath.Join(dir, "run-list-good"), test.good)
		put(t, filepath.Join(dir, "run-list"), "2026-11-25 failure URL2\n")
		if test.fails {
			put(t, filepath.Join(dir, "fails"), "")
		}
		if out, code := alive("alive.sh", "drift.yml", "3"); code != test.code ||
			!strings.HasPrefix(out, test.want) {
			t.Errorf("good run %q: exit %d, says %q, want %d, %q", test.good, code, out, test.code,
				test.want)
		}
	}
}
