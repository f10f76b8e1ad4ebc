package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"reprise/internal/tested"
)

// A report has the differences between two versions of a tool.
type report struct {
	tool, old, new string
	unknown        error // why it could not be told
	sections       []section
}

// A section matters if a caller or the shim can rely on the listed items.
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

// addLines adds lines that are gone, which matters, and new ones, which do if a caller sees them as
// they are or another value of the same key is gone. Each has the calls that show it below. The
// keys below a key go and come with it.
func (r *report) addLines(title string, gone, new set) {
	var lines, listed, accepted []string
	keys := set{}
	add := func(to *[]string, mark, line string, calls []string) {
		text, below := mark+" "+line, "    in: "+strings.Join(calls, "; ")
		if why := r.accepted(text); why != "" {
			to, below = &accepted, "    "+why
		}
		*to = append(*to, text, below)
	}
	for _, line := range topmost(gone) {
		keys.note(cmp.Or(keyed.FindString(line), line), "")
		add(&lines, "-", line, gone[line])
	}
	for _, line := range topmost(new) {
		if slices.Contains(plain, title) || keys[keyed.FindString(line)] != nil {
			add(&lines, "+", line, new[line])
		} else {
			add(&listed, "+", line, new[line])
		}
	}
	r.add(title, true, lines)
	r.add(title+", new", false, listed)
	r.add(title+", accepted", false, accepted)
}

// keyed matches a line's type and path, before its kind of value.
var keyed = regexp.MustCompile(`^(?:call \d+: )?\S+ \S+ `)

// topmost returns the lines in order, without those below another one.
func topmost(all set) (top []string) {
	for line := range all {
		below := false
		for above := range all {
			above, isObject := strings.CutSuffix(above, " object")
			rest, under := strings.CutPrefix(line, above)
			below = below || isObject && under && rest != " object" &&
				strings.ContainsAny(rest[:1], " .[")
		}
		if !below {
			top = append(top, line)
		}
	}
	slices.Sort(top)
	return top
}

// acceptedFile lists differences that were looked at, one of a tool and of the newer versions from
// one to another.
//
//go:embed accepted.json
var acceptedFile []byte

type acceptance struct{ Tool, From, To, Line, Reason string }

func readAccepted() (all []acceptance, err error) {
	err = json.Unmarshal(acceptedFile, &all)
	return all, err
}

// accepted returns why a difference of these versions is accepted, "" if it is not.
func (r *report) accepted(line string) string {
	all, _ := readAccepted() // a test reads it too
	for _, a := range all {
		if a.Tool == r.tool && tested.Compare(a.From, r.new) <= 0 &&
			tested.Compare(r.new, a.To) <= 0 && regexp.MustCompile(a.Line).MatchString(line) {
			return a.Reason
		}
	}
	return ""
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

// String returns the report as Markdown, important sections first.
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
