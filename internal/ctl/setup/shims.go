package setup

import (
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

// ShimDirectory is where the shims are: beside this program, as a package lays them, or where
// install.sh puts them.
func ShimDirectory(a *app.App) string {
	if path, err := os.Executable(); err == nil && len(shimsIn(filepath.Dir(path))) > 0 {
		return filepath.Dir(path)
	}
	bin, _ := config.BinDir(a.Own)
	return bin
}

// shimMarker lists the files installed in the directory of the shims: a line is a name, and the
// checksum and the size of the file, as install.sh writes them.
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

// addShims makes the shims of the tools: links to a shim that is there, or copies. The marker lists
// a shim before it is in place, so that install.sh knows it as its own.
func addShims(dir string, tools []string) error {
	shim := shimsIn(dir)[0]
	path := filepath.Join(dir, shimMarker)
	marker, err := os.ReadFile(path)
	if err != nil {
		return app.WithHint(fmt.Errorf("add a shim in %s: %w", dir, err),
			"install again, with ./install.sh --tools "+strings.Join(tools, ","))
	}
	sum := ""
	for line := range strings.Lines(string(marker)) {
		if rest, ok := strings.CutPrefix(line, shim+" "); ok {
			sum = strings.TrimSpace(rest)
		}
	}
	if sum == "" {
		return app.WithHint(fmt.Errorf("add a shim in %s: install.sh did not install %s",
			dir, shim), "install again, with ./install.sh")
	}
	for _, tool := range tools {
		marker = append(marker, tool+" "+sum+"\n"...)
	}
	err = textfile.Replace(path, 0o644, marker)
	for _, tool := range tools {
		if err == nil {
			err = addShim(filepath.Join(dir, shim), filepath.Join(dir, tool))
		}
	}
	if err != nil {
		return app.WithHint(fmt.Errorf("add a shim in %s: %w", dir, err),
			"run this as the user who installed the shims")
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
