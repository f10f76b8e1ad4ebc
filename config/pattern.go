package config

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// A pattern is a checked regular expression. It is compiled on first use, since most calls need
// none.
type pattern struct {
	text string
	re   *regexp.Regexp
}

// compiled returns the compiled expression. It is not safe for concurrent use.
func (p *pattern) compiled() *regexp.Regexp {
	if p.re == nil {
		p.re = regexp.MustCompile(p.text)
	}
	return p.re
}

const patternHint = "patterns are RE2, as in Go: no lookaround, no backreferences; write them " +
	"in single quotes"

// A patternUse is the use of a pattern.
type patternUse int

const (
	matching  patternUse = iota
	capturing            // the named groups are used
)

// newPattern checks an expression. If it captures, each named group must be one of those in use.
func newPattern(text string, use patternUse) (*pattern, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	var wrong *syntax.Error
	if errors.As(err, &wrong) {
		return nil, &mistake{fmt.Sprintf("%q is not a pattern: %s: %s", text, wrong.Code,
			wrong.Expr), patternHint}
	}
	for _, group := range parsed.CapNames() {
		if use == capturing && group != "" && !slices.Contains(groups, group) {
			return nil, &mistake{fmt.Sprintf("unknown group %q", group),
				"groups are named task, role or attempt"}
		}
	}
	return &pattern{text: text}, nil
}

var groups = []string{"task", "role", "attempt"}

// glob converts a path with wildcards to an expression: * is any text within one name, ** any text,
// ? one character; {task}, {role} and {attempt} capture a name.
func glob(path string) string {
	var out strings.Builder
	out.WriteString("^")
	for path != "" {
		width, expression := 1, regexp.QuoteMeta(path[:1])
		switch {
		case strings.HasPrefix(path, "**/"):
			width, expression = 3, "(?:.*/)?"
		case strings.HasPrefix(path, "**"):
			width, expression = 2, ".*"
		case path[0] == '*':
			expression = "[^/]*"
		case path[0] == '?':
			expression = "[^/]"
		case path[0] == '{':
			if name, _, ok := strings.Cut(path[1:], "}"); ok {
				width, expression = len(name)+2, "(?P<"+name+">[^/]+)"
			}
		}
		out.WriteString(expression)
		path = path[width:]
	}
	return out.String() + "$"
}
