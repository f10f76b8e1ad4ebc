package why

import (
	"strings"

	"reprise/ledger"
	"reprise/shim"
)

// A VersionNote is about an installed version of a tool that the shim can do less with.
type VersionNote struct{ Tool, Says, Fix string }

// Versions returns the limits of the installed versions, as calls have shown them.
func Versions(l *ledger.Ledger) (notes []VersionNote, err error) {
	known, err := l.Runtimes()
	for _, r := range known {
		if !r.Refuses && !r.Unread || shim.Fingerprint(r.Path) != r.Fingerprint {
			continue
		}
		does := "prints what this version of reprise cannot read: its calls are not resumed"
		if r.Refuses {
			does = "fails with the options that the shim adds: its calls run as they were written"
		}
		notes = append(notes, VersionNote{r.Tool, strings.TrimSpace(r.Tool+" "+r.Version) + " " + does, "use a version that was tried, or update reprise"})
	}
	return notes, err
}
