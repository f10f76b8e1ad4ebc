package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"reprise/config"
	"reprise/internal/ui"
	"reprise/ledger"
)

// A fixing is what doctor --fix is asked for.
type fixing struct {
	wanted    bool
	newLedger bool // start a new ledger, even if this one is sound
	consent   consent
}

// fix fixes what it can, and returns a check for each thing that it did or, with --dry-run, would do.
func (a *app) fix(f fixing) (done []check, err error) {
	if !f.wanted {
		return nil, nil
	}
	for _, o := range a.openFiles() {
		mode := o.mode &^ o.wrong
		if f.consent.dry {
			done = append(done, check{"permissions", "note", fmt.Sprintf("would make %s %04o", a.tilde(o.path), mode), ""})
			continue
		}
		if err := os.Chmod(o.path, mode); err != nil {
			return done, err
		}
		done = append(done, check{"permissions", "fixed", fmt.Sprintf("%s is %04o now", a.tilde(o.path), mode), ""})
	}
	path, err := config.LedgerFile(a.own)
	if err != nil {
		return done, nil // the checks say so
	}
	more, err := a.fixLedger(path, f)
	return append(done, more...), err
}

func (a *app) fixLedger(path string, f fixing) ([]check, error) {
	suffix := a.now.UTC().Format(".20060102T150405Z")
	if f.newLedger {
		return a.startLedger(path, suffix, f.consent)
	}
	switch err := tryLedger(path); {
	case err == nil, errors.Is(err, ledger.ErrLocked), errors.Is(err, config.ErrNotOurs):
		return nil, nil
	case !errors.Is(err, ledger.ErrDamaged):
		return a.startLedger(path, suffix, f.consent)
	}
	if f.consent.dry {
		return []check{{"ledger", "note", "would move the damaged ledger to " + a.tilde(path+suffix) + ", and copy what is readable into a new one", ""}}, nil
	}
	r, err := ledger.Repair(path, suffix)
	if err != nil { // nothing can be read
		return a.startLedger(path, suffix, f.consent)
	}
	return []check{{"ledger", "fixed", fmt.Sprintf("moved the damaged ledger to %s; recovered %s, %s and %s", a.tilde(r.Aside),
		ui.Count(r.Chains, "chain"), ui.Count(r.Sessions, "session"), ui.Count(r.Calls, "call")), ""}}, nil
}

// startLedger moves what is at path aside, if its user agrees, and starts a new ledger.
func (a *app) startLedger(path, suffix string, c consent) (done []check, err error) {
	_, missing := os.Lstat(path)
	if c.dry {
		if missing == nil {
			done = append(done, check{"ledger", "note", "would move the ledger to " + a.tilde(path+suffix), ""})
		}
		return append(done, check{"ledger", "note", "would start a new one at " + a.tilde(path), ""}), nil
	}
	if missing == nil {
		if err := a.ask("move the ledger aside and start a new one?", c); err != nil {
			return nil, err
		}
	}
	aside, err := ledger.Reset(path, suffix)
	if aside != "" {
		done = append(done, check{"ledger", "fixed", "moved the ledger to " + a.tilde(aside), ""})
	}
	if err == nil {
		done = append(done, check{"ledger", "fixed", "started a new one at " + a.tilde(path), ""})
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
func (a *app) openFiles() (open []openFile) {
	add := func(path string, wrong fs.FileMode) {
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&wrong != 0 {
			open = append(open, openFile{path, info.Mode().Perm(), wrong})
		}
	}
	state, _ := config.StateDir(a.own)
	add(state, 0o077)
	entries, _ := os.ReadDir(state)
	for _, e := range entries {
		if e.Type().IsRegular() {
			add(filepath.Join(state, e.Name()), 0o077)
		}
	}
	settings, _ := config.ConfigFile(a.own)
	add(filepath.Dir(settings), 0o022)
	add(settings, 0o022)
	return open
}

func (a *app) checkPermissions() check {
	c := check{Name: "permissions", Result: "ok", Finds: "ledger, log and configuration are out of others' reach"}
	open := a.openFiles()
	if len(open) == 0 {
		return c
	}
	o := open[0]
	state, _ := config.StateDir(a.own)
	c.Result, c.Finds, c.Fix = "problem", fmt.Sprintf("%s is open to others (%04o)", a.tilde(o.path), o.mode), "chmod -R go= "+a.tilde(state)
	if o.wrong == 0o022 {
		c.Finds = fmt.Sprintf("others may write %s (%04o), and so choose what the shims run", a.tilde(o.path), o.mode)
		c.Fix = "chmod go-w " + a.tilde(o.path)
	}
	return c
}
