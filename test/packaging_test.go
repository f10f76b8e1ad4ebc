package test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A stepSite is where a step of a workflow uses the action, from a release of the stand-ins.
type stepSite struct {
	*site
	files []string // that a runner reads
}

func newStepSite(t *testing.T) stepSite {
	t.Helper()
	node := tool(t, "node")
	s := stepSite{site: released(t), files: []string{"GITHUB_PATH", "GITHUB_ENV",
		"GITHUB_STEP_SUMMARY"}}
	s.link(node, "tools/node")
	s.link(tool(t, "tr"), "tools/tr")
	for _, name := range s.files {
		s.write(name, "")
		s.set(name + "=" + s.at(name))
	}
	s.mkdir(s.at("temp"))
	s.set("RUNNER_TEMP="+s.at("temp"), "GITHUB_SERVER_URL=https://forge.invalid",
		"GITHUB_ACTION_REPOSITORY=you/reprise", "GITHUB_ACTION_REF=v0.1.0")
	return s
}

// step runs a script of the action with inputs.
func (s stepSite) step(script string, inputs ...string) (said string, ok bool) {
	s.t.Helper()
	path, err := filepath.Abs("../scripts/action/" + script)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command("node", path)
	cmd.Path, cmd.Dir, cmd.Env = filepath.Join(s.at("tools"), "node"), s.at(""),
		append(slices.Clone(s.env), inputs...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// The action installs from a release, puts the shims first on PATH, names the store, and sums up at
// the end of the job.
func TestAction(t *testing.T) {
	s := newStepSite(t)
	bin := s.at("temp/reprise/bin")
	said, ok := s.step("setup.js", "INPUT_FROM="+s.at("release"), "INPUT_STORE=s3://b/p",
		"INPUT_TOOLS=qwen", "INPUT_UNSIGNED=true")
	if !ok {
		t.Fatal(said)
	}
	contains(t, said, "its checksum is right\n", "--unsigned was given\n",
		"installed qwen, shimctl, reprise-store in "+bin)
	if path, env := read(t, s.at("GITHUB_PATH")), read(t, s.at("GITHUB_ENV")); path != bin+"\n" ||
		env != "REPRISE_STORE=s3://b/p\n" {
		t.Errorf("PATH %q, environment %q", path, env)
	}
	s.write("temp/reprise/bin/shimctl", "#!/bin/sh\necho \"$*\"\n")
	if said, ok := s.step("summary.js"); !ok ||
		read(t, s.at("GITHUB_STEP_SUMMARY")) != "stats --summary\n" {
		t.Errorf("says %q, the summary is %q", said, read(t, s.at("GITHUB_STEP_SUMMARY")))
	}
	s.script("rm temp/reprise/bin/shimctl")
	if said, ok := s.step("summary.js"); !ok ||
		!strings.HasPrefix(said, "::warning::no summary of reprise: ") {
		t.Errorf("says %q", said)
	}
	if said, ok := s.step("summary.js", "INPUT_SUMMARY=false"); !ok || said != "" {
		t.Errorf("says %q", said)
	}
}

// Without a release beside it the action takes the release of its version, and none if it is used
// at a branch.
func TestActionVersion(t *testing.T) {
	s := newStepSite(t)
	s.script("rm tools/curl")
	s.write("tools/curl", "#!/bin/sh\necho \"$*\" >>curled\nexit 22\n")
	for _, inputs := range [][]string{{"INPUT_VERSION="},
		{"INPUT_VERSION=v0.2.0", "GITHUB_ACTION_REF=main"}, {"GITHUB_ACTION_REF=main"}} {
		if said, ok := s.step("setup.js", inputs...); ok ||
			!strings.Contains(said, "::error::reprise is not set up: ") {
			t.Errorf("%q says %s", inputs, said)
		}
	}
	const releases = "-- https://forge.invalid/you/reprise/releases/download/"
	asked := strings.Split(strings.TrimSpace(read(t, s.at("curled"))), "\n")
	if len(asked) != 2 || !strings.HasSuffix(asked[0], releases+"v0.1.0/SHA256SUMS") ||
		!strings.HasSuffix(asked[1], releases+"v0.2.0/SHA256SUMS") {
		t.Errorf("asked for %q", asked)
	}
	if s.gone(s.at("temp/reprise/bin")); read(t, s.at("GITHUB_PATH")) != "" {
		t.Error("PATH was changed")
	}
}

// The scripts of the action read each input.
func TestActionInputs(t *testing.T) {
	var action struct {
		Inputs map[string]any
		Runs   struct{ Main, Post string }
	}
	if err := yaml.Unmarshal([]byte(read(t, "../action.yml")), &action); err != nil {
		t.Fatal(err)
	}
	scripts := read(t, "../"+action.Runs.Main) + read(t, "../"+action.Runs.Post)
	for name := range action.Inputs {
		if !strings.Contains(scripts, "input('"+name+"')") &&
			!strings.Contains(scripts, "INPUT_"+strings.ToUpper(name)) {
			t.Errorf("the action does not read its input %s", name)
		}
	}
}
