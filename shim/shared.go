package shim

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/config"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/shim/binary"
	"reprise/shim/disk"
	"reprise/shim/git"
	"reprise/shim/supervise"
	"reprise/shim/variables"
)

// openStore opens the store that shares the call's sessions, unless it is open or there is none.
// The store's helper connects while the call reads the prompt.
func (f *found) openStore(before *book) {
	b := f.book
	settings, err := config.ResolveStore(f.env.Get, f.config)
	switch {
	case err != nil:
		f.log.fault("read store", err)
		b.unshared = err.Error()
		return
	case before != nil && before.settings.URL != "":
		before.here = false
		f.book = before
		return
	case settings.URL == "" || f.line.Mode != rewrite.Fresh:
		return
	}
	options := StoreOptions(f.env.Environ, settings)
	options.Project = ProjectName(f.cwd, settings)
	if b.unshared = f.whyUnshared(options); b.unshared != "" {
		f.log.notShared(b.unshared)
		return
	}
	place := f.ledger.Key().Digester()("place " + disk.DirectoryID(f.cwd))
	options.Local, options.Place = f.ledger.Ledger, fmt.Sprintf("%x", place)
	options.HasTree = func(tree string) bool { return git.HasTree(f.cwd, tree, f.env.Environ) }
	b.settings = settings
	if f.storeDown(settings, f.env.Now()) {
		b.err = errors.New("the store cannot be reached: it could not be reached a moment ago")
		b.unshared = b.err.Error()
	} else if b.remote, err = f.env.OpenRemote(options); err != nil {
		b.leave(err)
	}
}

// ProjectName returns the name that a directory's project has in a store: the configured one, or
// the URL of the repository's origin, "" if there is none. A clone of a local directory has none.
func ProjectName(dir string, s config.Store) string {
	if s.Project != "" {
		return s.Project
	}
	repo, err := git.Find(dir)
	if err != nil {
		return ""
	}
	return repo.Origin()
}

// StoreOptions returns the options that open a store from a directory that is not known.
func StoreOptions(environ []string, s config.Store) ledger.RemoteOptions {
	host, _ := os.Hostname()
	return ledger.RemoteOptions{
		Host: host, Helper: StoreHelper(), Environ: variables.Unset(environ), URL: s.URL,
		Key: s.Key, KeyFile: s.KeyFile, Start: supervise.StartAlone,
		Timeout: s.Timeout, Upload: s.UploadTimeout,
	}
}

// StoreHelper returns the path of the program that speaks with a store. It lies beside the running
// program.
func StoreHelper() string {
	return filepath.Join(filepath.Dir(binary.Executable()), "reprise-store")
}

// whyUnshared returns why other machines cannot go on with the call's session, "" if they can.
func (f *found) whyUnshared(o ledger.RemoteOptions) string {
	switch {
	case o.Key == "" && o.KeyFile == "":
		return "the store has no key: neither REPRISE_STORE_KEY nor a file with it is set"
	case !f.tool.Descriptor().Travels:
		return "it is not known that the tool resumes a session on another machine"
	case f.real.Version() == "":
		return "the tool's version is not known"
	case o.Project == "":
		return "the project has no name: neither REPRISE_PROJECT nor an origin with a URL says it"
	}
	return ""
}

// leave goes on without the store: the call is fresh, and if the store cannot be used at all, the
// calls of the next moment do not try.
func (b *book) leave(err error) {
	b.err, b.unshared = err, StoreError(err, b.settings)
	b.log.fault("use the store", err)
	var known ledger.RemoteError
	if errors.As(err, &known) && known.Lasting() && !b.found.preview {
		b.noteStoreDown(b.settings, b.env.Now(), err)
	}
}

// FinishCommand is shimctl's command for the work that a call has left in the store. The argument
// is the file that says it.
const FinishCommand = "finish-shared"

// UnfinishedFiles is the filepath.Match pattern for the names of the files that FinishCommand
// takes. They are in the directory of the ledger.
const UnfinishedFiles = "unfinished-*.json"

func unfinishedOf(job string) string { return strings.Replace(UnfinishedFiles, "*", job+"-*", 1) }

// awaitFinished waits until another process has stored the sessions that earlier calls of the job
// have left to it: until then the job's session is in use.
func (b *book) awaitFinished(r *ledger.Call) {
	dir, err := config.StateDir(b.env.Own)
	if err != nil {
		return
	}
	pattern := filepath.Join(dir, unfinishedOf(b.remote.Job(r)))
	pending := func(path string) bool {
		info, err := os.Stat(path)
		// an older one has failed; one from far in the future is of a clock that was set back
		return err == nil && time.Since(info.ModTime()).Abs() < b.settings.UploadTimeout
	}
	for {
		paths, _ := filepath.Glob(pattern) // the pattern is a valid one
		if !slices.ContainsFunc(paths, pending) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// detach has another process do the work that is left in the store.
func (b *book) detach(left []byte) error {
	dir, err := config.StateDir(b.env.Own)
	if err != nil {
		return err
	}
	name := strings.Replace(unfinishedOf(b.remote.Job(b.call)), "*", b.unique(), 1)
	path := filepath.Join(dir, name)
	if err = os.WriteFile(path, left, 0o600); err == nil {
		err = startShimctl(b.env.Environ, FinishCommand, path)
	}
	if err != nil {
		return fmt.Errorf("leave the store to another process: %w",
			errors.Join(err, os.Remove(path)))
	}
	return nil
}

// startShimctl starts a command of shimctl that has a separate session and none of the caller's
// streams, so that nothing waits for it.
func startShimctl(environ []string, args ...string) error {
	cmd := exec.Command(filepath.Join(filepath.Dir(binary.Executable()), "shimctl"), args...)
	cmd.Env, cmd.Dir = environ, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return supervise.StartAlone(cmd)
}
