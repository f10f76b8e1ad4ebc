package demo

import (
	"regexp"
	"strconv"
	"strings"

	"reprise/internal/standin"
)

var (
	fileName = regexp.MustCompile(`\b[a-z]+/[a-z_]+\.(?:go|md)\b`)
	wanted   = regexp.MustCompile(`(?m)^Accepted at revision (\d+)\.$`)
	coder    = regexp.MustCompile(`(?i)\byou are (?:a|the) coder\b`)
	revision = regexp.MustCompile(`(?://|now at) revision (\d+)`) // as a file or the diff shows it
)

// Agent answers as a coding agent would. It reads the files that the prompt names if the
// conversation lacks their content or they have changed since. A coder then changes the last of
// them; a reviewer judges by the files that it has read. It knows only the input.
func Agent(r standin.Request) (standin.Reply, bool) {
	prompt, all := standin.LastUser(r), standin.AllText(r)
	since := all[strings.LastIndex(all, prompt)+len(prompt):]
	files := fileName.FindAllString(prompt, -1)
	if len(files) == 0 {
		return standin.Reply{}, false
	}
	for _, file := range files {
		// as the loop notes it
		changed := strings.Contains("\n"+prompt+"\n", "\nChanged: "+file+"\n")
		if !strings.Contains(all, header(file)) ||
			changed && !strings.Contains(since, header(file)) {
			return standin.Reply{Command: "cat " + file}, true
		}
	}
	target := files[len(files)-1]
	if coder.MatchString(all) {
		return change(target, all, since), true
	}
	return judge(all), true
}

// change adds a revision to the file, once for each prompt.
func change(file, all, since string) standin.Reply {
	if strings.Contains(since, "changed it") {
		return standin.Reply{Text: "I changed " + file + " as asked, which makes revision " +
			strconv.Itoa(latest(all)) + ".\n\nSTATUS: REVIEW"}
	}
	next := strconv.Itoa(latest(all) + 1)
	return standin.Reply{Command: `printf '// revision ` + next + `\n' >> ` + file +
		" && echo changed it, now at revision " + next}
}

// judge accepts the file when it has been changed often enough.
func judge(all string) standin.Reply {
	want := 1
	if m := wanted.FindStringSubmatch(all); m != nil {
		want, _ = strconv.Atoi(m[1])
	}
	if latest(all) >= want {
		return standin.Reply{Text: "Everything holds now.\n\nDECISION: APPROVE"}
	}
	return standin.Reply{Text: "The error that close returns is lost.\n\nDECISION: REJECT"}
}

// latest returns the highest revision in the conversation.
func latest(all string) int {
	highest := 0
	for _, m := range revision.FindAllStringSubmatch(all, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			highest = max(highest, n)
		}
	}
	return highest
}
