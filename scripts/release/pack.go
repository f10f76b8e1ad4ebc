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
	archive, system string // its path in archives and on a system; "" if it is not part of them
	mode            fs.FileMode
	text            []byte
	link            string // hard link: the archive's name of its target
}

const (
	shims   = "usr/lib/reprise/bin/"
	summary = "resume the sessions of coding agents that are called in loops"
)

// description is for package managers, a line each.
func description() []string {
	names := strings.Join(rewrite.Names[:len(rewrite.Names)-1], ", ") + " and " + rewrite.Names[len(rewrite.Names)-1]
	return []string{
		"Shims named " + names + ". Where a call provably continues",
		"an earlier one it resumes that session and sends only what is new; otherwise it",
		"becomes the real program. shimctl shows what happened and why.",
	}
}

// layOut lists the files of the packages. The shims are one file with several names.
func (r *release) layOut(programs, extras string, bill, licenses []byte) (files []file, err error) {
	add := func(archive, system string, mode fs.FileMode, from string) {
		text, failed := os.ReadFile(from)
		err = errors.Join(err, failed)
		files = append(files, file{archive: archive, system: system, mode: mode, text: text})
	}
	first := rewrite.Names[0]
	add("bin/"+first, shims+first, 0o755, filepath.Join(programs, "shim"))
	for _, name := range rewrite.Names[1:] {
		files = append(files, file{archive: "bin/" + name, system: shims + name, mode: 0o755, link: "bin/" + first})
	}
	add("bin/shimctl", shims+"shimctl", 0o755, filepath.Join(programs, "shimctl"))
	add("bin/reprise-store", shims+"reprise-store", 0o755, filepath.Join(programs, "reprise-store"))
	add("install.sh", "", 0o755, filepath.Join(r.root, "install.sh"))
	add("LICENSE", "usr/share/doc/reprise/copyright", 0o644, filepath.Join(r.root, "LICENSE"))
	add("README.md", "usr/share/doc/reprise/README.md", 0o644, filepath.Join(r.root, "README.md"))
	add("CHANGELOG.md", "usr/share/doc/reprise/CHANGELOG.md", 0o644, filepath.Join(r.root, "CHANGELOG.md"))
	files = append(files, file{archive: "sbom.cdx.json", system: "usr/share/doc/reprise/sbom.cdx.json", mode: 0o644, text: bill},
		file{archive: "THIRD-PARTY-LICENSES", system: "usr/share/doc/reprise/THIRD-PARTY-LICENSES", mode: 0o644, text: licenses},
		file{system: "usr/share/doc/reprise/README.packaged", mode: 0o644, text: []byte(readmePackaged)})
	for shell, directory := range map[string]string{"bash": "usr/share/bash-completion/completions/", "zsh": "usr/share/zsh/vendor-completions/",
		"fish": "usr/share/fish/vendor_completions.d/"} {
		name := completions[shell]
		add("completions/"+name, directory+name, 0o644, filepath.Join(extras, name))
	}
	pages, failed := filepath.Glob(filepath.Join(extras, "man", "*.1"))
	err = errors.Join(err, failed)
	for _, page := range pages {
		add("man/man1/"+filepath.Base(page), "usr/share/man/man1/"+filepath.Base(page), 0o644, page)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.archive+a.system, b.archive+b.system) })
	return files, err
}

const readmePackaged = `The shims are in /usr/lib/reprise/bin, which is on nobody's PATH: installing the package changes no call.
shimctl setup puts that directory first on PATH, after it has shown the change and asked. To do it yourself, add to the
profile of your shell:

    export PATH="/usr/lib/reprise/bin:$PATH"

and run hash -r in shells that are open. shimctl doctor checks it. Removing the package leaves what
the shims know of your calls, ~/.local/state/reprise, and your settings, ~/.config/reprise.
`

//go:embed launch/reprise.sh
var launcher []byte

// withoutLinks lists the files for packages of npm and pip, which cannot contain links. They contain
// the shims' program once, under a name of its own. The launcher installs it under all names.
func withoutLinks(files []file) []file {
	list := []file{{archive: "reprise.sh", mode: 0o755, text: launcher}}
	for _, f := range files {
		if f.archive == "" || f.link != "" {
			continue
		}
		if f.archive == "bin/"+rewrite.Names[0] {
			f.archive = "bin/shim"
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
		if f.archive == "" {
			continue
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name + "/" + f.archive, Mode: int64(f.mode), Size: int64(len(f.text)), ModTime: r.time}
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
