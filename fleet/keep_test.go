package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
)

func (f *fakeStore) Remove(_ context.Context, r store.Register) error {
	name, version := r.Name, r.Version
	if before := f.before; before != nil {
		f.before = nil
		before()
	}
	if f.registers[fmt.Sprint(name)].Version != version {
		return store.ErrMoved
	}
	delete(f.registers, fmt.Sprint(name))
	return f.fail
}

// keeper returns the book of a machine that has not seen any of the store's calls.
func (f *fakeStore) keeper() *Book {
	return &Book{RemoteOptions: ledger.RemoteOptions{Project: "org/repo"}, Store: f}
}

// runShared makes one call and ends it well.
func runShared(t *testing.T, s *Book, c *ledger.Call, resumes, id string) {
	t.Helper()
	_, ticket := wantResume(t, s, c, resumes)
	endShared(t, s, ticket, id, "Done with the parser.", c.Now+1000)
}

const rejected = "\n\n## Rejection\n\nYour change fails a test: done with the parser."

func TestResetInStore(t *testing.T) {
	for _, task := range []string{"", "task"} {
		t.Run(fmt.Sprintf("%q", task), func(t *testing.T) {
			f := newFakeStore()
			a, b := f.machine(t, "a"), f.machine(t, "b")
			prompt := fmt.Sprintf(base, 1)
			runShared(t, a, sharedCall(a, task, prompt, 1000), "", firstID)
			name := ledger.ChainName{Tool: "claude", Cwd: sharedCall(a, task, prompt, 0).Cwd,
				Task: task, NativeIDs: []string{firstID}}
			other := name
			other.NativeIDs = []string{secondID}
			k := f.keeper()
			elsewhere := f.keeper()
			elsewhere.Project = "org/other"
			if records, err := elsewhere.Reset(t.Context(), other, 3000); records != 0 ||
				err != nil {
				t.Errorf("another chain: %d, %v", records, err)
			}
			f.before = func() { // another run of the chain ends at the same time
				runShared(t, b, sharedCall(b, task, prompt+rejected, 3000), firstID, firstID)
			}
			if records, err := k.Reset(t.Context(), name, 3000); records != 1 || err != nil {
				t.Errorf("%d, %v", records, err)
			}
			wantResume(t, b, sharedCall(b, task, prompt+rejected+rejected, 5000), "")
		})
	}
}

func TestForgetInStore(t *testing.T) {
	f := newFakeStore()
	a := f.machine(t, "a")
	call := func(role string, now decide.Millis) *ledger.Call {
		prompt := fmt.Sprintf(base, 1)
		if now > 3000 {
			prompt += rejected
		}
		c := sharedCall(a, "task", prompt, now)
		c.Role = role
		return c
	}
	runShared(t, a, call("author", 1000), "", firstID)
	runShared(t, a, call("reviewer", 2000), "", secondID)
	_, running := wantResume(t, a, call("author", 4000), firstID)
	author := ledger.ChainName{Task: "task", Tool: "claude", Cwd: call("", 0).Cwd, Role: "author"}
	k := f.keeper()
	if _, err := k.Forget(t.Context(), author, 5000, false); !errors.Is(err, ledger.ErrInUse) {
		t.Errorf("a chain in use: %v", err)
	}
	endShared(t, a, running, firstID, "Done.", 6000)
	if sessions, err := k.Forget(t.Context(), author, 5000, true); sessions != 1 ||
		err != nil || len(f.bundles) != 2 {
		t.Errorf("dry: %d, %v, %v", sessions, err, f.bundles)
	}
	if sessions, err := k.Forget(t.Context(), author, 5000, false); sessions != 1 ||
		err != nil || len(f.registers) != 1 || len(f.bundles) != 1 {
		t.Errorf("%d, %v, %v %v", sessions, err, f.registers, f.bundles)
	}
	wantNative(t, k, secondID)
	author.Role = "reviewer"
	if sessions, err := k.Forget(t.Context(), author, 5000, false); sessions != 1 ||
		err != nil || len(f.registers)+len(f.bundles) != 0 {
		t.Errorf("%d, %v, %v %v", sessions, err, f.registers, f.bundles)
	}
}

// Damage does not keep reset and forget from their work.
func TestDamagedInStore(t *testing.T) {
	f := newFakeStore()
	a := f.machine(t, "a")
	c := sharedCall(a, "task", fmt.Sprintf(base, 1), 1000)
	runShared(t, a, c, "", firstID)
	key, r := f.register(t)
	r.Damaged, r.Value = true, nil
	f.registers[key] = r
	name, k := ledger.ChainName{Task: "task", Tool: "claude", Cwd: c.Cwd}, f.keeper()
	if records, err := k.Reset(t.Context(), name, 3000); err != nil || records != 1 ||
		len(f.registers) != 1 {
		t.Errorf("reset: %d, %v", records, err)
	}
	for _, dry := range []bool{true, false} {
		if sessions, err := k.Forget(t.Context(), name, 5000, dry); err != nil ||
			sessions != 0 || (len(f.registers) == 1) != dry {
			t.Errorf("forget, dry %v: %d, %v, %d registers", dry, sessions, err, len(f.registers))
		}
	}
}

// wantNative checks which sessions the store has.
func wantNative(t *testing.T, k *Book, want ...string) {
	t.Helper()
	var ids []string
	for _, kind := range store.Kinds {
		registers, _, err := k.Store.List(t.Context(), store.Name{Kind: kind}, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range registers {
			r, err := decode(one)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range r.Sessions {
				ids = append(ids, s.NativeID)
			}
		}
	}
	if !slices.Equal(ids, want) {
		t.Errorf("the store has %q, want %q", ids, want)
	}
}
