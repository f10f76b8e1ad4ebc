package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"reprise/config"
	"reprise/rewrite"
)

// meaning says in a sentence what a reason means.
func meaning(r rewrite.Reason) string {
	if text, ok := reasonTexts[r]; ok {
		return text.meaning
	}
	return "a reason that this shimctl does not know: " + strings.ReplaceAll(string(r), "_", " ")
}

// checkReason refuses a reason that there is not.
func checkReason(r rewrite.Reason) error {
	if _, known := reasonTexts[r]; known || r == "" {
		return nil
	}
	var known []string
	for reason := range reasonTexts {
		known = append(known, string(reason))
	}
	hint := "docs/reference/reasons.md lists the reasons"
	slices.Sort(known)
	if near := config.Nearest(string(r), known); near != "" {
		hint = fmt.Sprintf("did you mean %q", near)
	}
	return usageError{fmt.Sprintf("there is no reason %q", r), hint}
}

func reasonCompletions() (list []string) {
	for _, r := range slices.Sorted(maps.Keys(reasonTexts)) {
		list = append(list, string(r)+"\t"+meaning(r))
	}
	return list
}
