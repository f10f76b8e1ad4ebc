package main

import (
	"fmt"
	"slices"
	"strings"

	"reprise/config"
	"reprise/rewrite/reason"
)

// meaning says in a sentence what a reason means.
func meaning(r reason.Code) string {
	if text, ok := r.Lookup(); ok {
		return text.Meaning
	}
	return "a reason that this shimctl does not know: " + strings.ReplaceAll(string(r), "_", " ")
}

// classOf returns a reason's class, "" if it is not known.
func classOf(r reason.Code) reason.Class {
	if text, ok := r.Lookup(); ok {
		return text.Class
	}
	return ""
}

// checkReason refuses a reason that there is not.
func checkReason(r reason.Code) error {
	if _, known := r.Lookup(); known || r == "" {
		return nil
	}
	var known []string
	for _, text := range reason.Table {
		known = append(known, string(text.Code))
	}
	hint := "docs/reference/reasons.md lists the reasons"
	if near := config.Nearest(string(r), known); near != "" {
		hint = fmt.Sprintf("did you mean %q", near)
	}
	return usageError{fmt.Sprintf("there is no reason %q", r), hint}
}

func reasonCompletions() (list []string) {
	for _, text := range reason.Table {
		list = append(list, string(text.Code)+"\t"+text.Meaning)
	}
	slices.Sort(list)
	return list
}

// classNames are the classes of reasons.
var classNames = func() (list []string) {
	for _, c := range reason.Classes {
		list = append(list, string(c))
	}
	return list
}()
