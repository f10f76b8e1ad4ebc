package test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// sections runs a bash script that has read sections.sh.
func sections(t *testing.T, script string) (out string, failed bool) {
	t.Helper()
	t.Parallel()
	return runSections(t, script)
}

func runSections(t *testing.T, script string) (out string, failed bool) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	cmd := exec.Command(bash, "-c", "set -euo pipefail\n. ../scripts/sections.sh\n"+script)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	text, err := cmd.CombinedOutput()
	if left, _ := os.ReadDir(strings.TrimPrefix(cmd.Env[len(cmd.Env)-1], "TMPDIR=")); len(
		left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return string(text), err != nil
}

func TestSectionsKeepTheirOutput(t *testing.T) {
	out, failed := sections(t, `
slow() { echo one; until [ -e "$scratch/quick.ended" ]; do sleep 0.01; done; echo two >&2; }
quick() { until [ -s "$scratch/slow.output" ]; do sleep 0.01; done; echo three; }
begin slow the slow one
begin quick the quick one
finish
echo end
`)
	got := regexp.MustCompile(`\d+ s`).ReplaceAllString(out, "N s")
	for _, want := range []string{
		"== the quick one (N s, N s of processor time)\nthree\n",
		"== the slow one (N s, N s of processor time)\none\ntwo\n",
	} {
		if failed || !strings.Contains(got, want) || !strings.HasSuffix(got, "\nend\n") {
			t.Errorf("failed %v, want %q:\n%s", failed, want, out)
		}
	}
}

// A section ends with the first command that fails. The others are ended with it.
func TestASectionThatFailsEndsAll(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	out, failed := runSections(t, `
waits() { sleep 100; }
breaks() { echo why; false; echo 'goes on'; }
begin waits it waits
begin breaks it breaks
finish
echo end
`)
	if !failed || !strings.Contains(out, "\nwhy\nfailed: breaks\n") ||
		strings.Contains(out, "goes on") || strings.Contains(out, "end\n") {
		t.Errorf("failed %v:\n%s", failed, out)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

func TestSectionsWaitForRoom(t *testing.T) {
	out, failed := sections(t, `
one() { for name in one two three; do sleep 0.1; done; }
two() { [ -e "$scratch/one.ended" ] || echo 'too early'; }
at_once=1
begin one 1
begin two 2
await two
[ -z "$under_way" ]
`)
	if failed || strings.Contains(out, "too early") || !strings.Contains(out, "== 2 (") {
		t.Errorf("failed %v:\n%s", failed, out)
	}
}

func TestSectionsThatMostlyWaitTakeNoRoom(t *testing.T) {
	out, failed := sections(t, `
waits() { until [ -e "$scratch/works.ended" ]; do sleep 0.01; done; }
works() { true; }
at_once=1 aside=waits
begin waits it waits
begin works it works
finish
`)
	if failed || !strings.Contains(out, "== it waits (") {
		t.Errorf("failed %v:\n%s", failed, out)
	}
}

// The commands that the README shows are run.
func TestTheReadmesCommandIsRun(t *testing.T) {
	const command = "go test -timeout 40m ./...\n"
	for file, line := range map[string]string{"../README.md": "\n    REPRISE_E2E=sample " + command,
		"../.ci/run": "\n\tREPRISE_E2E=sample in_background " + command} {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), line) {
			t.Errorf("%s lacks %q (%v)", file, command, err)
		}
	}
}
