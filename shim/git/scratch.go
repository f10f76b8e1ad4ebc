package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"reprise/config"
	"reprise/shim/disk"
	"reprise/shim/front"
	"reprise/shim/variables"
)

// A scratch is a repository of our own that lets git answer questions about another one. It has the
// other one's objects, index and work tree, but no configuration, hooks, references and programs:
// the agent can have written these, and git would run some of them.
type scratch struct {
	Repository
	at       string // the scratch repository
	settings string // its configuration
	environ  []string
}

// Limits for the remains of a killed call, and for the index: the bytes, and the files that a split
// one might have.
const (
	maxScratchAge    = time.Hour
	maxIndex         = 128 << 20
	maxSharedIndexes = 100
)

var accountHome = sync.OnceValue(front.AccountHome)

// scratchConfig is all the configuration that git reads, except core.excludesFile and
// safe.directory of the user's own. With sparseCheckout, a file counts that is there although the
// index says that it is left out.
const scratchConfig = `[core]
	repositoryformatversion = 1
	bare = false
	hooksPath = /dev/null
	fsmonitor = false
	splitIndex = false
	sparseCheckout = true
	safecrlf = false
	fsync = none
	looseCompression = 0
[advice]
	addEmbeddedRepo = false
[extensions]
`

// newScratch makes a scratch for a repository. The caller must remove it. It fails for another
// user's repository.
//
// It is in the directory of the ledger. The sandboxes of agents let them write into the directory
// for temporary files: a process in one could change the scratch's configuration there.
func (r Repository) newScratch(environ []string) (*scratch, error) {
	own := func(name string) string { return variables.Own(environ, accountHome(), name) }
	dir, err := config.StateDir(own)
	if err != nil {
		return nil, err
	}
	disk.RemoveOld(dir, "git-*", maxScratchAge)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	at, err := os.MkdirTemp(dir, "git-*")
	if err != nil {
		return nil, err
	}
	s := &scratch{Repository: r, at: at, settings: scratchConfig, environ: environ}
	if r.config("extensions", "objectformat") == "sha256" {
		s.settings += "\tobjectFormat = sha256\n"
	}
	err = errors.Join(os.Mkdir(filepath.Join(at, "objects"), 0o700),
		os.Mkdir(filepath.Join(at, "refs"), 0o700), os.Mkdir(filepath.Join(at, "info"), 0o700),
		s.write("HEAD", "ref: refs/heads/none\n"), s.write("config", s.settings),
		s.write("info/exclude", r.read(r.common, "info/exclude")+"\n"))
	if shallow := r.read(r.common, "shallow"); shallow != "" {
		err = errors.Join(err, s.write("shallow", shallow+"\n"))
	}
	if err == nil && !s.isOwn() && !s.isSafe() {
		err = errors.New("the repository belongs to another user") // git would refuse it
	}
	if err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// isOwn reports whether the repository belongs to the user, or to the user who has called sudo.
// With GIT_DIR set, git does not look.
func (s *scratch) isOwn() bool {
	for _, path := range []string{s.Root, filepath.Join(s.Root, ".git"), s.Dir} {
		info, err := os.Lstat(path)
		if err != nil {
			return false
		}
		owner, user := int(info.Sys().(*syscall.Stat_t).Uid), os.Geteuid()
		bySudo := user == 0 && strconv.Itoa(owner) == variables.Get(s.environ, "SUDO_UID")
		if owner != user && !bySudo {
			return false
		}
	}
	return true
}

// isSafe reports whether the user's or the system's configuration of git names the repository as
// safe.directory.
func (s *scratch) isSafe() (safe bool) {
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	for dir := range strings.SplitSeq(s.userSetting(ctx, "--get-all", "safe.directory"), "\n") {
		above, below := strings.CutSuffix(dir, "/*")
		safe = dir != "" && (safe || dir == "*" || dir == s.Root ||
			below && strings.HasPrefix(s.Root, above+"/"))
	}
	return safe
}

func (s *scratch) write(name, text string) error {
	return os.WriteFile(filepath.Join(s.at, name), []byte(text), 0o600)
}

func (s *scratch) remove() { _ = os.RemoveAll(s.at) } // only a full or read-only disk keeps it

// Ask runs a git command on the repository's objects, which only reads. It can name them by their
// IDs only.
func (r Repository) Ask(environ []string, args ...string) (string, error) {
	return r.askReferences(environ, "", args...)
}

// askReferences runs a git command that can also name references that are kept in a directory of
// the repository, "" for none.
func (r Repository) askReferences(environ []string, dir string, args ...string) (string, error) {
	s, err := r.newScratch(environ)
	if err != nil {
		return "", err
	}
	defer s.remove()
	if dir != "" { // in the "reftable" format
		err = errors.Join(s.write("config", s.settings+"\trefStorage = reftable\n"),
			os.Symlink(filepath.Join(dir, "reftable"), filepath.Join(s.at, "reftable")))
	}
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	return s.ask(ctx, args...)
}

// copyIndex copies the repository's index, if there is one, with its time: git compares it with the
// times of files to see which might have changed since. Of a split index git finds the other files
// by links.
func (s *scratch) copyIndex() error {
	shared, _ := fs.Glob(os.DirFS(s.Dir), "sharedindex.*") // the pattern is a valid one
	if len(shared) > maxSharedIndexes {
		return disk.ErrTooLarge
	}
	for _, name := range shared {
		if err := os.Symlink(filepath.Join(s.Dir, name), filepath.Join(s.at, name)); err != nil {
			return err
		}
	}
	from, to := filepath.Join(s.Dir, "index"), filepath.Join(s.at, "index")
	info, err := os.Stat(from)
	if disk.IsAbsent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := disk.Read(from, maxIndex)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to, []byte(text), 0o600),
		os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// userSetting returns the lines of a setting in git's configuration of the user and the system, ""
// for none.
func (s *scratch) userSetting(ctx context.Context, get, key string) string {
	git := s.git(ctx, "config", "--type=path", get, key)
	git.Env = variables.Unset(git.Env, "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")
	for _, entry := range s.environ {
		if strings.HasPrefix(entry, "GIT_CONFIG_") {
			git.Env = append(git.Env, entry)
		}
	}
	out, err := git.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(out), "\n")
}

// ask runs a git command and returns the output, without the last line feed.
func (s *scratch) ask(ctx context.Context, args ...string) (string, error) {
	return s.askWith(ctx, "", args...)
}

// askWith runs a git command with a text on the standard input.
func (s *scratch) askWith(ctx context.Context, stdin string, args ...string) (string, error) {
	git := s.git(ctx, args...)
	git.Stdin = strings.NewReader(stdin)
	out, err := git.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// git returns a git command, with nothing of the caller's variables that leads to another
// repository or configuration.
func (s *scratch) git(ctx context.Context, args ...string) *exec.Cmd {
	git := exec.CommandContext(ctx, "git", append([]string{"--no-replace-objects"}, args...)...)
	git.Dir = s.Root
	git.WaitDelay = Timeout
	others := quotedPath(filepath.Join(s.common, "objects"))
	for _, entry := range s.environ {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case name == "GIT_ALTERNATE_OBJECT_DIRECTORIES" && value != "":
			others += ":" + value
		case !strings.HasPrefix(name, "GIT_"):
			git.Env = append(git.Env, entry)
		}
	}
	git.Env = append(variables.Unset(git.Env), "GIT_DIR="+s.at, "GIT_WORK_TREE="+s.Root,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES="+others,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		"GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return git
}

// quotedPath returns a path as an element of a list that separates paths by colons.
func quotedPath(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
