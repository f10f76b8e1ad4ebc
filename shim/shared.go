package shim

import (
	"context"
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
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/shim/binary"
	"reprise/shim/disk"
	"reprise/shim/git"
	"reprise/shim/supervise"
	"reprise/shim/variables"
)

// sharedPause is added to the time between two looks at a busy session if that is in a store.
const sharedPause = 500 * time.Millisecond

// renewEvery is how often a running call tells the store that it still runs.
const renewEvery = 5 * time.Minute

// A sharedBook is the store that shares the call's sessions with other machines, or without the
// store the ledger.
type sharedBook struct {
	*found
	local     *localBook
	settings  config.Store
	remote    ledger.Remote
	connected bool         // the store's key for digests is known
	call      *ledger.Call // as the store has recorded it, nil if it has not
	here      bool         // the session is of no use to others
	err       error        // why the store is not used: nothing that is shared is resumed
}

// openBook opens the store that shares the call's sessions, unless it is open or there is none. The
// store's helper connects while the call reads the prompt. local is used without one.
func (f *found) openBook(local *localBook, open *sharedBook) {
	settings, err := config.ResolveStore(f.env.Get, f.config)
	switch {
	case err != nil:
		f.log.fault("read store", err)
		local.why = err.Error()
		return
	case open != nil:
		open.here = false
		f.book = open
		return
	case settings.URL == "" || f.line.Mode != rewrite.Fresh:
		return
	}
	options := StoreOptions(f.env.Environ, settings)
	options.Project = ProjectName(f.cwd, settings)
	if local.why = f.whyUnshared(options); local.why != "" {
		f.log.notShared(local.why)
		return
	}
	place := f.ledger.Key().Digester()("place " + disk.DirectoryID(f.cwd))
	options.Local, options.Place = f.ledger.Ledger, fmt.Sprintf("%x", place)
	options.HasTree = func(tree string) bool { return git.HasTree(f.cwd, tree, f.env.Environ) }
	b := &sharedBook{found: f, local: local, settings: settings}
	f.book = b
	if f.storeDown(settings, f.env.Now()) {
		b.err = errors.New("the store cannot be reached: it could not be reached a moment ago")
		local.why = b.err.Error()
	} else if b.remote, err = f.env.OpenRemote(options); err != nil {
		b.leave(err)
	}
}

// StoreOptions returns the options that open a store from a directory that is not known.
func StoreOptions(environ []string, s config.Store) ledger.RemoteOptions {
	host, _ := os.Hostname()
	return ledger.RemoteOptions{
		Host: host, Helper: StoreHelper(), Environ: variables.Unset(environ), URL: s.URL,
		Key: s.Key, KeyFile: s.KeyFile,
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
	case f.env.OpenRemote == nil:
		return "this program uses no store"
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
func (b *sharedBook) leave(err error) {
	b.err, b.local.why = err, StoreError(err, b.settings)
	b.log.fault("use the store", err)
	var known ledger.RemoteError
	if errors.As(err, &known) && known.Lasting() && !b.found.preview {
		b.noteStoreDown(b.settings, b.env.Now(), err)
	}
}

// decides reports whether the store decides on the call. It waits for the connection.
func (b *sharedBook) decides() bool {
	if b.err != nil || b.here {
		return false
	}
	if !b.connected {
		ctx, cancel := context.WithTimeout(context.Background(), b.settings.Timeout)
		defer cancel()
		if err := b.remote.Connect(ctx); err != nil {
			b.leave(err)
			return false
		}
		b.connected = true
	}
	return true
}

// named keeps the call's session here if it is of no use to others. Other roles end a role's
// sessions, and find a store's sessions only by their task.
func (b *sharedBook) named(r *ledger.Call) { b.here = r.Never || r.Task == "" && r.Role != "" }

func (b *sharedBook) key() prompt.Key {
	if b.decides() {
		return b.remote.Key()
	}
	return b.local.key()
}

func (b *sharedBook) own(fact string) string {
	if b.decides() {
		return ""
	}
	return fact
}

// begin has the store decide, and if that fails the ledger.
func (b *sharedBook) begin(r *ledger.Call) (decide.Decision, *ledger.Ticket, error) {
	if !b.decides() {
		b.requireFresh(r)
		return b.local.begin(r)
	}
	b.awaitFinished(r)
	r.Unshared = ""
	d, t, err := ledger.Begin(b.remote, r)
	switch {
	case errors.Is(err, ledger.ErrHeld):
		time.Sleep(sharedPause)
	case err != nil:
		b.leave(err)
		return b.begin(r)
	default:
		b.call = r
		go b.renew(t)
	}
	return d, t, err
}

// requireFresh has the call begin anew if the store could have its session.
func (b *sharedBook) requireFresh(r *ledger.Call) {
	if b.err != nil && !b.here {
		r.Fresh = reason.StoreUnavailable
	}
}

func (b *sharedBook) preview(r *ledger.Call) (decide.Decision, []decide.ChainFacts, error) {
	if !b.decides() {
		b.requireFresh(r)
		return b.local.preview(r)
	}
	d, chains, err := ledger.Preview(b.remote, r)
	if err != nil {
		b.leave(err)
		return b.preview(r)
	}
	return d, chains, nil
}

func (b *sharedBook) identity(r *ledger.Call) *ledger.Identity {
	if !b.decides() {
		return nil
	}
	identity := b.remote.Identity(r)
	return &identity
}

func (b *sharedBook) unshared() string { return b.local.why }

// isEarly implements book: another machine would need a bundle of files that still change.
func (b *sharedBook) isEarly() bool { return !b.decides() }

// renew tells the store from time to time that the call still runs.
func (b *sharedBook) renew(t *ledger.Ticket) {
	for range time.Tick(renewEvery) {
		if err := b.remote.Renew(t, decide.MillisOf(b.env.Now())); err != nil {
			b.log.fault("renew the hold in the store", err)
		}
	}
}

// restore brings the files of the session that the call resumes from the store.
func (b *sharedBook) restore(t *ledger.Ticket, d decide.Decision) error {
	if b.call == nil || !d.Mode.Continues() {
		return nil
	}
	ctx, cancel := b.wait()
	defer cancel()
	err := b.remote.Restore(ctx, t, b.travels)
	if err != nil {
		b.log.fault("bring session from the store", err)
	}
	return err
}

// travels returns the paths, relative to the tool's home, of the files of a session that other
// machines need.
func (b *sharedBook) travels(id, file string) []string {
	files, ok := rewrite.FilesOf(b.tool, b.home, id, file)
	if !ok {
		return nil
	}
	return files.ForMachines()
}

// wait returns a context that ends after UploadTimeout, or when a signal asks for the call's end.
func (b *sharedBook) wait() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), b.settings.UploadTimeout)
	go func() {
		select {
		case <-b.signals.Ending:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (b *sharedBook) fallBack(t *ledger.Ticket, why reason.Code) (*ledger.Ticket, error) {
	if b.call == nil {
		return b.local.fallBack(t, why)
	}
	return t, b.remote.FallBack(t, why)
}

// finish records the outcome with the session's files. It waits for the store for UploadTimeout at
// most, and no longer once a signal has asked for the end. Another process does the remaining work.
func (b *sharedBook) finish(t *ledger.Ticket, o *ledger.Outcome, later ...ledger.Turn) error {
	if b.call == nil {
		return b.local.finish(t, o, later...)
	}
	end := lastOf(o, later)
	if end.File != "" {
		end.Paths = b.travels(end.Seen.ID, end.File)
	}
	end.Tree = func() string { return git.Tree(b.cwd, b.env.Environ) }
	ctx, cancel := b.wait()
	defer cancel()
	left, err := b.remote.FinishWithin(ctx, t, o, later...)
	if left != nil {
		err = errors.Join(err, b.detach(left))
	}
	return err
}

func (b *sharedBook) close() {
	if b.remote != nil {
		b.remote.Stop()
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
func (b *sharedBook) awaitFinished(r *ledger.Call) {
	dir, err := config.StateDir(b.env.Own)
	if err != nil {
		return
	}
	pattern := filepath.Join(dir, unfinishedOf(b.remote.Job(r)))
	pending := func(path string) bool {
		info, err := os.Stat(path)
		// an older one has failed
		return err == nil && time.Since(info.ModTime()) < b.settings.UploadTimeout
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
func (b *sharedBook) detach(left []byte) error {
	dir, err := config.StateDir(b.env.Own)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, unfinishedOf(b.remote.Job(b.call)))
	if err != nil {
		return fmt.Errorf("leave the store to another process: %w", err)
	}
	_, err = file.Write(left)
	if err = errors.Join(err, file.Close()); err == nil {
		err = startShimctl(b.env.Environ, FinishCommand, file.Name())
	}
	if err != nil {
		return fmt.Errorf("leave the store to another process: %w",
			errors.Join(err, os.Remove(file.Name())))
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
