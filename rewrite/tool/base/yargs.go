package base

import (
	"slices"
	"strconv"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/tool/grammar"
)

// ReadYargs reads the options and the prompt.
func ReadYargs(c *rewrite.CommandLine, p grammar.Args, in rewrite.Input) {
	Read(c, p, nil)
	for i := range c.Settings {
		if s := &c.Settings[i]; s.File {
			s.Value = strings.ReplaceAll(s.Value, ",", "\x00")
		}
	}
	c.SessionID = p.Session()
	prompt := p.Values("--prompt")
	c.PromptArgs = p.Spans("--prompt")
	for _, operand := range p.Operands {
		prompt, c.PromptArgs = append(prompt, c.Args[operand.At]), append(c.PromptArgs, operand)
	}
	c.Prompt = strings.Join(prompt, " ")
	c.Stdin = Stdin(in, c.Prompt != "")
}

// YargsValues returns the values of options for Reads. Commas separate them too.
func YargsValues(p grammar.Args) func(option string) []string {
	return func(option string) (values []string) {
		for _, value := range p.Values(option) {
			values = append(values, strings.Split(value, ",")...)
		}
		return values
	}
}

// YargsSigns returns the signs that gemini and qwen have in common.
func YargsSigns(c *rewrite.CommandLine, p grammar.Args, in rewrite.Input) Signs {
	return Signs{
		Interactive: in.StdinTTY && (c.Prompt == "" || in.StdoutTTY && !p.Names("--prompt")),
		Bad: p.Repeated("--model") || p.Names("--prompt") && len(p.Operands) > 0 ||
			p.Names("--yolo") && p.Names("--approval-mode") ||
			!slices.Contains([]rewrite.Format{rewrite.Text, rewrite.JSON, rewrite.StreamJSON},
				c.Format) ||
			slices.ContainsFunc(p.Operands, func(s rewrite.Span) bool {
				// yargs reads it as a number, and can rewrite it
				_, err := strconv.ParseFloat(c.Args[s.At], 64)
				return err == nil
			}),
	}
}

// MaxYargsStdin is how much of stdin gemini and qwen read; they drop the rest.
const MaxYargsStdin = 8 << 20

// PlanYargs attaches the values of added options. A session that a call in text begins gets an ID,
// since text names none. The options in resume make a plan one of a resume.
func PlanYargs(plan *rewrite.Plan, c rewrite.CommandLine, newID string, resume ...string) {
	plan.ReexecsSelf, plan.ExitsBeforeFlush = true, true
	switch {
	case plan.Resume != "":
		Add(plan, c, "--prompt", resume...)
	case c.Format == rewrite.Text && newID != "":
		plan.NewID = newID
		Add(plan, c, "", "--session-id="+newID)
	}
}

// YargsPrompt puts stdin first, then an empty line, then the prompt. It returns "" if the tool
// would not read all of stdin, or not send the prompt to the model.
func YargsPrompt(c rewrite.CommandLine, stdin string, isCommand func(text string) bool) string {
	text := c.Prompt
	switch {
	case text == "":
		text = stdin
	case stdin != "":
		text = stdin + "\n\n" + text
	}
	if len(stdin) > MaxYargsStdin || isCommand(text) {
		return ""
	}
	return text
}
