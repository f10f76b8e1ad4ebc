package config

import (
	"fmt"
	"slices"
	"strings"
)

const listsKeys = "shimctl config lists every key"

// nearest returns a hint with the known key or table most similar to name, otherwise if none is
// similar.
func nearest(name string, keys []string, otherwise string) string {
	if best := Nearest(name, names(keys)); best != "" {
		return fmt.Sprintf("did you mean %q", best)
	}
	return otherwise
}

// outsideRules returns a hint for a name that is no key outside of rules.
func outsideRules(name string, keys []string) string {
	if slices.ContainsFunc(ruleSettings(&Rule{}, "", nil), func(s setting) bool {
		return s.key == name
	}) {
		return name + " belongs in a rule, below a line [[rule]]"
	}
	return nearest(name, keys, listsKeys)
}

// Nearest returns the known name most similar to the typed one, "" if none is. Of several it is the
// first that begins with the typed word.
func Nearest(typed string, known []string) string {
	typed = strings.ToLower(typed)
	// two letters in the wrong order are nearer than any other mistake
	for i := 1; i < len(typed); i++ {
		if swapped := typed[:i-1] + typed[i:i+1] + typed[i-1:i] +
			typed[i+1:]; slices.Contains(known, swapped) {
			return swapped
		}
	}
	best, least := "", max(2, len(typed)/3)+1
	for _, candidate := range known {
		d := distance(typed, candidate)
		begins := best != "" && strings.HasPrefix(candidate, typed) &&
			!strings.HasPrefix(best, typed)
		if d < least || d == least && begins {
			best, least = candidate, d
		}
	}
	return best
}

// names returns all known keys and their tables.
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

// distance returns the number of bytes to insert, delete or replace to turn a into b.
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
