package main

import (
	"regexp"
	"strings"
)

// A sqlMutant is a statement with a mistake in it.
type sqlMutant struct{ text, what string }

var (
	setClause = regexp.MustCompile(`(?s)^\s*(UPDATE\s+\w+\s+SET\s+)(.*)$`)
	assigned  = regexp.MustCompile(`(?s)^(\s*)(\w+)(\s*=\s*)(.*?)(\s*)$`)
	connected = regexp.MustCompile(`\s(AND|OR)\s`)
	compared  = regexp.MustCompile(`\s(=|<>|<=|>=|<|>)\s`)
)

// sqlMutants returns mistakes in a statement, or in a part of one: a column that is not written,
// AND and OR swapped, a comparison that is reversed. The number of arguments stays.
func sqlMutants(text string) []sqlMutant {
	var list []sqlMutant
	where := 0
	if m := setClause.FindStringSubmatchIndex(text); m != nil {
		from := m[4]
		parts, end := splitTop(text[from:])
		where = from + end
		for _, p := range parts {
			a := assigned.FindStringSubmatch(text[from+p[0] : from+p[1]])
			if a == nil {
				continue
			}
			kept := a[1] + a[2] + a[3] + "iif((" + a[4] + ") IS NULL, " + a[2] + ", " + a[2] + ")" + a[5]
			list = append(list, sqlMutant{text[:from+p[0]] + kept + text[from+p[1]:], "SQL leaves as it was: " + a[2] + " = " + a[4]})
		}
	} else if !strings.Contains(text, "WHERE") && !strings.Contains(text, " AND ") {
		return nil
	}
	other := map[string]string{"AND": "OR", "OR": "AND", "=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
	for _, pattern := range []*regexp.Regexp{connected, compared} {
		for _, m := range pattern.FindAllStringSubmatchIndex(text, -1) {
			if m[2] < where {
				continue
			}
			word := text[m[2]:m[3]]
			from, to := max(0, m[2]-25), min(len(text), m[3]+25)
			list = append(list, sqlMutant{text[:m[2]] + other[word] + text[m[3]:], "SQL " + word + " becomes " + other[word] + ": " + text[from:to]})
		}
	}
	return list
}

// splitTop returns the parts of a list separated by commas outside of parentheses, and where the
// list ends: at WHERE or RETURNING.
func splitTop(text string) (parts [][2]int, end int) {
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		case depth == 0 && text[i] == ',':
			parts = append(parts, [2]int{from, i})
			from = i + 1
		case depth == 0 && (strings.HasPrefix(text[i:], "WHERE ") || strings.HasPrefix(text[i:], "RETURNING ")):
			return append(parts, [2]int{from, i}), i
		}
	}
	return append(parts, [2]int{from, len(text)}), len(text)
}
