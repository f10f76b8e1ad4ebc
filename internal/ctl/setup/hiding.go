package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/shim/binary"
)

// hiding finds the start of an alias or a function of a tool, which a shell takes before it looks
// at PATH.
const hiding = `(?:^|[;&{]|\bthen|\bdo)\s*(?:` +
	`(?P<alias>alias)\s+(?:-\w+\s+)*NAME[= ]\s*(?P<value>"[^"]*"|'[^']*'|[^\s;]*)` +
	`|NAME\s*\(\s*\)|function\s+(?:-\S+\s+)*NAME(?:$|[\s;(]))`

// Hiding adds a problem for each alias or function in a start file that hides the shim of a tool.
// The text can hold a key: no check shows it. The fix leads the name to the shim, and the shim to
// the binary that the name stands for now.
func (c *Checks) Hiding(a *app.App, shims string, p binary.Place) {
	pattern := regexp.MustCompile(strings.ReplaceAll(hiding, "NAME", p.Name))
	for _, file := range StartFiles(a) {
		text, _ := os.ReadFile(file)
		lines := strings.Split(string(text), "\n")
		for i, line := range lines {
			m := pattern.FindStringSubmatchIndex(line)
			if m == nil || strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			kind, value, byPath := "a function", functionText(line[m[1]:], lines[i+1:]),
				regexp.MustCompile(
					`(?:\b(?:command|exec|env)\s+|\\)`+p.Name+`\b`)
			if group := pattern.SubexpIndex("value"); m[2*group] >= 0 {
				kind, value, byPath = "an alias", line[m[2*group]:m[2*group+1]],
					regexp.MustCompile(`(?:^|[\s"'\\])`+p.Name+`\b`)
			}
			path := pathIn(value, p.Name, a.Getenv("HOME"))
			if path == "" && byPath.MatchString(value) ||
				path != "" && app.SameFile(path, filepath.Join(shims, p.Name)) {
				continue
			}
			fix := fmt.Sprintf("start %s there by its name (command %s in a function), not by a "+
				"path", p.Name, p.Name)
			if Runnable(path) && !app.SameFile(path, p.Real) {
				fix = "shimctl config set tool." + p.Name + ".path " +
					view.ShellQuote(a.Tilde(path)) + "; then " + fix
			}
			c.Problem(p.Name+" in a shell", fmt.Sprintf("%s (%s:%d) hides the shim: typed calls "+
				"never reach it", kind, a.Tilde(file), i+1), fix)
		}
	}
}

// functionText returns the text of a function: the rest of the first line, and the lines up to the
// closing line.
func functionText(first string, rest []string) string {
	text := first
	if strings.Contains(first, "}") {
		return text
	}
	for _, line := range rest {
		if line == "end" || strings.HasPrefix(line, "}") {
			break
		}
		text += "\n" + line
	}
	return text
}

// pathIn returns the absolute path of a program of that name in the text of an alias or a function,
// "" for none.
func pathIn(text, name, home string) string {
	text = strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(text)
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune(" \t\n;|&<>`(){}", r)
	}) {
		for _, start := range []string{"~/", "$HOME/", "${HOME}/"} {
			if rest, ok := strings.CutPrefix(word, start); ok {
				word = filepath.Join(home, rest)
			}
		}
		if filepath.IsAbs(word) && filepath.Base(word) == name {
			return filepath.Clean(word)
		}
	}
	return ""
}
