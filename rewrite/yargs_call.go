package rewrite

import (
	"slices"
	"strconv"
	"strings"
)

// readYargs copies into the call every option that does not decide whether it is managed. The model's
// option replaces the call's.
func (c *Call) readYargs(p parsedArgs, in Invocation) {
	c.Unknown = p.unknown
	var prompt []string
	for _, o := range p.options {
		value := strings.Join(o.values, "")
		switch o.Kind {
		case model:
			c.Model = value
		case format:
			c.Format, c.formatArg = Format(value), o.span
		case setting:
			c.Settings = append(c.Settings, Setting{Name: o.Names[0], Value: value})
		case fileSetting:
			c.Settings = append(c.Settings, Setting{Name: o.Names[0], Value: strings.ReplaceAll(value, ",", "\x00"), File: true})
		case callerOwned:
			c.SessionID = value
		}
		if o.Names[0] == "--prompt" {
			prompt, c.promptArgs = append(prompt, value), append(c.promptArgs, o.span)
		}
	}
	for _, operand := range p.operands {
		prompt, c.promptArgs = append(prompt, c.Args[operand.at]), append(c.promptArgs, operand)
	}
	slices.SortStableFunc(c.Settings, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	c.Prompt = strings.Join(prompt, " ")
	switch {
	case in.StdinTTY:
	case c.Prompt == "":
		c.Stdin = StdinPrompt
	default:
		c.Stdin, c.Silence = StdinAppended, SilenceSkipped
	}
}

// withoutOff removes flags that are turned off, and an empty prompt, which means none.
func (p parsedArgs) withoutOff() parsedArgs {
	p.options = slices.DeleteFunc(slices.Clone(p.options), func(o parsedOption) bool {
		return o.Arity == NoValue && o.values[0] == "false" || o.Names[0] == "--prompt" && o.values[0] == ""
	})
	return p
}

// yargsSigns returns what gemini and qwen have in common.
func (c *Call) yargsSigns(d *Descriptor, p parsedArgs, in Invocation) signs {
	return signs{
		command:     p.startsWith(in.Args, d.Subcommands),
		interactive: in.StdinTTY && (c.Prompt == "" || in.StdoutTTY && !p.names("--prompt")),
		bad: p.repeated("--model") || p.names("--prompt") && len(p.operands) > 0 ||
			p.names("--yolo") && p.names("--approval-mode") ||
			!slices.Contains([]Format{Text, JSON, StreamJSON}, c.Format) ||
			slices.ContainsFunc(p.operands, func(s argSpan) bool { return numeric(c.Args[s.at]) }),
	}
}

// numeric reports whether yargs reads a word as a number and may rewrite it.
func numeric(word string) bool {
	_, err := strconv.ParseFloat(word, 64)
	return err == nil
}

// yargsProbe reads yargs' help, which names the kind of a value at the end of an option's line.
func yargsProbe(help, known, resume string) Probe {
	var probe Probe
	for line := range strings.Lines(help) {
		for _, o := range parseHelp(line) {
			switch {
			case strings.Contains(line, "[string]"), strings.Contains(line, "[number]"):
				o.Arity = OneValue
			case strings.Contains(line, "[array]"):
				o.Arity = ManyValues
			}
			probe.Options = append(probe.Options, o)
		}
	}
	probe.judge(known, resume)
	return probe
}

// maxYargsStdin is how much of stdin gemini and qwen read; they drop the rest.
const maxYargsStdin = 8 << 20

// planYargs puts added options first and replaces the caller's own, since yargs makes an array of an
// option named twice. A session that a call in text begins gets an ID, since text names none. Nothing of a
// resume's prompt that came by stdin goes into argv.
func (c *Call) planYargs(t Target) Plan {
	prompt, whole := t.Prompt()
	plan := Plan{Resume: t.Session(), Copy: t.Copied(), Prompt: prompt, Whole: whole, Asked: t.Asked()}
	var front []string
	args := slices.Clone(c.Args)
	if id := t.NewID(); c.Format == Text && plan.Resume == "" && id != "" {
		plan.NewID = id
		front = append(front, "--session-id="+plan.NewID)
	}
	if plan.Resume != "" {
		front = append(front, "--resume="+plan.Resume)
		if plan.Copy {
			front = append(front, "--fork-session")
		}
		args = removePrompt(args, c.promptArgs)
		switch {
		case t.fromArgv(*c) && len(prompt) <= longestArg:
			front = append(front, "--prompt="+prompt)
			plan.HasStdin = c.Stdin != StdinUnused && !c.Silent // stdin was empty
		case whole && c.Prompt != "" && len(c.Prompt) <= longestArg:
			front = append(front, "--prompt="+c.Prompt) // the tool joins it with stdin again
		default:
			plan.Stdin, plan.HasStdin = prompt, true
		}
	}
	plan.Args = append(front, args...)
	return plan
}

// removePrompt removes the caller's prompt from a command line. In a cluster of letters only the
// last one is the prompt's.
func removePrompt(args []string, prompt []argSpan) []string {
	prompt = slices.SortedFunc(slices.Values(prompt), func(a, b argSpan) int { return a.at - b.at })
	for _, s := range slices.Backward(prompt) {
		var flags []string
		if first := args[s.at]; s.n == 2 && !strings.HasPrefix(first, "--") && len(first) > 2 {
			flags = []string{first[:len(first)-1]}
		}
		args = slices.Replace(args, s.at, s.at+s.n, flags...)
	}
	return args
}

// yargsPrompt puts stdin first, then an empty line, then the prompt. It returns "" if the tool would not
// read all of stdin.
func (c *Call) yargsPrompt(stdin string) string {
	switch {
	case len(stdin) > maxYargsStdin:
		return ""
	case c.Prompt == "":
		return stdin
	case stdin != "":
		return stdin + "\n\n" + c.Prompt
	}
	return c.Prompt
}
