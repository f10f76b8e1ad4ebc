package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/shim/disk"
)

// checkoutTimeout is how long finding a work tree's tree can take. No answer in time counts as no
// tree.
const checkoutTimeout = 2 * time.Second

// lastCommits is how many commits of HEAD are searched for a tree.
const lastCommits = "-50"

// errDirty reports that a repository within another one has changes that the commit lacks.
var errDirty = errors.New("a repository within has changes")

// Tree returns the tree that a commit of all files of a directory's repository would have,
// also of untracked ones, but not of ignored ones. It returns "" if there is none: no repository or
// no git, changes in a repository within it, no answer in time.
//
// It changes nothing in the repository, except that git can renew the times of objects to keep
// them. It runs git as scratch.go describes. Line ends are converted as the attributes in the work
// tree say, not as core.autocrlf does. A file that passes through a filter, such as git-lfs,
// counts with its own content once it is changed. So does a changed file that the index marks
// as unchanged or as left out.
func Tree(dir string, environ []string) string {
	repo, err := Find(dir)
	if err != nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkoutTimeout)
	defer cancel()
	tree, err := repo.tree(ctx, environ)
	if err != nil {
		return ""
	}
	return commitID(tree)
}

// tree returns the tree of all files of the work tree.
func (r Repository) tree(ctx context.Context, environ []string) (string, error) {
	s, err := r.newScratch(environ)
	if err != nil {
		return "", err
	}
	defer s.remove()
	if err := s.copyIndex(); err != nil {
		return "", err
	}
	if _, err := s.ask(ctx, "update-index", "-q", "--unmerged",
		"--ignore-submodules", "--really-refresh"); err != nil {
		// files with a changed time only, and files that git is to take for unchanged
		return "", err
	}
	// git add would run git status in each repository within this one, with that one's
	// configuration.
	files, err := s.listFiles(ctx, "--modified", "--deleted", "--others")
	if err != nil {
		return "", err
	}
	files = strings.ReplaceAll(files, "/\x00", "\x00") // of repositories
	if _, err := s.askWith(ctx, files, "update-index", "--add", "--remove", "--replace",
		"-z", "--stdin"); err != nil {
		return "", err
	}
	if _, err := s.ask(ctx, "diff-files", "--quiet", "--ignore-submodules=dirty"); err != nil {
		return "", err // files that have just changed
	}
	staged, err := s.ask(ctx, "ls-files", "-z", "--stage")
	if err != nil {
		return "", err
	}
	for entry := range strings.SplitSeq(staged, "\x00") {
		if about, path, _ := strings.Cut(entry, "\t"); strings.HasPrefix(about, "160000 ") {
			if err := clean(ctx, filepath.Join(r.Root, path),
				strings.Fields(about)[1], environ); err != nil {
				return "", err
			}
		}
	}
	return s.ask(ctx, "write-tree", "--missing-ok")
}

// clean fails unless a repository within another one has just the files of the commit, or is not
// checked out.
func clean(ctx context.Context, dir, commit string, environ []string) error {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		if entries, err := os.ReadDir(dir); len(entries) > 0 || err != nil && !disk.IsAbsent(err) {
			return errDirty
		}
		return nil
	}
	repo, err := Find(dir)
	if err != nil {
		return err
	}
	if repo.Root != dir { // the .git is a link
		return errDirty
	}
	want, err := repo.Ask(environ, "rev-parse", "--verify", commit+"^{tree}")
	if err != nil {
		return err
	}
	if got, err := repo.tree(ctx, environ); err != nil || got != want {
		return errors.Join(errDirty, err)
	}
	return nil
}

// HasTree reports whether a directory's repository has a tree: one of its last commits, or the
// directory itself.
func HasTree(dir, tree string, environ []string) bool {
	repo, err := Find(dir)
	if err != nil || commitID(tree) == "" {
		return false
	}
	if _, head := repo.Head(environ); head != "" {
		trees, err := repo.Ask(environ, "log", lastCommits, "--format=%T", head, "--")
		if err == nil && slices.Contains(strings.Fields(trees), tree) {
			return true
		}
	}
	return Tree(dir, environ) == tree
}
