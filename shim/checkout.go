package shim

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits for finding a work tree's tree.
const (
	checkoutTimeout = 2 * time.Second // no answer in time counts as no tree
	maxIndex        = 128 << 20       // of git's index, in bytes
)

// lastCommits is how many commits of HEAD are searched for a tree.
const lastCommits = "-50"

// checkoutConfig keeps git from running what a repository's configuration names when it reads the
// work tree, and from writing outside of the index that it is given.
var checkoutConfig = []string{"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.splitIndex=false",
	"core.safecrlf=false", "core.fsync=none", "core.looseCompression=0", "advice.addEmbeddedRepo=false"}

// checkoutTree returns the tree that a commit of all files of a directory's repository would have,
// also of untracked ones, but not of ignored ones. It returns "" if there is none: no repository or
// no git, a repository that git refuses or that has changes within submodules, no answer in time.
//
// It changes nothing in the repository, except that git may renew the times of objects to keep them,
// and runs no hook and no filter. A file that only a filter turns into what git stores, as
// git-lfs does, counts with its own content once it is changed.
func checkoutTree(dir string, environ []string) string {
	repo, err := findRepository(dir)
	if err != nil {
		return ""
	}
	scratch, err := os.MkdirTemp("", "reprise-*")
	if err != nil {
		return ""
	}
	defer os.RemoveAll(scratch)
	if repo.copyIndex(filepath.Join(scratch, "index")) != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkoutTimeout)
	defer cancel()
	w := workTree{repository: repo, ctx: ctx, environ: environ, scratch: scratch}
	if w.readConfig() != nil {
		return ""
	}
	if _, err := w.ask(w.add...); err != nil {
		return ""
	}
	// What is left are changes within submodules, and files that have just changed.
	if _, err := w.ask("diff-files", "--quiet", "--ignore-submodules=none"); err != nil {
		return ""
	}
	tree, err := w.ask("write-tree", "--missing-ok")
	if err != nil {
		return ""
	}
	return commitID(tree)
}

// hasTree reports whether a directory's repository has a tree: one of its last commits, or the
// directory itself.
func hasTree(dir, tree string, environ []string) bool {
	repo, err := findRepository(dir)
	if err != nil || commitID(tree) == "" {
		return false
	}
	trees, err := repo.ask(environ, "log", "--no-show-signature", lastCommits, "--format=%T", "HEAD", "--")
	return err == nil && slices.Contains(strings.Fields(trees), tree) || checkoutTree(dir, environ) == tree
}

// A workTree runs git with an index and objects of its own.
type workTree struct {
	repository
	ctx     context.Context
	environ []string
	scratch string   // the directory of the index and of new objects
	config  []string // more than checkoutConfig
	add     []string // the command that adds all files
}

func (w workTree) ask(args ...string) (string, error) {
	var options []string
	for _, setting := range slices.Concat(checkoutConfig, w.config) {
		options = append(options, "-c", setting)
	}
	git := w.git(w.ctx, w.environ, append(options, args...)...)
	others := quotedPath(filepath.Join(w.common, "objects"))
	for _, entry := range w.environ {
		if more, set := strings.CutPrefix(entry, "GIT_ALTERNATE_OBJECT_DIRECTORIES="); set && more != "" {
			others += ":" + more
		}
	}
	git.Env = setEnv(git.Env, "GIT_ALTERNATE_OBJECT_DIRECTORIES", others)
	git.Env = append(git.Env, "GIT_INDEX_FILE="+filepath.Join(w.scratch, "index"), "GIT_OBJECT_DIRECTORY="+filepath.Join(w.scratch, "objects"))
	out, err := git.Output()
	return strings.TrimSpace(string(out)), err
}

// quotedPath returns a path as an element of a list in which a colon separates paths.
func quotedPath(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// readConfig makes the filters that are configured do nothing, since they are other programs, and
// finds out how files are added.
func (w *workTree) readConfig() error {
	if err := os.Mkdir(filepath.Join(w.scratch, "objects"), 0o700); err != nil {
		return err
	}
	all, err := w.ask("config", "--null", "--name-only", "--list")
	if err != nil {
		return err
	}
	w.add = []string{"add", "--all"}
	for name := range strings.SplitSeq(all, "\x00") {
		if name == "core.sparsecheckout" {
			w.add = []string{"add", "--all", "--sparse"}
		}
		rest, isFilter := strings.CutPrefix(name, "filter.")
		at := strings.LastIndexByte(rest, '.')
		if !isFilter || at < 0 {
			continue
		}
		if strings.ContainsAny(rest, "=\n") { // it cannot be written as an option
			return fmt.Errorf("switch off filter %q", rest)
		}
		switch key := rest[at+1:]; key {
		case "clean", "process":
			w.config = append(w.config, name+"=")
		case "required":
			w.config = append(w.config, name+"=false")
		}
	}
	return nil
}

// copyIndex copies the repository's index, if there is one, with its time: git compares it with the
// times of files to see which may have changed since.
func (r repository) copyIndex(to string) error {
	from := filepath.Join(r.dir, "index")
	info, err := os.Stat(from)
	if err != nil {
		if isAbsent(err) {
			return nil
		}
		return err
	}
	text, err := readRegular(from, maxIndex)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
