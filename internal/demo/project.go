package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"reprise/internal/standin"
)

const (
	coderOpening = "You are the coder of a small Go project. You change what the task asks " +
		"for, and nothing else."
	reviewerOpening = "You are the reviewer of a small Go project. You judge a change by its " +
		"code, and change nothing."
)

// Files are the files of the sample project. The last one is to be changed.
var Files = []string{"doc/standards.md", "src/model.go", "src/codec.go", "src/store.go"}

// Task is the task of the roles.
const Task = "Close reports the first error of writing, flushing and closing, and the file is " +
	"closed whatever happens.\n" +
	"Callers that close twice get no second error.\n"

// header returns the first line of a file of the sample project.
func header(file string) string { return "// This is " + file + "." }

// WriteProject writes the sample project. It is large enough for a second read of it to show in the
// figures.
func WriteProject(dir string) error {
	for i, file := range Files {
		var text strings.Builder
		fmt.Fprintf(&text, "%s\n\n", header(file))
		for j := range 60 {
			fmt.Fprintf(&text, "// Part %d.%d: what it takes, what it gives back, and what it "+
				"does where the two do not fit.\n", i+1, j+1)
		}
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(text.String()), 0o644)); err != nil {
			return fmt.Errorf("write project: %w", err)
		}
	}
	return nil
}

// brief returns the text that both roles are sent each time: the task and the standards.
func brief(opening string, rounds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n# Task: close the store without losing errors\n\n## Specification\n\n",
		opening)
	b.WriteString(Task + "\n## Read first\n\n")
	for _, file := range Files {
		b.WriteString("- " + file + "\n")
	}
	b.WriteString("\n## Standards\n\n")
	for i := range 24 {
		fmt.Fprintf(&b, "- Rule %d: small functions, errors with what was tried, a test that "+
			"fails without the change.\n", i+1)
	}
	fmt.Fprintf(&b, "\nAccepted at revision %d.\n", rounds)
	return b.String()
}

// Contracts are, by role, the end of each prompt, as orchestrators have them.
var Contracts = map[string]string{
	"coder": "## When you are done\n\nPrint STATUS: REVIEW in a line of its own.\n",
	"reviewer": "## Your verdict\n\nPrint DECISION: APPROVE or DECISION: REJECT in a line of " +
		"its own.\n",
}

// writePrompts writes the parts that the loop assembles prompts from.
func writePrompts(dir string, rounds int) error {
	parts := map[string]string{
		"coder.md": brief(coderOpening, rounds), "coder-notes.md": "",
		"coder-contract.md": Contracts["coder"],
		"reviewer.md":       brief(reviewerOpening, rounds), "reviewer-notes.md": "",
		"reviewer-contract.md": Contracts["reviewer"],
	}
	for name, text := range parts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write prompts: %w", err)
		}
	}
	return nil
}

// Loop is the orchestrator: it knows nothing about sessions. TOOL is the agent's call, PROMPTS the
// directory with the parts of the prompts.
const Loop = `round=0
prompt() {
	cat "$PROMPTS/$1.md" "$PROMPTS/$1-notes.md"; echo
	cat "$PROMPTS/$1-contract.md"
}
last() { sed "/^$1/d; /^\$/d" "$PROMPTS/$2" | tail -n 1; }
until grep -qs 'DECISION: APPROVE' "$PROMPTS/verdict"; do
	round=$((round + 1))
	[ $round -le 9 ] || exit 1
	$TOOL "$(prompt coder)" >"$PROMPTS/answer" </dev/null || exit
	[ $round -eq 1 ] ||
		printf '\n## Round %s\n\nChanged: src/store.go\n\n%s\n' \
			$round "$(last STATUS answer)" >>"$PROMPTS/reviewer-notes.md"
	$TOOL "$(prompt reviewer)" >"$PROMPTS/verdict" </dev/null || exit
	printf '\n## Rejection %s, of src/store.go\n\n%s\n' \
		$round "$(last DECISION verdict)" >>"$PROMPTS/coder-notes.md"
done
`

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

func latest(all string) int {
	highest := 0
	for _, m := range revision.FindAllStringSubmatch(all, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			highest = max(highest, n)
		}
	}
	return highest
}
