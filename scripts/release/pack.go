package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"reprise/rewrite"
)

// A file of a package. A link has no content of its own.
type file struct {
	archive, debian string // its path; "" if it is not in that package
	mode            fs.FileMode
	text            []byte
	link            string // hard link: the archive's name of its target
}

const shims = "usr/lib/reprise/bin/"

// layOut lists the files of the packages. The shims are one file with four names.
func (r *release) layOut(programs, extras string, bill []byte) (files []file, err error) {
	add := func(archive, debian string, mode fs.FileMode, from string) {
		text, failed := os.ReadFile(from)
		err = errors.Join(err, failed)
		files = append(files, file{archive: archive, debian: debian, mode: mode, text: text})
	}
	first := rewrite.Names[0]
	add("bin/"+first, shims+first, 0o755, filepath.Join(programs, "shim"))
	for _, name := range rewrite.Names[1:] {
		files = append(files, file{archive: "bin/" + name, debian: shims + name, mode: 0o755, link: "bin/" + first})
	}
	add("bin/shimctl", shims+"shimctl", 0o755, filepath.Join(programs, "shimctl"))
	add("LICENSE", "usr/share/doc/reprise/copyright", 0o644, filepath.Join(r.root, "LICENSE"))
	add("README.md", "usr/share/doc/reprise/README.md", 0o644, filepath.Join(r.root, "README.md"))
	add("CHANGELOG.md", "usr/share/doc/reprise/CHANGELOG.md", 0o644, filepath.Join(r.root, "CHANGELOG.md"))
	files = append(files, file{archive: "sbom.cdx.json", debian: "usr/share/doc/reprise/sbom.cdx.json", mode: 0o644, text: bill},
		file{debian: "usr/share/doc/reprise/README.Debian", mode: 0o644, text: []byte(readmeDebian)})
	for shell, folder := range map[string]string{"bash": "usr/share/bash-completion/completions/", "zsh": "usr/share/zsh/vendor-completions/",
		"fish": "usr/share/fish/vendor_completions.d/"} {
		name := completions[shell]
		add("completions/"+name, folder+name, 0o644, filepath.Join(extras, name))
	}
	pages, failed := filepath.Glob(filepath.Join(extras, "man", "*.1"))
	err = errors.Join(err, failed)
	for _, page := range pages {
		add("man/man1/"+filepath.Base(page), "usr/share/man/man1/"+filepath.Base(page), 0o644, page)
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.archive+a.debian, b.archive+b.debian) })
	return files, err
}

const readmeDebian = `The shims are in /usr/lib/reprise/bin, which is on nobody's PATH: installing the package changes no call.
To use them, put that folder first on PATH, in the profile of your shell:

    export PATH="/usr/lib/reprise/bin:$PATH"

and run hash -r in shells that are open. shimctl doctor tells whether it holds. Removing the package leaves what
the shims know of your calls, ~/.local/state/reprise, and your settings, ~/.config/reprise.
`

// archive writes a tar without owners. Its files have the time of the commit.
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

const debianControl = `Package: reprise
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Section: devel
Priority: optional
Description: resume the sessions of coding agents that are called in loops
 Shims named claude, codex, gemini and vibe. Where a call provably continues an
 earlier one it resumes that session and sends only what is new; otherwise it
 becomes the real program. shimctl shows what happened and why.
 .
 Nothing changes until /usr/lib/reprise/bin is put first on PATH; see
 /usr/share/doc/reprise/README.Debian.
`

// debian builds a package with dpkg-deb. The package has no maintainer scripts, since it changes
// only its own files, and no checksums, which dpkg makes on installation.
func (r *release) debian(out, tree, arch string, files []file) error {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		return errors.New("build Debian package: dpkg-deb is not on PATH\nhint: apt install dpkg")
	}
	defer syscall.Umask(syscall.Umask(0o022)) // files in the package have the mode that they have here
	if err := writeTree(tree, files); err != nil {
		return err
	}
	size := 0
	for _, f := range files {
		size += len(f.text)
	}
	control := fmt.Sprintf(debianControl, r.debianVersion(), arch, r.maintainer, size/1024)
	if err := errors.Join(os.Mkdir(filepath.Join(tree, "DEBIAN"), 0o755), writeFile(filepath.Join(tree, "DEBIAN", "control"), []byte(control))); err != nil {
		return err
	}
	cmd := exec.Command("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, filepath.Join(out, fmt.Sprintf("reprise_%s_%s.deb", r.debianVersion(), arch)))
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
	_, err := output(cmd)
	return err
}

// writeTree writes the files to where the package installs them. The shims are hard links: a caller
// that resolves symbolic links would run one of them under another name.
func writeTree(tree string, files []file) error {
	written := map[string]string{}
	for _, f := range files {
		path := filepath.Join(tree, filepath.FromSlash(f.debian))
		written[f.archive] = path
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if f.link != "" {
			err = errors.Join(err, os.Link(written[f.link], path))
		} else {
			err = errors.Join(err, os.WriteFile(path, f.text, f.mode))
		}
		if err != nil {
			return err
		}
	}
	// shimctl is a symbolic link, so that it finds the shims in its own directory, not the real tools in /usr/bin.
	programs := filepath.Join(tree, "usr", "bin")
	return errors.Join(os.MkdirAll(programs, 0o755), os.Symlink("../lib/reprise/bin/shimctl", filepath.Join(programs, "shimctl")))
}

// checksums writes SHA256SUMS, as sha256sum -c reads it.
func checksums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	return writeFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()))
}
