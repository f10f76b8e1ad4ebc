package setup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/config"
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
	shell := filepath.Base(a.Getenv("SHELL"))
	if shell == "fish" {
		return []string{fish}
	}
	files := []string{cmp.Or(map[string]string{"bash": filepath.Join(dirs[0], ".bashrc"),
		"zsh": filepath.Join(dirs[1], ".zshrc")}[shell], filepath.Join(dirs[0], ".profile"))}
	if _, err := os.Lstat(fish); err == nil {
		files = append(files, fish)
	}
	return files
}

// planChange returns the change that puts the line at the end of a file, or takes it out.
func planChange(a *app.App, file, shims string, undo bool) (c Change, err error) {
	if c.edit, err = textfile.Open(file); err != nil {
		return c, err
	}
	c.File, c.Created = file, !c.edit.Existed
	kept, old := withoutLine(c.edit.Old)
	c.edit.New, c.Line = kept, old
	ours := strings.HasSuffix(old, created) && kept == ""
	if undo {
		c.Removed, c.edit.Remove = ours, ours
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

// ShimDirectory is where the shims are: beside this program, as a package lays them, or where
// install.sh puts them.
func ShimDirectory(a *app.App) string {
	if path, err := os.Executable(); err == nil && len(shimsIn(filepath.Dir(path))) > 0 {
		return filepath.Dir(path)
	}
	bin, _ := config.BinDir(a.Own)
	return bin
}

// shimMarker lists the files that install.sh has put into the directory of the shims: a line is a
// name, and the checksum and the size of the file. A copy of such a file is install.sh's too.
const shimMarker = ".reprise"

// Runnable reports whether a program lies at the path.
func Runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func hasShim(dir, tool string) bool { return Runnable(filepath.Join(dir, tool)) }

func shimsIn(dir string) []string {
	return slices.DeleteFunc(slices.Clone(rewrite.Names), func(tool string) bool {
		return !hasShim(dir, tool)
	})
}

// LacksShim reports whether other tools have a shim, but this one has none.
func LacksShim(dir, tool string) bool { return !hasShim(dir, tool) && len(shimsIn(dir)) > 0 }

// addShims makes the shims of the tools: links to a shim that install.sh has made, or copies. A
// program of another size has taken the place of a shim.
func addShims(dir string, tools []string) error {
	marker, _ := os.ReadFile(filepath.Join(dir, shimMarker))
	shims := slices.DeleteFunc(shimsIn(dir), func(shim string) bool {
		info, err := os.Stat(filepath.Join(dir, shim))
		return err != nil || !strings.Contains(string(marker), fmt.Sprintf(" %d\n", info.Size()))
	})
	if len(shims) == 0 {
		return app.WithHint(fmt.Errorf("add a shim in %s: install.sh has installed none", dir),
			"install again, with ./install.sh --tools "+strings.Join(tools, ","))
	}
	for _, tool := range tools {
		if err := addShim(filepath.Join(dir, shims[0]), filepath.Join(dir, tool)); err != nil {
			return app.WithHint(fmt.Errorf("add a shim in %s: %w", dir, err),
				"run this as the user who installed the shims")
		}
	}
	return nil
}

func addShim(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	data, err := os.ReadFile(from) // the file system might have no hard links
	if err != nil {
		return err
	}
	return textfile.Replace(to, 0o755, data)
}
