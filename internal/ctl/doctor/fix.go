package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/internal/ctl/view"
	"reprise/ledger"
)

// A fixing is what doctor --fix is asked for.
type fixing struct {
	wanted    bool
	newLedger bool // start a new ledger, even if this one is sound
	consent   app.Consent
}

// fix fixes what it can, and returns a check for each thing that it did or, with --dry-run, would do.
func fix(a *app.App, f fixing) (done []setup.Check, err error) {
	if !f.wanted {
		return nil, nil
	}
	for _, o := range openFiles(a) {
		mode := o.mode &^ o.wrong
		if f.consent.Dry {
			done = append(done, setup.Note("permissions", fmt.Sprintf("would make %s %04o", a.Tilde(o.path), mode), ""))
			continue
		}
		if err := os.Chmod(o.path, mode); err != nil {
			return done, err
		}
		done = append(done, setup.Fixed("permissions", fmt.Sprintf("%s is %04o now", a.Tilde(o.path), mode)))
	}
	path, err := config.LedgerFile(a.Own)
	if err != nil {
		return done, nil // the checks say so
	}
	more, err := fixLedger(a, path, f)
	return append(done, more...), err
}

func fixLedger(a *app.App, path string, f fixing) ([]setup.Check, error) {
	suffix := a.Now.UTC().Format(".20060102T150405Z")
	if f.newLedger {
		return startLedger(a, path, suffix, f.consent)
	}
	switch err := tryLedger(path); {
	case err == nil, errors.Is(err, ledger.ErrLocked), errors.Is(err, config.ErrNotOurs):
		return nil, nil
	case !errors.Is(err, ledger.ErrDamaged):
		return startLedger(a, path, suffix, f.consent)
	}
	if f.consent.Dry {
		return []setup.Check{setup.Note("ledger", "would move the damaged ledger to "+a.Tilde(path+suffix)+", and copy what is readable into a new one", "")}, nil
	}
	r, err := ledger.Repair(path, suffix)
	if err != nil { // nothing can be read
		return startLedger(a, path, suffix, f.consent)
	}
	return []setup.Check{setup.Fixed("ledger", fmt.Sprintf("moved the damaged ledger to %s; recovered %s, %s and %s", a.Tilde(r.Aside),
		view.Count(r.Chains, "chain"), view.Count(r.Sessions, "session"), view.Count(r.Calls, "call")))}, nil
}

// startLedger moves what is at path aside, if its user agrees, and starts a new ledger.
func startLedger(a *app.App, path, suffix string, c app.Consent) (done []setup.Check, err error) {
	_, missing := os.Lstat(path)
	if c.Dry {
		if missing == nil {
			done = append(done, setup.Note("ledger", "would move the ledger to "+a.Tilde(path+suffix), ""))
		}
		return append(done, setup.Note("ledger", "would start a new one at "+a.Tilde(path), "")), nil
	}
	if missing == nil {
		if err := a.Ask("move the ledger aside and start a new one?", c); err != nil {
			return nil, err
		}
	}
	aside, err := ledger.Reset(path, suffix)
	if aside != "" {
		done = append(done, setup.Fixed("ledger", "moved the ledger to "+a.Tilde(aside)))
	}
	if err == nil {
		done = append(done, setup.Fixed("ledger", "started a new one at "+a.Tilde(path)))
	}
	return done, err
}

// An openFile is a file or directory that others can reach, though they must not.
type openFile struct {
	path        string
	mode, wrong fs.FileMode
}

// openFiles returns what others can read of reprise's own files, and what they can write of its settings, which name the
// programs that the shims run.
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
	c := setup.Check{Name: "permissions", Result: "ok", Finds: "ledger, log and configuration are out of others' reach"}
	open := openFiles(a)
	if len(open) == 0 {
		return c
	}
	o := open[0]
	state, _ := config.StateDir(a.Own)
	c.Result, c.Finds, c.Fix = "problem", fmt.Sprintf("%s is open to others (%04o)", a.Tilde(o.path), o.mode), "chmod -R go= "+a.Tilde(state)
	if o.wrong == 0o022 {
		c.Finds = fmt.Sprintf("others may write %s (%04o), and so choose what the shims run", a.Tilde(o.path), o.mode)
		c.Fix = "chmod go-w " + a.Tilde(o.path)
	}
	return c
}
