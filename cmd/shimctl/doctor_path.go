package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"reprise/config"
	"reprise/rewrite"
	"reprise/shim"
)

// checkOrder lists every executable of a tool's name on PATH, in the order of PATH.
func (a *app) checkOrder(p shim.Place) check {
	var list, seen []string
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		path := filepath.Join(dir, p.Name)
		if !runnable(path) || slices.Contains(seen, path) {
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
	return check{p.Name + " on PATH", "ok", strings.Join(list, ", then "), ""}
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// shimDirectory is where the shims are: beside this program, as a package lays them, or where install.sh puts them.
func (a *app) shimDirectory() string {
	if path, err := os.Executable(); err == nil && runnable(filepath.Join(filepath.Dir(path), rewrite.Names[0])) {
		return filepath.Dir(path)
	}
	bin, _ := config.BinDir(a.own)
	return bin
}

// shadow finds what a shell takes for a name before it looks at PATH: an alias, as claude's installer writes one, a
// function, a remembered place. The first group is the name in all of them, the second the alias's value.
var shadow = []struct {
	kind    string
	pattern *regexp.Regexp
}{
	{"an alias", regexp.MustCompile(`(?:^|[;&{]|\bthen)\s*alias\s+(?:-\w+\s+)*(claude|codex|gemini|vibe)[= ]\s*(.*)`)},
	{"a function", regexp.MustCompile(`^\s*(?:function\s+(?:-\S+\s+)*(claude|codex|gemini|vibe)(?:$|[\s(;])|(?:claude|codex|gemini|vibe)\s*\(\s*\))`)},
	{"a remembered place", regexp.MustCompile(`(?:^|[;&{]|\bthen)\s*hash\s+(?:-p\s+\S+\s+)?(claude|codex|gemini|vibe)(?:=|$|\s)`)},
}

// checkShells reads the shells' start-up files for what takes precedence over PATH. A line is named, never shown: it may
// contain a key.
func (a *app) checkShells() []check {
	var checks []check
	for _, path := range a.startFiles() {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for i, line := range strings.Split(string(text), "\n") {
			if kind := a.beatsPath(line); kind != "" {
				checks = append(checks, check{"shell", "problem",
					fmt.Sprintf("%s:%d has %s that beats PATH: what is typed there never meets the shim", a.tilde(path), i+1, kind),
					"take the line out, then open a new shell"})
			}
		}
	}
	if checks == nil {
		checks = []check{{"shell", "ok", "no alias or function in the start-up files beats PATH", ""}}
	}
	return checks
}

func (a *app) beatsPath(line string) string {
	for _, s := range shadow {
		m := s.pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if len(m) > 2 && !a.leadsAway(m[1], m[2]) {
			continue
		}
		return s.kind
	}
	return ""
}

// leadsAway reports whether an alias runs another program than the first on PATH. alias claude='claude --model x' does not.
func (a *app) leadsAway(name, value string) bool {
	for _, word := range strings.Fields(strings.NewReplacer(`"`, " ", `'`, " ").Replace(value)) {
		if word == "command" || word == "env" || strings.Contains(word, "=") {
			continue
		}
		for _, home := range []string{"~", "$HOME", "${HOME}"} {
			if rest, ok := strings.CutPrefix(word, home); ok {
				word = a.getenv("HOME") + rest
			}
		}
		return word != name && filepath.Dir(word) != a.shimDirectory()
	}
	return false
}

// startFiles returns the files that interactive shells read when they start.
func (a *app) startFiles() []string {
	home := a.getenv("HOME")
	if home == "" {
		return nil
	}
	var files []string
	for _, name := range []string{".profile", ".bash_profile", ".bash_login", ".bashrc", ".bash_aliases", ".kshrc"} {
		files = append(files, filepath.Join(home, name))
	}
	for _, name := range []string{".zshenv", ".zprofile", ".zshrc", ".zlogin"} {
		files = append(files, filepath.Join(cmp.Or(a.getenv("ZDOTDIR"), home), name))
	}
	fish := filepath.Join(cmp.Or(a.getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "fish")
	files = append(files, filepath.Join(fish, "config.fish"))
	for _, name := range []string{"conf.d", "functions"} {
		more, _ := os.ReadDir(filepath.Join(fish, name))
		for _, entry := range more {
			files = append(files, filepath.Join(fish, name, entry.Name()))
		}
	}
	return files
}
