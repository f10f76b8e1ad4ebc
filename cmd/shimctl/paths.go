package main

import (
	"regexp"
	"strings"
)

// tilde writes the home directory as ~, so that pasted output does not name the user.
func (a *app) tilde(path string) string {
	home := a.getenv("HOME")
	if home == "" || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// tildeIn is tilde for every path in a message.
func (a *app) tildeIn(message string) string {
	home := a.getenv("HOME")
	if home == "" || home == "/" {
		return message
	}
	path := regexp.MustCompile(`(^|[\s"'(:=])` + regexp.QuoteMeta(home) + `($|[\s"'):/])`)
	return path.ReplaceAllString(message, "${1}~${2}")
}
