package rule

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/ledger"
	"reprise/rewrite/prompt"
)

// A difference is the line that distinguishes the prompts of two tasks.
type difference struct {
	prompts [2]*prompt.Prompt
	block   int       // the first in which they differ, from 0
	pattern string    // captures what differs; "" if the line does not identify it
	tasks   [2]string // what it captures
}

func differ(a, b *prompt.Prompt) (*difference, error) {
	d := &difference{prompts: [2]*prompt.Prompt{a, b}}
	x, y := a.Footprint().Blocks, b.Footprint().Blocks
	if slices.Equal(x, y) {
		return nil, app.Usage("the two prompts are equal", "give the prompts of two different tasks")
	}
	for d.block < min(len(x), len(y)) && x[d.block] == y[d.block] {
		d.block++
	}
	if d.block < min(len(x), len(y)) {
		d.pattern = linePattern(a.Blocks()[d.block], b.Blocks()[d.block])
	}
	if d.pattern == "" {
		return d, nil
	}
	for i, p := range d.prompts {
		if d.tasks[i] = taskBy(d.pattern, p.Text); d.tasks[i] == "" || i > 0 && d.tasks[i] == d.tasks[0] {
			d.pattern = ""
			break
		}
	}
	return d, nil
}

// linePattern matches the first line in which two blocks differ by what is the same
// at its start and at its end, and captures the words between.
func linePattern(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	i := 0
	for i < min(len(x), len(y)) && strings.TrimSpace(x[i]) == strings.TrimSpace(y[i]) {
		i++
	}
	if i == min(len(x), len(y)) {
		return ""
	}
	s, t := []rune(strings.TrimSpace(x[i])), []rune(strings.TrimSpace(y[i]))
	before, behind := 0, 0
	for before < min(len(s), len(t)) && s[before] == t[before] {
		before++
	}
	for before > 0 && inWord(s[before-1]) {
		before--
	}
	for behind < min(len(s), len(t))-before && s[len(s)-1-behind] == t[len(t)-1-behind] {
		behind++
	}
	for behind > 0 && inWord(s[len(s)-behind]) {
		behind--
	}
	if strings.TrimFunc(string(s[:before]), func(r rune) bool { return !unicode.IsLetter(r) }) == "" {
		return "" // nothing at its start identifies the line
	}
	return `(?m)^\s*` + regexp.QuoteMeta(string(s[:before])) + `(?P<task>\S.*?)` + regexp.QuoteMeta(string(s[len(s)-behind:])) + `\s*$`
}

// inWord reports whether a character may be part of a name, which is captured as a whole.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./#", r)
}

// taskBy returns the task of a prompt by a rule with that pattern.
func taskBy(pattern, prompt string) string {
	c, err := config.Parse("", "presets = false\n[[rule]]\nname = \"x\"\nprompt = "+tomlText(pattern)+"\n", "")
	if err != nil {
		return ""
	}
	return c.Match(config.Subject{Env: func(string) string { return "" }, Prompt: prompt}).Task
}

// begins reports whether one of the prompts begins like those of a frame.
func (d *difference) begins(f ledger.PromptTemplate) bool {
	return slices.ContainsFunc(d.prompts[:], func(p *prompt.Prompt) bool {
		own := p.Footprint()
		return slices.ContainsFunc(f.Openings, func(o prompt.Footprint) bool {
			return own.Opening == o.Opening && slices.Equal(own.Blocks[:own.Opening], o.Blocks)
		})
	})
}

// within reports whether the tasks differ in the same place as the calls of the frame. Those
// are then calls of different tasks.
func (d *difference) within(f ledger.PromptTemplate) bool {
	return d.block >= f.Place && d.block < len(d.prompts[0].Blocks())-f.After
}
