package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A report is what was found of two versions of a tool.
type report struct {
	tool, old, new string
	unknown        error // why it could not be told
	sections       []section
}

// A section matters if a caller or the shim may rely on what it lists.
type section struct {
	title   string
	matters bool
	lines   []string
}

// add adds a section unless it is empty.
func (r *report) add(title string, matters bool, lines []string) {
	if len(lines) > 0 {
		r.sections = append(r.sections, section{title, matters, lines})
	}
}

// addSets adds what is gone, which matters, and what is new. What is below a key goes and comes with it.
func (r *report) addSets(title string, before, now set) {
	r.add(title+", gone", true, topmost(without("-", before, now)))
	r.add(title+", new", false, topmost(without("+", now, before)))
}

func topmost(lines []string) (top []string) {
	for _, line := range lines {
		if !slices.ContainsFunc(top, func(above string) bool {
			return strings.HasPrefix(line, above+".") || strings.HasPrefix(line, above+"[]")
		}) {
			top = append(top, line)
		}
	}
	return top
}

func (r report) outcome() outcome {
	switch {
	case slices.ContainsFunc(r.sections, func(s section) bool { return s.matters }):
		return differs
	case r.unknown != nil:
		return unknown
	}
	return clean
}

// String returns the report as Markdown: first what matters.
func (r report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s %s (tested: %s): %s\n", r.tool, r.new, r.old, r.outcome())
	if r.unknown != nil {
		fmt.Fprintf(&b, "\n    %s\n", strings.ReplaceAll(r.unknown.Error(), "\n", "\n    "))
	}
	for _, matters := range []bool{true, false} {
		for _, s := range r.sections {
			if s.matters == matters {
				s.write(&b)
			}
		}
	}
	return b.String()
}

// longest is how many lines of a section that does not matter are printed.
const longest = 40

func (s section) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n### %s\n\n", s.title)
	for i, line := range s.lines {
		if i == longest && !s.matters {
			fmt.Fprintf(b, "    ... and %d more\n", len(s.lines)-longest)
			break
		}
		fmt.Fprintf(b, "    %.300s\n", strings.ReplaceAll(line, "\n", " "))
	}
}

// changed returns what is gone and what is new of two sets.
func changed(before, now set) []string {
	return append(without("-", before, now), without("+", now, before)...)
}

func without(mark string, all, others set) (lines []string) {
	for _, one := range slices.Sorted(maps.Keys(all)) {
		if !others[one] {
			lines = append(lines, mark+" "+one)
		}
	}
	return lines
}

// changedLines returns the lines that one of two texts lacks.
func changedLines(a, b string) []string {
	if found := changed(lineSet(a), lineSet(b)); len(found) > 0 {
		return found
	}
	return []string{"the same lines in another order or number"}
}

// listed returns each difference with the calls that show it below.
func listed(calls map[string][]string) (lines []string) {
	for _, difference := range slices.Sorted(maps.Keys(calls)) {
		lines = append(lines, difference, "    in: "+strings.Join(calls[difference], "; "))
	}
	return lines
}

func lineSet(text string) set {
	all := set{}
	for line := range strings.Lines(text) {
		all[strings.TrimRight(line, "\n")] = true
	}
	return all
}
