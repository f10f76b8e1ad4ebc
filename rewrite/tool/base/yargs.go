package base

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/tool/grammar"
)

// ReadYargs is Read with the prompt and an administrator's files, as gemini and qwen look for them:
// settings and defaults, in the places that two variables name, or else in dirs. variables is the
// beginning of the variables' names.
func (b Base) ReadYargs(p grammar.Args, in rewrite.Input,
	variables string, dirs ...string) rewrite.CommandLine {
	c := b.Read(p, in)
	for _, dir := range dirs {
		settings := cmp.Or(in.Env(variables+"_SYSTEM_SETTINGS_PATH"), dir+"/settings.json")
		c.SettingsFiles = append(c.SettingsFiles, settings,
			cmp.Or(in.Env(variables+"_SYSTEM_DEFAULTS_PATH"),
				path.Dir(settings)+"/system-defaults.json"))
	}
	slices.Sort(c.SettingsFiles)
	c.SettingsFiles = slices.Compact(c.SettingsFiles)
	for i := range c.Settings {
		if s := &c.Settings[i]; s.File {
			s.Value = strings.ReplaceAll(s.Value, ",", "\x00")
		}
	}
	prompt := p.Values("--prompt")
	c.PromptArgs = p.Spans("--prompt")
	for _, operand := range p.Operands {
		prompt, c.PromptArgs = append(prompt, c.Args[operand.At]), append(c.PromptArgs, operand)
	}
	c.Prompt = strings.Join(prompt, " ")
	c.Stdin = Stdin(in, c.Prompt != "", rewrite.StdinAppended)
	return c
}

// YargsSigns returns the signs that gemini and qwen have in common.
func YargsSigns(c rewrite.CommandLine, p grammar.Args, in rewrite.Input) Signs {
	return Signs{
		Interactive: in.StdinTTY && (c.Prompt == "" || in.StdoutTTY && !p.Names("--prompt")),
		Bad: p.Repeated("--model") || p.Names("--prompt") && len(p.Operands) > 0 ||
			p.Names("--yolo") && p.Names("--approval-mode") ||
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
