package rule

import (
	"slices"
	"strings"
	"unicode/utf8"

	"reprise/internal/transcript"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
)

// A sentCall is a fresh call that nothing named, and its prompt, which only the tool's own file contains.
type sentCall struct {
	ledger.FreshCall
	lead    string         // a line such as "Original task:" before a prompt that begins like another call's
	prompt  *prompt.Prompt // without that line
	opening []string       // the lines with which it begins
	begins  string         // the same for prompts that begin alike
}

// PromptOf returns the prompt of a call, nil if the tool's file does not have it any more, or has another one.
func PromptOf(c ledger.FreshCall, key prompt.Key) *prompt.Prompt {
	text, err := transcript.FirstPrompt(c.Tool, c.File)
	if err != nil || text == "" {
		return nil
	}
	p := prompt.New(text, key)
	if f := p.Footprint(); !slices.Equal(f.Blocks[:f.Opening], c.Opening) {
		return nil
	}
	return p
}

// maxSent is how many calls of a tool in a directory are looked at for a rule, the latest.
const maxSent = 200

// sentLike returns the calls of the same tool in the same directory whose prompts are known, the latest last.
func sentLike(l *ledger.Ledger, tool, cwd string, since decide.Millis) (list []sentCall, err error) {
	calls, err := l.FreshCalls(since, tool, cwd)
	for _, c := range calls[max(0, len(calls)-maxSent):] {
		if p := PromptOf(c, l.Key()); p != nil {
			list = append(list, sentCall{FreshCall: c, prompt: p})
		}
	}
	findOpenings(list, l.Key())
	return list, err
}

// longestLead is the length of the longest line that is taken for a lead-in.
const longestLead = 60

// findOpenings finds how each prompt begins. A lead-in is a short line with a colon at its end, below which another
// call's prompt begins.
func findOpenings(calls []sentCall, key prompt.Key) {
	first := map[string]bool{}
	for _, c := range calls {
		line, _, _ := strings.Cut(strings.TrimSpace(c.prompt.Text), "\n")
		first[strings.TrimSpace(line)] = true
	}
	for i := range calls {
		c := &calls[i]
		lead, rest, _ := strings.Cut(strings.TrimSpace(c.prompt.Text), "\n")
		lead, rest = strings.TrimSpace(lead), strings.TrimSpace(rest)
		next, _, _ := strings.Cut(rest, "\n")
		if strings.HasSuffix(lead, ":") && len(lead) <= longestLead && first[strings.TrimSpace(next)] {
			c.lead, c.prompt = lead, prompt.New(rest, key)
		}
		f := c.prompt.Footprint()
		c.opening, c.begins = nil, ""
		for n, block := range c.prompt.Blocks()[:f.Opening] {
			for line := range strings.SplitSeq(block, "\n") {
				c.opening = append(c.opening, strings.TrimSpace(line))
			}
			c.begins += string(f.Blocks[n][:])
		}
	}
}

// placeWords names the place of a prompt, nil if it is not known, in which it differs from others: a section by its heading.
func placeWords(p *prompt.Prompt, place int) string {
	if p == nil {
		return "one place"
	}
	blocks := p.Blocks()
	if place < 1 || place > len(blocks) {
		return "one place"
	}
	before := strings.TrimSpace(blocks[place-1])
	line := before[strings.LastIndexByte(before, '\n')+1:]
	if strings.HasPrefix(line, "#") {
		return "`" + clip(line) + "`"
	}
	return "what follows \"" + clip(line) + "\""
}

// clip returns the start of a line, without what cannot be printed.
func clip(line string) string {
	const most = 60
	line = strings.Map(func(r rune) rune {
		if unprintable(r) {
			return '?'
		}
		return r
	}, line)
	if utf8.RuneCountInString(line) > most {
		return string([]rune(line)[:most-3]) + "..."
	}
	return line
}
