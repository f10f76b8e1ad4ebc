package rewrite

import "strings"

// ToCopy sends the prompt, or the part of it that is new, to a copy of session id, and
// leaves that one as it is.
func ToCopy(id string, p *Prompt, c Continuity, always bool) Target {
	t := ToResume(id, p, c, always)
	t.copied = true
	return t
}

// Copied reports whether the call goes to a copy of the session.
func (t Target) Copied() bool { return t.copied }

// fromArgv reports whether all of the caller's prompt stood in argv: then a part of
// it may stand there again. What came by stdin goes by stdin: argv ends at a NUL, and
// anybody on the machine can read it.
func (t Target) fromArgv(c Call) bool {
	all := t.asked
	if t.whole {
		all = t.prompt
	}
	return all == c.Prompt
}

// mistakable reports whether a part of a prompt begins as a tool's own commands do,
// where the prompt itself does not begin so. A heading below the first level is none.
func mistakable(part, prompt string) bool {
	line, _, _ := strings.Cut(part, "\n")
	if startsLikeCommand(part) || headingLevel(line) > 1 {
		return startsLikeCommand(part)
	}
	part, prompt = strings.TrimLeft(part, " \t\r\n"), strings.TrimLeft(prompt, " \t\r\n")
	return strings.IndexAny(part, "!#") == 0 && !strings.HasPrefix(prompt, part[:1])
}
