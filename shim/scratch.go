package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A scratch is a repository of our own in which git answers questions about another one. It has the objects and the
// index of that one, and its work tree, but none of its configuration, hooks, references and programs: the agent may
// have written these, and git would run some of them.
type scratch struct {
	repository
	at      string // the scratch repository
	environ []string
}

// scratchConfig is all the configuration that git reads, except core.excludesFile of the user's own.
const scratchConfig = `[core]
	repositoryformatversion = 1
	bare = false
	hooksPath = /dev/null
	fsmonitor = false
	splitIndex = false
	safecrlf = false
	fsync = none
	looseCompression = 0
[advice]
	addEmbeddedRepo = false
[extensions]
`

// newScratch makes a scratch for a repository. The caller must remove it.
func (r repository) newScratch(environ []string) (*scratch, error) {
	at, err := os.MkdirTemp("", "reprise-*")
	if err != nil {
		return nil, err
	}
	s := &scratch{repository: r, at: at, environ: environ}
	config := scratchConfig
	if r.config("extensions", "objectformat") == "sha256" {
		config += "\tobjectFormat = sha256\n"
	}
	err = errors.Join(os.Mkdir(filepath.Join(at, "objects"), 0o700), os.Mkdir(filepath.Join(at, "refs"), 0o700), os.Mkdir(filepath.Join(at, "info"), 0o700),
		s.write("HEAD", "ref: refs/heads/none\n"), s.write("config", config),
		s.write("info/exclude", r.read(r.common, "info/exclude")+"\n"))
	if shallow := r.read(r.common, "shallow"); shallow != "" {
		err = errors.Join(err, s.write("shallow", shallow+"\n"))
	}
	if err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *scratch) write(name, text string) error {
	return os.WriteFile(filepath.Join(s.at, name), []byte(text), 0o600)
}

func (s *scratch) remove() { _ = os.RemoveAll(s.at) } // only a full or read-only disk keeps it

// showReferences lets git read the references that a repository keeps in a directory of the "reftable" format.
func (s *scratch) showReferences(dir string) error {
	config, err := os.ReadFile(filepath.Join(s.at, "config"))
	if err != nil {
		return err
	}
	return errors.Join(s.write("config", string(config)+"\trefStorage = reftable\n"),
		os.Symlink(filepath.Join(dir, "reftable"), filepath.Join(s.at, "reftable")))
}

// copyIndex copies the repository's index, if there is one, with its time: git compares it with the
// times of files to see which may have changed since.
func (s *scratch) copyIndex() error {
	shared, _ := filepath.Glob(filepath.Join(s.dir, "sharedindex.*")) // the pattern is a valid one
	for _, from := range append(shared, filepath.Join(s.dir, "index")) {
		info, err := os.Stat(from)
		if isAbsent(err) {
			continue
		}
		if err != nil {
			return err
		}
		text, err := readRegular(from, maxIndex)
		if err != nil {
			return err
		}
		to := filepath.Join(s.at, filepath.Base(from))
		if err := errors.Join(os.WriteFile(to, []byte(text), 0o600), os.Chtimes(to, info.ModTime(), info.ModTime())); err != nil {
			return err
		}
	}
	return nil
}

// userIgnores returns the file in which the user lists what git ignores in all repositories, "" for the usual one.
func (s *scratch) userIgnores(ctx context.Context) string {
	git := s.git(ctx, "config", "--global", "--type=path", "--get", "core.excludesFile")
	git.Env = unsetEnv(git.Env, []string{"GIT_CONFIG_GLOBAL"})
	if file := (Env{Environ: s.environ}).Get("GIT_CONFIG_GLOBAL"); file != "" {
		git.Env = append(git.Env, "GIT_CONFIG_GLOBAL="+file)
	}
	out, err := git.Output()
	if file := strings.TrimSpace(string(out)); err == nil && file != "" {
		return file
	}
	env := Env{Environ: s.environ}
	if base := env.Get("XDG_CONFIG_HOME"); base != "" {
		return filepath.Join(base, "git", "ignore")
	}
	return filepath.Join(env.Get("HOME"), ".config", "git", "ignore")
}

// ask runs a git command and returns what it prints.
func (s *scratch) ask(ctx context.Context, args ...string) (string, error) {
	return s.askWith(ctx, "", args...)
}

// askWith runs a git command with a text on its standard input.
func (s *scratch) askWith(ctx context.Context, stdin string, args ...string) (string, error) {
	git := s.git(ctx, args...)
	git.Stdin = strings.NewReader(stdin)
	out, err := git.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), err
}

// git returns a git command, with nothing of the caller's variables that leads to another repository or configuration.
func (s *scratch) git(ctx context.Context, args ...string) *exec.Cmd {
	git := exec.CommandContext(ctx, "git", append([]string{"--no-replace-objects"}, args...)...)
	git.Dir = s.root
	git.WaitDelay = gitTimeout
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
	git.Env = append(unsetEnv(git.Env, nil), "GIT_DIR="+s.at, "GIT_WORK_TREE="+s.root, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+others,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return git
}

// quotedPath returns a path as an element of a list in which a colon separates paths.
func quotedPath(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
