package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"reprise/internal/shells"
	"reprise/internal/ui"

	"golang.org/x/sys/unix"
)

// writeEdits writes the files, in order. It stops at the first that cannot be written.
func (a *app) writeEdits(edits []shells.Edit, say bool) error {
	for _, e := range edits {
		if err := writeEdit(e); err != nil {
			return hinted{fmt.Errorf("write %s: %w", e.File, err), "what is shown above may be added by hand"}
		}
		if say {
			verb := "wrote"
			if e.Remove {
				verb = "removed"
			}
			fmt.Fprintln(a.stdout, verb, ui.Printable(a.tilde(e.File)))
		}
	}
	return nil
}

// writeEdit writes or removes one file, unless another process has written it meanwhile.
func writeEdit(e shells.Edit) error {
	text, existed, err := readStartFile(e.File)
	if err != nil {
		return err
	}
	if existed != e.Existed || text != e.Old {
		return errors.New("it was changed meanwhile")
	}
	if e.Remove {
		if err := os.Remove(e.File); err != nil || filepath.Base(filepath.Dir(e.File)) != "reprise" {
			return err
		}
		_ = os.Remove(filepath.Dir(e.File)) // ours too, but there may be more in it
		return nil
	}
	mode := fs.FileMode(0o644)
	if !existed {
		if err := os.MkdirAll(filepath.Dir(e.File), 0o700); err != nil {
			return err
		}
		if filepath.Ext(e.File) == ".toml" {
			mode = 0o600
		}
	} else if err := unix.Access(e.File, unix.W_OK); err != nil {
		return err // a file that is marked as not to be written would be replaced all the same
	}
	return replace(e.File, mode, func(w io.Writer) error {
		_, err := io.WriteString(w, e.New)
		return err
	})
}
