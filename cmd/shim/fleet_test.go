package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/test/toolbox"

	"go.yaml.in/yaml/v3"
)

const recipes = "../../docs/how-to/fleet/"

// A recipe has the variables and scripts of a file in docs/how-to/fleet: each script in a
// shell of its own.
type recipe struct {
	env    map[string]string
	script []string
}

// readRecipe returns a recipe without the parts that install the programs.
var readRecipe = map[string]func(t *testing.T, read func(any)) recipe{
	"github-actions.yml": func(_ *testing.T, read func(any)) (r recipe) {
		var file struct {
			Jobs map[string]struct {
				Env   map[string]string
				Steps []struct{ Name, Run string }
			}
		}
		read(&file)
		job := file.Jobs["code"]
		r.env = job.Env
		for _, step := range job.Steps {
			if step.Name != "Install" && step.Run != "" {
				r.script = append(r.script, step.Run)
			}
		}
		return r
	},
	"gitlab-ci.yml": func(_ *testing.T, read func(any)) recipe {
		var file map[string]struct {
			Variables map[string]string
			Script    []string
			After     []string `yaml:"after_script"`
		}
		read(&file)
		return recipe{file["agent"].Variables,
			[]string{strings.Join(slices.Concat(file["agent"].Script, file["agent"].After), "\n")}}
	},
	"kubernetes-job.yaml": func(t *testing.T, read func(any)) recipe {
		type container struct {
			Command, Args []string
			Env           []struct{ Name, Value string }
			WorkingDir    string `yaml:"workingDir"`
		}
		var file struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct {
						First []container `yaml:"initContainers"`
						Then  []container `yaml:"containers"`
					}
				}
			}
		}
		read(&file)
		pod := file.Spec.Template.Spec
		r := recipe{env: map[string]string{}}
		for _, c := range append(pod.First[1:], pod.Then...) { // the first clones
			if file.Kind != "Job" || !slices.Equal(c.Command, []string{"sh", "-ec"}) {
				t.Errorf("%s runs %q", file.Kind, c.Command)
			}
			r.script = append(r.script, c.Args...)
			for _, v := range c.Env {
				if v.Name != "HOME" {
					r.env[v.Name] = v.Value
				}
			}
		}
		return r
	},
	"devcontainer.json": func(_ *testing.T, read func(any)) recipe {
		var file struct {
			Env     map[string]string `json:"remoteEnv"`
			Command string            `json:"postCreateCommand"`
		}
		read(&file)
		return recipe{file.Env, []string{file.Command}}
	},
}

// Each recipe has the form that its system reads, sets variables that there are, contains no
// secret, and works in an empty home, also if the store cannot be reached.
func TestRecipes(t *testing.T) {
	files, err := os.ReadDir(recipes)
	if err != nil || len(files) != len(readRecipe) {
		t.Fatalf("%d files, %v", len(files), err)
	}
	reference, err := os.ReadFile("../../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, parse := range readRecipe {
		t.Run(name, func(t *testing.T) {
			r := parse(t, func(file any) { decodeRecipe(t, name, file) })
			if len(r.script) == 0 || r.env["REPRISE_STORE"] == "" {
				t.Fatalf("%+v", r)
			}
			for key, value := range r.env {
				if strings.HasPrefix(key, "REPRISE_") &&
					!strings.Contains(string(reference), "`"+key) {
					t.Errorf("there is no %s", key)
				}
				if secret := regexp.MustCompile(`KEY|TOKEN|PASSWORD`).MatchString(key); secret &&
					!strings.Contains(value, "${") {
					t.Errorf("%s = %s", key, value)
				}
			}
			r.run(t)
		})
	}
}

func decodeRecipe(t *testing.T, name string, file any) {
	t.Helper()
	text, err := os.ReadFile(recipes + name)
	if err != nil {
		t.Fatal(err)
	}
	decode := yaml.Unmarshal
	if strings.HasSuffix(name, ".json") {
		decode = json.Unmarshal
	}
	if err := decode(text, file); err != nil {
		t.Fatal(err)
	}
}

// run runs a recipe's script on a new machine: an empty home and a clone.
func (r recipe) run(t *testing.T) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git")
	}
	root := t.TempDir()
	link(t, git, filepath.Join(root, "real", "git"))
	for _, name := range []string{"claude", "shimctl"} {
		link(t, executable(t), filepath.Join(root, "shims", name))
	}
	fake, err := filepath.Abs("../../testdata/fake/claude")
	if err != nil {
		t.Fatal(err)
	}
	link(t, fake, filepath.Join(root, "real", "claude"))
	env := append(toolbox.Home(filepath.Join(root, "home")),
		"PATH="+root+"/shims:"+root+"/real:"+tools, "FAKE="+root+"/fake", "TMPDIR="+root, hurry,
		"GIT_CONFIG_NOSYSTEM=1", "GITHUB_STEP_SUMMARY="+root+"/summary", "CI_COMMIT_REF_NAME=main")
	for key, value := range r.env {
		if !strings.Contains(value, "$") {
			env = append(env, key+"="+value)
		}
	}
	env = append(env, "REPRISE_STORE=s3://bucket?endpoint=http://127.0.0.1:1",
		"REPRISE_STORE_KEY="+strings.Repeat("0123456789abcdef", 4), "REPRISE_TASK=of-the-test")
	sh := func(script string) string {
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir, cmd.Env = root, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v:\n%s", err, out)
		}
		return string(out)
	}
	sh(`mkdir home; git init -q -b main --bare origin.git; git clone -q origin.git repo 2>/dev/null; cd repo; git checkout -q -b main
		echo Begin. >prompt.md; git add .; git -c user.name=a -c user.email=a@b commit -q -m 1; git push -q origin main`)
	var shown string
	for _, script := range append(r.script, "if [ -e ../summary ]; then cat ../summary; fi") {
		shown += sh("cd repo\n" + script)
	}
	if !strings.Contains(strings.Join(r.script, "\n"), "claude") {
		return
	}
	if !strings.Contains(shown, "**reprise**, all calls: the only call was not resumed.") ||
		!strings.Contains(shown, "answer 1") {
		t.Errorf("printed:\n%s", shown)
	}
	if log := sh("git -C origin.git log --format=%s"); log != "Work on of-the-test\n1\n" {
		t.Errorf("pushed: %s", log)
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}
