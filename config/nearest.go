package config

import (
	"fmt"
	"strings"
)

// nearest returns a hint that names the known key or table most like name, if one is like it at all.
func nearest(name string, keys []string) string {
	best := Nearest(name, names(keys))
	if best == "" {
		return "docs/reference/configuration.md lists every key"
	}
	return fmt.Sprintf("did you mean %q", best)
}

// Nearest returns the known name most like the one that was typed, "" if none is like it.
func Nearest(typed string, known []string) string {
	best, least := "", max(2, len(typed)/3)+1
	for _, candidate := range known {
		if d := distance(strings.ToLower(typed), candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// names are all known keys and the tables they stand in.
func names(keys []string) []string {
	var all []string
	for _, key := range keys {
		all = append(all, key)
		for i, r := range key {
			if r == '.' {
				all = append(all, key[:i])
			}
		}
	}
	return all
}

// distance counts the bytes to add, drop or change to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
