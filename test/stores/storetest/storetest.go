// Package storetest is the test that every engine of a shared store passes.
//
// It knows no engine. Its invariant: it uses a store only by the verbs of store.Store.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"reprise/fleet/store"
)

// Run tests an engine. fresh makes an empty store; each call of the function that it returns is
// another process's connection to it.
func Run(t *testing.T, fresh func(t *testing.T) (open func() store.Store)) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, func() store.Store)
	}{
		{"Register", register}, {"Stale", stale}, {"Recreated", recreated}, {"OneWins", oneWins},
		{"Contents", contents}, {"Large", large}, {"Delete", remove}, {"List", list},
		{"ListLong", listLong},
		{"Deadline", deadline}, {"Concurrent", concurrent},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.run(t, fresh(t))
		})
	}
}

// Swap swaps a register, which must succeed.
func Swap(t *testing.T, s store.Store, key, old, value string) (version string) {
	t.Helper()
	version, err := s.Swap(t.Context(), key, old, []byte(value))
	if err != nil || version == "" {
		t.Fatalf("swap %s from %q: version %q, %v", key, old, version, err)
	}
	return version
}

func refused(t *testing.T, s store.Store, key, old string) {
	t.Helper()
	if _, err := s.Swap(t.Context(), key, old, []byte("late "+key+old)); !errors.Is(err,
		store.ErrMoved) {
		t.Fatalf("swap %s from %q: %v", key, old, err)
	}
}

// Holds fails unless a register has this value and version.
func Holds(t *testing.T, s store.Store, key, value, version string) {
	t.Helper()
	got, err := s.Read(t.Context(), key)
	if err != nil || string(got.Content) != value || got.Version != version {
		t.Fatalf("read %s: %q, %v; want %q at %q", key, got, err, value, version)
	}
}

func register(t *testing.T, open func() store.Store) {
	s, other := open(), open()
	if _, err := s.Read(t.Context(), "t/a"); !errors.Is(err, store.ErrAbsent) {
		t.Fatal(err)
	}
	first := Swap(t, s, "t/a", "", "one")
	Holds(t, other, "t/a", "one", first)
	second := Swap(t, other, "t/a", first, "two\x00\xff")
	if first == second {
		t.Fatal("the version stays", first)
	}
	Holds(t, s, "t/a", "two\x00\xff", second)
	if _, err := s.Read(t.Context(), "t/"); !errors.Is(err, store.ErrAbsent) {
		t.Fatal(err)
	}
}

func stale(t *testing.T, open func() store.Store) {
	s := open()
	refused(t, s, "t/a", "1") // there is none
	first := Swap(t, s, "t/a", "", "one")
	refused(t, s, "t/a", "") // a second creation
	second := Swap(t, s, "t/a", first, "two")
	for _, old := range []string{first, "", "nonsense", `"`, "*"} {
		refused(t, s, "t/a", old)
	}
	Holds(t, s, "t/a", "two", second)
}

// A register that was removed and made again must not have a version of its earlier life.
func recreated(t *testing.T, open func() store.Store) {
	s := open()
	first := Swap(t, s, "t/a", "", "one")
	if err := s.Delete(t.Context(), "t/a"); err != nil {
		t.Fatal(err)
	}
	refused(t, s, "t/a", first)
	again := Swap(t, s, "t/a", "", "another")
	refused(t, s, "t/a", first)
	Holds(t, s, "t/a", "another", again)
}

const (
	writers = 32
	rounds  = 6
)

// race lets all writers swap at once, and returns how many succeeded and the last one's version.
func race(t *testing.T, stores []store.Store, key, old string, round int) (won int64,
	version string) {
	t.Helper()
	var wins atomic.Int64
	var winner atomic.Value
	var ready, done sync.WaitGroup
	ready.Add(1)
	for i, s := range stores {
		done.Go(func() {
			ready.Wait()
			v, err := s.Swap(t.Context(), key, old, fmt.Appendf(nil, "round %d, writer %d", round,
				i))
			switch {
			case err == nil:
				wins.Add(1)
				winner.Store(v)
			case !errors.Is(err, store.ErrMoved):
				t.Error(err)
			}
		})
	}
	ready.Done()
	done.Wait()
	version, _ = winner.Load().(string)
	return wins.Load(), version
}

// One of many writers at once swaps a register, and one creates another.
func oneWins(t *testing.T, open func() store.Store) {
	stores := many(open)
	version := Swap(t, stores[0], "t/a", "", "start")
	for round := range rounds {
		won, next := race(t, stores, "t/a", version, round)
		created, _ := race(t, stores, fmt.Sprint("t/", round), "", round)
		if won != 1 || created != 1 {
			t.Fatalf("round %d: of %d writers %d won, %d created it", round, writers, won, created)
		}
		version = next
	}
}

func many(open func() store.Store) []store.Store {
	var stores []store.Store
	for range writers {
		stores = append(stores, open())
	}
	return stores
}

func contents(t *testing.T, open func() store.Store) {
	s, other := open(), open()
	for name, content := range map[string]string{"b/a": "content\x00\xff", "b/empty": ""} {
		version := Swap(t, s, name, "", content)
		refused(t, other, name, "")
		Holds(t, other, name, content, version)
	}
}

func large(t *testing.T, open func() store.Store) {
	content := make([]byte, 8<<20)
	rand.NewChaCha8([32]byte{1}).Read(content) // never fails
	Swap(t, open(), "b/large", "", string(content))
	got, err := open().Read(t.Context(), "b/large")
	if err != nil || !bytes.Equal(got.Content, content) {
		t.Fatal(len(got.Content), err)
	}
}

func remove(t *testing.T, open func() store.Store) {
	s := open()
	Swap(t, s, "t/a", "", "one")
	Swap(t, s, "t/b", "", "two")
	Swap(t, s, "b/a", "", "b/a")
	Swap(t, s, "b/b", "", "b/b")
	for range 2 {
		if err := s.Delete(t.Context(), "t/a", "b/a", "b/never"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(t.Context()); err != nil {
		t.Fatal("nothing:", err)
	}
	listed(t, s, "", []string{"b/b", "t/b"})
	if _, err := s.Read(t.Context(), "b/a"); !errors.Is(err, store.ErrAbsent) {
		t.Fatal(err)
	}
}

func listed(t *testing.T, s store.Store, prefix string, want []string) {
	t.Helper()
	got, err := s.List(t.Context(), prefix)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("list %q: %d keys %.200q, %v; want %d %.200q", prefix, len(got), got, err,
			len(want), want)
	}
}

func list(t *testing.T, open func() store.Store) {
	s := open()
	listed(t, s, "", nil)
	// No key continues another after a slash: S3 servers that keep objects as files refuse it.
	keys := []string{"t/a", "t/a b", "t/a+b", "t/a%2Fc", "t/d/e", "t/A", "t/_", "t/100%", "t/10000",
		"t/ä€", "t/x'y\"z", `t/a\b`, "t/a&b=c?d#e", "t/<x>", "u/a", "t/object", "o/a~b"}
	for _, key := range keys {
		Holds(t, s, key, "value of "+key, Swap(t, s, key, "", "value of "+key))
	}
	all := slices.Sorted(slices.Values(keys))
	for _, prefix := range []string{"", "t", "t/", "t/a", "t/d/", "t/_", "t/100%", "t/%", "t/a+",
		"t/a ", "t/ä", `t/a\`, "t/x'", "v"} {
		var want []string
		for _, key := range all {
			if strings.HasPrefix(key, prefix) {
				want = append(want, key)
			}
		}
		listed(t, s, prefix, want)
	}
	if err := s.Delete(t.Context(), all...); err != nil {
		t.Fatal(err)
	}
	listed(t, s, "", nil)
}

// An S3 server lists and deletes at most a thousand keys at a time.
func listLong(t *testing.T, open func() store.Store) {
	var want []string
	for i := range 1100 {
		want = append(want, fmt.Sprintf("l/%05d", i))
	}
	var done sync.WaitGroup
	for part := range slices.Chunk(want, 100) {
		s := open()
		done.Go(func() {
			for _, name := range part {
				if _, err := s.Swap(t.Context(), name, "", []byte("x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	s := open()
	listed(t, s, "l/", want)
	if err := s.Delete(t.Context(), want...); err != nil {
		t.Fatal(err)
	}
	listed(t, s, "", nil)
}

// Verbs calls each verb once, and returns the errors by the verbs' names.
func Verbs(ctx context.Context, s store.Store) map[string]error {
	_, read := s.Read(ctx, "t/x")
	_, create := s.Swap(ctx, "t/x", "", []byte("value"))
	_, swap := s.Swap(ctx, "t/x", "1", []byte("value"))
	_, list := s.List(ctx, "t/")
	return map[string]error{"read": read, "create": create, "swap": swap, "list": list,
		"delete": s.Delete(ctx, "b/x")}
}

// A write that a context's end came before has not been sent.
func deadline(t *testing.T, open func() store.Store) {
	s := open()
	cause := errors.New("the call has ended")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	for verb, err := range Verbs(ended, s) {
		if !errors.Is(err, cause) || errors.Is(err, store.ErrUnknown) {
			t.Errorf("%s: %v", verb, err)
		}
	}
	late, cancelLate := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancelLate()
	if _, err := s.Read(late, "t/x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	listed(t, s, "", nil)
}

// Goroutines share a store: nothing is lost or mixed up.
func concurrent(t *testing.T, open func() store.Store) {
	s := open()
	var done sync.WaitGroup
	for i := range 8 {
		done.Go(func() {
			key, version := fmt.Sprint("t/", i), ""
			for n := range 10 {
				value := fmt.Sprint(i, " ", n)
				next, err := s.Swap(t.Context(), key, version, []byte(value))
				if err != nil {
					t.Error(err)
					return
				}
				got, err := s.Read(t.Context(), key)
				if err != nil || string(got.Content) != value || got.Version != next {
					t.Errorf("%s: %q, %v; want %q at %q", key, got, err, value, next)
				}
				version = next
			}
		})
	}
	done.Wait()
}
