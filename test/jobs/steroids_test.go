package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"reprise/internal/standin"
	"reprise/test/harness"
)

// steroidsCall is one call of a sequence in testdata/prompts.
type steroidsCall struct{ Prompt, Answer, Expect, Job string }

func steroidsCalls(t *testing.T) (calls []steroidsCall) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/prompts/steroids.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Name  string
		Calls []steroidsCall
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Name == "steroids_whole_two_reviewers_two_tasks" {
			calls = s.Calls
		}
	}
	return calls
}

// atOnce cuts calls into the groups that steroids starts at the same time: the judges of reviewers
// wait for all of them.
func atOnce(calls []steroidsCall) (groups [][]steroidsCall) {
	for i := 0; i < len(calls); i++ {
		if strings.Contains(calls[i].Job, " reviewer ") {
			groups = append(groups, []steroidsCall{calls[i], calls[i+2]}, calls[i+1:i+2],
				calls[i+3:i+4])
			i += 3
			continue
		}
		groups = append(groups, calls[i:i+1])
	}
	return groups
}

// steroids names roles in the prompts alone, quotes the notes of reviewers, and runs these side
// by side with instructions of their own. No session has two of them in it, and all go on with
// their own from the second round on.
func TestSteroids(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "claude", true)
	w.git("init", "-q")
	for round, group := range atOnce(steroidsCalls(t)) {
		w.git("commit", "-q", "--allow-empty", "-m", fmt.Sprint("round ", round))
		before := len(w.Model.Asked())
		var all sync.WaitGroup
		for _, call := range group {
			all.Go(func() { w.steroids(call) })
		}
		all.Wait()
		for _, r := range w.Model.Asked()[before:] {
			w.isOfOneJob(r, group)
		}
	}
	w.statusSays(`"resumed": 12`)
}

func (w *world) git(args ...string) {
	w.t.Helper()
	git := exec.Command("git", append([]string{"-C", w.Project, "-c", "user.name=a", "-c",
		"user.email=a@example.org"}, args...)...)
	if out, err := git.CombinedOutput(); err != nil {
		w.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// steroids makes a call as steroids does. The model answers as the sequence demands.
func (w *world) steroids(c steroidsCall) {
	prompt := w.longer(c.Prompt) + "\nECHO<<" + c.Answer + ">>\n"
	r, err := w.RunAs("claude", harness.Call{
		Args: append(list("--model|sonnet|--output-format|stream-json|--verbose|-p"), prompt)})
	if err != nil || r.Exit != 0 ||
		c.Answer != "" && !strings.Contains(r.Stdout, strings.Split(c.Answer, "\n")[0]) {
		w.t.Errorf("%s: %v, exit %d: %.500s%s", c.Job, err, r.Exit, r.Stdout, r.Stderr)
	}
}

// longer gives a prompt the length of prompts of steroids.
func (w *world) longer(prompt string) string {
	return strings.Replace(prompt, "- Guideline 1:",
		strings.TrimSuffix(harness.Round(), "\n")+"\n- Guideline 1:", 1)
}

// isOfOneJob checks that a request has the role, the reviewer and the task of one call in the group
// and of no other, and in later rounds the first round's text.
func (w *world) isOfOneJob(r standin.Request, group []steroidsCall) {
	w.t.Helper()
	text := standin.AllText(r)
	count := func(words ...string) (n int) {
		for _, word := range words {
			if strings.Contains(text, word) {
				n++
			}
		}
		return n
	}
	if roles := count("You are a CODER", "You are a REVIEWER",
		"You are a state machine"); roles != 1 {
		w.t.Errorf("a conversation of %d roles: %.3000s", roles, text)
	}
	if count("Look for security alone.", "Look for style alone.") > 1 ||
		count("# TASK: ebaa6c7d", "# TASK: 0badcafe") > 1 {
		w.t.Errorf("a conversation of two reviewers or tasks: %.3000s", text)
	}
	resumed := slices.ContainsFunc(group, func(c steroidsCall) bool { return c.Expect == "resume" })
	if resumed && count("Rejections: 0/15") != 1 {
		w.t.Errorf("a later round without the first: %.3000s", text)
	}
}
