package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/test/toolbox"
)

// Sequences that were written to be resumed wrongly, played with the shim itself: settings, files,
// branches and directories change between their calls.
func TestAdversarial(t *testing.T) {
	toolbox.Long(t)
	text, err := os.ReadFile("../../testdata/evidence/adversarial.json")
	if err != nil {
		t.Fatal(err)
	}
	type call struct {
		Prompt, Answer, Expect, Pre string
		Env                         map[string]string
		Args                        []string
	}
	var all []struct {
		Name  string
		Calls []call
	}
	if err := json.Unmarshal(text, &all); err != nil || len(all) < 60 {
		t.Fatalf("%d sequences, %v", len(all), err)
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			var script strings.Builder // one program makes all calls
			for i, c := range s.Calls {
				file := func(name, content string) string {
					path := filepath.Join(m.root, fmt.Sprint(name, i))
					if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
						t.Fatal(err)
					}
					return path
				}
				fmt.Fprintf(&script, "%s\ncp %s ../fake/answer\nenv", c.Pre,
					quoted(file("answer", strings.Join(
						strings.Fields(cmp.Or(c.Answer, "The bug is fixed.")), " "))))
				for _, name := range slices.Sorted(maps.Keys(c.Env)) {
					fmt.Fprintf(&script, " %s", quoted(name+"="+c.Env[name]))
				}
				script.WriteString(" claude -p")
				for _, arg := range c.Args {
					fmt.Fprintf(&script, " %s", quoted(arg))
				}
				fmt.Fprintf(&script, " <%s >/dev/null\n", quoted(file("prompt", c.Prompt)))
			}
			m.sh(script.String())
			for i, c := range s.Calls {
				args, err := os.ReadFile(filepath.Join(m.root, "fake", fmt.Sprint(i+1, ".args")))
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(args), "--resume\n") && c.Expect == "fresh" &&
					s.Name != remembered {
					t.Errorf("call %d is resumed", i+1)
				}
			}
		})
	}
}

// remembered is resumed, as the docs say: the session remembers a file as it has read it.
const remembered = "file_reverted"

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// A machine has the shim of the fake claude on PATH, and a repository to work in.
type machine struct {
	t    *testing.T
	root string
	env  []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	m := &machine{t: t, root: t.TempDir()}
	link(t, git, filepath.Join(m.root, "real", "git"))
	for _, name := range []string{"claude", "shimctl"} {
		link(t, executable(t), filepath.Join(m.root, "shims", name))
	}
	fake, err := filepath.Abs("../../testdata/fake/claude")
	if err != nil {
		t.Fatal(err)
	}
	link(t, fake, filepath.Join(m.root, "real", "claude"))
	m.env = append(toolbox.Home(filepath.Join(m.root, "home")),
		"PATH="+m.root+"/shims:"+m.root+"/real:"+tools, "FAKE="+m.root+"/fake", "TMPDIR="+m.root,
		hurry,
		"GIT_CONFIG_NOSYSTEM=1", "ANTHROPIC_API_KEY=k")
	for _, dir := range []string{"home", "fake", "repo"} {
		if err := os.MkdirAll(filepath.Join(m.root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.sh("git init -q -b main; echo Begin >README.md; git add .; git -c user.name=a -c " +
		"user.email=a@b commit -q -m 1")
	return m
}

// sh runs a script in the repository.
func (m *machine) sh(script string) {
	m.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = filepath.Join(m.root, "repo"), m.env
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("%v:\n%s", err, out)
	}
}
