// Package demo plays a job of a coder and a reviewer through an ordinary shell loop, with and
// without the shims, against a model stand-in that reads and changes files as an agent does. It
// uses a real CLI, or a small one of its own.
//
// It never touches the user's homes, sessions or projects, and connects only to loopback. The
// invariant: the reported figures were counted at the model.
package demo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"reprise/config"
	"reprise/internal/standin"
	"reprise/rewrite"
	"reprise/shim"
)

// Tools are the tools that can play the job.
var Tools = []string{"claude", "codex", "gemini", "vibe"}

// Command returns the call that lets a tool use the tools. The prompt follows.
func Command(tool string) []string {
	t, _ := rewrite.Lookup(tool)
	return t.Descriptor().Unattended
}

// A Setup is the program of a play.
type Setup struct {
	Tool  string // the command to run
	Real  string // the directory of the executable that is not a shim
	Shims string // the directory of the shims, "" to run without them
}

// lastRound is the last round: the reviewer accepts.
const lastRound = 2

// A Step is the cost of one call of the loop.
type Step struct {
	Role     string
	Decision string // the shim's decision and reason, "" without the shims
	Requests int
	Sent     string // the prompt that the model was sent
	Had      string // with all that was sent before it
	Tokens   standin.Tokens
}

// A Play is one performance of the job: the calls, and the environment.
type Play struct {
	Calls []Step
	Env   []string // leads to the shims' own ledger
}

// Total sums up the cost of the calls.
func (p Play) Total() (t Step) {
	for _, c := range p.Calls {
		t.Requests += c.Requests
		t.Tokens.Add(c.Tokens)
	}
	return t
}

// Resumed returns an error unless each call of the second round went on with the session of its
// role in the model's view. It compares with a job without the shims.
func (p Play) Resumed(without Play) error {
	for i, c := range p.Calls {
		before := slices.IndexFunc(p.Calls[:i], func(s Step) bool { return s.Role == c.Role })
		switch {
		case before < 0:
		case !strings.HasPrefix(c.Decision, "resume"):
			return fmt.Errorf("resume call %d: it was %s", i+1, c.Why())
		case len(p.Calls) != len(without.Calls) || c.Sent == without.Calls[i].Sent:
			return fmt.Errorf("resume call %d: the tool did not take the session up again, and "+
				"was called anew", i+1)
		case !strings.Contains(c.Had, p.Calls[before].Sent):
			return fmt.Errorf("resume call %d: the tool forgot the session: the model had only "+
				"the new part", i+1)
		}
	}
	return nil
}

// Why returns the decision and the reason as the commands of shimctl write them.
func (c Step) Why() string { return strings.NewReplacer(" (", ": ", ")", "").Replace(c.Decision) }

// Play plays the job below root, with a home, a project and a model of its own. When it returns, no
// process of the job is left, also if ctx ended it.
func (j Setup) Play(ctx context.Context, root string) (p Play, err error) {
	model, err := standin.Start(standin.Options{Reply: Agent})
	if err != nil {
		return p, fmt.Errorf("start stand-in: %w", err)
	}
	defer model.Close()
	env, err := standin.Clients[j.Tool].Setup(filepath.Join(root, "home"), model.URL())
	if err != nil {
		return p, err
	}
	getenv := shim.Env{Environ: env}.Get
	project, prompts := filepath.Join(root, "project"), filepath.Join(root, "prompts")
	if err := cmp.Or(os.MkdirAll(filepath.Join(project, ".git"), 0o755), // for codex
		WriteProject(project), os.MkdirAll(prompts, 0o755), writePrompts(prompts),
		configure(getenv)); err != nil {
		return p, fmt.Errorf("prepare the job: %w", err)
	}
	path := j.Real + string(filepath.ListSeparator) + os.Getenv("PATH")
	if j.Shims != "" {
		path = j.Shims + string(filepath.ListSeparator) + path
	}
	env = append(env, "PATH="+path, "TMPDIR="+root, "PROMPTS="+prompts,
		"TOOL="+strings.Join(Command(j.Tool), " "), "REPRISE_VERBOSE=1", "IS_SANDBOX=1")
	stderr, err := runLoop(ctx, project, env)
	if err != nil {
		return p, fmt.Errorf("play the loop with %s: %w\n%s", j.Tool, err, words(stderr, prompts))
	}
	return Play{calls(model.Asked(), decisions(stderr)), env}, nil
}

// configure has every tool resumed, at any cost: the job shows resumes.
func configure(getenv func(string) string) error {
	path, err := config.ConfigFile(getenv)
	if err != nil {
		return err
	}
	return cmp.Or(os.MkdirAll(filepath.Dir(path), 0o700),
		os.WriteFile(path, []byte("dearer = \"resume\"\n"), 0o600))
}

// grace is how long the processes of a loop have to end.
const grace = 3 * time.Second

// runLoop runs the loop in a separate process group, so that all of it can be ended.
func runLoop(ctx context.Context, dir string, env []string) (said string, err error) {
	var stderr bytes.Buffer
	sh := exec.CommandContext(ctx, "sh", "-c", Loop)
	sh.Dir, sh.Env, sh.Stderr = dir, env, &stderr
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	sh.Cancel = func() error { return syscall.Kill(-sh.Process.Pid, syscall.SIGTERM) }
	sh.WaitDelay = grace // for processes that still hold stderr
	err = sh.Run()
	if sh.Process != nil {
		_ = syscall.Kill(-sh.Process.Pid, syscall.SIGKILL) // as a rule nobody is left
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return stderr.String(), cmp.Or(ctx.Err(), err)
}

// mostWords is how many bytes of the words of a tool that fails are shown.
const mostWords = 2000

// words returns the tool's words on stderr and in the files of answers: the call that failed has
// written to one of them last.
func words(stderr, prompts string) string {
	said := strings.TrimSpace(stderr)
	for _, name := range []string{"answer", "verdict"} {
		text, _ := os.ReadFile(filepath.Join(prompts, name)) // it might not be there yet
		said = strings.TrimSpace(said + "\n" + string(text))
	}
	said = cmp.Or(said, "it said nothing")
	return strings.ToValidUTF8(said[max(0, len(said)-mostWords):], "")
}

// calls splits the requests into calls: each call begins with a request that contains no tool
// result yet.
func calls(asked []standin.Request, decisions []string) (all []Step) {
	for _, r := range asked {
		if standin.StartsTurn(r) {
			c := Step{Role: "reviewer", Sent: standin.LastUser(r), Had: standin.AllText(r)}
			if !strings.Contains(c.Had, openings[c.Role]) {
				c.Role = "coder"
			}
			if len(all) < len(decisions) {
				c.Decision = decisions[len(all)]
			}
			all = append(all, c)
		}
		if len(all) > 0 {
			c := &all[len(all)-1]
			c.Requests++
			c.Tokens.Add(r.Tokens)
		}
	}
	return all
}

var decided = regexp.MustCompile(`(?m)^\s*reprise: .*?: (.*?)\s*$`)

// decisions returns the shims' words about each call, such as "fresh (first_call)" of "reprise:
// claude: fresh (first_call)".
func decisions(stderr string) (all []string) {
	for _, found := range decided.FindAllStringSubmatch(stderr, -1) {
		all = append(all, found[1])
	}
	return all
}

// openings are, by role, the beginning of each prompt.
var openings = map[string]string{
	"coder": "You are the coder of a small Go project. You change what the task asks for, and " +
		"nothing else.",
	"reviewer": "You are the reviewer of a small Go project. You judge a change by its code, and " +
		"change nothing.",
}

// Files are the files of the sample project. The last one is to be changed.
var Files = []string{"doc/standards.md", "src/model.go", "src/codec.go", "src/store.go"}

// Task is the task of the roles.
const Task = "Close reports the first error of writing, flushing and closing, and the file is " +
	"closed whatever happens.\n" +
	"Callers that close twice get no second error.\n"

// header returns the first line of a file of the sample project.
func header(file string) string { return "// This is " + file + "." }

// WriteProject writes the sample project. It is large enough for a second read of it to show in the
// figures.
func WriteProject(dir string) error {
	for i, file := range Files {
		var text strings.Builder
		fmt.Fprintf(&text, "%s\n\n", header(file))
		for j := range 60 {
			fmt.Fprintf(&text, "// Part %d.%d: what it takes, what it gives back, and what it "+
				"does where the two do not fit.\n", i+1, j+1)
		}
		path := filepath.Join(dir, file)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(text.String()), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// brief returns the text that both roles are sent each time: the task and the standards.
func brief(opening string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n# Task: close the store without losing errors\n\n## Specification\n\n",
		opening)
	b.WriteString(Task + "\n## Read first\n\n")
	for _, file := range Files {
		b.WriteString("- " + file + "\n")
	}
	b.WriteString("\n## Standards\n\n")
	for i := range 24 {
		fmt.Fprintf(&b, "- Rule %d: small functions, errors with what was tried, a test that "+
			"fails without the change.\n", i+1)
	}
	fmt.Fprintf(&b, "\nAccepted at revision %d.\n", lastRound)
	return b.String()
}

// Contracts are, by role, the end of each prompt, as orchestrators have them.
var Contracts = map[string]string{
	"coder": "## When you are done\n\nPrint STATUS: REVIEW in a line of its own.\n",
	"reviewer": "## Your verdict\n\nPrint DECISION: APPROVE or DECISION: REJECT in a line of " +
		"its own.\n",
}

// writePrompts writes the parts that the loop assembles prompts from.
func writePrompts(dir string) error {
	for role, opening := range openings {
		for name, text := range map[string]string{role: brief(opening), role + "-notes": "",
			role + "-contract": Contracts[role]} {
			if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text),
				0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// Loop is the orchestrator: it knows nothing about sessions. TOOL is the agent's call, PROMPTS the
// directory with the parts of the prompts.
const Loop = `round=0
prompt() {
	cat "$PROMPTS/$1.md" "$PROMPTS/$1-notes.md"; echo
	cat "$PROMPTS/$1-contract.md"
}
last() { sed "/^$1/d; /^\$/d" "$PROMPTS/$2" | tail -n 1; }
until grep -qs 'DECISION: APPROVE' "$PROMPTS/verdict"; do
	round=$((round + 1))
	[ $round -le 9 ] || exit 1
	$TOOL "$(prompt coder)" >"$PROMPTS/answer" </dev/null || exit
	[ $round -eq 1 ] ||
		printf '\n## Round %s\n\nChanged: src/store.go\n\n%s\n' \
			$round "$(last STATUS answer)" >>"$PROMPTS/reviewer-notes.md"
	$TOOL "$(prompt reviewer)" >"$PROMPTS/verdict" </dev/null || exit
	printf '\n## Rejection %s, of src/store.go\n\n%s\n' \
		$round "$(last DECISION verdict)" >>"$PROMPTS/coder-notes.md"
done
`

var (
	fileName = regexp.MustCompile(`\b[a-z]+/[a-z_]+\.(?:go|md)\b`)
	wanted   = regexp.MustCompile(`(?m)^Accepted at revision (\d+)\.$`)
	coder    = regexp.MustCompile(`(?i)\byou are (?:a|the) coder\b`)
	revision = regexp.MustCompile(`(?://|now at) revision (\d+)`) // as a file or the diff shows it
)

// Agent answers as a coding agent would. It reads the files that the prompt names if the
// conversation lacks their content or they have changed since. A coder then changes the last of
// them; a reviewer judges by the files that it has read. It knows only the input.
func Agent(r standin.Request) standin.Reply {
	prompt, all := standin.LastUser(r), standin.AllText(r)
	since := all[strings.LastIndex(all, prompt)+len(prompt):]
	files := fileName.FindAllString(prompt, -1)
	if len(files) == 0 {
		return standin.Reply{Text: "ok"}
	}
	for _, file := range files {
		// as the loop notes it
		changed := strings.Contains("\n"+prompt+"\n", "\nChanged: "+file+"\n")
		if !strings.Contains(all, header(file)) ||
			changed && !strings.Contains(since, header(file)) {
			return standin.Reply{Command: "cat " + file}
		}
	}
	target := files[len(files)-1]
	if coder.MatchString(all) {
		return change(target, all, since)
	}
	return judge(all)
}

// change adds a revision to the file, once for each prompt.
func change(file, all, since string) standin.Reply {
	if strings.Contains(since, "changed it") {
		return standin.Reply{Text: "I changed " + file + " as asked, which makes revision " +
			strconv.Itoa(latest(all)) + ".\n\nSTATUS: REVIEW"}
	}
	next := strconv.Itoa(latest(all) + 1)
	return standin.Reply{Command: `printf '// revision ` + next + `\n' >> ` + file +
		" && echo changed it, now at revision " + next}
}

// judge accepts the file when it has been changed often enough.
func judge(all string) standin.Reply {
	want := 1
	if m := wanted.FindStringSubmatch(all); m != nil {
		want, _ = strconv.Atoi(m[1])
	}
	if latest(all) >= want {
		return standin.Reply{Text: "Everything holds now.\n\nDECISION: APPROVE"}
	}
	return standin.Reply{Text: "The error that close returns is lost.\n\nDECISION: REJECT"}
}

func latest(all string) int {
	highest := 0
	for _, m := range revision.FindAllStringSubmatch(all, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			highest = max(highest, n)
		}
	}
	return highest
}
