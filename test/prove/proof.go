package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/demo"
	"reprise/internal/prices"
	"reprise/ledger"
	"reprise/ledger/history"
	"reprise/rewrite"
)

// A proof is two jobs that differ only in whether calls are resumed. The provider may have the beginning of a prompt
// from the other job, the tool's own texts. So the jobs take turns in going first, and the first round, in which one
// pays for both, does not count.
type proof struct {
	options
	stderr io.Writer
	prices *prices.Table
	arms   []*arm
	spent  nano
	most   nano // that one call has cost
}

// An arm is one of the jobs, with a project and a ledger of its own. Its sessions are in the tool's own home,
// as the login is.
type arm struct {
	name    string
	root    string
	project string
	env     []string
	calls   []history.Invocation // the earliest first
	costs   []nano               // of each call
	failed  int                  // calls that the tool did not carry out; the first one ends the proof
	cached  []history.CacheRow
	version string
}

func newProof(o options, root string, stderr io.Writer) (*proof, error) {
	p := &proof{options: o, stderr: stderr}
	var err error
	if p.prices, err = (&app.App{Environ: os.Environ()}).LoadPrices(); err != nil {
		return nil, err
	}
	for _, a := range []struct{ name, variable string }{
		{"fresh each time", "REPRISE_FRESH=1"}, {"with reprise", "REPRISE_FRESH="},
	} {
		one, err := p.newArm(a.name, a.variable, filepath.Join(root, fmt.Sprint("job", len(p.arms))))
		if err != nil {
			return nil, err
		}
		p.arms = append(p.arms, one)
	}
	return p, nil
}

func (p *proof) newArm(name, variable, root string) (*arm, error) {
	a := &arm{name: name, root: root, project: filepath.Join(root, "project")}
	settings := filepath.Join(root, "config.toml")
	err := errors.Join(os.MkdirAll(a.project, 0o700), demo.WriteProject(a.project), os.WriteFile(settings, []byte("dearer = \"resume\"\n"), 0o600))
	if err != nil {
		return nil, fmt.Errorf("make a project: %w", err)
	}
	// codex works in repositories only.
	if out, err := exec.Command("git", "init", "-q", a.project).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a repository: %w: %s", err, out)
	}
	a.env = append(os.Environ(), "PATH="+p.shims+string(os.PathListSeparator)+os.Getenv("PATH"), "XDG_STATE_HOME="+root,
		"REPRISE_CONFIG="+settings, "REPRISE_TASK=prove", "REPRISE_ROLE=reader", "REPRISE_OFF=", variable)
	return a, nil
}

// play plays the rounds of both jobs until they are over or the limit is near.
func (p *proof) play(ctx context.Context) error {
	for round := range p.rounds {
		if round > 0 && p.pause > 0 {
			fmt.Fprintf(p.stderr, "waiting %s\n", p.pause)
			select {
			case <-time.After(p.pause):
			case <-ctx.Done():
			}
		}
		for i := range p.arms {
			a := p.arms[(i+round)%len(p.arms)]
			if p.spent+p.most > p.limit {
				return fmt.Errorf("stopped: another call could exceed the limit of %s; %s were spent", p.limit, p.spent)
			}
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("stopped: %w", err)
			}
			if err := p.call(ctx, a, round); err != nil {
				return fmt.Errorf("%s, round %d: %w; %s were spent", a.name, round+1, err, p.spent)
			}
		}
	}
	return nil
}

// call makes one call and adds what it cost.
func (p *proof) call(ctx context.Context, a *arm, round int) error {
	tool, _ := rewrite.Lookup(p.tool)
	words := append([]string(nil), tool.Descriptor().Headless...)
	if p.model != "" {
		words = append(words, "--model", p.model)
	}
	command := exec.CommandContext(ctx, filepath.Join(p.shims, words[0]), append(words[1:], prompt(round))...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	command.Dir, command.Env = a.project, a.env
	out, err := command.CombinedOutput()
	if err != nil {
		a.failed++
		return fmt.Errorf("%w: %.300s", err, out)
	}
	row, err := a.read()
	if err != nil {
		return err
	}
	spent := view.CallCost(p.prices, row)
	cost := nano(spent.Most)
	if !spent.Known {
		return fmt.Errorf("the cost of a call of model %q is not known: name its price in the price list first", row.Model)
	}
	a.calls, a.costs = append(a.calls, row), append(a.costs, cost)
	p.spent, p.most = p.spent+cost, max(p.most, cost)
	fmt.Fprintf(p.stderr, "%s, round %d: %s %s, %s\n", a.name, round+1, row.Mode, row.Reason, cost)
	return nil
}

// read reads the latest call from the arm's ledger.
func (a *arm) read() (row history.Invocation, err error) {
	l, err := ledger.OpenExisting(filepath.Join(a.root, "reprise", "ledger.db"))
	if errors.Is(err, fs.ErrNotExist) {
		return row, errors.New("the shim passed the call through; prove must not run inside of a tool")
	}
	if err != nil {
		return row, err
	}
	defer l.Close()
	rows, err := history.LatestInvocations(l, history.Wanted{Limit: 1})
	if err != nil || len(rows) == 0 || len(a.calls) > 0 && a.calls[len(a.calls)-1].ID == rows[0].ID {
		return row, errors.Join(err, errors.New("the shim did not record the call"))
	}
	sessions, err := history.SessionRows(l, history.Wanted{Limit: 1})
	if err == nil && len(sessions) > 0 {
		a.version = sessions[0].Version
	}
	if err == nil {
		a.cached, err = history.CacheRows(l, history.Filter{})
	}
	return rows[0], err
}

// prompt returns the prompt of a round. As callers' prompts do, it repeats the task each time.
func prompt(round int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Read a small project\n\nRead each of these files whole, unless you have read it already. Change nothing.\n\n- %s\n\n"+
		"Then answer in one sentence, without any list.\n", strings.Join(demo.Files, "\n- "))
	for i := range round {
		fmt.Fprintf(&b, "\n## Rejection %d\n\nYour answer says nothing about part %d of src/store.go. Say in one sentence what that line is about.\n", i+1, 10*(i+1))
	}
	return b.String()
}
