package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// The session of a call that was made without the store is later than the store's, which is then
// not resumed. The next call of the store goes on with the new one.
func TestACallWithoutTheStoreEndsItsSessions(t *testing.T) {
	f := newFakeStore()
	a, b := f.machine(t, "a"), f.machine(t, "b")
	_, ticket := wantResume(t, a, sharedCall(a, "task", "Write the parser.", 1000), "")
	endShared(t, a, ticket, firstID, "Done.", 2000)

	without := sharedCall(a, "task", "Rename foo.", 3000)
	without.Fresh = reason.StoreUnavailable
	_, own, err := ledger.Begin(a.Local, without)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Local.Finish(own, goodOutcome(secondID, "Renamed foo.", 4000)); err != nil {
		t.Fatal(err)
	}
	d, ticket := wantResume(t, a, sharedCall(a, "task", "Undo that.", 5000), "")
	if d.Reason != reason.StoreUnavailable {
		t.Errorf("%s", d.Reason)
	}
	endShared(t, a, ticket, thirdID, "Undone.", 6000)
	_, ticket = wantResume(t, b, sharedCall(b, "task", "Go on.", 7000), thirdID)
	endShared(t, b, ticket, thirdID, "Done.", 8000)
	_, _ = wantResume(t, a, sharedCall(a, "task", "Go on here.", 9000), thirdID)
}

// A session that cannot be brought here is replaced: it is no other end of its job. The new one is
// known here as the store's.
func TestABundleThatIsRefusedIsReplaced(t *testing.T) {
	for _, copies := range []bool{false, true} {
		f := newFakeStore()
		a := f.machine(t, "a")
		call := func(prompt string, now decide.Millis) *ledger.Call {
			c := sharedCall(a, "task", prompt, now)
			c.Copies = copies
			return c
		}
		_, ticket := wantResume(t, a, call("Write the parser.", 1000), "")
		endShared(t, a, ticket, firstID, "Done.", 2000)
		_, ticket = wantResume(t, a, call("Review one.", 3000), firstID)
		if err := a.FallBack(ticket, reason.SessionMoved); err != nil {
			t.Fatal(err)
		}
		endShared(t, a, ticket, secondID, "Anew.", 4000)
		_, ticket = wantResume(t, a, call("Review two.", 5000), secondID)
		if known, err := a.Local.KnownFiles(ticket); err != nil || len(known) != 1 {
			t.Errorf("copies %t: known %q, %v", copies, known, err)
		}
	}
}

// Each turn of a conversation ends the roles that its own answer names.
func TestResetsOfTheFirstTurnReachTheStore(t *testing.T) {
	f := newFakeStore()
	a := f.machine(t, "a")
	call := func(role, prompt string, now decide.Millis) *ledger.Call {
		c := sharedCall(a, "task", prompt, now)
		c.Role = role
		return c
	}
	_, ticket := wantResume(t, a, call("coder", "Write the parser.", 1000), "")
	endShared(t, a, ticket, firstID, "Done.", 2000)
	_, ticket = wantResume(t, a, call("reviewer", "Review it.", 3000), "")
	rejected, later := goodOutcome(secondID, "REJECTED", 4000), goodOutcome(secondID, "Bye.", 4500)
	later.Started = 4100
	rejected.Resets = []string{"coder"}
	later.Paths, later.Tree = []string{"sessions/" + secondID}, tree
	if err := a.finish(ticket, rejected, later); err != nil {
		t.Fatal(err)
	}
	if d, _ := wantResume(t, a,
		call("coder", "Go on.", 5000), ""); d.Reason != reason.ContextReset {
		t.Errorf("%s", d.Reason)
	}
}

// Rounds ten minutes apart begin anew after two resumes that missed the provider's cache.
func TestAChainsOwnMissesAreKnownInAStore(t *testing.T) {
	f := newFakeStore()
	a := f.machine(t, "a")
	for i, want := range []reason.Code{reason.FirstCall, reason.Unrelated,
		reason.Unrelated, reason.Dearer} {
		now := decide.Millis(1000 + i*600_000)
		d, ticket, err := ledger.Begin(a, sharedCall(a, "task", fmt.Sprintf(base, i), now))
		if err != nil || d.Reason != want {
			t.Fatalf("call %d: %s (%s), want %s: %v", i+1, d.Mode, d.Reason, want, err)
		}
		if d.Mode.Continues() {
			if err := a.Restore(t.Context(), ticket, func(id, file string) []string {
				return []string{id, file}
			}); err != nil {
				t.Fatal(err)
			}
		}
		o := goodOutcome(cmp.Or(d.NativeID, nth(i+1)), "Done.", now+50)
		o.Seen.Model, o.Seen.ContextUse.Used = "opus", 20_000
		o.Seen.Usage = rewrite.Usage{Known: true, CacheWrite: 20_000 + int64(i)*1000}
		o.Paths, o.Tree = []string{"sessions/" + o.Seen.ID}, tree
		if err := a.finish(ticket, o); err != nil {
			t.Fatal(err)
		}
	}
}

// A chain is in the same arm of an experiment from its first call on, on all machines.
func TestShareIsFixedFromTheFirstCall(t *testing.T) {
	f := newFakeStore()
	a, b := f.machine(t, "a"), f.machine(t, "b")
	c := sharedCall(a, "", "Write the parser.", 1000)
	_, ticket := wantResume(t, a, c, "")
	later := sharedCall(b, "", "Write the parser.", 2000)
	facts, err := b.Load(later)
	if err != nil || len(facts.Chains) != 1 {
		t.Fatal(facts.Chains, err)
	}
	if first := ticket.Loan.Share; facts.Chains[0].Share != first {
		t.Errorf("%v at first, %v later", first, facts.Chains[0].Share)
	}
}

// A call that this machine cannot record holds nothing in the store.
func TestCallThatIsNotRecordedHere(t *testing.T) {
	f := newFakeStore()
	a, b := f.machine(t, "a"), f.machine(t, "b")
	for n, id := range []string{"", firstID} {
		c, lost := f.machine(t, "c"), sharedCall(a, "task", fmt.Sprintf(base, n), 1000)
		f.before = func() { c.Local.Close() }
		if _, _, err := ledger.Begin(c, lost); err == nil {
			t.Fatal("a ledger was written that is closed")
		}
		if id == "" && len(f.registers) > 0 {
			t.Errorf("the store has %v", f.registers)
		}
		runShared(t, a, sharedCall(a, "task", fmt.Sprintf(base, n), 3000), id, firstID)
	}
	wantResume(t, b, sharedCall(b, "task", "Go on.", 9000), firstID)
}

// A session that the caller goes on with here, by its ID, is not resumed here, except in a copy.
func TestCallersOwnOfAStore(t *testing.T) {
	for _, copies := range []bool{false, true} {
		f := newFakeStore()
		a := f.machine(t, "a")
		runShared(t, a, sharedCall(a, "task", "Write the parser.", 1000), "", firstID)
		own := testCall("mine", a.Digests, 3000)
		if _, err := a.Local.Observe(own, reason.CallerSession, firstID, 4); err != nil {
			t.Fatal(err)
		}
		c := sharedCall(a, "task", "Go on.", 4000)
		c.Copies = copies
		d, _, err := ledger.Begin(a, c)
		if err != nil || d.Copy != copies || !copies && d.Reason != reason.CallersOwn {
			t.Errorf("copies %t: %s (%s), %v", copies, d.Mode, d.Reason, err)
		}
	}
}

// A refusal that this machine cannot record leaves nothing in the store that is in use.
func TestRefusalThatIsNotRecordedHere(t *testing.T) {
	f := newFakeStore()
	a, b := f.machine(t, "a"), f.machine(t, "b")
	runShared(t, a, sharedCall(a, "task", "Write the parser.", 1000), "", firstID)
	_, ticket := wantResume(t, a, sharedCall(a, "task", "Go on.", 3000), firstID)
	a.Local.Close()
	if err := a.FallBack(ticket, reason.RefusedUnknown); err == nil {
		t.Fatal("a ledger was written that is closed")
	}
	if err := a.finish(ticket, goodOutcome(secondID, "Done.", 4000)); err != nil {
		t.Error(err)
	}
	d, _ := wantResume(t, b, sharedCall(b, "task", "Once more.", 5000), "")
	if d.Reason != reason.PreviousKilled {
		t.Errorf("%s", d.Reason)
	}
}

// A deadlineStore notes until when each request can take.
type deadlineStore struct {
	*fakeStore
	read, swap time.Time
}

func (s *deadlineStore) List(ctx context.Context,
	name store.Name, limit int) ([]store.Register, bool, error) {
	s.read, _ = ctx.Deadline()
	return s.fakeStore.List(ctx, name, limit)
}

func (s *deadlineStore) Swap(ctx context.Context, name store.Name,
	old string, value []byte) (string, error) {
	s.swap, _ = ctx.Deadline()
	return s.fakeStore.Swap(ctx, name, old, value)
}

// Reading and taking have one time limit together.
func TestReadingAndTakingShareALimit(t *testing.T) {
	f := &deadlineStore{fakeStore: newFakeStore()}
	a := f.machine(t, "a")
	a.Store = f
	wantResume(t, a, sharedCall(a, "task", "Write the parser.", 1000), "")
	if f.read.IsZero() || !f.read.Equal(f.swap) {
		t.Errorf("until %s, then until %s", f.read, f.swap)
	}
}

// A directory's name that is not UTF-8 stays another one than its like.
func TestUnfinishedWorkIsOfTheSameNames(t *testing.T) {
	u := &Unfinished{taken: taken{Register: store.Register{Name: store.Name{Kind: store.Task,
		Of: []string{"org/repo", "/work\xff", "task"}}}}, Paths: []string{"session\xff"}}
	var got Unfinished
	if err := json.Unmarshal([]byte(ledger.EncodeJSON(u)), &got); err != nil ||
		!reflect.DeepEqual(&got, u) {
		t.Errorf("%+v, %v", got, err)
	}
}
