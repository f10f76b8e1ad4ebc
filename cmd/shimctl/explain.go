package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"reprise/rewrite"
	"reprise/shim"
)

func explainCommand(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "explain [--json] -- TOOL [ARGUMENT...]", Short: "say what would become of a call, and why",
		Long: `Says what the shim would do with a call made here and now, without making it: the decision with
its reason, the command line that would run, and which parts of the prompt the session has been
sent. Standard input is the call's. Its output is taken to go to a program, not to a terminal.`,
		DisableFlagsInUseLine: true,
		Args:                  aCall,
		RunE:                  func(_ *cobra.Command, call []string) error { return a.explain(call, asJSON) },
	}
	jsonFlag(c, &asJSON, "shimctl.explain/1")
	c.Flags().SetInterspersed(false) // the tool's flags are not ours
	return c
}

func aCall(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usageError{"explain needs a call to explain", "shimctl explain -- claude -p \"...\""}
	}
	if !slices.Contains(rewrite.Names, args[0]) {
		return usageError{fmt.Sprintf("%q is none of the tools", args[0]), "one of " + strings.Join(rewrite.Names, ", ")}
	}
	return nil
}

func (a *app) explain(call []string, asJSON bool) error {
	e := shim.Explain(shim.Env{Args: call, Environ: a.environ, Stdin: a.stdin, Now: func() time.Time { return a.now }})
	if asJSON {
		return a.printJSON(explainJSON(call, e))
	}
	a.printExplanation(e)
	return nil
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
	Schema      string         `json:"schema" doc:"name of this schema"`
	Call        []string       `json:"call" doc:"the call that is explained"`
	Mode        rewrite.Mode   `json:"mode" doc:"what would become of it: passthrough, observe, fresh or resume"`
	Reason      rewrite.Reason `json:"reason" doc:"why, in one word"`
	Detail      rewrite.Reason `json:"detail,omitempty" doc:"more on the reason"`
	Unknown     string         `json:"unknown_option,omitempty" doc:"the option that is not known"`
	Fault       string         `json:"fault,omitempty" doc:"what failed in reprise"`
	Binary      string         `json:"binary,omitempty" doc:"the real binary"`
	Rule        string         `json:"rule,omitempty" doc:"the rule that holds"`
	Task        string         `json:"task,omitempty" doc:"name of the job"`
	Role        string         `json:"role,omitempty" doc:"part in the job"`
	Chain       int64          `json:"chain,omitempty" doc:"number of the chain"`
	Session     string         `json:"session,omitempty" doc:"the session that would be resumed"`
	Args        []string       `json:"args" doc:"arguments of the real binary, without its name"`
	Stdin       *string        `json:"stdin,omitempty" doc:"what takes the place of the caller's stdin"`
	Prompt      string         `json:"prompt,omitempty" doc:"what the model would be sent"`
	Whole       bool           `json:"whole_prompt" doc:"whether that is the whole prompt"`
	PromptBytes int            `json:"prompt_bytes" doc:"length of the caller's prompt"`
	Blocks      []blockReport  `json:"blocks" doc:"the blocks of the prompt"`
}

type blockReport struct {
	Head string `json:"head" doc:"how the block begins"`
	Sent bool   `json:"sent" doc:"whether the session has been sent it"`
}

func explainJSON(call []string, e shim.Explanation) explainReport {
	r := explainReport{Schema: "shimctl.explain/1", Call: call, Mode: e.Mode, Reason: e.Reason, Detail: e.Detail,
		Unknown: e.Unknown, Binary: e.Real, Rule: e.Rule, Task: e.Task, Role: e.Role, Chain: e.Chain, Session: e.Session, Args: e.Plan.Args,
		Prompt: e.Plan.Prompt, Whole: e.Plan.Whole, PromptBytes: e.PromptIn, Blocks: []blockReport{}}
	if e.Fault != nil {
		r.Fault = e.Fault.Error()
	}
	if e.Plan.HasStdin {
		r.Stdin = &e.Plan.Stdin
	}
	for _, b := range e.Blocks {
		r.Blocks = append(r.Blocks, blockReport(b))
	}
	return r
}
