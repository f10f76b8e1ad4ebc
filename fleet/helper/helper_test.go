package helper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"reprise/config"
	"reprise/fleet/store"
	"reprise/fleet/wire"
	"reprise/shim"

	"golang.org/x/sys/unix"
)

// This binary is the helper, too.
func TestMain(m *testing.M) {
	if os.Getenv("REPRISE_TEST_HELPER") != "" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, openDirectory))
	}
	os.Exit(m.Run())
}

// A directory is an engine with files as entries, for one process. A bundle takes a moment.
type directory struct {
	mu   sync.Mutex
	path string
}

func openDirectory(url string) (store.Store, error) {
	path, ok := strings.CutPrefix(url, "dir://")
	if !ok {
		return nil, fmt.Errorf("no engine for %s", url)
	}
	return &directory{path: path}, nil
}

func (d *directory) file(key string) string {
	return filepath.Join(d.path, hex.EncodeToString([]byte(key)))
}

func (d *directory) Read(_ context.Context, name string) (store.Entry, error) {
	content, err := os.ReadFile(d.file(name))
	if errors.Is(err, os.ErrNotExist) {
		err = store.ErrAbsent
	}
	return store.Entry{Content: content, Version: versionOf(content)}, err
}

func (d *directory) Swap(ctx context.Context, key, old string, value []byte) (string, error) {
	if strings.HasPrefix(key, "b/") {
		time.Sleep(300 * time.Millisecond)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e, err := d.Read(ctx, key); err == nil && e.Version != old || err != nil && old != "" {
		return "", store.ErrMoved
	}
	return versionOf(value), os.WriteFile(d.file(key), value, 0o600)
}

func versionOf(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content)) }

func (d *directory) List(context.Context, string) ([]string, error) { return nil, nil }
func (d *directory) Delete(context.Context, ...string) error        { return nil }

func start(t *testing.T, url string) *wire.Client {
	t.Helper()
	c, err := wire.Start(os.Args[0], append(os.Environ(), "REPRISE_TEST_HELPER=1"),
		shim.StoreOptions(nil, config.Store{}).Start,
		wire.Config{URL: url, Key: strings.Repeat("0123456789abcdef", 4)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // it can still write into the directory
		c.Close()
		eventually(t, "the helper has ended", func() bool { return len(children(t)) == 0 })
	})
	return c
}

// children returns the processes that this one has started.
func children(t *testing.T) []int {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(tasks) == 0 {
		t.Skip("this system does not list children")
	}
	var all []int
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		for field := range strings.FieldsSeq(string(text)) {
			var pid int
			fmt.Sscan(field, &pid)
			all = append(all, pid)
		}
	}
	return all
}

func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for range 500 {
		if so() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("not so after 5 s: %s", what)
}

var task = store.Name{Kind: store.Task, Of: []string{"p", "/w", "t"}, ID: "i"}

func TestHelper(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	c := start(t, "dir://"+dir)
	if _, err := c.Swap(ctx, task, "", []byte("value")); err != nil {
		t.Fatal(err)
	}
	if r, err := store.One(c.List(ctx, task, 1)); err != nil || string(r.Value) != "value" {
		t.Errorf("read %+v, %v", r, err)
	}
	for _, pid := range children(t) {
		if sid, err := unix.Getsid(pid); err != nil || sid != pid {
			t.Errorf("session %d, %v", sid, err)
		}
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			if err := syscall.Kill(pid, signal); err != nil {
				t.Error(err)
			}
		}
		if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil || cwd != "/" {
			t.Errorf("works in %s, %v", cwd, err)
		}
		arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || strings.Contains(string(arguments), "ab") ||
			strings.Contains(string(arguments), dir) {
			t.Errorf("arguments %q, %v", arguments, err)
		}
	}
	time.Sleep(50 * time.Millisecond)
	if _, err := store.One(c.List(ctx, task, 1)); err != nil {
		t.Errorf("after signals for everybody: %v", err)
	}
	c.Close()
	eventually(t, "the helper has ended", func() bool { return len(children(t)) == 0 })
}

// A request is carried out though its client has gone and reads no answer.
func TestSentRequestsAreCarriedOut(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), "REPRISE_TEST_HELPER=1"), os.Stderr
	requests, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(requests, `{"protocol":7,"config":{"URL":"dir://%s","Key":"%s"}}`+"\n", dir,
		strings.Repeat("0123456789abcdef", 4))
	fmt.Fprintln(requests, `{"id":1,"verb":"list","timeout":1000000000}`)
	fmt.Fprintln(requests,
		`{"id":2,"verb":"swap","register":{"Name":{"Kind":"task","Of":["cA=="]},"Value":"dg=="},"timeout":1000000000}`)
	requests.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the helper: %v", err)
	}
	eventually(t, "the register is there", func() bool {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		for _, e := range entries {
			name, _ := hex.DecodeString(e.Name())
			if strings.HasPrefix(string(name), "t/") {
				return true
			}
		}
		return false
	})
	eventually(t, "the helper has ended", func() bool { return len(children(t)) == 0 })
}

// A program that becomes another one leaves it no child, whatever the helper does.
func TestStop(t *testing.T) {
	c, dir := start(t, "dir://"+t.TempDir()), t.TempDir()
	if _, _, err := c.List(t.Context(), task, 1); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	go c.Save(t.Context(), dir, []string{"a"}) // takes longer than it is waited for
	time.Sleep(50 * time.Millisecond)
	c.Stop()
	if left := children(t); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	c.Stop()
}

// The helper holds no descriptor open that its caller's caller can be waiting for.
func TestNoInheritedDescriptors(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETFD, 0); err != nil { // as if inherited
		t.Fatal(err)
	}
	c := start(t, "dir://"+t.TempDir())
	defer c.Close()
	if _, _, err := c.List(t.Context(), task, 1); err != nil {
		t.Fatal(err)
	}
	w.Close()
	r.SetReadDeadline(time.Now().Add(5 * time.Second))
	if n, err := r.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read %d bytes, %v from a pipe that only the helper may hold open", n, err)
	}
}

func TestMisconfigured(t *testing.T) {
	c := start(t, "ftp://secret@host")
	defer c.Close()
	if _, err := store.One(c.List(t.Context(), task, 1)); err == nil ||
		!strings.Contains(err.Error(), "no engine for") {
		t.Errorf("unknown engine: %v", err)
	}
	for _, key := range []string{"", "abc"} {
		c, err := wire.Start(os.Args[0], append(os.Environ(), "REPRISE_TEST_HELPER=1"),
			(*exec.Cmd).Start, wire.Config{URL: "dir:///x", Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.List(t.Context(), task, 1); !errors.Is(err, store.ErrKey) ||
			!strings.Contains(err.Error(), "read the store's key") {
			t.Errorf("key %q: %v", key, err)
		}
		c.Close()
	}
}

func TestCalledByHand(t *testing.T) {
	run := func(args ...string) (string, int) {
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), "REPRISE_TEST_HELPER=1")
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := run("version"); code != 0 || out != "reprise-store dev\n" {
		t.Errorf("version: %q, %d", out, code)
	}
	if out, code := run(); code != 2 ||
		!strings.HasPrefix(out, "error: reprise-store takes log, ") {
		t.Errorf("without a pipe: %q, %d", out, code)
	}
}
