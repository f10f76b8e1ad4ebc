package main

import (
	"fmt"
	"strings"
	"time"

	"reprise/rewrite"
	"reprise/shim"
)

var explainCommand = command{
	name: "explain", args: "[--json] -- TOOL [ARGUMENT...]", short: "say what would become of a call, and why",
	long: `Says what the shim would do with a call made here and now, without making it: the decision with
its reason, the command line that would run, and which parts of the prompt the session has been
sent. Standard input is the call's. Its output is taken to go to a program, not to a terminal.

  --json  print everything as the schema shimctl.explain/1`,
	run: runExplain,
}

func runExplain(a *app, args []string) error {
	var asJSON bool
	rest, err := flags(args, map[string]*bool{"--json": &asJSON}, nil)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return usageError{"explain needs a call to explain", "shimctl explain -- claude -p \"...\""}
	}
	if !known(rest[0]) {
		return usageError{fmt.Sprintf("%q is none of the tools", rest[0]), "one of " + strings.Join(rewrite.Names, ", ")}
	}
	e := shim.Explain(shim.Env{Args: rest, Environ: a.environ, Stdin: a.stdin, Now: func() time.Time { return a.now }})
	if asJSON {
		return a.printJSON(a.explainJSON(rest, e))
	}
	a.printExplanation(e)
	return nil
}

func known(tool string) bool {
	for _, name := range rewrite.Names {
		if tool == name {
			return true
		}
	}
	return false
}

func (a *app) printExplanation(e shim.Explanation) {
	fmt.Fprintf(a.stdout, "decision: %s: %s\n", e.Mode, e.Reason)
	show := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.stdout, "%s: %s\n", name, value)
		}
	}
	show("detail", string(e.Detail))
	show("rule", e.Rule)
	show("task", e.Task)
	show("role", e.Role)
	show("unknown option", e.Unknown)
	if e.Fault != nil {
		show("fault", e.Fault.Error())
	}
	show("real binary", a.tilde(orElse(e.Real, "not found")))
	if e.Chain != 0 {
		show("chain", fmt.Sprint(e.Chain))
	}
	show("session", e.Session)
	if e.Reason == rewrite.Dearer {
		show("prices", a.prices(e.Prices))
	}
	if e.Full {
		show("warning", nearlyFull(e.Context, a.configured().ContextLimit))
	}
	show("runs", commandLine(e))
	if e.PromptIn > 0 {
		what := "the whole prompt"
		if !e.Plan.Whole {
			what = "what is new"
		}
		show("sends", fmt.Sprintf("%s, %s of %s", what, size(int64(len(e.Plan.Prompt))), size(int64(e.PromptIn))))
	}
	if e.Mode == rewrite.Resume {
		fmt.Fprintln(a.stdout, "blocks of the prompt, = for those the session has been sent, + for new ones:")
		for _, b := range e.Blocks {
			fmt.Fprintf(a.stdout, "  %c %s\n", mark(b), shorten(b.Head))
		}
	}
}

func mark(b shim.Block) rune {
	if b.Sent {
		return '='
	}
	return '+'
}

// commandLine shows the real call as a shell would take it; a long prompt is cut.
func commandLine(e shim.Explanation) string {
	words := []string{e.Tool}
	for _, arg := range e.Plan.Args {
		words = append(words, quote(shorten(arg)))
	}
	if e.Plan.HasStdin {
		words = append(words, fmt.Sprintf("< (%s)", size(int64(len(e.Plan.Stdin)))))
	}
	return strings.Join(words, " ")
}

func shorten(text string) string {
	const most = 100
	if len(text) <= most && !strings.Contains(text, "\n") {
		return text
	}
	line, _, _ := strings.Cut(text, "\n")
	runes := []rune(line)
	return string(runes[:min(len(runes), most)]) + "..."
}

type explainReport struct {
	Schema      string         `json:"schema"`
	Call        []string       `json:"call"`
	Mode        rewrite.Mode   `json:"mode"`
	Reason      rewrite.Reason `json:"reason"`
	Detail      rewrite.Reason `json:"detail,omitempty"`
	Unknown     string         `json:"unknown_option,omitempty"`
	Fault       string         `json:"fault,omitempty"`
	Binary      string         `json:"binary,omitempty"`
	Rule        string         `json:"rule,omitempty"`
	Task        string         `json:"task,omitempty"`
	Role        string         `json:"role,omitempty"`
	Chain       int64          `json:"chain,omitempty"`
	Session     string         `json:"session,omitempty"`
	Prices      *pricesReport  `json:"prices,omitempty"` // where the reason is dearer
	Warning     string         `json:"warning,omitempty"`
	Args        []string       `json:"args"`            // of the real binary, without its name
	Stdin       *string        `json:"stdin,omitempty"` // what takes the place of the caller's
	Prompt      string         `json:"prompt,omitempty"`
	Whole       bool           `json:"whole_prompt"`
	PromptBytes int            `json:"prompt_bytes"`
	Blocks      []blockReport  `json:"blocks"`
}

type blockReport struct {
	Head string `json:"head"`
	Sent bool   `json:"sent"`
}

func (a *app) explainJSON(call []string, e shim.Explanation) explainReport {
	r := explainReport{Schema: "shimctl.explain/1", Call: call, Mode: e.Mode, Reason: e.Reason, Detail: e.Detail,
		Unknown: e.Unknown, Binary: e.Real, Rule: e.Rule, Task: e.Task, Role: e.Role, Chain: e.Chain, Session: e.Session, Args: e.Plan.Args,
		Prompt: e.Plan.Prompt, Whole: e.Plan.Whole, PromptBytes: e.PromptIn, Blocks: []blockReport{}}
	if e.Fault != nil {
		r.Fault = e.Fault.Error()
	}
	if e.Reason == rewrite.Dearer {
		r.Prices = pricesJSON(e.Prices)
	}
	if e.Full {
		r.Warning = nearlyFull(e.Context, a.configured().ContextLimit)
	}
	if e.Plan.HasStdin {
		r.Stdin = &e.Plan.Stdin
	}
	for _, b := range e.Blocks {
		r.Blocks = append(r.Blocks, blockReport(b))
	}
	return r
}
