package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/internal/ctl/view"
	"reprise/ledger"
)

type fixing struct {
	wanted  bool
	consent app.Consent
}

type repair struct {
	name, does string
	do         func() ([]setup.Check, error)
}

// fix makes all possible repairs, and returns a check for each thing that it did or, with
// --dry-run, would do.
func fix(a *app.App, f fixing) (done []setup.Check, err error) {
	list := repairs(a, f)
	if f.consent.Dry {
		return view.Mapped(list, func(r repair) setup.Check {
			return setup.Note(r.name, "would "+r.does, "")
		}), nil
	}
	if len(list) == 0 {
		return nil, nil
	}
	words := view.Mapped(list, func(r repair) string { return r.does })
	if ok, err := a.Agreed(strings.Join(words, "; "), f.consent); !ok {
		return nil, err
	}
	for _, r := range list {
		checks, err := r.do()
		done = append(done, checks...)
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// repairs returns the possible ones of the repairs that were asked for.
func repairs(a *app.App, f fixing) (list []repair) {
	if !f.wanted {
		return nil
	}
	for _, o := range openFiles(a) {
		is := fmt.Sprintf("%s %04o", a.Tilde(o.path), o.mode&^o.wrong)
		list = append(list, repair{"permissions", "make " + is, func() ([]setup.Check, error) {
			return []setup.Check{setup.Fixed("permissions", "made "+is)},
				os.Chmod(o.path, o.mode&^o.wrong)
		}})
	}
	path, err := config.LedgerFile(a.Own)
	if err != nil {
		return list // the checks say so
	}
	err = tryLedger(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.Is(err, ledger.ErrLocked) ||
		errors.Is(err, config.ErrNotOurs) {
		return list
	}
	aside := path + a.Now.UTC().Format(".20060102T150405Z")
	does := "move the ledger to " + a.Tilde(aside) + ", and start a new one at " + a.Tilde(path)
	return append(list, repair{"ledger", does, func() (done []setup.Check, err error) {
		moved, err := ledger.Reset(path, strings.TrimPrefix(aside, path))
		if moved != "" {
			done = append(done, setup.Fixed("ledger", "moved the ledger to "+a.Tilde(moved)))
		}
		if err == nil {
			done = append(done, setup.Fixed("ledger", "started a new one at "+a.Tilde(path)))
		}
		return done, err
	}})
}

// An openFile is a file or directory that others can reach, though they must not.
type openFile struct {
	path        string
	mode, wrong fs.FileMode
}

// openFiles returns reprise's own files that others can read, and settings that they can write,
// which name the programs that the shims run.
func openFiles(a *app.App) (open []openFile) {
	add := func(path string, wrong fs.FileMode) {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&wrong != 0 {
			open = append(open, openFile{path, info.Mode().Perm(), wrong})
		}
	}
	state, _ := config.StateDir(a.Own)
	add(state, 0o077)
	entries, _ := os.ReadDir(state)
	for _, e := range entries {
		if e.Type().IsRegular() {
			add(filepath.Join(state, e.Name()), 0o077)
		}
	}
	settings, _ := config.ConfigFile(a.Own)
	add(filepath.Dir(settings), 0o022)
	add(settings, 0o022)
	return open
}

func checkPermissions(a *app.App) setup.Check {
	const name = "permissions"
	open := openFiles(a)
	if len(open) == 0 {
		return setup.OK(name, "ledger, log and configuration are out of others' reach")
	}
	o := open[0]
	if o.wrong == 0o022 {
		return setup.Problem(name, fmt.Sprintf(
			"other users can write %s (%04o), and so change the programs that the shims run",
			a.Tilde(o.path), o.mode),
			"chmod go-w "+a.Tilde(o.path))
	}
	state, _ := config.StateDir(a.Own)
	return setup.Problem(name, fmt.Sprintf("%s is open to others (%04o)", a.Tilde(o.path), o.mode),
		"chmod -R go= "+a.Tilde(state))
}
