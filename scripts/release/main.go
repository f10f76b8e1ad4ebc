// Command release builds the files of a release: for each of amd64 and arm64 a static archive for Linux and a Debian
// package, with checksums and a list of what they contain (SBOM, CycloneDX). Builds of a commit with the same Go and C
// compilers are identical, in any directory and at any time.
//
// It needs git, dpkg-deb, and a C compiler for each architecture. It uploads nothing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// noMaintainer is the Debian package's maintainer if none is given. By RFC 2606 the address cannot exist.
const noMaintainer = "reprise <reprise@reprise.invalid>"

func main() {
	out := flag.String("out", "bin/release", "the `folder` to write to")
	arches := flag.String("arch", "amd64,arm64", "the `architectures` to build for")
	maintainer := flag.String("maintainer", noMaintainer, "the `NAME <ADDRESS>` that the Debian package bears")
	flag.Parse()
	r := release{root: ".", out: *out, arches: strings.Split(*arches, ","), maintainer: *maintainer}
	err := r.checkMaintainer()
	if err == nil {
		err = r.readCommit()
	}
	if err == nil {
		err = r.build()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// A release is what is built from a checkout.
type release struct {
	root, out       string
	arches          []string
	maintainer      string // of the Debian package: a name and an address
	version, commit string
	time            time.Time // of the commit, used in all archives
}

// checkMaintainer rejects what Debian's policy does not allow: it requires a name and an address.
func (r *release) checkMaintainer() error {
	a, err := mail.ParseAddress(r.maintainer)
	if err != nil || a.Name == "" || strings.ContainsAny(r.maintainer, "\r\n") {
		return fmt.Errorf("build Debian package: %q is no maintainer\nhint: write a name and an address, as -maintainer 'Jo Doe <jo@example.org>'", r.maintainer)
	}
	return nil
}

// readCommit names the release after the checkout's commit. SOURCE_DATE_EPOCH overrides its time.
func (r *release) readCommit() (err error) {
	if r.version, err = r.git("describe", "--tags", "--always", "--dirty"); err != nil {
		return err
	}
	if strings.HasSuffix(r.version, "-dirty") {
		return errors.New("build release: the checkout has changes\nhint: commit them, so that the version names what is built")
	}
	if r.commit, err = r.git("rev-parse", "HEAD"); err != nil {
		return err
	}
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		if epoch, err = r.git("log", "-1", "--format=%ct"); err != nil {
			return err
		}
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("read SOURCE_DATE_EPOCH: %q is no number of seconds", epoch)
	}
	r.time = time.Unix(seconds, 0).UTC()
	return nil
}

func (r *release) git(args ...string) (string, error) {
	return output(exec.Command("git", append([]string{"-C", r.root}, args...)...))
}

var numbered = regexp.MustCompile(`^v?(\d.*\..*)$`)

// debianVersion returns the version in Debian's syntax. An untagged commit sorts before every
// release.
func (r *release) debianVersion() string {
	version := strings.ReplaceAll(r.version, "-", "+")
	if m := numbered.FindStringSubmatch(version); m != nil {
		return m[1]
	}
	return "0~" + r.time.Format("20060102") + "." + version
}

// build writes the release into its directory, after everything has been built.
func (r *release) build() error {
	work, err := os.MkdirTemp("", "reprise-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	extras := filepath.Join(work, "extras")
	if err := r.makeExtras(extras); err != nil {
		return err
	}
	made := filepath.Join(work, "made")
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	for _, arch := range r.arches {
		fmt.Printf("building reprise %s for linux/%s\n", r.version, arch)
		programs := filepath.Join(work, arch)
		if err := r.compile(arch, programs); err != nil {
			return err
		}
		bill, err := r.bill(arch, programs)
		if err != nil {
			return err
		}
		files, err := r.layOut(programs, extras, bill)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("reprise-%s-linux-%s", r.version, arch)
		if err := writeFile(filepath.Join(made, name+".cdx.json"), bill); err != nil {
			return err
		}
		if err := r.archive(filepath.Join(made, name+".tar.gz"), name, files); err != nil {
			return err
		}
		if err := r.debian(made, filepath.Join(work, arch+"-deb"), arch, files); err != nil {
			return err
		}
	}
	if err := checksums(made); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	entries, err := os.ReadDir(made)
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(made, e.Name()))
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(r.out, e.Name()), text); err != nil {
			return err
		}
		fmt.Println(filepath.Join(r.out, e.Name()))
	}
	return nil
}

func writeFile(path string, text []byte) error { return os.WriteFile(path, text, 0o644) }

// output runs a command. Its stderr is part of the error.
func output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", fmt.Errorf("run %s: %w\n%s", strings.Join(cmd.Args, " "), err, exit.Stderr)
		}
		return "", fmt.Errorf("run %s: %w", cmd.Args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
