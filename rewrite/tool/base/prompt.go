package base

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/tool/grammar"
)

// LongestArg keeps a prompt in argv well under the 128 KiB that Linux allows for one argument.
const LongestArg = 96 << 10

// Add adds options to a plan's command line where wrapper scripts do not look: the first argument
// stays first, and the last one last unless it belongs to the first. In a resume it then places the
// prompt. promptOption is the option that can have the prompt as a value, "" if there is none.
func Add(p *rewrite.Plan, c rewrite.CommandLine, promptOption string, options ...string) {
	p.Args, c.PromptArgs = slices.Insert(p.Args, c.AddAt, options...), slices.Clone(c.PromptArgs)
	for i := range c.PromptArgs {
		if place := &c.PromptArgs[i]; place.At >= c.AddAt {
			place.At += len(options)
		}
	}
	if p.Resume != "" {
		placePrompt(p, c, promptOption)
	}
}

// placePrompt puts the prompt of a resume where the caller's prompt was. A whole prompt stays as
// the caller sent it. A delta goes to stdin if any of the caller's prompt came from there, if it is
// too long for argv, or if the tool would read it as an option or a subcommand there, unless it can
// be the value of an option.
func placePrompt(p *rewrite.Plan, c rewrite.CommandLine, option string) {
	// Argv ends at a NUL, and every user of the machine can read it.
	fromArgv := cmp.Or(p.Asked, p.Prompt) == c.Prompt
	switch {
	case p.Whole && len(c.PromptArgs) > 0, c.Stdin == rewrite.StdinFrames:
	case len(c.PromptArgs) > 0 && fromArgv && len(p.Prompt) <= LongestArg &&
		replacePrompt(p, c.PromptArgs, option):
		p.HasStdin = c.Stdin == rewrite.StdinAppended && !c.Silent // stdin was empty
	default:
		p.Args = removePrompt(p.Args, c.PromptArgs)
		p.Stdin, p.HasStdin = p.Prompt, true
	}
}

// replacePrompt puts the plan's prompt into the command line in the place of the caller's.
func replacePrompt(p *rewrite.Plan, places []rewrite.Span, option string) bool {
	place := slices.MinFunc(places, func(a, b rewrite.Span) int { return a.At - b.At })
	name, _, attached := strings.Cut(p.Args[place.At], "=")
	isOption := grammar.LooksLikeOption(name)
	// a single word: every subcommand is one, also in versions not tried yet
	mistaken := grammar.LooksLikeOption(p.Prompt) ||
		!isOption && !strings.ContainsAny(p.Prompt, " \t\r\n")
	switch single := len(places) == 1; {
	case single && !mistaken && (place.N == 2 || !isOption):
		p.Args[place.At+place.N-1] = p.Prompt
	case single && attached && strings.HasPrefix(name, "--"):
		p.Args[place.At] = name + "=" + p.Prompt
	case option != "":
		p.Args = slices.Insert(removePrompt(p.Args, places), place.At, option+"="+p.Prompt)
	default:
		return false
	}
	return true
}

// AsAsked replaces the prompt in an event that shows it: the caller's prompt instead of the text
// sent to the model.
func AsAsked(p *rewrite.Plan, event []byte) []byte {
	if p.Asked == "" {
		return event
	}
	return bytes.Replace(event, jsonline.RawString(p.Prompt), jsonline.RawString(p.Asked), 1)
}

// removePrompt removes the caller's prompt from a command line. In a cluster of letters only the
// last one is the prompt's.
func removePrompt(args []string, prompt []rewrite.Span) []string {
	prompt = slices.SortedFunc(slices.Values(prompt), func(a, b rewrite.Span) int {
		return a.At - b.At
	})
	for _, s := range slices.Backward(prompt) {
		var flags []string
		if first := args[s.At]; s.N == 2 && !strings.HasPrefix(first, "--") && len(first) > 2 {
			flags = []string{first[:len(first)-1]}
		}
		args = slices.Replace(args, s.At, s.At+s.N, flags...)
	}
	return args
}

// Mentions reports whether a sign such as @ occurs where a tool reads a name after it: before
// anything but space and, unless anywhere is set, only after space or at the beginning of the text.
func Mentions(text string, sign byte, anywhere bool) bool {
	for i := 0; i < len(text)-1; i++ {
		if text[i] != sign {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+1:])
		if !unicode.IsSpace(after) && (i == 0 || unicode.IsSpace(before) || anywhere &&
			before != '\\') {
			return true
		}
	}
	return false
}
