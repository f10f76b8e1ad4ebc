// Command release builds the files of a release: for each architecture a static archive for
// Linux and a package for npm, with checksums.
// Builds of a commit with the same compilers are identical, in any directory and at any time.
//
// It needs git, and a C compiler for each architecture. It uploads nothing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "", "the `directory` to write to, outside of the checkout")
	arches := flag.String("arch", runtime.GOARCH,
		"the `architectures` to build for, with commas between: amd64, arm64")
	flag.Parse()
	r := release{root: ".", out: *out, arches: strings.Split(*arches, ",")}
	err := r.checkOut()
	for _, step := range []func() error{r.readCommit, r.build} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// A release is a build of a checkout.
type release struct {
	root, out       string
	arches          []string
	version, commit string
	time            time.Time // of the commit, used for all files
}

// checkOut refuses to write into the checkout, or beside other files.
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
	if there, _ := os.ReadDir(out); len(there) > 0 {
		return fmt.Errorf("build release: %s is not empty", r.out)
	}
	return nil
}

// readCommit names the release after the checkout's commit.
func (r *release) readCommit() (err error) {
	r.version, err = r.output(nil, "git", "describe", "--tags", "--always", "--dirty")
	if err != nil {
		return err
	}
	if strings.HasSuffix(r.version, "-dirty") {
		return errors.New("build release: the checkout has changes\nhint: commit them, so that " +
			"the version names what is built")
	}
	text, err := r.output(nil, "git", "log", "-1", "--format=%H %cI")
	if err != nil {
		return err
	}
	var at string
	r.commit, at, _ = strings.Cut(text, " ")
	r.time, err = time.Parse(time.RFC3339, at)
	r.time = r.time.UTC()
	return err
}

// build writes the release into its directory, after everything has been built.
func (r *release) build() error {
	work, err := os.MkdirTemp("", "reprise-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	made := filepath.Join(work, "made")
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	for _, arch := range r.arches {
		if err := r.buildFor(arch, made, filepath.Join(work, arch)); err != nil {
			return err
		}
	}
	script, err := os.ReadFile(filepath.Join(r.root, "install.sh"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(made, "install.sh"), script, 0o755); err != nil {
		return err
	}
	if err := r.npmLauncher(made); err != nil {
		return err
	}
	if err := checksums(made); err != nil {
		return err
	}
	return os.CopyFS(r.out, os.DirFS(made))
}

// buildFor builds the files that contain programs of an architecture.
func (r *release) buildFor(arch, made, work string) error {
	programs := filepath.Join(work, "programs")
	if err := r.compile(arch, programs); err != nil {
		return err
	}
	fmt.Printf("packing reprise %s for linux/%s\n", r.version, arch)
	linked, err := modules(programs)
	if err != nil {
		return err
	}
	licenses, err := r.licenses(linked)
	if err != nil {
		return err
	}
	files, err := r.layOut(programs, licenses)
	if err != nil {
		return err
	}
	if err := r.archive(filepath.Join(made, r.name(arch)+".tar.gz"),
		r.name(arch), files); err != nil {
		return err
	}
	return r.npm(made, arch, files)
}

func (r *release) name(arch string) string { return "reprise-" + r.version + "-linux-" + arch }

func writeFile(path string, text []byte) error { return os.WriteFile(path, text, 0o644) }

// output runs a command in the checkout, with more variables. Its stderr is part of the error.
func (r *release) output(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = r.root, append(os.Environ(), env...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("run %s: %w\n%s", strings.Join(cmd.Args, " "), err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
