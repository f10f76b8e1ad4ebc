package shells

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Kind is what a shell takes a tool's name for.
type Kind string

// The kinds.
const (
	Shim     Kind = "shim"     // ours, or what leads to ours
	File     Kind = "file"     // another file
	Alias    Kind = "alias"    // one that leads past PATH
	Function Kind = "function" // one that leads past PATH
	Nothing  Kind = "nothing"
)

// A Finding is what a shell runs for a tool's name.
type Finding struct {
	Tool  string
	Kind  Kind
	Path  string // the file that runs, "" if it is not known
	Plain bool   // an alias or function that adds nothing to that file
}

// judge says what a shell's answer for a tool means. The text of an alias or a function may hold a key: it goes no further.
func (w World) judge(tool string, found answer) Finding {
	f := Finding{Tool: tool}
	switch found.kind {
	case "alias", "function":
		f.Kind = Kind(found.kind)
		var byPath bool
		f.Path, byPath, f.Plain = commandOf(found.value, tool, w.Home)
		if byPath || f.Path != "" && w.isShim(tool, f.Path) {
			return Finding{Tool: tool, Kind: Shim, Path: filepath.Join(w.Shims, tool)}
		}
	default:
		f.Kind, f.Path = File, found.value
		if found.value == "" {
			f.Kind = Nothing
		} else if w.isShim(tool, found.value) {
			f.Kind = Shim
		}
	}
	return f
}

// isShim reports whether the file is the shim of that tool.
func (w World) isShim(tool, path string) bool { return SameFile(path, filepath.Join(w.Shims, tool)) }

// SameFile reports whether two paths are of one file.
func SameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

var (
	header   = regexp.MustCompile(`(?s)^\s*(?:function\s+)?[\w.-]+\s*\(\s*\)\s*\{(.*)\}\s*$`)
	fishHead = regexp.MustCompile(`(?s)^function [^\n]*\n(.*)\nend\s*$`)
	comment  = regexp.MustCompile(`(?m)^\s*#.*$`)
)

// commandOf reads the text of an alias or a function: the absolute path of the program that it starts, "" if that is not known, whether it
// starts the tool by its own name, so that PATH decides, and whether it adds nothing to the program and the caller's arguments.
func commandOf(text, tool, home string) (path string, byPath, plain bool) {
	text = strings.TrimSpace(comment.ReplaceAllString(text, ""))
	for _, frame := range []*regexp.Regexp{header, fishHead} {
		if m := frame.FindStringSubmatch(text); m != nil {
			text = m[1]
		}
	}
	text = strings.TrimSuffix(strings.TrimSpace(text), ";")
	if strings.ContainsAny(text, "\n;|&<>`(") {
		path, byPath = longCommand(text, tool, home)
		return path, byPath, false
	}
	words := strings.Fields(text)
	plain = true
	for len(words) > 0 {
		switch word := unquote(words[0]); {
		case slices.Contains([]string{"command", "exec", "nocorrect", "noglob"}, word):
		case word == "env" || strings.Contains(word, "="):
			plain = false
		default:
			path, byPath = target(word, tool, home)
			return path, byPath, plain && onlyPasses(words[1:])
		}
		words = words[1:]
	}
	return "", false, false
}

// longCommand reads a function of several commands: it looks for the tool in it.
func longCommand(text, tool, home string) (path string, byPath bool) {
	before := ""
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n;|&<>`()", r) }) {
		path, named := target(unquote(word), tool, home)
		switch {
		case path != "" && filepath.Base(path) == tool:
			return path, false
		case named && (before == "command" || before == "exec" || before == "env" || strings.HasPrefix(word, `\`)):
			byPath = true
		}
		before = word
	}
	return "", byPath
}

// target returns the absolute path that a word names, or whether it is the tool's own name.
func target(word, tool, home string) (path string, byPath bool) {
	for _, start := range []string{"~/", "$HOME/", "${HOME}/"} {
		if rest, ok := strings.CutPrefix(word, start); ok {
			word = filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(word) {
		return filepath.Clean(word), false
	}
	return "", word == tool
}

func unquote(word string) string { return strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(word) }

// onlyPasses reports whether the words are nothing but the caller's arguments.
func onlyPasses(words []string) bool {
	return len(words) == 0 || len(words) == 1 && slices.Contains([]string{"$@", "$argv"}, unquote(words[0]))
}
