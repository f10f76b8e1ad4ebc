package shells

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"reprise/config"
	"reprise/internal/ctl/textfile"
)

// The markers of a block. They are comments in the language of every file that we write to.
const (
	begin   = "# >>> reprise >>>"
	end     = "# <<< reprise <<<"
	about   = begin + " written by shimctl setup; shimctl setup --undo removes it"
	created = ", and this file"
)

// Mark returns what ends a line of ours in a configuration.
func Mark(existed bool) string {
	if existed {
		return config.SetupMark
	}
	return config.SetupMark + created
}

// ErrDamaged says that a block has lost one of its markers.
var ErrDamaged = errors.New("a block of shimctl setup lacks one of its markers")

// A PathBlock puts the shims first on PATH and removes what hides them.
type PathBlock struct {
	File  string
	Shims string   // their directory
	Home  string   // the home directory
	Names []string // the names to free of aliases and functions
	Mise  bool     // the file starts mise
}

// Lines returns the lines of the block. They do nothing where the shims have been removed: the aliases hold again then.
func (p PathBlock) Lines() []string {
	dir := inHome(p.Shims, p.Home)
	if strings.HasSuffix(p.File, ".fish") {
		return p.fish(dir)
	}
	condition := fmt.Sprintf("[ -x %s ]", quote(dir+"/shimctl"))
	if filepath.Base(p.File) == ".zprofile" {
		condition += " && [[ ! -o interactive ]]" // .zshrc has a block of its own: mise takes what is on PATH before it for the system's
	}
	lines := []string{
		"if " + condition + "; then",
		"    case $PATH: in",
		fmt.Sprintf("    %s:*) ;;", quote(dir)),
		fmt.Sprintf("    *) export PATH=%s ;;", quote(dir+":$PATH")),
		"    esac",
	}
	if p.Mise && filepath.Base(p.File) != ".profile" {
		lines = append(lines, miseComment, fmt.Sprintf("    __reprise=%s", quote(dir+":")), // zsh takes a / in the pattern for its end
			`    [ -z "${__MISE_ORIG_PATH-}" ] || __MISE_ORIG_PATH=${__MISE_ORIG_PATH//"$__reprise"/}`, "    unset __reprise")
	}
	for _, name := range p.Names {
		lines = append(lines, "    unalias "+name+" 2>/dev/null || :; unset -f "+name+" 2>/dev/null || :")
	}
	return append(lines, "    hash -r 2>/dev/null || :", "fi")
}

// At each prompt mise 2026.9 moves what was on PATH before it started behind its own directories.
const miseComment = "    # at each prompt, mise moves back what was on PATH before it"

func (p PathBlock) fish(dir string) []string {
	lines := []string{
		fmt.Sprintf("if test -x %s", quote(dir+"/shimctl")),
		fmt.Sprintf("    if test \"$PATH[1]\" != %s", quote(dir)),
		fmt.Sprintf("        set -gx PATH %s $PATH", quote(dir)),
		"    end",
	}
	if p.Mise {
		lines = append(lines, miseComment, fmt.Sprintf("    set -q __MISE_ORIG_PATH; and set -gx __MISE_ORIG_PATH (string match -v -- %s $__MISE_ORIG_PATH)", quote(dir)))
	}
	for _, name := range p.Names {
		lines = append(lines, "    functions -e "+name)
	}
	return append(lines, "end")
}

var unhides = regexp.MustCompile(`(?m)^\s+(?:unalias|functions -e) (\w+)`)

// Unhidden returns the names whose aliases and functions the blocks of a file remove.
func Unhidden(text string) (names []string) {
	for _, block := range blocks(text) {
		for _, m := range unhides.FindAllStringSubmatch(text[block[0]:block[1]], -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// inHome writes a directory below the home directory so that it holds in another home too.
func inHome(dir, home string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")
	if rest, ok := strings.CutPrefix(dir, home+"/"); ok && home != "" && home != "/" {
		return "$HOME/" + escaped.Replace(rest)
	}
	return escaped.Replace(dir)
}

func quote(text string) string { return `"` + text + `"` }

// HasBlock reports whether the text has anything of ours.
func HasBlock(text string) bool { return blocks(text) != nil }

// EndsWithBlock reports whether nothing comes after our block.
func EndsWithBlock(text string) bool {
	list := blocks(text)
	return list != nil && list[len(list)-1][1] == len(text)
}

// WithBlock returns the edit that puts a block of these lines at the end, instead of any that is there. A text without a newline there
// stays one.
func WithBlock(file, text string, existed bool, lines []string) (textfile.Edit, error) {
	e, err := WithoutBlock(file, text)
	if err != nil {
		return e, err
	}
	head := about
	if !existed || e.Remove {
		head += created
	}
	block := strings.Join(append(append([]string{head}, lines...), end), "\n")
	if e.New != "" && !strings.HasSuffix(e.New, "\n") {
		e.New += "\n" + block
	} else {
		e.New += block + "\n"
	}
	e.Existed, e.Remove = existed, false
	return e, nil
}

// WithoutBlock returns the edit that takes our blocks out.
func WithoutBlock(file, text string) (textfile.Edit, error) {
	e := textfile.Edit{File: file, Existed: true, Old: text, New: text}
	if strings.Count("\n"+text, "\n"+begin) != strings.Count("\n"+text, "\n"+end) {
		return e, ErrDamaged
	}
	var kept strings.Builder
	at, made := 0, false
	for _, b := range blocks(text) {
		from, to := b[0], b[1]
		if to <= from || strings.Contains(text[from:to], "\n"+begin) {
			return e, ErrDamaged
		}
		head, _, _ := strings.Cut(text[from:to], "\n")
		made = made || strings.HasSuffix(strings.TrimRight(head, "\r"), created)
		if to == len(text) && !strings.HasSuffix(text, "\n") && from > 0 {
			from-- // the newline before the block is ours too: the file had none at its end
		}
		kept.WriteString(text[at:from])
		at = to
	}
	e.New = kept.String() + text[at:]
	e.Remove = made && e.New == ""
	return e, nil
}

// blocks returns where each block starts and ends. A marked line of a configuration is one.
func blocks(text string) (list [][2]int) {
	at, from := 0, -1
	for line := range strings.Lines(text) {
		start := at
		at += len(line)
		switch {
		case from >= 0 && strings.HasPrefix(line, end):
			list, from = append(list, [2]int{from, at}), -1
		case from < 0 && strings.HasPrefix(line, begin):
			from = start
		case from < 0 && strings.Contains(line, config.SetupMark):
			list = append(list, [2]int{start, at})
		}
	}
	if from >= 0 {
		list = append(list, [2]int{from, from})
	}
	return list
}

// Diff returns an edit as a unified diff without context: the lines around a block may hold a key.
func Diff(e textfile.Edit, name string) string {
	before, after := name, name
	if !e.Existed {
		before = "/dev/null"
	}
	if e.Remove {
		after = "/dev/null"
	}
	removed, added := hunks(e.Old), hunks(e.New)
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", before, after)
	gone, come := 0, 0 // lines of the hunks so far
	for len(removed)+len(added) > 0 {
		var minus, plus hunk
		if len(removed) > 0 && (len(added) == 0 || removed[0].after <= added[0].after) {
			minus, removed = removed[0], removed[1:]
		}
		if len(added) > 0 && (minus.lines == nil || added[0].after == minus.after) {
			plus, added = added[0], added[1:]
		}
		if !slices.Equal(minus.lines, plus.lines) {
			at := max(minus.after, plus.after)
			fmt.Fprintf(&b, "@@ -%s +%s @@\n", span(at+gone, len(minus.lines)), span(at+come, len(plus.lines)))
			minus.print(&b, "-")
			plus.print(&b, "+")
		}
		gone, come = gone+len(minus.lines), come+len(plus.lines)
	}
	return b.String()
}

// Changed returns the lines that a diff adds and removes, each with its sign. A line that only moves is none of them.
func Changed(diff string) (changed []string) {
	var lines []string
	for i, line := range strings.Split(strings.TrimSuffix(diff, "\n"), "\n") {
		if i > 1 && strings.ContainsAny(line[:1], "+-") {
			lines = append(lines, strings.TrimSuffix(line, created))
		}
	}
	opposite := map[byte]string{'+': "-", '-': "+"}
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(lines, opposite[line[0]]+line[1:]) })
}

// A hunk is a block in a text: its lines, and after how many lines that are in no block.
type hunk struct {
	after   int
	lines   []string
	unended bool // the last line has no newline
}

func hunks(text string) (list []hunk) {
	inBlocks := 0
	for _, b := range blocks(text) {
		block := text[b[0]:b[1]]
		h := hunk{after: strings.Count(text[:b[0]], "\n") - inBlocks, unended: !strings.HasSuffix(block, "\n")}
		h.lines = strings.Split(strings.TrimSuffix(block, "\n"), "\n")
		inBlocks += len(h.lines)
		list = append(list, h)
	}
	return list
}

func (h hunk) print(b *strings.Builder, sign string) {
	for _, line := range h.lines {
		b.WriteString(sign + line + "\n")
	}
	if h.unended && h.lines != nil {
		b.WriteString("\\ No newline at end of file\n")
	}
}

// span writes the place of a hunk as diff does: of no lines, it is the place of the line before.
func span(before, lines int) string {
	if lines > 0 {
		before++
	}
	return fmt.Sprintf("%d,%d", before, lines)
}
