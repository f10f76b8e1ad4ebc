package app

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"reprise/config"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// HintFor returns a remedy for an error, "" for none.
func HintFor(err error) string {
	var mistakes config.Mistakes
	var mistake *config.Error
	var with hinted
	switch {
	case errors.As(err, &with):
		return with.hint
	case errors.Is(err, ledger.ErrInUse):
		return "wait until the call has ended"
	case errors.As(err, &mistakes) && len(mistakes) > 1:
		return "shimctl doctor lists the mistakes"
	case errors.As(err, &mistake):
		return mistake.Hint
	}
	if fix := FixFor(err); fix != "" {
		return fix + "; a call that cannot use the ledger runs the real binary"
	}
	return ""
}

// FixFor returns a remedy for a ledger that cannot be used.
func FixFor(err error) string {
	switch err := ledger.Explain(err); {
	case errors.Is(err, ledger.ErrDamaged):
		return "shimctl doctor --fix moves it aside and begins a new one"
	case errors.Is(err, ledger.ErrForeign):
		return "shimctl doctor --fix moves it away"
	case errors.Is(err, ledger.ErrNewer):
		return "install the newer reprise again, or start a new ledger with shimctl doctor --fix"
	case errors.Is(err, config.ErrNotOurs):
		return "set HOME or XDG_STATE_HOME to a directory of your own"
	case errors.Is(err, ledger.ErrLocked):
		return "end the program that holds it, a database browser perhaps"
	}
	return ""
}

// Typed returns how this program, which is at self, is typed: by the name if PATH leads to it, else
// by the path.
func Typed(self string) string {
	const name = "shimctl"
	if found, err := exec.LookPath(name); err == nil {
		there, err := os.Stat(found)
		if own, failed := os.Stat(self); err == nil && failed == nil && os.SameFile(there, own) {
			return name
		}
	}
	return view.ShellQuote(self)
}

// PassedHere says which variable of this shell has every call that is made from it passed through,
// "" for none.
func (a *App) PassedHere() string {
	if a.Getenv("REPRISE_OFF") == "1" {
		return fmt.Sprintf("in this shell every call is passed through: REPRISE_OFF is set (%s)",
			reason.SwitchedOff)
	}
	var variable string
	var names []string
	for _, name := range rewrite.Names {
		tool, _ := rewrite.Lookup(name)
		for _, nested := range append(slices.Clone(tool.Descriptor().Nested), rewrite.NestedEnv) {
			if a.Getenv(nested) != "" && (variable == "" || variable == nested) {
				variable, names = nested, append(names, name)
				break
			}
		}
	}
	if variable == "" {
		return ""
	}
	return fmt.Sprintf("in this shell every call of %s is passed through: %s is set (%s)",
		strings.Join(names, ", "), variable, reason.Nested)
}
