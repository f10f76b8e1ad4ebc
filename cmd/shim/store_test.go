package main

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/config"
	"reprise/fleet"
	"reprise/fleet/helper"
	"reprise/fleet/s3"
	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/shim"
	"reprise/test/servers"

	"github.com/rogpeppe/go-internal/testscript"
)

// storeHelper is reprise-store with an engine on files, and some that fail, beside its own.
func storeHelper() {
	os.Exit(helper.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, openFiles))
}

// TestStoreOnServers runs the script of the store on servers.
func TestStoreOnServers(t *testing.T) {
	for _, kind := range []servers.Kind{servers.Versitygw, servers.Minio} {
		t.Run(kind.Name, func(t *testing.T) {
			server := kind.Test(t, false)
			at := server.Fresh()
			testscript.Run(t, testscript.Params{
				Files: []string{"../../testdata/script/store.txtar"}, RequireExplicitExec: true,
				RequireUniqueNames: true,
				Setup: func(env *testscript.Env) error {
					env.Setenv("STORE", at)
					for name, value := range server.Env {
						env.Setenv(name, value)
					}
					return setup(env)
				},
			})
		})
	}
}

// fakeBuckets are the buckets that are no real ones: how the store there fails.
var fakeBuckets = []string{"files", "refused", "denied", "none", "silent", "unsafe", "hangs"}

// A fileStore is an engine with files as entries, for several processes. s3://files/DIR names
// one.
type fileStore struct{ dir, fails string }

func openFiles(text string) (store.Store, error) {
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(fakeBuckets, u.Host) {
		return s3.Open(text)
	}
	s := &fileStore{dir: u.Path, fails: u.Host}
	return s, os.MkdirAll(s.dir, 0o700)
}

// check returns the error of every request.
func (s *fileStore) check(ctx context.Context) error {
	switch s.fails {
	case "refused":
		return store.ErrUnreachable
	case "denied":
		return store.ErrDenied
	case "none":
		return store.ErrNoStore
	case "hangs":
		return s.whileThere(ctx, "hang")
	case "silent":
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return nil
}

// whileThere waits as long as the store has a file of this name.
func (s *fileStore) whileThere(ctx context.Context, name string) error {
	for ctx.Err() == nil {
		if _, err := os.Stat(filepath.Join(s.dir, name)); err != nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return context.Cause(ctx)
}

// The first line of a file is the entry's version.
func (s *fileStore) file(key string) string {
	return filepath.Join(s.dir, hex.EncodeToString([]byte(key)))
}

func (s *fileStore) Read(ctx context.Context, name string) (store.Entry, error) {
	if err := s.check(ctx); err != nil {
		return store.Entry{}, err
	}
	text, err := os.ReadFile(s.file(name))
	if errors.Is(err, os.ErrNotExist) {
		err = store.ErrAbsent
	}
	version, content, _ := strings.Cut(string(text), "\n")
	return store.Entry{Content: []byte(content), Version: version}, err
}

func (s *fileStore) Swap(ctx context.Context, key, old string, value []byte) (string, error) {
	if err := s.check(ctx); err != nil {
		return "", err
	}
	if strings.HasPrefix(key, "b/") {
		if err := s.whileThere(ctx, "slow"); err != nil {
			return "", err
		}
	}
	lock, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		defer lock.Close()
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		return "", err
	}
	if now, err := s.Read(ctx, key); err != nil && !errors.Is(err, store.ErrAbsent) ||
		now.Version != old && s.fails != "unsafe" {
		return "", store.ErrMoved
	}
	version := time.Now().Format(time.RFC3339Nano)
	temporary := s.file(key) + ".new"
	if err := os.WriteFile(temporary, append([]byte(version+"\n"), value...), 0o600); err != nil {
		return "", err
	}
	return version, os.Rename(temporary, s.file(key))
}

func (s *fileStore) List(ctx context.Context, prefix string) (keys []string, err error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.dir)
	for _, e := range entries {
		if key, err := hex.DecodeString(e.Name()); err == nil &&
			strings.HasPrefix(string(key), prefix) {
			keys = append(keys, string(key))
		}
	}
	slices.Sort(keys)
	return keys, err
}

func (s *fileStore) Delete(ctx context.Context, names ...string) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Remove(s.file(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// callElsewhere makes one call of a task on another machine. It runs no tool.
func callElsewhere() {
	host := flag.String("host", "", "")
	task := flag.String("task", "", "")
	prompt := flag.String("prompt", "", "file")
	started := flag.Duration("started", time.Minute, "how long ago")
	runs := flag.Bool("runs", false, "it still runs")
	differs := flag.Bool("differs", false, "the checkout lacks the session's work")
	flag.Parse()
	if err := playCall(*host, *task, *prompt, *started, *runs, *differs); err != nil {
		log.Fatal(err)
	}
}

func playCall(host, task, file string, started time.Duration, runs, differs bool) error {
	s, err := config.ResolveStore(os.Getenv, config.Default())
	if err != nil {
		return err
	}
	l, err := ledger.OpenMemory()
	if err != nil {
		return err
	}
	defer l.Close()
	options := shim.StoreOptions(os.Environ(), s)
	options.Local, options.Project, options.Host, options.Place = l, s.Project, host, host
	options.Timeout, options.Upload = time.Minute, time.Minute
	book, err := fleet.Open(options)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	tool, _ := rewrite.Lookup("claude")
	home := tool.Descriptor().Home(os.Getenv)
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	now := decide.MillisOf(time.Now().Add(-started))
	d, ticket, err := ledger.Begin(book, &ledger.Call{
		Record: ledger.Record{Tool: "claude", Cwd: resolved(cwd), Task: task, Format: rewrite.Text},
		Home:   resolved(home),
		Prompt: prompt.New(string(text), book.Key()),
		Request: decide.Request{Now: now, Limits: decide.Limits{
			TTL:          decide.Millis(time.Hour.Milliseconds()),
			MaxAge:       decide.Millis((24 * time.Hour).Milliseconds()),
			ContextShare: 0.8, MinBase: 100, Unnamed: rewrite.UnnamedExtends},
			Checkout: func(string, string) bool { return !differs }},
		Stored: func(string, string, decide.Stamp) decide.StoredState {
			return decide.StoredSame
		},
	})
	if err != nil || runs {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, "session"), text, 0o600); err != nil {
		return err
	}
	sent := len(text)
	if d.Mode.Continues() {
		sent /= 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), options.Upload)
	defer cancel()
	left, err := book.FinishWithin(ctx, ticket, &ledger.Outcome{Now: now + 1000,
		File: "session", Stamp: "1", Sent: sent,
		Seen: rewrite.StreamState{ID: "00000000-0000-4000-8000-00000000f1ee", Final: true,
			Content: true, Answer: "Done."},
		Paths: []string{"session"}, Tree: func() string { return "tree" }})
	if left != nil {
		err = errors.Join(err, errors.New("the time is over"))
	}
	return err
}

// resolved returns a path without symbolic links.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
