package base

import (
	"bytes"
	"slices"
	"strings"

	"reprise/rewrite"
	"reprise/rewrite/jsonline"
	"reprise/rewrite/tool/grammar"
)

// LongestArg keeps a prompt in argv well under the 128 KiB that Linux allows for one argument.
const LongestArg = 96 << 10

// PlacePrompt puts the prompt of a resume where the caller's prompt was. A whole prompt stays as the caller sent it. A
// delta goes to stdin if any of the caller's prompt came from there, if it is too long for argv, or if claude would
// read it as an option or a subcommand there.
func PlacePrompt(p *rewrite.Plan, c rewrite.Call, t rewrite.Target) {
	switch {
	case c.PromptArg >= 0 && p.Whole, c.Stdin == rewrite.StdinFrames:
	case c.PromptArg >= 0 && t.FromArgv(c) && len(p.Prompt) <= LongestArg && !grammar.LooksLikeOption(p.Prompt) && !isWord(p.Prompt):
		p.Args[c.PromptArg] = p.Prompt
		p.HasStdin = c.Stdin == rewrite.StdinAppended && !c.Silent // stdin was empty
	default:
		p.Stdin, p.HasStdin = p.Prompt, true
		if c.PromptArg >= 0 {
			p.Args = slices.Delete(p.Args, c.PromptArg, c.PromptArg+1)
		}
	}
}

// isWord reports whether a text is a single word. Every subcommand is one, also in versions not tried yet.
func isWord(text string) bool { return !strings.ContainsAny(text, " \t\r\n") }

// AsAsked replaces the prompt in an event that shows it: the caller's prompt instead of what the model was sent.
func AsAsked(p *rewrite.Plan, event []byte) []byte {
	if p.Asked == "" {
		return event
	}
	return bytes.Replace(event, jsonline.RawString(p.Prompt), jsonline.RawString(p.Asked), 1)
}

// RemovePrompt removes the caller's prompt from a command line. In a cluster of letters only the last one is the
// prompt's.
func RemovePrompt(args []string, prompt []rewrite.Span) []string {
	prompt = slices.SortedFunc(slices.Values(prompt), func(a, b rewrite.Span) int { return a.At - b.At })
	for _, s := range slices.Backward(prompt) {
		var flags []string
		if first := args[s.At]; s.N == 2 && !strings.HasPrefix(first, "--") && len(first) > 2 {
			flags = []string{first[:len(first)-1]}
		}
		args = slices.Replace(args, s.At, s.At+s.N, flags...)
	}
	return args
}
