package test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"go.yaml.in/yaml/v3"
)

// The flake is Nix, and the modules that it downloads are those of go.mod.
func TestFlake(t *testing.T) {
	if nix, err := exec.LookPath("nix-instantiate"); err == nil {
		if out, err := exec.Command(nix, "--parse", "../flake.nix").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	vendor := filepath.Join(t.TempDir(), "vendor")
	if out, err := exec.Command("go", "mod", "vendor", "-o", vendor).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	archive := sha256.New()
	writeNar(t, archive, "nix-archive-1")
	writeNarNode(t, archive, vendor)
	want := `vendorHash = "sha256-` + base64.StdEncoding.EncodeToString(archive.Sum(nil)) + `";`
	flake := read(t, "../flake.nix")
	if !strings.Contains(flake, want) {
		t.Errorf("flake.nix must have %s, has %s", want, regexp.MustCompile(`vendorHash = .*`).FindString(flake))
	}
	for _, tag := range strings.Fields(regexp.MustCompile(`tags='(.*)'`).FindStringSubmatch(read(t, "../scripts/flags.sh"))[1]) {
		contains(t, flake, `"`+tag+`"`)
	}
}

// A stepSite is where a step of a workflow uses the action, from a release of the stand-ins.
type stepSite struct {
	*site
	files []string // that a runner reads
}

func newStepSite(t *testing.T) stepSite {
	t.Helper()
	node := tool(t, "node")
	s := stepSite{site: released(t), files: []string{"GITHUB_PATH", "GITHUB_ENV", "GITHUB_STEP_SUMMARY"}}
	s.link(node, "tools/node")
	s.link(tool(t, "tr"), "tools/tr")
	for _, name := range s.files {
		s.write(name, "")
		s.set(name + "=" + s.at(name))
	}
	s.mkdir(s.at("temp"))
	s.set("RUNNER_TEMP="+s.at("temp"), "GITHUB_SERVER_URL=https://forge.invalid", "GITHUB_ACTION_REPOSITORY=you/reprise", "GITHUB_ACTION_REF=v0.1.0")
	return s
}

// step runs a script of the action with inputs.
func (s stepSite) step(script string, inputs ...string) (said string, ok bool) {
	s.t.Helper()
	path, err := filepath.Abs("../packaging/action/" + script)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command("node", path)
	cmd.Path, cmd.Dir, cmd.Env = filepath.Join(s.at("tools"), "node"), s.at(""), append(slices.Clone(s.env), inputs...)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// The action installs from a release, puts the shims first on PATH, names the store, and sums up at the end of the job.
func TestAction(t *testing.T) {
	s := newStepSite(t)
	bin := s.at("temp/reprise/bin")
	said, ok := s.step("setup.js", "INPUT_FROM="+s.at("release"), "INPUT_STORE=s3://b/p", "INPUT_TOOLS=qwen", "INPUT_UNSIGNED=true")
	if !ok {
		t.Fatal(said)
	}
	contains(t, said, "its checksum is right\n", "--unsigned was given\n", "installed qwen, shimctl, reprise-store in "+bin)
	if path, env := read(t, s.at("GITHUB_PATH")), read(t, s.at("GITHUB_ENV")); path != bin+"\n" || env != "REPRISE_STORE=s3://b/p\n" {
		t.Errorf("PATH %q, environment %q", path, env)
	}
	s.write("temp/reprise/bin/shimctl", "#!/bin/sh\necho \"$*\"\n")
	if said, ok := s.step("summary.js"); !ok || read(t, s.at("GITHUB_STEP_SUMMARY")) != "stats --summary\n" {
		t.Errorf("says %q, the summary is %q", said, read(t, s.at("GITHUB_STEP_SUMMARY")))
	}
	s.script("rm temp/reprise/bin/shimctl")
	if said, ok := s.step("summary.js"); !ok || !strings.HasPrefix(said, "::warning::no summary of reprise: ") {
		t.Errorf("says %q", said)
	}
	if said, ok := s.step("summary.js", "INPUT_SUMMARY=false"); !ok || said != "" {
		t.Errorf("says %q", said)
	}
}

// Without a release of its own the action takes that of its version, and none if it is used at a branch.
func TestActionVersion(t *testing.T) {
	s := newStepSite(t)
	s.script("rm tools/curl")
	s.write("tools/curl", "#!/bin/sh\necho \"$*\" >>curled\nexit 22\n")
	for _, inputs := range [][]string{{"INPUT_VERSION="}, {"INPUT_VERSION=v0.2.0", "GITHUB_ACTION_REF=main"}, {"GITHUB_ACTION_REF=main"}} {
		if said, ok := s.step("setup.js", inputs...); ok || !strings.Contains(said, "::error::reprise is not set up: ") {
			t.Errorf("%q says %s", inputs, said)
		}
	}
	const releases = "-- https://forge.invalid/you/reprise/releases/download/"
	asked := strings.Split(strings.TrimSpace(read(t, s.at("curled"))), "\n")
	if len(asked) != 2 || !strings.HasSuffix(asked[0], releases+"v0.1.0/SHA256SUMS") || !strings.HasSuffix(asked[1], releases+"v0.2.0/SHA256SUMS") {
		t.Errorf("asked for %q", asked)
	}
	if s.gone(s.at("temp/reprise/bin")); read(t, s.at("GITHUB_PATH")) != "" {
		t.Error("PATH was changed")
	}
}

// The files for other programs' registries can be read, and agree with what they are about.
func TestRegistryEntries(t *testing.T) {
	var action struct {
		Inputs map[string]any
		Runs   struct{ Main, Post string }
	}
	if err := yaml.Unmarshal([]byte(read(t, "../action.yml")), &action); err != nil {
		t.Fatal(err)
	}
	scripts := read(t, "../"+action.Runs.Main) + read(t, "../"+action.Runs.Post)
	for name := range action.Inputs {
		if !strings.Contains(scripts, "input('"+name+"')") && !strings.Contains(scripts, "INPUT_"+strings.ToUpper(name)) {
			t.Errorf("the action does not read its input %s", name)
		}
	}

	var feature struct{ Options map[string]any }
	if err := json.Unmarshal([]byte(read(t, "../packaging/devcontainer/reprise/devcontainer-feature.json")), &feature); err != nil {
		t.Fatal(err)
	}
	for name := range feature.Options {
		contains(t, read(t, "../packaging/devcontainer/reprise/install.sh"), "${"+strings.ToUpper(name)+":")
	}

	var aqua struct{ Packages []struct{ Asset string } }
	if err := yaml.Unmarshal([]byte(read(t, "../packaging/aqua/registry.yaml")), &aqua); err != nil {
		t.Fatal(err)
	}
	if len(aqua.Packages) != 1 || aqua.Packages[0].Asset != "reprise-{{.Version}}-{{.OS}}-{{.Arch}}.tar.gz" {
		t.Errorf("aqua would download %v", aqua.Packages)
	}

	var mise struct{ Backends []string }
	if _, err := toml.DecodeFile("../packaging/mise/reprise.toml", &mise); err != nil || len(mise.Backends) != 1 {
		t.Errorf("mise: %v, %v", mise, err)
	}
}

// writeNar writes strings as Nix's archive format has them: a length, the bytes, zeros up to a multiple of eight.
func writeNar(t *testing.T, w io.Writer, texts ...string) {
	t.Helper()
	for _, text := range texts {
		length := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
		if _, err := w.Write(append(append(length, text...), make([]byte, -len(text)&7)...)); err != nil {
			t.Fatal(err)
		}
	}
}

// writeNarNode writes a file, which cannot be executed, or a directory.
func writeNarNode(t *testing.T, w io.Writer, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !info.IsDir() {
		writeNar(t, w, "(", "type", "regular", "contents", read(t, path), ")")
		return
	}
	writeNar(t, w, "(", "type", "directory")
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		writeNar(t, w, "entry", "(", "name", e.Name(), "node")
		writeNarNode(t, w, filepath.Join(path, e.Name()))
		writeNar(t, w, ")")
	}
	writeNar(t, w, ")")
}
