package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// A part is a package of a system. What only machines with a shared store need is one of its own.
type part struct {
	name, summary string
	description   []string
	needs         string // the package that it belongs to
	files         []file
}

// helper is the program of the part for a shared store.
const helper = "reprise-store"

func parts(files []file) []part {
	whole := part{name: "reprise", summary: summary, description: append(description(), "",
		"Nothing changes until /usr/lib/reprise/bin is put first on PATH; see", "/usr/share/doc/reprise/README.packaged.")}
	store := part{name: helper, summary: "share the sessions of reprise between machines", needs: "reprise",
		description: []string{"The program with which reprise keeps sessions in an S3 bucket or a PostgreSQL", "database. It runs only where a store is configured."}}
	for _, f := range files {
		switch f.system {
		case shims + helper:
			store.files = append(store.files, f)
			continue
		case "usr/share/doc/reprise/copyright":
			own := f
			own.system = "usr/share/doc/" + helper + "/copyright"
			store.files = append(store.files, own)
		}
		whole.files = append(whole.files, f)
	}
	return []part{whole, store}
}

const debianControl = `Package: %s
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
%sSection: devel
Priority: optional
Description: %s
 %s
`

// debian builds a package with dpkg-deb. It has no maintainer scripts, since it changes
// only its own files, and no checksums, which dpkg makes on installation.
func (r *release) debian(made, work, arch string, p part) error {
	version := parseVersion(r.version, r.time).system()
	name := fmt.Sprintf("%s_%s_%s.deb", p.name, version, arch)
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		return missingTool{name, "dpkg-deb", "dpkg"}
	}
	defer syscall.Umask(syscall.Umask(0o022)) // files in the package have the mode that they have here
	tree := filepath.Join(work, "deb-"+p.name)
	if err := r.writeTree(tree, p.files); err != nil {
		return err
	}
	size := 0
	for _, f := range p.files {
		size += len(f.text)
	}
	depends := ""
	if p.needs != "" {
		depends = fmt.Sprintf("Depends: %s (= %s)\n", p.needs, version)
	}
	described := strings.ReplaceAll(strings.Join(p.description, "\n "), "\n \n", "\n .\n")
	control := fmt.Sprintf(debianControl, p.name, version, arch, r.maintainer, size/1024, depends, p.summary, described)
	if err := errors.Join(os.Mkdir(filepath.Join(tree, "DEBIAN"), 0o755), writeFile(filepath.Join(tree, "DEBIAN", "control"), []byte(control))); err != nil {
		return err
	}
	// The fastest level packs four times as fast as the usual one, into a fifth more.
	cmd := exec.Command("dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", tree, filepath.Join(made, name))
	cmd.Env = r.dated()
	_, err := output(cmd)
	return err
}

func (r *release) dated() []string {
	return append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
}

// rpmSpec turns off what rpmbuild does to programs: they are stripped already.
const rpmSpec = `%%global __os_install_post %%{nil}
%%global debug_package %%{nil}
%%global _build_id_links none
Name: %s
Version: %s
Release: 1
Summary: %s
License: MIT
Packager: %s
AutoReqProv: no
%s%%description
%s
%%install
cp -a %%{tree}/. %%{buildroot}/
%%files
%%defattr(-,root,root)
%%dir /usr/lib/reprise
%%dir /usr/lib/reprise/bin
%%dir /usr/share/doc/%s
%s
`

// rpmPlaces maps Debian's paths to those of systems with RPM.
var rpmPlaces = strings.NewReplacer("usr/share/zsh/vendor-completions/", "usr/share/zsh/site-functions/", "doc/reprise/copyright", "doc/reprise/LICENSE")

var rpmArches = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

// rpm builds a package with rpmbuild, without scripts, as debian does.
func (r *release) rpm(made, work, arch string, p part) error {
	version := parseVersion(r.version, r.time).system()
	name := fmt.Sprintf("%s-%s-1.%s.rpm", p.name, version, rpmArches[arch])
	if _, err := exec.LookPath("rpmbuild"); err != nil {
		return missingTool{name, "rpmbuild", "rpm"}
	}
	defer syscall.Umask(syscall.Umask(0o022))
	placed := make([]file, len(p.files))
	for i, f := range p.files {
		f.system = rpmPlaces.Replace(f.system)
		placed[i] = f
	}
	tree := filepath.Join(work, "rpm-"+p.name)
	if err := r.writeTree(tree, placed); err != nil {
		return err
	}
	var list []string
	requires := ""
	if p.needs != "" {
		requires = fmt.Sprintf("Requires: %s = %s-1\n", p.needs, version)
	} else {
		list = append(list, "/usr/bin/shimctl")
	}
	for _, f := range placed {
		if f.system != "" {
			list = append(list, "/"+f.system)
		}
	}
	spec := filepath.Join(work, p.name+".spec")
	text := fmt.Sprintf(rpmSpec, p.name, version, p.summary, r.maintainer, requires, strings.Join(p.description, "\n"), p.name, strings.Join(list, "\n"))
	if err := writeFile(spec, []byte(text)); err != nil {
		return err
	}
	args := []string{"-bb", "--quiet", "--target", rpmArches[arch] + "-linux"}
	for _, macro := range []string{
		"tree " + tree, "_topdir " + filepath.Join(work, "rpmbuild"), "_rpmdir " + made, "_rpmfilename " + name,
		"_buildhost reprise.invalid", "use_source_date_epoch_as_buildtime 1", "clamp_mtime_to_source_date_epoch 1", "_binary_payload w9.gzdio",
	} {
		args = append(args, "--define", macro)
	}
	cmd := exec.Command("rpmbuild", append(args, spec)...)
	cmd.Env = append(r.dated(), "LC_ALL=C")
	_, err := output(cmd)
	return err
}

// writeTree writes the files to where the package installs them. The shims are hard links: a caller
// that resolves symbolic links would run one of them under another name.
func (r *release) writeTree(tree string, files []file) error {
	written := map[string]string{}
	for _, f := range files {
		if f.system == "" {
			continue
		}
		path := filepath.Join(tree, filepath.FromSlash(f.system))
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
	if _, there := written["bin/shimctl"]; there {
		// shimctl is a symbolic link, so that it finds the shims in its own directory, not the real tools in /usr/bin.
		programs := filepath.Join(tree, "usr", "bin")
		if err := errors.Join(os.MkdirAll(programs, 0o755), os.Symlink("../lib/reprise/bin/shimctl", filepath.Join(programs, "shimctl"))); err != nil {
			return err
		}
	}
	return filepath.WalkDir(tree, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Type() == fs.ModeSymlink {
			return err
		}
		return os.Chtimes(path, r.time, r.time)
	})
}
