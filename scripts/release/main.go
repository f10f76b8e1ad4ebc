// Command release builds the files of a release: for each of amd64 and arm64 a static archive for
// Linux with a list of its components (SBOM, CycloneDX) and a package for npm, with checksums.
// Builds of a commit with the same compilers are identical, in any directory and at any time.
//
// It needs git, and a C compiler for each architecture. It leaves out an architecture without one,
// and reports that; with -complete it fails instead. It uploads nothing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "", "the `directory` to write to, outside of the checkout")
	arches := flag.String("arch", "",
		"the `architectures` to build for (default: amd64 and arm64 if there are C compilers for "+
			"them)")
	complete := flag.Bool("complete", false, "fail instead of leaving an architecture out")
	flag.Parse()
	r := release{root: ".", out: *out}
	if err := r.run(*arches, *complete); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func (r *release) run(arches string, complete bool) error {
	if err := r.checkOut(); err != nil {
		return err
	}
	if err := r.readCommit(); err != nil {
		return err
	}
	switch {
	case arches != "":
		r.arches = strings.Split(arches, ",")
	case complete:
		r.arches = slices.Sorted(maps.Keys(compilers))
	default:
		r.arches = buildable()
	}
	return r.build()
}

// A release is a build of a checkout.
type release struct {
	root, out       string
	arches          []string
	version, commit string
	time            time.Time // of the commit, used for all files
}

// checkOut refuses to write into the checkout.
func (r *release) checkOut() error {
	if r.out == "" {
		return errors.New("build release: no directory to write to\nhint: name one outside of " +
			"the checkout, as -out /tmp/release")
	}
	root, err := filepath.Abs(r.root)
	if err != nil {
		return err
	}
	out, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(root, out); err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("build release: %s lies in the checkout\nhint: name a directory "+
			"outside of it, as -out /tmp/release", r.out)
	}
	return nil
}

// readCommit names the release after the checkout's commit. SOURCE_DATE_EPOCH overrides its time.
func (r *release) readCommit() (err error) {
	if r.version, err = r.git("describe", "--tags", "--always", "--dirty"); err != nil {
		return err
	}
	if strings.HasSuffix(r.version, "-dirty") {
		return errors.New("build release: the checkout has changes\nhint: commit them, so that " +
			"the version names what is built")
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

// build writes the release into its directory, after everything has been built.
func (r *release) build() error {
	work, err := os.MkdirTemp("", "reprise-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	made, extras := filepath.Join(work, "made"), filepath.Join(work, "extras")
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	if err := r.makeExtras(extras); err != nil {
		return err
	}
	for _, arch := range r.arches {
		if err := r.buildFor(arch, made, extras, filepath.Join(work, arch)); err != nil {
			return err
		}
	}
	script, err := os.ReadFile(filepath.Join(r.root, "install.sh"))
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return os.WriteFile(filepath.Join(made, "install.sh"), script, 0o755) },
		func() error { return r.npmLauncher(made) },
		func() error { return checksums(made) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return r.deliver(made)
}

// buildFor builds the files that contain programs of an architecture.
func (r *release) buildFor(arch, made, extras, work string) error {
	programs := filepath.Join(work, "programs")
	if err := r.compile(arch, programs); err != nil {
		return err
	}
	fmt.Printf("packing reprise %s for linux/%s\n", r.version, arch)
	linked, err := components(arch, programs)
	if err != nil {
		return err
	}
	licenses, err := r.licenses(linked)
	if err != nil {
		return err
	}
	bill, err := r.bill(linked)
	if err != nil {
		return err
	}
	files, err := r.layOut(programs, extras, bill, licenses)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(made, r.name(arch)+".cdx.json"), bill); err != nil {
		return err
	}
	if err := r.archive(filepath.Join(made, r.name(arch)+".tar.gz"),
		r.name(arch), files); err != nil {
		return err
	}
	return r.npm(made, arch, files)
}

func (r *release) name(arch string) string { return "reprise-" + r.version + "-linux-" + arch }

// deliver copies the files into the output directory.
func (r *release) deliver(made string) error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return fmt.Errorf("create directory: %w", err)
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
		mode := os.FileMode(0o644)
		if e.Name() == "install.sh" {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(r.out, e.Name()), text, mode); err != nil {
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
