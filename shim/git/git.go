// Package git answers questions about repositories. The agent can have written the configuration,
// hooks and filters of a repository: git runs nothing of them.
//
// Invariant: no question changes the repository, and each has a time limit.
package git

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"reprise/rewrite/reason"
	"reprise/shim/disk"
)

// Limits, in bytes, for reading a repository's files.
const (
	maxGitFile    = 1 << 20
	maxPackedRefs = 64 << 20
)

// Timeout is how long git can take. No answer in time counts as none. Only tests change it.
var Timeout = 500 * time.Millisecond

// A Repository is a git repository with one of its work trees.
type Repository struct {
	Root   string // the work tree's root
	Dir    string // the directory with HEAD
	common string // the directory with branches and configuration, which all work trees share
}

// Find finds the repository that a directory is in. It fails with fs.ErrNotExist if
// there is none.
func Find(dir string) (Repository, error) {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(filepath.Join(at, ".git"))
		if err == nil && info.IsDir() {
			return openRepository(at, filepath.Join(at, ".git")), nil
		}
		if err == nil && info.Mode().IsRegular() {
			text, err := disk.Read(filepath.Join(at, ".git"), maxGitFile)
			if path, found := strings.CutPrefix(strings.TrimSpace(text), "gitdir: "); err == nil &&
				found {
				return openRepository(at, disk.Absolute(at, path)), nil
			}
		}
		if at == filepath.Dir(at) {
			return Repository{}, fs.ErrNotExist
		}
	}
}

func openRepository(root, dir string) Repository {
	r := Repository{Root: root, Dir: dir, common: dir}
	if path := r.read(dir, "commondir"); path != "" {
		r.common = disk.Absolute(dir, path)
	}
	return r
}

// read returns the text of one of the repository's files, "" if it cannot be read.
func (r Repository) read(dir, name string) string {
	text, err := disk.Read(filepath.Join(dir, filepath.FromSlash(name)), maxGitFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(text)
}

// Head returns the branch that is checked out, "" for none, and its last commit, "" if it has
// none.
func (r Repository) Head(environ []string) (branch, commit string) {
	head := r.read(r.Dir, "HEAD")
	branch, onBranch := strings.CutPrefix(head, "ref: ")
	switch {
	case !onBranch:
		return "", commitID(head)
	case branch == "refs/heads/.invalid": // the "reftable" format, which only git reads
		// without it there is none
		branch, _ = r.askReferences(environ, r.Dir, "symbolic-ref", "-q", "HEAD")
		commit, _ = r.askReferences(environ, r.common, "rev-parse", "-q", "--verify", branch)
		return branch, commitID(commit)
	case !fs.ValidPath(branch):
		return branch, ""
	}
	if commit = commitID(r.read(r.common, branch)); commit != "" {
		return branch, commit
	}
	// without it there is no commit
	packed, _ := disk.Read(filepath.Join(r.common, "packed-refs"), maxPackedRefs)
	if at := strings.Index(packed, " "+branch+"\n"); at >= 0 {
		commit = commitID(packed[strings.LastIndexByte(packed[:at], '\n')+1 : at])
	}
	return branch, commit
}

// commitID returns a text if it is a commit's full ID, or else "".
func commitID(text string) string {
	if len(text) != 40 && len(text) != 64 || strings.Trim(text, "0123456789abcdef") != "" {
		return ""
	}
	return text
}

// Remotes returns the URLs of the repository's remotes, without credentials, which can differ
// for each job.
func (r Repository) Remotes() string {
	var urls []string
	r.eachSetting(func(section, key, url string) {
		if !strings.HasPrefix(section, "remote ") || key != "url" {
			return
		}
		if scheme, rest, found := strings.Cut(url, "://"); found {
			host, path, _ := strings.Cut(rest, "/")
			url = scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + "/" + path
		}
		urls = append(urls, url)
	})
	return strings.Join(urls, "\n")
}

// config returns the last value that the repository's own file sets for a key, "" for none. Both
// names are in lower case, but the part of a section in quotes.
func (r Repository) config(section, key string) (value string) {
	r.eachSetting(func(in, name, text string) {
		if in == section && name == key {
			value = text
		}
	})
	return value
}

// eachSetting calls use with the settings of the repository's own file. It follows no include.
func (r Repository) eachSetting(use func(section, key, value string)) {
	section := ""
	for line := range strings.Lines(r.read(r.common, "config")) {
		line = strings.TrimSpace(line)
		if rest, isSection := strings.CutPrefix(line, "["); isSection {
			name, _, _ := strings.Cut(rest, "]")
			kind, quoted, _ := strings.Cut(name, " ")
			section = strings.TrimSpace(strings.ToLower(kind) + " " + quoted)
			continue
		}
		if key, value, found := strings.Cut(line, "="); found {
			use(section, strings.ToLower(strings.TrimSpace(key)),
				strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
}

// History fails with a reason.Code if a commit is not known to be an ancestor of the head of a
// directory's repository.
func History(dir, commit, head string, environ []string) error {
	repo, err := Find(dir)
	switch {
	case err != nil:
		return reason.CommitUnknown
	case head == "":
		return reason.CommitGone // the branch has no commit
	}
	_, err = repo.Ask(environ, "merge-base", "--is-ancestor", commit, head)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() == 1:
		return reason.CommitGone
	}
	return reason.CommitUnknown
}

// Root returns the root of the repository that a directory is in, or else the directory.
func Root(dir string) string {
	if repo, err := Find(dir); err == nil {
		return repo.Root
	}
	return dir
}
