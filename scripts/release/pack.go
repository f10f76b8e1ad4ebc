package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"reprise/rewrite"
)

// A file of a package. What links to another has no text of its own.
type file struct {
	archive, debian string // where it lies; "" where it is not in that package
	mode            fs.FileMode
	text            []byte
	link            string // hard: the archive's name of what it is a link to
}

const shims = "usr/lib/reprise/bin/"

// layOut lists what is in the packages. The shims are one file under four names.
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

// archive writes a tar that bears nobody's name and no time but the commit's.
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

// debian has dpkg-deb make a package of a tree. It has no maintainer scripts: it changes nothing but its own files.
func (r *release) debian(out, tree, arch string, files []file) error {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		return errors.New("build Debian package: dpkg-deb is not on PATH\nhint: apt install dpkg")
	}
	at := func(name string) string { return filepath.Join(tree, filepath.FromSlash(name)) }
	var total int
	var sums strings.Builder
	places := map[string]string{}
	for _, f := range files {
		places[f.archive] = f.debian
		total += len(f.text)
		if err := os.MkdirAll(filepath.Dir(at(f.debian)), 0o755); err != nil {
			return err
		}
		if f.link != "" {
			if err := os.Link(at(places[f.link]), at(f.debian)); err != nil {
				return err
			}
			continue
		}
		if err := os.WriteFile(at(f.debian), f.text, f.mode); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(at("usr/bin"), 0o755); err != nil {
		return err
	}
	// A link, so that shimctl finds the shims beside itself, and not the real tools in /usr/bin.
	if err := os.Symlink("../lib/reprise/bin/shimctl", at("usr/bin/shimctl")); err != nil {
		return err
	}
	control := fmt.Sprintf(`Package: reprise
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
`, r.debianVersion(), arch, r.maintainer, total/1024)
	if err := os.Mkdir(at("DEBIAN"), 0o755); err != nil {
		return err
	}
	err := filepath.WalkDir(tree, func(path string, e fs.DirEntry, err error) error {
		if err != nil || strings.HasPrefix(path, at("DEBIAN")) {
			return err
		}
		if e.IsDir() { // whatever the umask
			return os.Chmod(path, 0o755)
		}
		if !e.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(path, at(shims)) {
			mode = 0o755
		}
		name, err := filepath.Rel(tree, path)
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(text), filepath.ToSlash(name))
		return errors.Join(err, os.Chmod(path, mode))
	})
	if err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(at("DEBIAN"), 0o755), writeFile(at("DEBIAN/control"), []byte(control)), writeFile(at("DEBIAN/md5sums"), []byte(sums.String()))); err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(at("DEBIAN/control"), 0o644), os.Chmod(at("DEBIAN/md5sums"), 0o644)); err != nil {
		return err
	}
	cmd := exec.Command("dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, filepath.Join(out, fmt.Sprintf("reprise_%s_%s.deb", r.debianVersion(), arch)))
	cmd.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
	_, err = output(cmd)
	return err
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
