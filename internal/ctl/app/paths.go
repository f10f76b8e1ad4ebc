package app

import (
	"regexp"
	"strings"
)

// Tilde writes the home directory as ~, so that pasted output does not name the user.
func (a *App) Tilde(path string) string {
	home := a.Getenv("HOME")
	if home == "" || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// TildeIn is Tilde for every path in a message.
func (a *App) TildeIn(message string) string {
	home := a.Getenv("HOME")
	if home == "" || home == "/" {
		return message
	}
	path := regexp.MustCompile(`(^|[\s"'(:=])` + regexp.QuoteMeta(home) + `($|[\s"'):/])`)
	return path.ReplaceAllString(message, "${1}~${2}")
}
