package shells

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"reprise/rewrite"
	_ "reprise/rewrite/tool" // registers the tools
)

// A Line is one of a start file that decides what a name stands for. Its text is not kept: it may hold a key.
type Line struct {
	File   string
	Number int
	Kind   Kind   // Alias, Function or File, for a remembered place; "" for what follows
	Tool   string // whose name it takes
	Puts   string // the version manager that the line starts
	Dirs   []string
}

// shadow finds what a shell takes for a name before it looks at PATH: an alias, as claude's installer writes one, a
// function, a remembered place. The group named tool is the name, value the alias's text.
var shadow = []struct {
	kind    Kind
	pattern *regexp.Regexp
}{
	{Alias, named(`(?:^|[;&{]|\bthen)\s*alias\s+(?:-\w+\s+)*NAME[= ]\s*(?P<value>.*)`)},
	{Function, named(`^\s*(?:function\s+(?:-\S+\s+)*)?NAME\s*\(\s*\)`)},
	{Function, named(`^\s*function\s+(?:-\S+\s+)*NAME(?:$|[\s;])`)},
	{File, named(`(?:^|[;&{]|\bthen)\s*hash\s+(?:-p\s+\S+\s+)?NAME(?:=|$|\s)`)},
}

func named(pattern string) *regexp.Regexp {
	return regexp.MustCompile(strings.Replace(pattern, "NAME", "(?P<tool>"+strings.Join(rewrite.Names, "|")+")", 1))
}

// managers put directories of their own first on PATH. They are known by the lines that their documentation asks for.
var managers = []struct {
	name    string
	pattern *regexp.Regexp
	dir     string // a part of the directories that they put there
}{
	{"nvm", regexp.MustCompile(`nvm\.sh|nvm\.fish`), "/versions/node/"},
	{"fnm", regexp.MustCompile(`\bfnm env\b`), "fnm"},
	{"mise", regexp.MustCompile(`\bmise["']? activate\b|mise/shims`), "mise"},
	{"asdf", regexp.MustCompile(`asdf\.(?:sh|fish)|\.asdf/shims|ASDF_DATA_DIR`), "asdf"},
	{"volta", regexp.MustCompile(`VOLTA_HOME|\.volta/bin`), ".volta"},
	{"pyenv", regexp.MustCompile(`\bpyenv init\b|\.pyenv/shims`), "pyenv"},
	{"rbenv", regexp.MustCompile(`\brbenv init\b`), "rbenv"},
	{"nodenv", regexp.MustCompile(`\bnodenv init\b`), "nodenv"},
	{"conda", regexp.MustCompile(`conda\.sh|conda["']? shell\.|conda initialize`), "conda"},
	{"pnpm", regexp.MustCompile(`PNPM_HOME`), "pnpm"},
	{"Homebrew", regexp.MustCompile(`\bbrew["']? shellenv\b`), "brew"},
	{"direnv", regexp.MustCompile(`\bdirenv["']? hook\b`), "\x00"}, // each of its directories is another
}

// ReadLines returns the lines that matter of the files.
func (w World) ReadLines(files []string) (lines []Line) {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		lines = append(lines, w.linesOf(file, string(text))...)
	}
	return lines
}

// linesOf leaves out what is in our own blocks.
func (w World) linesOf(file, text string) (lines []Line) {
	ours := false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, begin):
			ours = true
		case strings.HasPrefix(line, end):
			ours = false
		case !ours:
			if l, ok := w.lineOf(strings.TrimRight(line, "\r")); ok {
				l.File, l.Number = file, i+1
				lines = append(lines, l)
			}
		}
	}
	return lines
}

var pathLine = regexp.MustCompile(`\bPATH\b|\bpath=|\bpath\+=|fish_add_path|fish_user_paths`)

func (w World) lineOf(line string) (Line, bool) {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return Line{}, false
	}
	for _, s := range shadow {
		m := s.pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		l := Line{Kind: s.kind, Tool: m[s.pattern.SubexpIndex("tool")]}
		if s.kind == Alias {
			value := strings.Trim(strings.TrimSpace(m[s.pattern.SubexpIndex("value")]), `"'`)
			if w.judge(l.Tool, answer{"alias", value}).Kind == Shim {
				return Line{}, false
			}
		}
		return l, true
	}
	for _, m := range managers {
		if m.pattern.MatchString(line) {
			return Line{Puts: m.name}, true
		}
	}
	if pathLine.MatchString(line) {
		return Line{Dirs: w.dirsIn(line)}, true
	}
	return Line{}, false
}

// dirsIn returns the directories that a line names.
func (w World) dirsIn(line string) (dirs []string) {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t:=\"'();", r) }) {
		if path, _ := target(word, "", w.Home); path != "" {
			dirs = append(dirs, path)
		}
	}
	return dirs
}

// Cause returns the line that explains a finding, if there is one: the last that defines the alias or function, or puts the
// directory first.
func Cause(lines []Line, f Finding) (cause Line, ok bool) {
	for _, l := range lines {
		switch {
		case l.Tool != "":
			if l.Tool == f.Tool && (l.Kind == File) == (f.Kind == File) { // fish makes its aliases functions
				cause, ok = l, true
			}
		case f.Kind == File && l.puts(filepath.Dir(f.Path)):
			cause, ok = l, true
		}
	}
	return cause, ok
}

func (l Line) puts(dir string) bool {
	for _, m := range managers {
		if m.name == l.Puts && strings.Contains(dir+"/", m.dir) {
			return true
		}
	}
	return slices.Contains(l.Dirs, dir)
}

// Managers returns the version managers that a file starts.
func Managers(lines []Line, file string) (names []string) {
	for _, l := range lines {
		if l.File == file && l.Puts != "" && !slices.Contains(names, l.Puts) {
			names = append(names, l.Puts)
		}
	}
	return names
}

// Place returns the line's file and number.
func (l Line) Place() string { return fmt.Sprintf("%s:%d", l.File, l.Number) }
