package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/internal/shells"
	"reprise/rewrite"
)

// shimMarker lists what is installed in the directory of the shims: a line is a name, and the checksum and the size
// of its file, as install.sh writes them.
const shimMarker = ".reprise"

// hasShim reports whether the tool has a shim in the directory of the shims.
func hasShim(dir, tool string) bool { return shells.Runnable(filepath.Join(dir, tool)) }

// shimsIn returns the tools that have a shim in the directory.
func shimsIn(dir string) []string {
	return slices.DeleteFunc(slices.Clone(rewrite.Names), func(tool string) bool { return !hasShim(dir, tool) })
}

// lacksShim reports whether other tools have a shim, but this one has none.
func lacksShim(dir, tool string) bool { return !hasShim(dir, tool) && len(shimsIn(dir)) > 0 }

// noShimCheck says that a tool has no shim, and how to add one.
func noShimCheck(tool, path string) check {
	return check{tool + " shim", "note", path + " has no shim: its calls are not managed", "run shimctl setup --tools " + tool}
}

// addShims makes the shims of the tools: links to one that is there, or copies. The marker lists a shim before it is
// in place, so that install.sh knows it as its own.
func addShims(dir string, tools []string) error {
	shim := shimsIn(dir)[0]
	path := filepath.Join(dir, shimMarker)
	marker, err := os.ReadFile(path)
	if err != nil {
		return hinted{fmt.Errorf("add a shim in %s: %w", dir, err), "install again, with ./install.sh --tools " + strings.Join(tools, ",")}
	}
	sum := ""
	for line := range strings.Lines(string(marker)) {
		if rest, ok := strings.CutPrefix(line, shim+" "); ok {
			sum = strings.TrimSpace(rest)
		}
	}
	if sum == "" {
		return hinted{fmt.Errorf("add a shim in %s: %s is not one that install.sh installed", dir, shim), "install again, with ./install.sh"}
	}
	for _, tool := range tools {
		marker = append(marker, tool+" "+sum+"\n"...)
	}
	err = replace(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(marker)
		return err
	})
	for _, tool := range tools {
		if err == nil {
			err = addShim(filepath.Join(dir, shim), filepath.Join(dir, tool))
		}
	}
	if err != nil {
		return hinted{fmt.Errorf("add a shim in %s: %w", dir, err), "run this as the user who installed the shims"}
	}
	return nil
}

func addShim(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	data, err := os.ReadFile(from) // the file system may have no hard links
	if err != nil {
		return err
	}
	return replace(to, 0o755, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	})
}
