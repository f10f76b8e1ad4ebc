package why

import (
	"fmt"
	"os"
	"strings"
	"time"

	"reprise/internal/ctl/view"
	"reprise/internal/tested"
	"reprise/ledger"
	"reprise/shim/binary"
)

// Untested says that a version of a tool is newer than all tested ones, and for how long it has
// been installed, "" if it is not.
func Untested(tool, version, path string, now time.Time) string {
	list := tested.Own().Tool(tool)
	if version == "" || list.Version() == "" || tested.Compare(version, list.Version()) <= 0 {
		return ""
	}
	age := ""
	if info, err := os.Stat(path); err == nil {
		age = ", " + view.Count(int64(max(0, now.Sub(info.ModTime()).Hours()/24)), "day") + " old"
	}
	return fmt.Sprintf("%s is not tested yet%s; the newest tested version is %s", version, age,
		list.Version())
}

// A VersionNote is about an installed version of a tool that the shim can do less with.
type VersionNote struct{ Tool, Says, Fix string }

// Versions returns the limits of the installed versions, as calls have shown them.
func Versions(l *ledger.Ledger) (notes []VersionNote, err error) {
	known, err := l.Runtimes()
	for _, r := range known {
		if !r.Refuses && !r.Unread || binary.Fingerprint(r.Path) != r.Fingerprint {
			continue
		}
		does := "prints what this version of reprise cannot read: its calls are not resumed"
		if r.Refuses {
			does = "fails with the options that the shim adds: its calls run as they were written"
		}
		notes = append(notes, VersionNote{r.Tool, strings.TrimSpace(r.Tool+" "+r.Version) + " " +
			does, "use a version that was tried, or update reprise"})
	}
	return notes, err
}
