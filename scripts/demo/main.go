// Command demo plays one job through the installed shim and shows what the model
// was sent, with and without it. It runs the real Claude Code, in a home of its
// own, against a stand-in of its model: no account is needed, and nothing leaves
// this machine but the download of Claude Code where it is not installed.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"reprise/scripts/realcli"
	"reprise/standin"
)

func main() {
	bin := flag.String("bin", "", "the `folder` that the shims are installed in")
	flag.Parse()
	if err := run(*bin); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// rounds are the prompts of one job as an orchestrator sends them: the whole
// prompt each time, with the reviewer's notes added.
func rounds() []string {
	const opening = "You are the coder. Remember: please remember number 4711, it names the release.\n\n"
	var rules strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rules, "- Rule %d: keep functions small, name things for what they are, test case %d.\n", i+1, i+1)
	}
	const contract = "\n## Contract\n\nWhen you are done, print STATUS: REVIEW.\n"
	first := opening + "## Standards\n\n" + rules.String()
	second := first + "\n## Rejection 1\n\nThe changelog lacks the release: what number was it?\n"
	third := second + "\n## Rejection 2\n\nThe tag lacks it as well: what number was it?\n"
	return []string{first + contract, second + contract, third + contract}
}

func run(bin string) error {
	real, err := realClaude(bin)
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "reprise-demo-")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer os.RemoveAll(root)
	without, err := play(filepath.Join(root, "without"), real, "")
	if err != nil {
		return err
	}
	with, err := play(filepath.Join(root, "with"), real, bin)
	if err != nil {
		return err
	}
	return show(without, with)
}

// realClaude gives the folder of the real binary: the one on PATH, else one that is
// downloaded.
func realClaude(bin string) (string, error) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, "claude")
		ours, _ := os.Stat(filepath.Join(bin, "claude"))
		info, err := os.Stat(path)
		if err == nil && !os.SameFile(info, ours) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return dir, nil
		}
	}
	fmt.Printf("Claude Code is not on PATH: taking %s from the cache folder, or from npm\n\n", realcli.Claude.Version)
	return realcli.Install(realcli.Claude)
}

// A job is what became of the rounds.
type job struct {
	answers []string
	asked   []standin.Request
	status  string
}

// play makes the job's calls in a home of its own, as any script would; with the
// shims in front, where bin names their folder.
func play(root, real, bin string) (job, error) {
	var j job
	model, err := standin.Start(standin.Options{})
	if err != nil {
		return j, err
	}
	defer model.Close()
	project := filepath.Join(root, "project")
	if err := os.MkdirAll(project, 0o755); err != nil {
		return j, err
	}
	env, err := standin.Setup("claude", filepath.Join(root, "home"), model.URL())
	if err != nil {
		return j, err
	}
	path := real + ":" + os.Getenv("PATH")
	if bin != "" {
		path = bin + ":" + path
	}
	env = append(env, "PATH="+path, "TMPDIR="+root)
	call := func(name string, args ...string) (string, error) {
		cmd := exec.Command("sh", append([]string{"-c", `"$@"`, "sh", name}, args...)...)
		cmd.Dir, cmd.Env, cmd.Stderr = project, env, os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("run %s: %w", name, err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	for _, prompt := range rounds() {
		answer, err := call("claude", "-p", prompt)
		if err != nil {
			return j, err
		}
		j.answers = append(j.answers, answer)
	}
	j.asked = model.Asked()
	if bin != "" {
		j.status, err = call("shimctl", "status")
	}
	return j, err
}

func show(without, with job) error {
	if len(with.asked) != len(rounds()) || len(without.asked) != len(rounds()) {
		return fmt.Errorf("the model was asked %d and %d times, not %d", len(without.asked), len(with.asked), len(rounds()))
	}
	fmt.Print("One job in three rounds, through an ordinary loop: claude -p \"<whole prompt>\".\n\n")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ROUND\tANSWER\tPROMPT\tSENT WITHOUT REPRISE\tSENT WITH REPRISE\tHISTORY")
	for i, prompt := range rounds() {
		fmt.Fprintf(w, "%d\t%s\t%d B\t%d B\t%d B\t%d messages\n", i+1, with.answers[i], len(prompt),
			len(standin.LastUser(without.asked[i])), len(standin.LastUser(with.asked[i])), standin.Messages(with.asked[i]))
	}
	w.Flush()
	fmt.Printf("\nwhat the model was sent in round 3, after all that the session had already:\n\n%s\n",
		indent(standin.LastUser(with.asked[2])))
	fmt.Printf("shimctl status says:\n\n%s\n", indent(with.status))
	for i := range with.answers {
		if with.answers[i] != without.answers[i] {
			return fmt.Errorf("round %d: the answers differ: %q and %q", i+1, without.answers[i], with.answers[i])
		}
	}
	return nil
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"
}
