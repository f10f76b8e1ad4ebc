package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"reprise/config"
	"reprise/ledger"
)

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", grouped(n), noun)
}

func size(bytes int64) string {
	switch {
	case bytes < 10_000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 10_000_000:
		return fmt.Sprintf("%d kB", bytes/1000)
	case bytes < 10_000_000_000:
		return fmt.Sprintf("%d MB", bytes/1_000_000)
	}
	return fmt.Sprintf("%d GB", bytes/1_000_000_000)
}

func orDash(text string) string { return orElse(text, "-") }

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// tilde shows a path with the home folder as ~, since people paste what they see.
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

// tildeIn does so for the paths in a message.
func (a *app) tildeIn(message string) string {
	home := a.getenv("HOME")
	if home == "" || home == "/" {
		return message
	}
	path := regexp.MustCompile(`(^|[\s"'(:=])` + regexp.QuoteMeta(home) + `($|[\s"'):/])`)
	return path.ReplaceAllString(message, "${1}~${2}")
}

// hintFor says what can be done about an error.
func hintFor(err error) string {
	var mistake *config.Error
	var with hinted
	switch {
	case errors.As(err, &with):
		return with.hint
	case errors.Is(err, ledger.ErrInUse):
		return "wait until the call has ended"
	case errors.As(err, &mistake):
		return mistake.Hint
	}
	if fix := fixFor(err); fix != "" {
		return fix + "; the shims run the real binaries meanwhile"
	}
	return ""
}

// fixFor says what can be done about a ledger that can not be used.
func fixFor(err error) string {
	switch {
	case errors.Is(err, ledger.ErrDamaged):
		return "shimctl ledger repair, or where that fails shimctl ledger reset"
	case errors.Is(err, ledger.ErrForeign):
		return "shimctl ledger reset moves it away"
	case errors.Is(err, ledger.ErrNewer):
		return "install the newer reprise again, or begin a new ledger with shimctl ledger reset"
	case errors.Is(err, ledger.ErrLocked):
		return "end the program that holds it, a database browser perhaps"
	}
	return ""
}

// quote shows an argument as a shell would read it.
func quote(arg string) string {
	if arg != "" && strings.Trim(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,@%+") == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
