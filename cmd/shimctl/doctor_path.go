package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/config"
	"reprise/internal/shells"
	"reprise/shim"
)

// checkOrder lists every executable of a tool's name on PATH, in the order of a caller's search.
func (a *app) checkOrder(p shim.Place) []check {
	var list, seen []string
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		path := filepath.Join(dir, p.Name)
		if !shells.Runnable(path) || slices.Contains(seen, path) {
			continue
		}
		seen = append(seen, path)
		shown := a.tilde(path)
		switch {
		case len(list) == 0 && p.Ours:
			shown += " (shim)"
		case path == p.Real:
			shown += " (real)"
		}
		list = append(list, shown)
	}
	if list == nil {
		return nil
	}
	return []check{{p.Name + " on PATH", "ok", strings.Join(list, ", then "), ""}}
}

// shimDirectory is where the shims are: beside this program, as a package lays them, or where install.sh puts them.
func (a *app) shimDirectory() string {
	if path, err := os.Executable(); err == nil && len(shimsIn(filepath.Dir(path))) > 0 {
		return filepath.Dir(path)
	}
	bin, _ := config.BinDir(a.own)
	return bin
}
