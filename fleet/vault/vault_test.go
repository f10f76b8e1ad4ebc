package vault

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/fleet/bundle"
	"reprise/fleet/store"
)

var (
	keyA, keyB = store.Key(bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, 4)),
		store.Key(bytes.Repeat([]byte{2, 3, 4, 5, 6, 7, 8, 9}, 4))
	tested = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
)

func passes(context.Context, store.Store) error { return nil }

func open(t *testing.T, engine store.Store, key store.Key) *Vault {
	t.Helper()
	v := Open(t.Context(), engine,
		Options{Key: key, Limits: bundle.Limits{Size: 1 << 20, Files: 100}, SelfTest: passes,
			Now: func() time.Time {
				return tested
			}})
	if _, err := v.ready(); err != nil { // a test breaks the store afterwards
		t.Fatal(err)
	}
	return v
}

func swap(t *testing.T, v *Vault, name store.Name, old, value string) string {
	t.Helper()
	version, err := v.Swap(t.Context(), name, old, []byte(value))
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// value returns a register's value, or the error of reading it.
func value(t *testing.T, v *Vault, name store.Name) string {
	t.Helper()
	r, err := store.One(v.List(t.Context(), name, 1))
	for _, kind := range []error{store.ErrAbsent, store.ErrNewer} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	if err != nil {
		t.Error(err)
	}
	if r.Damaged {
		return damaged
	}
	if err == nil && !reflect.DeepEqual(r.Name, name) {
		t.Errorf("read %q as %q", name, r.Name)
	}
	return string(r.Value)
}

const (
	absent  = "there is no such entry"
	damaged = "damaged"
)

var (
	task    = store.Name{Kind: store.Task, Of: []string{"project", "/work\xff", "build"}}
	chain   = store.Name{Kind: store.Opening, Of: []string{"job", "digest"}, ID: "one"}
	opening = store.Name{Kind: store.Opening, Of: []string{"job", "digest"}}
)

func TestRegisters(t *testing.T) {
	v := open(t, &memory{}, keyA)
	for _, name := range []store.Name{task, chain} {
		if got := value(t, v, name); got != absent {
			t.Errorf("before: %q", got)
		}
		first := swap(t, v, name, "", "1")
		if _, err := v.Swap(t.Context(), name, "", []byte("x")); !errors.Is(err, store.ErrMoved) {
			t.Errorf("created twice: %v", err)
		}
		second := swap(t, v, name, first, "2")
		if _, err := v.Swap(t.Context(), name,
			first, []byte("x")); !errors.Is(err, store.ErrMoved) {
			t.Errorf("replaced twice: %v", err)
		}
		if got := value(t, v, name); got != "2" {
			t.Errorf("read %q", got)
		}
		if err := v.Remove(t.Context(),
			store.Register{Name: name, Version: first}); !errors.Is(err, store.ErrMoved) {
			t.Errorf("removed an old version: %v", err)
		}
		if err := v.Remove(t.Context(), store.Register{Name: name, Version: second}); err != nil ||
			value(t, v, name) != absent {
			t.Errorf("removed: %v, read %q", err, value(t, v, name))
		}
		if _, err := v.Swap(t.Context(), name,
			second, []byte("x")); !errors.Is(err, store.ErrMoved) {
			t.Errorf("replaced what is removed: %v", err)
		}
		if swap(t, v, name, "", "3"); value(t, v, name) != "3" {
			t.Errorf("created again: %q", value(t, v, name))
		}
	}
	for _, of := range [][]string{{"project", "/work\xfe", "build"},
		{"project/", "work\xff", "build"}, {"project", "/work\xff", "build", ""}} {
		if got := value(t, v, store.Name{Kind: store.Task, Of: of}); got != absent {
			t.Errorf("%q: %q", of, got)
		}
	}
}

func TestOpenings(t *testing.T) {
	v, ids := open(t, &memory{}, keyA), map[string]bool{}
	for i := range 40 {
		name := opening
		name.ID = fmt.Sprint(i)
		version := swap(t, v, name, "", name.ID)
		if i >= 30 {
			if err := v.Remove(t.Context(),
				store.Register{Name: name, Version: version}); err != nil {
				t.Fatal(err)
			}
		}
	}
	swap(t, v, store.Name{Kind: store.Opening, Of: []string{"job", "other"}, ID: "1"}, "", "other")
	swap(t, v, task, "", "task")
	list, more, err := v.List(t.Context(), opening, 100)
	for _, r := range list {
		ids[r.Name.ID] = string(r.Value) == r.Name.ID && slices.Equal(r.Name.Of, opening.Of)
	}
	if err != nil || more || len(list) != 30 || len(ids) != 30 || !ids["0"] || !ids["29"] {
		t.Errorf("listed %d, %v, %v: %v", len(list), more, err, ids)
	}
	if list, more, err := v.List(t.Context(), opening, 5); err != nil || !more || len(list) > 5 {
		t.Errorf("limited: %d, %v, %v", len(list), more, err)
	}
	for kind, want := range map[string]int{store.Task: 1, store.Opening: 31} {
		all, more, err := v.List(t.Context(), store.Name{Kind: kind}, math.MaxInt)
		if err != nil || more || len(all) != want {
			t.Errorf("%d registers of kind %s, %v, %v", len(all), kind, more, err)
		}
	}
}

// In lists of all registers, a register that is damaged or of another key counts as damaged.
func TestListsLeaveOut(t *testing.T) {
	m := &memory{}
	v := open(t, m, keyA)
	swap(t, v, task, "", "1")
	swap(t, v, chain, "", "2")
	m.put("t/other", derive(keyB).seal("", "t/other", nil))
	m.put(v.keys.entries(opening)+"0", []byte("damaged"))
	list, _, err := v.List(t.Context(), opening, 10)
	tasks, _, err2 := v.List(t.Context(), store.Name{Kind: store.Task}, 10)
	openings, _, err3 := v.List(t.Context(), store.Name{Kind: store.Opening}, 10)
	if err := errors.Join(err, err2, err3); err != nil || len(list) != 2 ||
		list[0].Damaged == list[1].Damaged || len(tasks)+len(openings) != 4 {
		t.Errorf("listed %d, %d and %d registers, %v", len(list), len(tasks), len(openings), err)
	}
	m.refuse = store.ErrUnreachable
	if _, _, err := v.List(t.Context(), opening, 10); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("a store that is gone: %v", err)
	}
}

// The meaning of a lost answer depends on the store's content afterwards.
func TestLostAnswers(t *testing.T) {
	lost := fmt.Errorf("reset: %w", store.ErrUnknown)
	cases := []struct {
		name string
		swap func(m *memory, key string, write func() (string, error)) (string, error)
		want error
	}{
		{"arrived", func(_ *memory, _ string,
			write func() (string, error)) (string, error) {
			write()
			return "", lost
		}, nil},
		{"repeated by a proxy", func(_ *memory, _ string,
			write func() (string, error)) (string, error) {
			write()
			return write()
		}, nil},
		{"did not arrive", func(*memory,
			string, func() (string, error)) (string, error) {
			return "", lost
		}, store.ErrUnknown},
		{"not readable", func(m *memory, _ string, write func() (string, error)) (string, error) {
			write()
			m.refuse = store.ErrUnreachable
			return "", lost
		}, store.ErrUnknown},
		{"gone", func(m *memory, key string, _ func() (string, error)) (string, error) {
			m.Delete(context.Background(), key)
			return "", lost
		}, store.ErrMoved},
		{"refused", func(*memory,
			string, func() (string, error)) (string, error) {
			return "", store.ErrDenied
		},
			store.ErrDenied},
	}
	for _, c := range cases {
		m := &memory{}
		v := open(t, m, keyA)
		old := swap(t, v, task, "", "1")
		m.swap = func(key string, write func() (string, error)) (string, error) {
			return c.swap(m, key, write)
		}
		version, err := v.Swap(t.Context(), task, old, []byte("2"))
		m.swap, m.refuse = nil, nil
		if !errors.Is(err, c.want) || c.want == store.ErrMoved && errors.Is(err, store.ErrUnknown) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.want == nil {
			r, err := store.One(v.List(t.Context(), task, 1))
			if err != nil || r.Version != version || string(r.Value) != "2" {
				t.Errorf("%s: %s is not the version of %+v, %v", c.name, version, r, err)
			}
		}
	}
	m := &memory{}
	v := open(t, m, keyA)
	m.swap = func(key string, write func() (string, error)) (string, error) {
		m.swap = nil
		swap(t, open(t, m, keyA), task, "", "another's")
		return "", lost
	}
	if _, err := v.Swap(t.Context(), task, "", []byte("1")); !errors.Is(err, store.ErrMoved) ||
		errors.Is(err, store.ErrUnknown) {
		t.Errorf("another's: %v", err)
	}
	m.swap = func(string, func() (string, error)) (string, error) { return "", lost }
	if _, err := v.Swap(t.Context(), chain, "", []byte("1")); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("a new register that did not arrive: %v", err)
	}
}

// A machine with another key begins chains of its own, which hide nothing.
func TestOtherKey(t *testing.T) {
	m := &memory{}
	before, after := open(t, m, keyA), open(t, m, keyB)
	version := swap(t, before, task, "", "1")
	if value(t, after, task) != absent {
		t.Error("another key reads the register")
	}
	if _, err := after.Swap(t.Context(), task,
		version, []byte("x")); !errors.Is(err, store.ErrMoved) {
		t.Errorf("with a version of another key: %v", err)
	}
	swap(t, after, task, "", "own")
	if value(t, before, task) != "1" || value(t, after, task) != "own" {
		t.Error("two chains under two keys are mixed")
	}
}

func TestBundles(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	os.Mkdir(filepath.Join(from, "s"), 0o700)
	os.WriteFile(filepath.Join(from, "s/a"), []byte("content"), 0o600)
	m := &memory{}
	v := open(t, m, keyA)
	b, err := v.Save(t.Context(), from, []string{"s"})
	if err != nil || !isBundle(b.Name) {
		t.Fatalf("saved %+v, %v", b, err)
	}
	load := func(v *Vault, b store.Bundle, dir string, replace ...string) error {
		return v.Load(t.Context(), b, dir, []string{"s"}, replace)
	}
	if err := load(open(t, m, keyB), b, to); !errors.Is(err, store.ErrBroken) {
		t.Errorf("another key: %v", err)
	}
	if left, err := os.ReadDir(to); err != nil || len(left) > 0 {
		t.Errorf("a refused bundle leaves %v, %v", left, err)
	}
	for _, odd := range []store.Bundle{{Name: b.Name}, {Name: formatEntry, Digest: b.Digest}, {}} {
		if err := load(v, odd, to); !errors.Is(err, store.ErrBroken) {
			t.Errorf("%+v: %v", odd, err)
		}
	}
	if err := load(open(t, m, keyA), b, to); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(filepath.Join(to, "s/a")); string(got) != "content" {
		t.Errorf("unpacked %q, %v", got, err)
	}
	m.refuse = errors.New("not needed")
	if err := load(v, b, to); err != nil {
		t.Errorf("files that are there already: %v", err)
	}
	os.WriteFile(filepath.Join(to, "s/a"), []byte("other"), 0o600)
	if err := load(v, b, to, b.Digest); !errors.Is(err, store.ErrChanged) {
		t.Errorf("other files: %v", err)
	}
	m.refuse = nil
	other, err := v.Save(t.Context(), to, []string{"s"})
	if err != nil || load(v, b, to, other.Digest) != nil {
		t.Errorf("an earlier generation is not replaced: %v", err)
	}
	if err := v.Drop(t.Context(), b.Name, other.Name); err != nil {
		t.Error(err)
	}
	if err := load(v, b, t.TempDir()); !errors.Is(err, store.ErrAbsent) {
		t.Errorf("dropped: %v", err)
	}
	if err := v.Drop(t.Context(), formatEntry); err == nil {
		t.Error("dropped what is no bundle")
	}
	os.WriteFile(filepath.Join(from, "s/b"), make([]byte, 1<<20), 0o600)
	if _, err := v.Save(t.Context(), from, []string{"s"}); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}

func TestCheck(t *testing.T) {
	var tests int
	var verdict error
	m := &memory{}
	test := func(context.Context, store.Store) error { tests++; return verdict }
	vault := func() *Vault {
		return Open(t.Context(), m,
			Options{Key: keyA, SelfTest: test, Now: func() time.Time { return tested }})
	}
	verdict = store.ErrUnsafe
	v := vault()
	for range 2 {
		if _, err := v.Swap(t.Context(), task, "", nil); !errors.Is(err, store.ErrUnsafe) ||
			tests != 1 {
			t.Errorf("unsafe: %v after %d tests", err, tests)
		}
	}
	verdict, tests = errors.New("a reset"), 0
	v = vault()
	if _, err := v.Swap(t.Context(), task, "", nil); err == nil {
		t.Error("written though the test failed")
	}
	verdict = nil
	swap(t, v, task, "", "1")
	if when, _, err := vault().Test(t.Context()); err != nil || !when.Equal(tested) || tests > 3 {
		t.Errorf("tested %s, %v after %d tests", when, err, tests)
	}
	// all counts the registers that can be read, and the others.
	all := func(v *Vault) (counts [2]int) {
		registers, _, err := v.List(t.Context(), store.Name{Kind: store.Task}, math.MaxInt)
		if err != nil {
			t.Error(err)
		}
		for _, r := range registers {
			if r.Damaged {
				counts[1]++
			} else {
				counts[0]++
			}
		}
		return counts
	}
	if got := all(vault()); got != [2]int{1, 0} {
		t.Errorf("registers: %v", got)
	}
	if got := all(open(t, m, keyB)); got != [2]int{0, 1} {
		t.Errorf("another key's registers: %v", got)
	}
	m.put(formatEntry, []byte(`{"version":3}`))
	if _, err := vault().Swap(t.Context(), chain, "", nil); !errors.Is(err, store.ErrNewer) {
		t.Errorf("newer: %v", err)
	}
	// A damaged format is replaced. The store's content is bound to its former ID.
	m.put(formatEntry, []byte(`garbage`))
	if got := all(vault()); got != [2]int{0, 1} {
		t.Errorf("damaged format: %v", got)
	}
	m.refuse = store.ErrNoStore
	if _, _, err := vault().Test(t.Context()); !errors.Is(err, store.ErrNoStore) {
		t.Errorf("no store: %v", err)
	}
}

func TestPadding(t *testing.T) {
	for n := 1; n < 1<<22; n += 1 + n/50 {
		if p := padded(n); p < n || p > max(smallest, n)+max(smallest, n/8) {
			t.Fatalf("%d is padded to %d", n, p)
		}
	}
	k, sizes := derive(keyA), map[int]bool{}
	for n := range 3000 {
		sizes[len(k.seal("", "x", make([]byte, n)))] = true
	}
	if len(sizes) != 2 {
		t.Errorf("3000 lengths have the sizes %v", slices.Sorted(maps.Keys(sizes)))
	}
}

// A reader of a store finds no name or text of a session in it.
func TestReaderLearnsNothing(t *testing.T) {
	secrets := []string{"the-project", "/home/user/work", "the-task", "opening-digest",
		"chain-id-77", "host-name-9", "prompt text of a user", "0198c7f0-session", "projects/slug"}
	m := &memory{}
	for _, key := range []store.Key{keyA, keyB} {
		v := open(t, m, key)
		name := store.Name{Kind: store.Task, Of: secrets[:3]}
		r, err := store.One(v.List(t.Context(), name, 1))
		if err != nil && !errors.Is(err, store.ErrAbsent) {
			t.Fatal(err)
		}
		version := swap(t, v, name, r.Version, strings.Join(secrets[5:8], " "))
		swap(t, v, store.Name{Kind: store.Opening, Of: secrets[3:4], ID: secrets[4] +
			fmt.Sprint(key[0])}, "", secrets[6])
		root := t.TempDir()
		os.MkdirAll(filepath.Join(root, secrets[8]), 0o700)
		os.WriteFile(filepath.Join(root, secrets[8], secrets[7]+".jsonl"), []byte(secrets[6]),
			0o600)
		if _, err := v.Save(t.Context(), root, []string{secrets[8]}); err != nil {
			t.Fatal(err)
		}
		if err := v.Remove(t.Context(), store.Register{Name: name, Version: version}); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.history) < 18 {
		t.Fatalf("only %d texts were stored", len(m.history))
	}
	key, keyHex := string(keyA[:8]), hex.EncodeToString(keyA[:8])
	for _, stored := range m.history {
		// among them zstd's magic number
		for _, secret := range append(secrets, "jsonl", "task", "\x28\xb5\x2f\xfd", key, keyHex) {
			if strings.Contains(stored, secret) {
				t.Errorf("%q is in clear text in %.80q", secret, stored)
			}
		}
	}
}

// A writer without the store's key can only make entries missing or broken.
func TestWriterCanOnlyDeny(t *testing.T) {
	m := &memory{}
	v := open(t, m, keyA)
	other := store.Name{Kind: store.Task, Of: []string{"project", "/work", "other"}}
	swap(t, v, task, "", "task")
	swap(t, v, other, "", "other")
	swap(t, v, chain, "", "chain")
	root := t.TempDir()
	os.WriteFile(filepath.Join(root, "s"), bytes.Repeat([]byte("content"), 500), 0o600)
	b1, err1 := v.Save(t.Context(), root, []string{"s"})
	os.WriteFile(filepath.Join(root, "s"), []byte("newer"), 0o600)
	b2, err2 := v.Save(t.Context(), root, []string{"s"})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	good := m.all()
	denied := func(what string) {
		t.Helper()
		for name, want := range map[*store.Name]string{&task: "task",
			&other: "other", &chain: "chain"} {
			switch got := value(t, v, *name); got {
			case want, absent, damaged:
			default:
				t.Errorf("%s: read %q for %q", what, got, want)
			}
		}
		for _, b := range []store.Bundle{b1, b2} {
			dir := t.TempDir()
			err := v.Load(t.Context(), b, dir, []string{"s"}, nil)
			entries, _ := os.ReadDir(dir)
			if err == nil {
				here, _ := os.ReadFile(filepath.Join(dir, "s"))
				if (string(here) == "newer") != (b == b2) || len(entries) != 1 {
					t.Errorf("%s: unpacked %.20q", what, here)
				}
			} else if len(entries) != 0 ||
				!errors.Is(err, store.ErrBroken) && !errors.Is(err, store.ErrAbsent) {
				t.Errorf("%s: %v left %v", what, err, entries)
			}
		}
	}
	names := slices.Sorted(maps.Keys(good))
	for _, name := range names {
		content := good[name]
		at := []int{0, 1, headSize - 1, headSize, headSize + 3, len(content) / 2, len(content) - 17,
			len(content) - 1}
		for range 5 {
			at = append(at, rand.IntN(len(content)))
		}
		for _, i := range at {
			if i < 0 || i >= len(content) {
				continue
			}
			bad := slices.Clone(content)
			bad[i] ^= 1 << rand.IntN(8)
			m.put(name, bad)
			denied(fmt.Sprintf("bit of byte %d of %s", i, name))
			m.put(name, content[:i])
			denied(fmt.Sprintf("%s cut at %d", name, i))
		}
		for _, from := range names {
			m.put(name, good[from])
			denied(fmt.Sprintf("%s under the name %s", from, name))
		}
		m.put(name, derive(keyB).seal("", name, []byte("{}\nforged")))
		denied("forged " + name)
		m.Delete(t.Context(), name)
		denied("deleted " + name)
		m.put(name, content)
	}
	for name, content := range good {
		m.put(name, content)
	}
	if value(t, v, task) != "task" {
		t.Error("what is as it was is not read")
	}
}

// A damaged register can be replaced and removed like any other, also where only its place is
// known.
func TestDamagedIsMended(t *testing.T) {
	m := &memory{}
	v := open(t, m, keyA)
	for _, junk := range []string{"", "\x01", "\x02junk", strings.Repeat("\x01", 4000)} {
		r, err := store.One(v.List(t.Context(), task, 1))
		if err == nil {
			err = v.Remove(t.Context(), r)
		}
		if err != nil && !errors.Is(err, store.ErrAbsent) {
			t.Fatal(err)
		}
		swap(t, v, task, "", "value")
		m.put(v.keys.entry(task), []byte(junk))
		r, err = store.One(v.List(t.Context(), task, 1))
		if err != nil || !r.Damaged || len(r.Value) > 0 {
			t.Fatalf("%.9q: %+v, %v", junk, r, err)
		}
		if _, err := v.Swap(t.Context(), task, "", nil); !errors.Is(err, store.ErrMoved) {
			t.Errorf("%.9q: made anew: %v", junk, err)
		}
		swap(t, v, task, r.Version, "mended")
		if got := value(t, v, task); got != "mended" {
			t.Errorf("%.9q: %s", junk, got)
		}
		m.put(v.keys.entry(task), []byte(junk))
		list, _, err := v.List(t.Context(), task, 9)
		if err != nil || len(list) != 1 || !list[0].Damaged {
			t.Fatalf("%.9q: %+v, %v", junk, list, err)
		}
		if err := v.Remove(t.Context(), list[0]); err != nil || value(t, v, task) != absent {
			t.Errorf("%.9q: %v", junk, err)
		}
	}
}

// An entry of another store of the same key is damaged.
func TestEntriesAreBoundToTheirStore(t *testing.T) {
	stage, prod := &memory{}, &memory{}
	swap(t, open(t, stage, keyA), task, "", "value")
	v := open(t, prod, keyA)
	for name, content := range stage.all() {
		if name != formatEntry {
			prod.put(name, content)
		}
	}
	if got := value(t, v, task); got != damaged {
		t.Error(got)
	}
}

// A store can remove an object that is not rewritten: its format is written anew each day, with the
// same ID.
func TestFormatIsKept(t *testing.T) {
	m, now := &memory{}, tested
	first := open(t, m, keyA)
	swap(t, first, task, "", "value")
	for range 3 {
		now = now.Add(renewed)
		before := string(m.all()[formatEntry])
		v := Open(t.Context(), m,
			Options{Key: keyA, SelfTest: passes, Now: func() time.Time { return now }})
		if value(t, v, task) != "value" || string(m.all()[formatEntry]) == before {
			t.Errorf("%s", m.all()[formatEntry])
		}
	}
}

// The helper of a call that could not wait for the test of a new store ends the test: the next call
// can use the store.
func TestTestOfAFarStoreIsEnded(t *testing.T) {
	m, slow := &memory{}, make(chan struct{})
	v := Open(t.Context(), m, Options{Key: keyA, Now: func() time.Time { return tested },
		SelfTest: func(context.Context, store.Store) error {
			<-slow
			return nil
		}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	ended := make(chan error)
	go func() {
		_, err := v.Swap(ctx, task, "", nil)
		ended <- err
	}()
	<-ctx.Done()
	close(slow)
	if err := <-ended; err == nil {
		t.Fatal("written after the call has given up")
	}
	if _, there := m.all()[formatEntry]; !there {
		t.Error("the store has no format")
	}
}

// A removed register is a note of that, without its name or value.
func TestRemovedIsEmpty(t *testing.T) {
	m := &memory{}
	v := open(t, m, keyA)
	version := swap(t, v, task, "", "value")
	if err := v.Remove(t.Context(), store.Register{Name: task, Version: version}); err != nil {
		t.Fatal(err)
	}
	f, err := v.readEntry(t.Context(), v.keys.entry(task))
	if err != nil || !f.Gone || len(f.value) != 0 || len(f.Of) != 0 {
		t.Errorf("left %+v, %v", f, err)
	}
}

func TestSweep(t *testing.T) {
	engine, now := &memory{}, tested
	v := open(t, engine, keyA)
	v.options.Now = func() time.Time { return now }
	kept := store.Name{Kind: store.Task, Of: []string{"p", "/w", "kept"}}
	keptVersion := swap(t, v, kept, "", "value")
	for _, name := range []store.Name{{Kind: store.Task, Of: []string{"p", "/w", "t"}},
		{Kind: store.Opening, Of: []string{"o"}, ID: "1"}} {
		if err := v.Remove(t.Context(),
			store.Register{Name: name, Version: swap(t, v, name, "", "value")}); err != nil {
			t.Fatal(err)
		}
	}
	sweep := func(want int) {
		t.Helper()
		if n, err := v.Sweep(t.Context()); n != want || err != nil {
			t.Errorf("swept %d, %v, want %d", n, err, want)
		}
	}
	sweep(0) // a late write can still mean a bundle that was just removed
	now = now.Add(late)
	sweep(2)
	sweep(0)
	if r, err := store.One(v.List(t.Context(), kept, 1)); err != nil || r.Version != keptVersion {
		t.Errorf("%+v, %v", r, err)
	}
}
