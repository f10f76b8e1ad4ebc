package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/fleet/store"
)

// A fake is a service in memory. Names are told apart by every byte.
type fake struct {
	mu        sync.Mutex
	registers map[string]store.Register
	saved     []string
	dropped   chan []string
	hang      chan struct{} // not nil: reads wait for it
}

func (f *fake) List(ctx context.Context,
	opening store.Name, limit int) (list []store.Register, more bool, err error) {
	if f.hang != nil {
		select {
		case <-f.hang:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(f.registers)) {
		r := f.registers[key]
		if r.Name.Kind != opening.Kind ||
			len(opening.Of) > 0 && !slices.Equal(r.Name.Of, opening.Of) ||
			opening.ID != "" && r.Name.ID != opening.ID {
			continue
		}
		if len(list) == limit {
			return list, true, nil
		}
		list = append(list, r)
	}
	return list, false, nil
}

func (f *fake) Swap(_ context.Context, name store.Name, old string, value []byte) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := fmt.Sprintf("%q", name)
	if f.registers[key].Version != old {
		return "", fmt.Errorf("swap: %w: %w", store.ErrMoved, store.ErrUnknown)
	}
	if f.registers == nil {
		f.registers = map[string]store.Register{}
	}
	version := old + "+"
	f.registers[key] = store.Register{Name: name, Value: value, Version: version}
	return version, nil
}

func (f *fake) Remove(_ context.Context, r store.Register) error {
	name, version := r.Name, r.Version
	key := fmt.Sprintf("%q", name)
	if f.registers[key].Version != version {
		return store.ErrMoved
	}
	delete(f.registers, key)
	return nil
}

func (f *fake) Save(_ context.Context, root string, paths []string) (store.Bundle, error) {
	f.saved = append(f.saved, root+":"+strings.Join(paths, ":"))
	return store.Bundle{Name: "b/1", Digest: "d"}, nil
}

func (f *fake) Load(_ context.Context, b store.Bundle, root string, paths, replace []string) error {
	return fmt.Errorf("%s into %s (%q, %q): %w", b.Name, root, paths, replace, store.ErrChanged)
}

func (f *fake) Drop(_ context.Context, names ...string) error {
	f.dropped <- names
	return nil
}

// connect returns a client of a service that is served in this process.
func connect(t *testing.T, service store.Shared) *Client {
	t.Helper()
	requests, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() {
		served <- Serve(t.Context(), requests, answers,
			func(context.Context, Config) (store.Shared, error) {
				return service, nil
			})
	}()
	c := NewClient(in, out, Config{})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error("served:", err)
		}
		for _, f := range []*os.File{requests, in, answers} {
			f.Close()
		}
	})
	return c
}

var task = store.Name{Kind: store.Task, Of: []string{"project", "/work/\xff", ""}, ID: "x"}

func TestRegisters(t *testing.T) {
	ctx, c := t.Context(), connect(t, &fake{})
	if list, _, err := c.List(ctx, task, 1); len(list) > 0 || err != nil {
		t.Errorf("read of nothing: %v, %v", list, err)
	}
	value := []byte("a \x00\xff value")
	version, err := c.Swap(ctx, task, "", value)
	if err != nil {
		t.Fatal(err)
	}
	got, err := store.One(c.List(ctx, task, 1))
	if want := (store.Register{Name: task, Value: value, Version: version}); err != nil ||
		!reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
	other := store.Name{Kind: store.Task, Of: []string{"project", "/work/\xfe", ""}, ID: "x"}
	if _, err := store.One(c.List(ctx, other, 1)); !errors.Is(err, store.ErrAbsent) {
		t.Errorf("a name that differs in a byte that is not UTF-8: %v", err)
	}
	if _, err := c.Swap(ctx, task, "", nil); !errors.Is(err, store.ErrMoved) ||
		!errors.Is(err, store.ErrUnknown) || errors.Is(err, store.ErrAbsent) ||
		!strings.HasPrefix(err.Error(), "swap: another process has changed the entry: ") {
		t.Errorf("late swap: %v", err)
	}
	if err := c.Remove(ctx, store.Register{Name: task, Version: "other"}); !errors.Is(err,
		store.ErrMoved) {
		t.Errorf("late removal: %v", err)
	}
	if err := c.Remove(ctx, store.Register{Name: task, Version: version}); err != nil {
		t.Error(err)
	}
}

func TestListsArriveWhole(t *testing.T) {
	ctx, f := t.Context(), &fake{}
	c := connect(t, f)
	for i := range 100 {
		name := store.Name{Kind: store.Opening, Of: []string{"o"}, ID: fmt.Sprintf("%03d", i)}
		if _, err := c.Swap(ctx, name, "", bytes.Repeat([]byte{byte(i)}, 10_000)); err != nil {
			t.Fatal(err)
		}
	}
	opening := store.Name{Kind: store.Opening, Of: []string{"o"}}
	some, more, err := c.List(ctx, opening, 3)
	if err != nil || len(some) != 3 || !more || some[2].Name.ID != "002" {
		t.Errorf("list: %d registers, %v, %v", len(some), more, err)
	}
	all, more, err := c.List(ctx, store.Name{Kind: store.Opening}, math.MaxInt)
	if err != nil || more || len(all) != 100 || all[99].Value[9_999] != 99 {
		t.Errorf("registers: %d, %v, %v", len(all), more, err)
	}
	opening.ID = "none"
	if none, _, err := c.List(ctx, opening, 3); len(none) > 0 || err != nil {
		t.Errorf("after lists: %v, %v", none, err)
	}
}

func TestBundles(t *testing.T) {
	ctx, f := t.Context(), &fake{dropped: make(chan []string, 1)}
	c := connect(t, f)
	b, err := c.Save(ctx, "/root/\xff", []string{"a", "b/\xfe"})
	if want := (store.Bundle{Name: "b/1", Digest: "d"}); err != nil || b != want ||
		f.saved[0] != "/root/\xff:a:b/\xfe" {
		t.Errorf("saved %+v, %v, %q", b, err, f.saved)
	}
	if err := c.Load(ctx, b, "/r",
		[]string{"p"}, []string{"d"}); !errors.Is(err, store.ErrChanged) ||
		!strings.Contains(err.Error(), `b/1 into /r (["p"], ["d"])`) {
		t.Errorf("load: %v", err)
	}
	if err := c.Drop(ctx, "b/1", "b/2"); err != nil ||
		!slices.Equal(<-f.dropped, []string{"b/1", "b/2"}) {
		t.Error(err)
	}
}

// A slow request lasts no longer than its timeout, and the next one gets its own answer.
func TestRequestsAreBounded(t *testing.T) {
	f := &fake{hang: make(chan struct{})}
	c := connect(t, f)
	late, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	if _, err := store.One(c.List(late, task, 1)); !errors.Is(err, store.ErrUnreachable) ||
		errors.Is(err, store.ErrUnknown) {
		t.Errorf("slow read: %v", err)
	}
	if _, err := c.Swap(t.Context(), task, "", nil); err != nil {
		t.Errorf("after a slow request: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	for range 3 { // it ends within the first request, before the others
		if _, err := c.Swap(ctx, task, "?", nil); !errors.Is(err, store.ErrUnreachable) &&
			!errors.Is(err, store.ErrMoved) {
			t.Errorf("ended context: %v", err)
		}
		<-ctx.Done()
	}
	if _, err := c.Swap(ctx, task, "?", nil); errors.Is(err, store.ErrUnknown) {
		t.Errorf("a swap that was not sent: %v", err)
	}
	soon, end := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer end()
	if _, err := store.One(c.List(soon, task, 1)); err == nil ||
		!strings.Contains(err.Error(), "no answer within") {
		t.Errorf("a context that ends: %v", err)
	}
	close(f.hang)
	if _, err := store.One(c.List(t.Context(), task, 1)); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// A request that a signal has ended for the client does not hold up the next one, however long.
func TestGivenUpRequestDelaysNothing(t *testing.T) {
	f := &fake{hang: make(chan struct{})}
	c := connect(t, f)
	defer close(f.hang)
	ending, end := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, end)
	if _, _, err := c.List(ending, task, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := c.Swap(soon, task, "", make([]byte, 1<<20)); err != nil {
		t.Errorf("the next: %v", err)
	}
}

// The things that a helper can do instead of answering.
func TestBrokenHelper(t *testing.T) {
	cases := map[string]func(in *bufio.Reader, out io.WriteCloser){
		"dies": func(in *bufio.Reader, out io.WriteCloser) { out.Close() },
		"garbage": func(in *bufio.Reader,
			out io.WriteCloser) {
			in.ReadString('\n')
			io.WriteString(out, "panic: oh no\n")
		},
		"silent": func(in *bufio.Reader, out io.WriteCloser) {},
		"empty": func(in *bufio.Reader,
			out io.WriteCloser) {
			in.ReadString('\n')
			io.WriteString(out, `{"id":1}`+"\n")
		},
		"half": func(in *bufio.Reader, out io.WriteCloser) {
			in.ReadString('\n')
			io.WriteString(out, `{"id":1,`)
			out.Close()
		},
		"more": func(in *bufio.Reader, out io.WriteCloser) {
			in.ReadString('\n')
			io.WriteString(out, `{"id":1,"more":true}`+"\n")
		},
	}
	for name, behave := range cases {
		t.Run(name, func(t *testing.T) {
			requests, out := io.Pipe()
			in, answers := io.Pipe()
			go func() {
				lines := bufio.NewReader(requests)
				lines.ReadString('\n') // the configuration
				behave(lines, answers)
				io.Copy(io.Discard, lines)
			}()
			c := NewClient(in, out, Config{})
			defer in.Close()
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			_, err := c.Swap(ctx, task, "", []byte("v"))
			if !errors.Is(err, store.ErrUnreachable) {
				t.Errorf("swap: %v", err)
			}
			if !errors.Is(err, store.ErrUnknown) && name != "dies" {
				t.Errorf("a swap that was sent counts as not sent: %v", err)
			}
		})
	}
}

// An answer counts even if the helper ends at once.
func TestLastAnswer(t *testing.T) {
	for range 100 {
		requests, out := io.Pipe()
		in, answers := io.Pipe()
		go func() {
			lines := bufio.NewReader(requests)
			lines.ReadString('\n')
			lines.ReadString('\n')
			io.WriteString(answers, `{"id":1,"version":"v"}`+"\n")
			answers.Close()
			requests.Close()
		}()
		c := NewClient(in, out, Config{})
		if version, err := c.Swap(t.Context(), task, "", nil); err != nil || version != "v" {
			t.Fatalf("swap: %s, %v", version, err)
		}
		c.Close()
	}
}

// The helper, which knows best how a request ended, has less time than the client waits, which is
// all the time that the context has.
func TestHelperGivesUpFirst(t *testing.T) {
	const limit = 10 * longest
	requests, out := io.Pipe()
	in, answers := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := NewClient(in, out, Config{}).Save(ctx, "/", []string{"a"})
		ended <- err
	}()
	var g greeting
	var q request
	decoder := json.NewDecoder(requests)
	if err := errors.Join(decoder.Decode(&g), decoder.Decode(&q)); err != nil {
		t.Fatal(err)
	}
	if q.Timeout <= longest || q.Timeout > limit-limit/20 {
		t.Errorf("%s of %s", q.Timeout, limit)
	}
	answers.Close()
	if err := <-ended; !errors.Is(err, store.ErrUnreachable) {
		t.Error(err)
	}
}

func TestMissingHelper(t *testing.T) {
	if _, err := Start(filepath.Join(t.TempDir(), "none"),
		nil, (*exec.Cmd).Start, Config{}); !errors.Is(err, store.ErrUnreachable) ||
		!errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing helper: %v", err)
	}
}

func TestOtherProtocol(t *testing.T) {
	var out strings.Builder
	in := strings.NewReader(`{"protocol":99}` + "\n" +
		`{"id":5,"verb":"list","timeout":1000000000}` + "\n")
	err := Serve(t.Context(), in, &out, func(context.Context,
		Config) (store.Shared, error) {
		t.Error("opened")
		return nil, nil
	})
	if err != nil || !strings.Contains(out.String(), `"id":5`) ||
		!strings.Contains(out.String(), `"the store cannot be reached"`) {
		t.Errorf("%v, %s", err, out.String())
	}
}

// A request is carried out even if the client has gone.
func TestRequestsOutliveTheClient(t *testing.T) {
	f := &fake{dropped: make(chan []string, 1)}
	in := strings.NewReader(`{"protocol":7}` + "\n" +
		`{"id":1,"verb":"drop","names":["b/1"],"timeout":1000000000}` + "\n")
	err := Serve(t.Context(), in, failingWriter{}, func(context.Context,
		Config) (store.Shared, error) {
		return f, nil
	})
	if err != nil || len(f.dropped) != 1 {
		t.Errorf("%v, %d removals", err, len(f.dropped))
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
