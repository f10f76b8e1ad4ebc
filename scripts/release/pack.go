package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reprise/rewrite"
	_ "reprise/rewrite/tool" // registers the tools
)

// A file of a release. A link has no content of its own.
type file struct {
	name string // its path in an archive
	mode fs.FileMode
	text []byte
	link string // hard link: the name of its target
}

// layOut lists the files of an archive. The shims are one file with several names.
func (r *release) layOut(programs string, licenses []byte) (files []file, err error) {
	add := func(name string, mode fs.FileMode, from string) {
		text, failed := os.ReadFile(from)
		err = errors.Join(err, failed)
		files = append(files, file{name: name, mode: mode, text: text})
	}
	first := rewrite.Names[0]
	add("bin/"+first, 0o755, filepath.Join(programs, "shim"))
	for _, name := range rewrite.Names[1:] {
		files = append(files, file{name: "bin/" + name, mode: 0o755, link: "bin/" + first})
	}
	for _, name := range []string{"shimctl", "reprise-store"} {
		add("bin/"+name, 0o755, filepath.Join(programs, name))
	}
	add("install.sh", 0o755, filepath.Join(r.root, "install.sh"))
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		add(name, 0o644, filepath.Join(r.root, name))
	}
	files = append(files, file{name: "THIRD-PARTY-LICENSES", mode: 0o644, text: licenses})
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, err
}

//go:embed launch/reprise.sh
var launcher []byte

// withoutLinks lists the files for a package of npm, which cannot contain links. It contains the
// shims' program once, under a name of its own. The launcher installs it under all names.
func withoutLinks(files []file) []file {
	list := []file{{name: "reprise.sh", mode: 0o755, text: launcher}}
	for _, f := range files {
		if f.link != "" {
			continue
		}
		if f.name == "bin/"+rewrite.Names[0] {
			f.name = "bin/shim"
		}
		list = append(list, f)
	}
	return list
}

// archive writes a compressed tar without owners, with its files in a directory of that name. They
// have the time of the commit.
func (r *release) archive(path, name string, files []file) error {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(zip)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name + "/" + f.name, Mode: int64(f.mode),
			Size: int64(len(f.text)), ModTime: r.time}
		if f.link != "" {
			h.Typeflag, h.Linkname = tar.TypeLink, name+"/"+f.link
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.text); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Close(), zip.Close()); err != nil {
		return err
	}
	return writeFile(path, packed.Bytes())
}

// checksums writes SHA256SUMS, as sha256sum -c and install.sh read it.
func checksums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		sum, err := sha256Of(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, e.Name())
	}
	return writeFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()))
}

func sha256Of(path string) (string, error) {
	text, err := os.ReadFile(path)
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}
