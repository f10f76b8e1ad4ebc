package setup

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/textfile"
	"reprise/rewrite"
)

// mark ends the line of setup in a start file, created in a file that setup made.
const (
	mark    = " # by shimctl setup; its --undo removes this line"
	created = mark + ", and this file"
)

// startFiles are the files that shells read at their start, as patterns in the directories of zsh,
// fish, and all others.
func startFiles(a *app.App) (dirs [3]string, patterns [3][]string) {
	home := a.Getenv("HOME")
	settings := a.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(settings) {
		settings = filepath.Join(home, ".config")
	}
	return [3]string{home, cmp.Or(a.Getenv("ZDOTDIR"), home), filepath.Join(settings, "fish")},
		[3][]string{
			{".profile", ".bash_profile", ".bash_login", ".bashrc", ".bash_aliases"},
			{".zshenv", ".zprofile", ".zshrc", ".zlogin"},
			{"config.fish", "conf.d/*.fish", "functions/*.fish"},
		}
}

// StartFiles returns the files that shells read at their start and that exist.
func StartFiles(a *app.App) (files []string) {
	dirs, patterns := startFiles(a)
	for i, dir := range dirs {
		for _, pattern := range patterns[i] {
			// the patterns are sound
			found, _ := filepath.Glob(filepath.Join(rewrite.Literal(dir), pattern))
			files = append(files, found...)
		}
	}
	return files
}

// chosenFiles returns the files of the login shell and of fish, if fish has a file.
func chosenFiles(a *app.App) []string {
	dirs, _ := startFiles(a)
	fish := filepath.Join(dirs[2], "config.fish")
	var file string
	switch filepath.Base(a.Getenv("SHELL")) {
	case "fish":
		return []string{fish}
	case "bash":
		file = filepath.Join(dirs[0], ".bashrc")
	case "zsh":
		file = filepath.Join(dirs[1], ".zshrc")
	default:
		file = filepath.Join(dirs[0], ".profile")
	}
	if _, err := os.Lstat(fish); err == nil {
		return []string{file, fish}
	}
	return []string{file}
}

// planChange returns the change that puts the line at the end of a file, or takes it out.
func planChange(a *app.App, file, shims string, undo bool) (c Change, err error) {
	c.File, c.edit.File = file, file
	if c.edit.Old, c.edit.Existed, err = textfile.Read(file); err != nil {
		return c, err
	}
	c.Created = !c.edit.Existed
	kept, old := withoutLine(c.edit.Old)
	c.edit.New, c.Line = kept, old
	ours := strings.HasSuffix(old, created) && kept == ""
	if undo {
		c.Removed = ours
		c.edit.Remove = ours
		return c, nil
	}
	c.Line = pathLine(file, shims, a.Getenv("HOME")) + mark
	if c.Created || ours {
		c.Line = strings.TrimSuffix(c.Line, mark) + created
	}
	// a text without a newline at the end stays one
	if kept != "" && !strings.HasSuffix(kept, "\n") {
		c.edit.New += "\n" + c.Line
	} else {
		c.edit.New += c.Line + "\n"
	}
	return c, nil
}

// withoutLine returns a text without setup's line, and that line.
func withoutLine(text string) (kept, line string) {
	for each := range strings.Lines(text) {
		if strings.Contains(each, mark) {
			line = strings.TrimRight(each, "\r\n")
			if line == each {
				kept = strings.TrimSuffix(kept, "\n") // it ended no line before
			}
			continue
		}
		kept += each
	}
	return kept, line
}

// pathLine returns the line that puts the shims first on PATH. It holds in another home too.
func pathLine(file, shims, home string) string {
	prefix := ""
	if rest, ok := strings.CutPrefix(shims, home+"/"); ok && home != "/" {
		prefix, shims = "$HOME/", rest
	}
	dir := prefix + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(shims)
	if strings.HasSuffix(file, ".fish") {
		return fmt.Sprintf(`set -gx PATH "%s" $PATH`, dir)
	}
	return fmt.Sprintf(`export PATH="%s:$PATH"`, dir)
}
