package jobs

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/standin"
	"reprise/rewrite"
	"reprise/test/harness"
	"reprise/test/markers"
	"reprise/test/realcli"
)

// A traveler is a tool with sessions that are resumed on other machines, and how it is called.
type traveler struct {
	pin    realcli.Pin
	first  []string
	resume func(id, prompt string) []string
}

var travelers = map[string]traveler{
	"claude": {realcli.Claude, list("-p|--allowedTools=Bash|--model|sonnet"), resumeOption},
	"claude, before": {realcli.SmallerClaude, list("-p|--allowedTools=Bash|--model|sonnet"),
		resumeOption},
	"codex": {realcli.Pins["codex"], list("exec"), func(id, prompt string) []string {
		return []string{"exec", "resume", id, prompt}
	}},
	"gemini": {realcli.Pins["gemini"], list("--yolo|-p"), func(id, prompt string) []string {
		return []string{"--yolo", "--resume", id, "-p", prompt}
	}},
	"vibe": {realcli.Pins["vibe"], list("-p"), func(id, prompt string) []string {
		return []string{"--resume", id, "-p", prompt}
	}},
}

// Sessions of tools that are not tried here are not shared.
func TestTravelersAreTried(t *testing.T) {
	for _, name := range rewrite.Names {
		tool, _ := rewrite.Lookup(name)
		tried := false
		for _, does := range travelers {
			tried = tried || does.pin.Tool == name
		}
		if tool.Descriptor().Travels != tried {
			t.Errorf("%s: travels is %t, tried is %t", name, tool.Descriptor().Travels, tried)
		}
	}
}

func resumeOption(id, prompt string) []string {
	return []string{"-p", prompt, "--allowedTools=Bash", "--model", "sonnet", "--resume", id}
}

// A session resumes in an empty home at the same path from the files that SessionFiles lists, and
// the model is sent the same as at home. So it is on a third machine.
func TestSessionTravels(t *testing.T) {
	each(t, travelers, func(t *testing.T, _ string, does traveler) {
		w := newWorldWith(t, does.pin, false, markers.Options{})
		if r := w.call(append(does.first[:len(does.first):len(does.first)],
			round("RUN<<echo travels>>"))...); r.Exit != 0 {
			t.Fatalf("exit %d, stderr %q", r.Exit, r.Stderr)
		}
		id, err := w.NewestID()
		if err != nil {
			t.Fatal(err)
		}
		atHome := filepath.Join(w.Root, "at home")
		w.copyAll(w.home(), atHome)
		prompts := []string{"On the left: what number was it?", "On the right: what number was it?"}
		var stayed []result
		for _, prompt := range prompts {
			stayed = append(stayed, w.call(does.resume(id, prompt)...))
		}
		w.replaceHome(atHome)
		for n, prompt := range prompts {
			w.travel(id)
			r := w.call(does.resume(id, prompt)...)
			if strings.TrimSpace(r.Stdout) != "4711" || r.Exit != 0 {
				t.Errorf("on machine %d: %q, exit %d, stderr %q", n+2, r.Stdout, r.Exit, r.Stderr)
			}
			if n > 0 && !strings.Contains(standin.AllText(r.last(t)), prompts[n-1]) {
				t.Errorf("machine %d has not what machine %d has added", n+2, n+1)
			}
			stayed[n].Stderr, r.Stderr = "", "" // codex prints there how much was cached
			for _, d := range harness.Compare(w.World, w.World, stayed[n].Result, r.Result) {
				t.Errorf("on machine %d: %s", n+2, d)
			}
		}
	})
}

func (w *world) home() string { return filepath.Join(w.Root, "home") }

func (w *world) copyAll(from, to string) {
	w.t.Helper()
	if out, err := exec.Command("cp", "-R", "-p", from, to).CombinedOutput(); err != nil {
		w.t.Fatalf("copy %s: %v: %s", from, err, out)
	}
}

// replaceHome puts another directory in the place of the home.
func (w *world) replaceHome(with string) {
	w.t.Helper()
	if err := os.RemoveAll(w.home()); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(with, w.home()); err != nil {
		w.t.Fatal(err)
	}
}

// travel moves the home away, and makes a new one that has nothing of it but one session's files.
func (w *world) travel(id string) {
	w.t.Helper()
	tool, _ := rewrite.Lookup(w.Tool)
	home := tool.Descriptor().Home(func(name string) string {
		if name == "HOME" {
			return w.home()
		}
		return ""
	})
	files, ok := rewrite.FilesOf(tool, home, id, w.sessionFile(tool, home, id))
	if !ok {
		w.t.Fatalf("the files of session %s are not known", id)
	}
	away, err := os.MkdirTemp(w.Root, "away")
	if err != nil {
		w.t.Fatal(err)
	}
	old := filepath.Join(away, "home")
	if err := os.Rename(w.home(), old); err != nil {
		w.t.Fatal(err)
	}
	if _, err := harness.Setup(w.Tool, w.home(), w.Model.URL()); err != nil {
		w.t.Fatal(err)
	}
	put(w.t, filepath.Join(w.home(), ".profile"), "")
	w.copyAll(filepath.Join(old, ".profile"), filepath.Join(w.home(), ".profile"))
	below, err := filepath.Rel(w.home(), home)
	if err != nil {
		w.t.Fatal(err)
	}
	paths := files.Paths
	for _, pattern := range files.Common {
		found, err := fs.Glob(os.DirFS(filepath.Join(old, below)), pattern)
		if err != nil {
			w.t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	for n, path := range paths {
		from, to := filepath.Join(old, below, path), filepath.Join(home, path)
		if _, err := os.Stat(from); err != nil && n > 0 {
			continue
		}
		mkdir(w.t, filepath.Dir(to))
		w.copyAll(from, to)
	}
}

// sessionFile returns the last file of a session that is no orphan.
func (w *world) sessionFile(tool rewrite.Tool, home, id string) (file string) {
	w.t.Helper()
	for _, pattern := range rewrite.SessionPaths(tool, home, w.Project, id) {
		found, err := filepath.Glob(pattern)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				w.t.Fatal(err)
			}
			if !tool.IsOrphanFile(path, text) {
				file = path
			}
		}
		if file != "" {
			return file
		}
	}
	w.t.Fatalf("session %s has no file", id)
	return ""
}
