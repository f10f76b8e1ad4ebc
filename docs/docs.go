// Package docs lets the programs read what a page says, so that it is written once. It is linked into shimctl,
// never into the shim.
package docs

import (
	_ "embed"
	"strings"
)

//go:embed internals/conformance.md
var conformance string

// A Tried version of a tool, and what came of it, as docs/internals/conformance.md has it.
type Tried struct {
	Tool, Version                 string
	PassedThrough, Fresh, Resumes string
}

// Clean reports whether all of the suite's core held.
func (t Tried) Clean() bool { return t.PassedThrough == "ok" && t.Fresh == "ok" && t.Resumes == "yes" }

// Conformance returns the versions that were tried, in the order of the document: by tool, oldest first.
func Conformance() []Tried {
	var all []Tried
	for line := range strings.Lines(conformance) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || !strings.HasPrefix(line, "| ") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] != "tool" && strings.Trim(cells[0], "- ") != "" {
			all = append(all, Tried{cells[0], cells[1], cells[2], cells[3], cells[4]})
		}
	}
	return all
}
