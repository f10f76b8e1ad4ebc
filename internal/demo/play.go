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
	"slices"
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
	if t, ok := rewrite.Lookup(tool); ok {
		return t.Descriptor().Unattended
	}
	return nil
}

// A Setup is the program and the rounds of a play.
type Setup struct {
	Tool   string // the command to run
	Real   string // the directory of the executable that is not a shim
	Shims  string // the directory of the shims, "" to run without them
	Rounds int    // the last round: the reviewer accepts
}

// A Step is the cost of one call of the loop.
type Step struct {
	Role     string
	Decision string // the shim's decision and reason, "" without the shims
	Requests int
	Sent     string // the prompt that the model was sent
	Had      string // with all that was sent before it
	Tokens   standin.Tokens
}

// A Play is one performance of the job: the calls, and the ledger.
type Play struct {
	Calls  []Step
	Ledger string // the shims' own, below root
}

// Total sums up the cost of the calls.
func (p Play) Total() (t Step) {
	for _, c := range p.Calls {
		t.add(c.Requests, c.Tokens)
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

func (c *Step) add(requests int, t standin.Tokens) {
	c.Requests += requests
	c.Tokens.Add(t)
}

// Play plays the job below root, an existing directory, with a home, a project and a model of its
// own. When it returns, no process of the job is left, also if ctx ended it.
func (j Setup) Play(ctx context.Context, root string) (p Play, err error) {
	model, err := standin.Start(standin.Options{Reply: Agent})
	if err != nil {
		return p, fmt.Errorf("start stand-in: %w", err)
	}
	defer model.Close()
	project, prompts := filepath.Join(root, "project"), filepath.Join(root, "prompts")
	if err := os.MkdirAll(prompts, 0o755); err != nil {
		return p, fmt.Errorf("make directory: %w", err)
	}
	if err := WriteProject(project); err != nil {
		return p, err
	}
	if err := writePrompts(prompts, j.Rounds); err != nil {
		return p, err
	}
	env, err := standin.Clients[j.Tool].Setup(filepath.Join(root, "home"), model.URL())
	if err != nil {
		return p, err
	}
	getenv := shim.Env{Environ: env}.Get
	if err := configure(getenv); err != nil {
		return p, err
	}
	path := j.Real + string(filepath.ListSeparator) + os.Getenv("PATH")
	if j.Shims != "" {
		path = j.Shims + string(filepath.ListSeparator) + path
	}
	env = append(env, "PATH="+path, "TMPDIR="+root, "PROMPTS="+prompts,
		"TOOL="+strings.Join(Command(j.Tool), " "), "REPRISE_VERBOSE=1", "IS_SANDBOX=1")
	// codex works in repositories only.
	if err := os.Mkdir(filepath.Join(project, ".git"), 0o755); err != nil {
		return p, fmt.Errorf("make directory: %w", err)
	}
	stderr, err := runLoop(ctx, project, env)
	if err != nil {
		return p, fmt.Errorf("play the loop with %s: %w\n%s", j.Tool, err, words(stderr, prompts))
	}
	if p.Ledger, err = config.LedgerFile(getenv); err != nil {
		return p, err
	}
	p.Calls = calls(model.Asked(), decisions(stderr))
	return p, nil
}

// configure has every tool resumed, at any cost: the job shows resumes.
func configure(getenv func(string) string) error {
	path, err := config.ConfigFile(getenv)
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
		os.WriteFile(path, []byte("dearer = \"resume\"\n"), 0o600)); err != nil {
		return fmt.Errorf("configure the shims: %w", err)
	}
	return nil
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

// words returns the tool's words in the call that failed, on stderr and in the newest file of an
// answer.
func words(stderr, prompts string) string {
	said, last := strings.TrimSpace(stderr), time.Time{}
	answer := ""
	for _, name := range []string{"answer", "verdict"} {
		path := filepath.Join(prompts, name)
		info, err := os.Stat(path)
		if err != nil || info.ModTime().Before(last) {
			continue
		}
		if text, err := os.ReadFile(path); err == nil {
			answer, last = strings.TrimSpace(string(text)), info.ModTime()
		}
	}
	said = strings.TrimSpace(said + "\n" + answer)
	if said == "" {
		return "it said nothing"
	}
	return strings.ToValidUTF8(said[max(0, len(said)-mostWords):], "")
}

// calls splits the requests into calls: each call begins with a request that contains no tool
// result yet.
func calls(asked []standin.Request, decisions []string) (all []Step) {
	for _, r := range asked {
		if standin.StartsTurn(r) {
			c := Step{Role: "coder", Sent: standin.LastUser(r), Had: standin.AllText(r)}
			if strings.Contains(c.Had, reviewerOpening) {
				c.Role = "reviewer"
			}
			if len(all) < len(decisions) {
				c.Decision = decisions[len(all)]
			}
			all = append(all, c)
		}
		if len(all) > 0 {
			c := &all[len(all)-1]
			c.add(1, r.Tokens)
		}
	}
	return all
}

// decisions returns the shims' words about each call, such as "reprise: claude: fresh
// (first_call)".
func decisions(stderr string) (all []string) {
	for line := range strings.Lines(stderr) {
		if what := Decision(line); what != "" {
			all = append(all, what)
		}
	}
	return all
}

// Decision returns the shim's decision from the output under REPRISE_VERBOSE, "" if there is none.
func Decision(stderr string) string {
	for line := range strings.Lines(stderr) {
		if what, ok := strings.CutPrefix(strings.TrimSpace(line), "reprise: "); ok {
			_, what, _ = strings.Cut(what, ": ")
			return what
		}
	}
	return ""
}
