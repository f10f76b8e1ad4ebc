package setup

import (
	"fmt"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/textfile"
	"reprise/internal/ctl/view"
)

// writeEdits writes the files, in order. It stops at the first that cannot be written.
func writeEdits(a *app.App, edits []textfile.Edit, say bool) error {
	for _, e := range edits {
		if err := e.Write(); err != nil {
			return app.WithHint(fmt.Errorf("write %s: %w", e.File, err), "what is shown above may be added by hand")
		}
		if say {
			verb := "wrote"
			if e.Remove {
				verb = "removed"
			}
			fmt.Fprintln(a.Stdout, verb, view.Printable(a.Tilde(e.File)))
		}
	}
	return nil
}
