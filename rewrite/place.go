package rewrite

import "strings"

// ToCopy sends the prompt, or its new part, to a copy of session id, which itself stays unchanged.
func ToCopy(id string, p *Prompt, c Continuity, always bool) Target {
	t := ToResume(id, p, c, always)
	t.copied = true
	return t
}

// Copied reports whether the call goes to a copy of the session.
func (t Target) Copied() bool { return t.copied }

// fromArgv reports whether the caller's whole prompt was in argv. Only then may a part of it be
// there: argv ends at a NUL, and every user of the machine can read it.
func (t Target) fromArgv(c Call) bool {
	all := t.asked
	if t.whole {
		all = t.prompt
	}
	return all == c.Prompt
}

// mistakable reports whether a part of a prompt begins like a command of the tool although the
// prompt itself does not. A heading below the first level does not count.
func mistakable(part, prompt string) bool {
	line, _, _ := strings.Cut(part, "\n")
	if startsLikeCommand(part) || headingLevel(line) > 1 {
		return startsLikeCommand(part)
	}
	part, prompt = strings.TrimLeft(part, " \t\r\n"), strings.TrimLeft(prompt, " \t\r\n")
	return strings.IndexAny(part, "!#") == 0 && !strings.HasPrefix(prompt, part[:1])
}
