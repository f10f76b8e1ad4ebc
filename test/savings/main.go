// Command savings measures the saving by reprise. It plays the rounds of a job, five of them unless
// told otherwise, in the shapes that callers use, with the real CLIs, once without the shim and
// once with it, against a model stand-in that reads and changes files as an agent does. It counts
// the tokens that the model was actually sent.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"reprise/internal/ctl/saving"
	"reprise/internal/demo"
	"reprise/internal/standin"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/test/harness"
	"reprise/test/markers"
	"reprise/test/promptcache"
	"reprise/test/realcli"
	"reprise/test/toolbox"
)

func main() {
	tools := flag.String("tool", strings.Join(rewrite.Names, ","),
		"the `tools` to measure, with commas between")
	var o wanted
	flag.StringVar(&o.shape, "shape", "", "play this `shape` only")
	flag.IntVar(&rounds, "rounds", rounds, "play `n` rounds")
	flag.IntVar(&o.backends, "backends", 1,
		"put `n` caches behind a gateway that chooses one by claude's session ID")
	flag.StringVar(&o.copies, "copies", "auto", "play with this `value` of copies")
	flag.Parse()
	o.tools = strings.Split(*tools, ",")
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// A cost is the cost of a job.
type cost struct {
	model                    string // to ask, "" for the tool's own choice
	calls, resumed, requests int
	tokens                   standin.Tokens
	first                    standin.Tokens // of the first request of each resumed call
	// the saving that the shims state, in weighted tokens; NaN if none
	headline float64
}

// added returns the tokens that no cache had.
func (c cost) added() int { return c.tokens.Input - c.tokens.Cached }

// weighted returns the tokens, each at its price relative to one of input.
func (c cost) weighted() int {
	t := c.tokens
	unmarked, brief := t.Input-t.Cached-t.Written, t.Written-t.ForHour
	return int(decide.WeightInput*float64(unmarked) + decide.WeightCacheRead*float64(t.Cached) +
		decide.WeightCacheWrite*float64(brief) + decide.WeightHourWrite*float64(t.ForHour) +
		decide.WeightOutput*float64(t.Output))
}

// said returns the headline's figure, and how it compares with the measured one.
func (c cost) said(measured int) string {
	return fmt.Sprintf("%.0f (x%.2f)", c.headline, c.headline/float64(measured))
}

// found returns the share of a resumed call's first request that the cache had.
func (c cost) found() string {
	if c.first.Input == 0 {
		return "n/a"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(c.first.Cached)/float64(c.first.Input))
}

// A subject is a version of a tool, and the model that it asks, "" for its own choice.
type subject struct {
	realcli.Pin
	model string
}

// With restatedModel, claude 2.1.329 sends a content as a list, and repeats it as a string in the
// next request.
const restatedModel = "claude-opus-5"

// subjects returns the versions and models of a tool to measure: both generations of claude, and
// the newer one with two models.
func subjects(tool string) []subject {
	if tool == realcli.Claude.Tool {
		return []subject{{realcli.SmallerClaude, ""}, {realcli.Claude, ""},
			{realcli.Claude, restatedModel}}
	}
	return []subject{{realcli.Pins[tool], ""}}
}

// wanted selects the subjects to measure.
type wanted struct {
	tools    []string
	shape    string // "" for all
	backends int    // see promptcache.Options
	copies   string // of a rule for all calls
}

func (o wanted) run() error {
	shims, err := os.MkdirTemp("", "reprise-savings-")
	if err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	defer os.RemoveAll(shims)
	if err := harness.Build(shims); err != nil {
		return err
	}
	for _, s := range shapes {
		fmt.Printf("%s: %s\n", s.name, s.what)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nTOOL\tVERSION\tMODEL\tSHAPE\tCALLS\tRESUMED\tREQUESTS\tTOKENS "+
		"SENT\tTOKENS NO CACHE HAD\tWEIGHTED BY PRICE\tSTATUS SAYS\tRESUMES FOUND\t")
	for _, tool := range o.tools {
		if !slices.Contains(rewrite.Names, tool) {
			return fmt.Errorf("measure %s: not one of %s", tool, strings.Join(rewrite.Names, ", "))
		}
		for _, subject := range subjects(tool) {
			if err := o.measure(w, subject, shims); err != nil {
				return errors.Join(err, w.Flush()) // with the figures so far
			}
		}
	}
	return w.Flush()
}

// measure plays each shape with one version of a tool, and writes a row for it.
func (o wanted) measure(w io.Writer, subject subject, shims string) error {
	real, err := realcli.Install(subject.Pin)
	if err != nil {
		return err
	}
	for _, s := range shapes {
		if o.shape != "" && o.shape != s.name {
			continue
		}
		fmt.Fprintln(os.Stderr, "playing", subject.Tool, subject.Version, subject.model, s.name)
		without, err := o.play(s, subject, real, "")
		if err != nil {
			return err
		}
		with, err := o.play(s, subject, real, shims)
		if err != nil {
			return fmt.Errorf("with the shim: %w", err)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", subject.Tool,
			subject.Version, subject.model, s.name, with.calls, with.resumed,
			change(without.requests, with.requests),
			change(without.tokens.Input, with.tokens.Input),
			change(without.added(), with.added()), change(without.weighted(), with.weighted()),
			with.said(without.weighted()-with.weighted()), with.found())
	}
	return nil
}

// change formats a figure without the shim, with it, and the reduction.
func change(without, with int) string {
	return fmt.Sprintf("%d -> %d (%+.0f %%)", without, with,
		100*float64(with-without)/float64(without))
}

// play plays a job in a world of its own.
func (o wanted) play(s shape, subject subject, real, shims string) (c cost, err error) {
	w, err := harness.New(subject.Tool, real, shims,
		markers.Options{Reply: agent, Cache: promptcache.Options{Backends: o.backends}})
	if err != nil {
		return c, err
	}
	defer w.Close()
	rule := fmt.Sprintf("[[rule]]\nname = 'gateway'\ncopies = %q\n", o.copies)
	if o.copies == "auto" {
		rule = ""
	}
	if err := w.Configure(s.config + rule); err != nil {
		return c, err
	}
	ids := []string{"0a1b2c3d", "1b2c3d4e"}
	if !s.known {
		ids = ids[:1]
	}
	var began time.Time
	for _, id := range ids {
		began = time.Now().Add(-time.Duration(rounds) * s.pause)
		if err := demo.WriteProject(w.Project); err != nil {
			return c, err
		}
		c = cost{model: subject.model}
		if err := c.play(w, s, &job{id: id}); err != nil {
			return c, err
		}
	}
	if shims != "" {
		c.headline, err = headline(w, began)
	}
	return c, err
}

func agent(r standin.Request) (standin.Reply, bool) { return demo.Agent(r), true }

// headline returns the weighted tokens that the shims of a world say they have saved since then.
func headline(w *harness.World, since time.Time) (float64, error) {
	l, err := ledger.OpenExisting(w.Ledger())
	if err != nil {
		return 0, err
	}
	defer l.Close()
	rows, err := history.Slices(l, history.Filter{Since: decide.MillisOf(since)}, math.MaxInt64)
	if err != nil {
		return 0, err
	}
	return float64(saving.New(rows, nil).Tokens.Saved), nil
}

// play plays a job.
func (c *cost) play(w *harness.World, s shape, j *job) error {
	for j.round = 1; j.round <= rounds; j.round++ {
		if err := w.Pause(s.pause); err != nil {
			return err
		}
		for _, role := range s.roles {
			call := harness.Call{}
			if s.env != nil {
				call.Env = s.env(j, w.Tool, role)
			}
			if s.commits {
				if err := commit(w.Project); err != nil {
					return err
				}
			}
			answer, err := c.call(w, call, s.prompt(j, role))
			if err != nil {
				return fmt.Errorf("%s, %s, round %d: %w", w.Tool, s.name, j.round, err)
			}
			switch role {
			case "coder":
				j.answers = append(j.answers, answer)
			case "reviewer":
				j.reviews = append(j.reviews, answer)
			}
		}
	}
	return j.check(s)
}

// commit commits all changes, as callers do between rounds.
func commit(project string) error {
	_, err := toolbox.Output("sh", "-c", `cd "$0" && git add -A && git -c user.name=caller `+
		`-c user.email=caller@localhost commit --allow-empty -qm "A round"`, project)
	return err
}

// call makes one call, adds its cost and returns the answer.
func (c *cost) call(w *harness.World, call harness.Call, prompt string) (answer string, err error) {
	call.Env = append(call.Env, "REPRISE_VERBOSE=1", "IS_SANDBOX=1")
	call.Args = append(slices.Clone(demo.Command(w.Tool)[1:]), prompt)
	if c.model != "" {
		call.Args = append([]string{"--model", c.model}, call.Args...)
	}
	r, err := w.Run(call)
	if err != nil {
		return "", err
	}
	if r.Exit != 0 {
		return "", fmt.Errorf("exit status %d: %s", r.Exit, r.Stderr)
	}
	c.calls++
	if strings.Contains(r.Stderr, ": resume (") {
		c.resumed++
		if len(r.Asked) > 0 {
			c.first.Add(r.Asked[0].Tokens)
		}
	}
	for _, asked := range r.Asked {
		c.requests++
		c.tokens.Add(asked.Tokens)
	}
	return strings.TrimSpace(r.Stdout), nil
}

// check checks that the rounds went as they should, with and without the shim; otherwise the
// figures would compare two different jobs.
func (j *job) check(s shape) error {
	for i, answer := range j.answers {
		if !strings.Contains(answer, "STATUS: REVIEW") {
			return fmt.Errorf("%s, round %d: the coder says %q", s.name, i+1, answer)
		}
	}
	for i, review := range j.reviews {
		if approved := strings.Contains(review, "APPROVE"); approved != (i == rounds-1) {
			return fmt.Errorf("%s, round %d: the reviewer says %q", s.name, i+1, review)
		}
	}
	return nil
}
