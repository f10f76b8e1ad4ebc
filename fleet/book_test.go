package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/reason"
)

// A fakeStore is the store that machines share in these tests.
type fakeStore struct {
	registers map[string]store.Register
	bundles   map[string]string // the packed session of each
	writes    int
	fail      error  // of all verbs
	before    func() // each swap
}

func newFakeStore() *fakeStore {
	return &fakeStore{registers: map[string]store.Register{}, bundles: map[string]string{}}
}

func (f *fakeStore) List(_ context.Context,
	opening store.Name, limit int) (list []store.Register, more bool, err error) {
	for _, r := range f.registers {
		if r.Name.Kind == opening.Kind &&
			(len(opening.Of) == 0 || slices.Equal(r.Name.Of, opening.Of)) &&
			(opening.ID == "" || r.Name.ID == opening.ID) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b store.Register) int {
		return strings.Compare(a.Name.ID, b.Name.ID)
	})
	return list[:min(limit, len(list))], len(list) > limit, f.fail
}

func (f *fakeStore) Swap(_ context.Context, name store.Name,
	old string, value []byte) (string, error) {
	if before := f.before; before != nil {
		f.before = nil
		before()
	}
	if f.fail != nil {
		return "", f.fail
	}
	if f.registers[fmt.Sprint(name)].Version != old {
		return "", store.ErrMoved
	}
	f.writes++
	version := fmt.Sprint("v", f.writes)
	f.registers[fmt.Sprint(name)] = store.Register{Name: name, Value: bytes.Clone(value),
		Version: version}
	return version, nil
}

func (f *fakeStore) Save(_ context.Context, root string, paths []string) (store.Bundle, error) {
	f.writes++
	b := store.Bundle{Name: fmt.Sprint("b", f.writes),
		Digest: fmt.Sprint("digest of ", root, paths)}
	f.bundles[b.Name] = b.Digest
	return b, f.fail
}

func (f *fakeStore) Load(_ context.Context, b store.Bundle, _ string, _, _ []string) error {
	if f.bundles[b.Name] != b.Digest {
		return store.ErrAbsent
	}
	return f.fail
}

func (f *fakeStore) Drop(_ context.Context, names ...string) error {
	for _, name := range names {
		delete(f.bundles, name)
	}
	return nil
}

// machine returns the book of a new machine.
func (f *fakeStore) machine(t *testing.T, host string) *Book {
	return &Book{Store: f, Digests: bytes.Repeat([]byte{7}, 32),
		RemoteOptions: ledger.RemoteOptions{Local: newLedger(t), Project: "org/repo", Host: host,
			Place: "directory of " + host, Timeout: time.Minute, Upload: time.Minute}}
}

// sharedCall is a call of a task if it is not "".
func sharedCall(s *Book, task, prompt string, now decide.Millis) *ledger.Call {
	c := testCall(prompt, s.Digests, now)
	c.Task, c.Limits.Unrelated = task, true
	c.Checkout = func(tree, _ string) bool { return tree == "tree" }
	return c
}

func tree() string { return "tree" }

func endShared(t *testing.T, s *Book, ticket *ledger.Ticket, id, answer string, now decide.Millis) {
	t.Helper()
	o := goodOutcome(id, answer, now)
	o.Paths, o.Tree = []string{"sessions/" + id}, tree
	if err := s.finish(ticket, o); err != nil {
		t.Fatal(err)
	}
}

// wantResume checks that a call resumes a session, "" for none, and that the session can be brought
// here.
func wantResume(t *testing.T, s *Book,
	c *ledger.Call, id string) (decide.Decision, *ledger.Ticket) {
	t.Helper()
	d, ticket, err := ledger.Begin(s, c)
	if err != nil {
		t.Fatal(err)
	}
	if d.NativeID != id || d.Mode.Continues() != (id != "") {
		t.Fatalf("on %s: %s (%s) of %q, want %q", s.Host, d.Mode, d.Reason, d.NativeID, id)
	}
	if id != "" {
		if err := s.Restore(t.Context(), ticket, func(id, file string) []string {
			return []string{id, file}
		}); err != nil {
			t.Fatal(err)
		}
	}
	return d, ticket
}

const (
	firstID  = "00000000-0000-4000-8000-000000000001"
	secondID = "00000000-0000-4000-8000-000000000002"
	thirdID  = "00000000-0000-4000-8000-000000000003"
)

func TestSessionsTravel(t *testing.T) {
	for _, task := range []string{"", "task"} {
		for _, copies := range []bool{false, true} {
			t.Run(fmt.Sprintf("%q copies %t", task, copies), func(t *testing.T) {
				f := newFakeStore()
				a, b, c := f.machine(t, "a"), f.machine(t, "b"), f.machine(t, "c")
				prompt := fmt.Sprintf(base, 1)
				call := func(s *Book, now decide.Millis) *ledger.Call {
					one := sharedCall(s, task, prompt, now)
					one.Copies = copies
					return one
				}
				_, ticket := wantResume(t, a, call(a, 1000), "")
				o := goodOutcome(firstID, "Done with the parser.", 2000)
				o.Paths, o.Tree, o.Left = []string{"sessions/" + firstID}, tree, "files"
				if err := a.finish(ticket, o); err != nil {
					t.Fatal(err)
				}

				prompt += "\n\n## Rejection\n\nYour change fails a test: done with the parser."
				_, ticket = wantResume(t, b, call(b, 3000), firstID)
				if ticket.Left != "files" {
					t.Errorf("files left on the other machine: %q", ticket.Left)
				}
				id := firstID
				if copies {
					id = secondID
				}
				endShared(t, b, ticket, id, "Mended the lexer.", 4000)
				if len(f.bundles) != 1 {
					t.Errorf("the store keeps %v", f.bundles)
				}

				prompt += "\n\n## Rejection\n\nMended the lexer, but another test fails."
				_, ticket = wantResume(t, c, call(c, 5000), id)
				if ticket.Totals != "" {
					t.Errorf("totals %q", ticket.Totals)
				}
				endShared(t, c, ticket, map[bool]string{false: firstID, true: thirdID}[copies],
					"All green.", 6000)
				if len(f.registers) != 1 || len(f.bundles) != 1 {
					t.Errorf("%d registers, %d bundles", len(f.registers), len(f.bundles))
				}
				for _, one := range f.registers {
					r, err := decode(one)
					if err != nil {
						t.Fatal(err)
					}
					newest := r.Sessions[len(r.Sessions)-1]
					if newest.Host != "c" || newest.Holder != "" || newest.Bundle == "" ||
						newest.State != decide.Live || newest.LastUsed != 6000 ||
						r.Chain.Newest != int64(len(r.Sessions)) {
						t.Errorf("%+v", newest)
					}
				}
			})
		}
	}
}

// A call that runs for long is waited for as long as it says so.
func TestRenew(t *testing.T) {
	f := newFakeStore()
	a, b := f.machine(t, "a"), f.machine(t, "b")
	prompt := fmt.Sprintf(base, 1)
	_, ticket := wantResume(t, a, sharedCall(a, "task", prompt, 1000), "")
	for now := decide.Millis(1000); now < 4*heldFor; now += heldFor / 3 {
		if err := a.Renew(ticket, now); err != nil {
			t.Fatal(err)
		}
		c := sharedCall(b, "task", prompt+"\n\nMore.", now+1)
		c.Limits.TTL = 10 * heldFor
		if d, _, err := ledger.Preview(b, c); err != nil || d.Reason != reason.Leased {
			t.Errorf("%d: %s (%s), %v", now, d.Mode, d.Reason, err)
		}
	}
	endShared(t, a, ticket, firstID, "Done.", 4*heldFor)
	if err := a.Renew(ticket, 4*heldFor); !errors.Is(err, errFenced) {
		t.Errorf("after its end: %v", err)
	}
	here := sharedCall(a, "task", prompt, 1000)
	if _, ticket, err := ledger.Begin(a.Local, here); err != nil || a.Renew(ticket, 2000) != nil {
		t.Errorf("a call that the store knows nothing of: %v", err)
	}
}

// Two machines read the same state; only one can take it.
func TestStateIsTakenOnce(t *testing.T) {
	for _, copies := range []bool{false, true} {
		f := newFakeStore()
		a, b, c := f.machine(t, "a"), f.machine(t, "b"), f.machine(t, "c")
		prompt := fmt.Sprintf(base, 1)
		_, ticket := wantResume(t, a, sharedCall(a, "task", prompt, 1000), "")
		endShared(t, a, ticket, firstID, "Done.", 2000)
		call := func(s *Book, now decide.Millis) *ledger.Call {
			one := sharedCall(s, "task", prompt+"\n\nGo on.", now)
			one.Copies = copies
			return one
		}
		var other *ledger.Ticket
		f.before = func() { _, other = wantResume(t, c, call(c, 3000), firstID) }
		d, own, err := ledger.Begin(b, call(b, 3000))
		if err != nil || d.Reason != reason.Leased {
			t.Fatalf("%s (%s), %v", d.Mode, d.Reason, err)
		}
		endShared(t, b, own, secondID, "Begun anew.", 4000)
		id := map[bool]string{false: firstID, true: thirdID}[copies]
		endShared(t, c, other, id, "Gone on.", 5000)

		// Afterwards the holder is lost, and its session with it, however long ago that was.
		prompt += "\n\nGo on."
		for _, later := range []decide.Millis{10, 20 * 60_000} {
			one := call(a, 6000+later)
			d, _, err := ledger.Begin(a, one)
			if err != nil || d.Mode.Continues() {
				t.Errorf("after two at once: %s (%s) of %s, %v", d.Mode, d.Reason, d.NativeID, err)
			}
		}
	}
}

// A busyStore is one in which others are always faster.
type busyStore struct{ *fakeStore }

func (busyStore) Swap(context.Context, store.Name, string, []byte) (string, error) {
	return "", store.ErrMoved
}

// A call that cannot take a session of the store is recorded here, in a chain of its own: the
// store's chains have other numbers.
func TestOthersAreFaster(t *testing.T) {
	f := newFakeStore()
	a := f.machine(t, "a")
	prompt := fmt.Sprintf(base, 1)
	_, ticket := wantResume(t, a, sharedCall(a, "task", prompt, 1000), "")
	endShared(t, a, ticket, firstID, "Done.", 2000)
	for _, unrelated := range []bool{false, true} {
		b := f.machine(t, "b")
		b.Store = busyStore{f}
		var other *ledger.Ticket
		if unrelated {
			var err error
			if _, other, err = ledger.Begin(b.Local,
				testCall(fmt.Sprintf(base, 7), b.Local.Key(), 2500)); err != nil {
				t.Fatal(err)
			}
		}
		d, own, err := ledger.Begin(b, sharedCall(b, "task", prompt+"\n\nMore.", 3000))
		if err != nil || d.Reason != reason.StoreUnavailable || own.Loan != nil {
			t.Fatalf("%s (%s), %v", d.Mode, d.Reason, err)
		}
		if other != nil && own.Chain == other.Chain {
			t.Error("it is recorded in an unrelated chain")
		}
	}
}

func TestLostRunner(t *testing.T) {
	for _, copies := range []bool{false, true} {
		f := newFakeStore()
		a, b, c := f.machine(t, "a"), f.machine(t, "b"), f.machine(t, "c")
		prompt := fmt.Sprintf(base, 1)
		_, ticket := wantResume(t, a, sharedCall(a, "task", prompt, 1000), "")
		endShared(t, a, ticket, firstID, "Done.", 2000)
		call := func(s *Book, more string, now decide.Millis) *ledger.Call {
			one := sharedCall(s, "task", prompt+more, now)
			one.Copies = copies
			return one
		}
		_, lost := wantResume(t, b, call(b, "\n\nMore.", 3000), firstID)
		d, anew, err := ledger.Begin(c, call(c, "\n\nMore.\n\nStill more.", 20*60_000))
		if err != nil || d.Reason != reason.PreviousKilled {
			t.Fatalf("copies %t: %s (%s), %v", copies, d.Mode, d.Reason, err)
		}
		endShared(t, c, anew, thirdID, "Begun anew.", 21*60_000)

		// The runner that was thought lost lives on.
		o := goodOutcome(secondID, "Late.", 22*60_000)
		o.Paths, o.Tree = []string{"sessions/" + secondID}, tree
		if err := b.finish(lost, o); !errors.Is(err, errFenced) {
			t.Errorf("copies %t: %v", copies, err)
		}
		wantResume(t, a, call(a, "\n\nMore.\n\nStill more.\n\nAgain.", 23*60_000), thirdID)
		if len(f.bundles) != 1 {
			t.Errorf("copies %t: the store keeps %v", copies, f.bundles)
		}
	}
}

func TestFailedCopyGivesItsSourceBack(t *testing.T) {
	f := newFakeStore()
	a, b := f.machine(t, "a"), f.machine(t, "b")
	prompt := fmt.Sprintf(base, 1)
	_, ticket := wantResume(t, a, sharedCall(a, "task", prompt, 1000), "")
	endShared(t, a, ticket, firstID, "Done.", 2000)
	again := sharedCall(b, "task", prompt+"\n\nMore.", 3000)
	again.Copies = true
	_, ticket = wantResume(t, b, again, firstID)
	o := goodOutcome(secondID, "", 4000)
	o.Exit = 1
	if err := b.finish(ticket, o); err != nil {
		t.Fatal(err)
	}
	again = sharedCall(a, "task", prompt+"\n\nMore of it.", 5000)
	again.Copies = true
	_, ticket = wantResume(t, a, again, firstID)
	if err := a.FallBack(ticket, reason.RefusedUnknown); err != nil {
		t.Fatal(err)
	}
	endShared(t, a, ticket, thirdID, "Begun anew.", 6000)
	wantResume(t, b, sharedCall(b, "task", prompt+"\n\nMore of it.\n\nAnd on.", 7000), thirdID)
}

func TestSessionsAreNotResumedFromHere(t *testing.T) {
	f := newFakeStore()
	a := f.machine(t, "a")
	for i, task := range []string{"", "task"} {
		prompt := fmt.Sprintf(base, i)
		_, ticket := wantResume(t, a, sharedCall(a, task, prompt, 1000), "")
		endShared(t, a, ticket, nth(i+1), "Done with the parser.", 2000)
		c := sharedCall(a, task,
			prompt+"\n\n## Rejection\n\nYour change fails a test: done with the parser.", 3000)
		if d, _, err := ledger.Begin(a.Local, c); err != nil || d.Mode.Continues() {
			t.Errorf("%q: %s (%s), %v", task, d.Mode, d.Reason, err)
		}
	}
	f.fail = store.ErrUnreachable
	if _, _, err := ledger.Begin(a,
		sharedCall(a, "task", "x", 4000)); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("without the store: %v", err)
	}
}

func TestCheckoutMustHaveTheWork(t *testing.T) {
	f := newFakeStore()
	a, b := f.machine(t, "a"), f.machine(t, "b")
	prompt := fmt.Sprintf(base, 1)
	_, ticket := wantResume(t, a, sharedCall(a, "task", prompt, 1000), "")
	endShared(t, a, ticket, firstID, "Done.", 2000)
	c := sharedCall(b, "task", prompt+"\n\nMore.", 3000)
	c.Checkout = func(tree, place string) bool {
		if tree != "tree" || place != "directory of a" {
			t.Errorf("asked for %q of %q", tree, place)
		}
		return false
	}
	if d, _, err := ledger.Begin(b, c); err != nil || d.Reason != reason.CheckoutDiffers {
		t.Errorf("%s (%s), %v", d.Mode, d.Reason, err)
	}
}

// A session that could not be put into the store is not resumed.
func TestBundleThatIsMissing(t *testing.T) {
	f := newFakeStore()
	a, b := f.machine(t, "a"), f.machine(t, "b")
	prompt := fmt.Sprintf(base, 1)
	_, ticket := wantResume(t, a, sharedCall(a, "task", prompt, 1000), "")
	o := goodOutcome(firstID, "Done.", 2000)
	if err := a.finish(ticket, o); err != nil {
		t.Fatal(err)
	}
	if d, _, err := ledger.Begin(b, sharedCall(b, "task", prompt+"\n\nMore.", 3000)); err != nil ||
		d.Reason != reason.SessionGone {
		t.Errorf("%s (%s), %v", d.Mode, d.Reason, err)
	}
}

func TestLongTaskStaysSmall(t *testing.T) {
	f := newFakeStore()
	prompt := fmt.Sprintf(base, 1)
	id := ""
	for i := range 3 * maxContinued {
		s := f.machine(t, fmt.Sprint("m", i))
		prompt += fmt.Sprintf("\n\n## Round %d", i)
		c := sharedCall(s, "task", prompt, decide.Millis(i)*1000)
		c.Copies = true
		_, ticket := wantResume(t, s, c, id)
		id = nth(i + 1)
		endShared(t, s, ticket, id, "Done.", decide.Millis(i)*1000+500)
	}
	for _, r := range f.registers {
		if one, err := decode(r); err != nil || len(one.Sessions) > maxContinued+3 {
			t.Errorf("%d sessions, %v", len(one.Sessions), err)
		}
	}
	if len(f.bundles) != 1 {
		t.Errorf("the store keeps %v", f.bundles)
	}
}

// A slowStore makes the next swap, but its answer comes after the end of the context.
type slowStore struct {
	*fakeStore
	end func()
}

func (s *slowStore) Swap(ctx context.Context, name store.Name,
	old string, value []byte) (string, error) {
	version, err := s.fakeStore.Swap(ctx, name, old, value)
	s.end()
	return version, errors.Join(err, ctx.Err())
}

// Work that is done although its answer came too late is left to another process all the same,
// which finds it done: the session keeps its bundle.
func TestUnfinishedWorkThatIsDone(t *testing.T) {
	f := newFakeStore()
	a, b := f.machine(t, "a"), f.machine(t, "b")
	prompt := fmt.Sprintf(base, 1)
	_, ticket := wantResume(t, a, sharedCall(a, "task", prompt, 1000), "")
	ctx, cancel := context.WithCancel(t.Context())
	a.Store = &slowStore{f, cancel}
	o := goodOutcome(firstID, "Done.", 2000)
	o.Paths, o.Tree = []string{"sessions/" + firstID}, tree
	left, err := a.FinishWithin(ctx, ticket, o)
	if left == nil || err != nil {
		t.Fatalf("%q is left, %v", left, err)
	}
	if err := a.Complete(t.Context(), left); err != nil {
		t.Error(err)
	}
	wantResume(t, b, sharedCall(b, "task", prompt+"\n\nMore.", 3000), firstID)
}

// A lateStore packs nothing once the time is over.
type lateStore struct{ *fakeStore }

func (s lateStore) Save(ctx context.Context, root string, paths []string) (store.Bundle, error) {
	if ctx.Err() != nil {
		return store.Bundle{}, ctx.Err()
	}
	return s.fakeStore.Save(ctx, root, paths)
}

// Another process can do the work that a call leaves.
func TestUnfinished(t *testing.T) {
	f := newFakeStore()
	a, b := f.machine(t, "a"), f.machine(t, "b")
	prompt := fmt.Sprintf(base, 1)
	_, ticket := wantResume(t, a, sharedCall(a, "task", prompt, 1000), "")
	o := goodOutcome(firstID, "A secret answer.", 2000)
	o.Paths, o.Tree = []string{"sessions/" + firstID}, tree
	a.Store = lateStore{f}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text, err := a.FinishWithin(ctx, ticket, o)
	if text == nil || err != nil || len(f.bundles) > 0 {
		t.Fatalf("%q is left, %v", text, err)
	}
	if bytes.Contains(text, []byte("secret")) || bytes.Contains(text, []byte("coder")) {
		t.Errorf("the text of a prompt or an answer is in %s", text)
	}
	if d, _, err := ledger.Preview(b,
		sharedCall(b, "task", prompt+"\n\nMore.", 3000)); err != nil || d.Reason != reason.Leased {
		t.Errorf("before it is done: %s (%s), %v", d.Mode, d.Reason, err)
	}
	for _, want := range []error{nil, errFenced} {
		if err := a.Complete(t.Context(), text); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	wantResume(t, b, sharedCall(b, "task", prompt+"\n\nMore.", 3000), firstID)
	if err := a.Complete(t.Context(), []byte("{")); err == nil {
		t.Error("half a text was read")
	}
}
