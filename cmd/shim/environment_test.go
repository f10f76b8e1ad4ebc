package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/test/toolbox"
)

// A playedCall is one call of a sequence that is made through the real shim: the commands that a
// shell runs before it in the same directory, the variables and the arguments.
type playedCall struct {
	Prompt, Answer, Expect, Why, Pre string
	Env                              map[string]string
	Args                             []string
}

type playedSequence struct {
	Name, Note, Harm string
	Calls            []playedCall
}

// unsolved are changes around a session that no guard sees: the files that it has read are
// not known.
var unsolved = map[string]bool{"file_reverted": true}

// A change around a session keeps it from being resumed, and a change that does not matter does
// not.
func TestEnvironment(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	files, err := filepath.Glob("../../testdata/environment/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sequences: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all []playedSequence
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, s := range all {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				s.play(t)
			})
		}
	}
}

var saidDecision = regexp.MustCompile(`(?m)^reprise: claude: (\w+) \((\w+)\)$`)

func (s playedSequence) play(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "work", "project")
	env := append(toolbox.Home(filepath.Join(root, "home")),
		"FAKE="+filepath.Join(root, "fake"), "TMPDIR="+root, hurry, "REPRISE_VERBOSE=1",
		"PATH="+filepath.Join(root, "real")+":/usr/local/bin:/usr/bin:/bin",
		"ANTHROPIC_API_KEY=of-the-test",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
	)
	for _, path := range []string{dir, filepath.Join(root, "home"), filepath.Join(root, "real"),
		filepath.Join(root, "fake")} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	fake, err := os.ReadFile("../../testdata/fake/claude")
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{"real/claude": fake,
		"fake/edit": []byte("work.txt\n")} {
		if err := os.WriteFile(filepath.Join(root, path), text, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	in := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Dir, cmd.Env = dir, append(env, cmd.Env...)
		return cmd
	}
	if out, err := in(exec.Command("git", "init", "-q")).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v: %s", err, out)
	}
	for i, call := range s.Calls {
		if call.Pre != "" {
			if out, err := in(exec.Command("sh", "-c", call.Pre)).CombinedOutput(); err != nil {
				t.Fatalf("before call %d: %v: %s", i+1, err, out)
			}
		}
		cmd := exec.Command(executable(t), append([]string{"-p"}, call.Args...)...)
		cmd.Args[0] = "claude" // see TestMain
		for name, value := range call.Env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		cmd.Stdin = strings.NewReader(call.Prompt)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := in(cmd).Run(); err != nil {
			t.Fatalf("call %d: %v: %s", i+1, err, stderr.String())
		}
		said := saidDecision.FindStringSubmatch(stderr.String())
		if said == nil {
			t.Fatalf("call %d: no decision in %q", i+1, stderr.String())
		}
		if (said[1] != call.Expect || call.Why != "" && said[2] != call.Why) && !unsolved[s.Name] {
			t.Errorf("call %d: %s (%s), want %s %s: %s", i+1, said[1], said[2], call.Expect,
				call.Why, s.Note)
		}
	}
}
