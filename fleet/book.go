// Package fleet is the book of a store that several machines share: it finds a call's chain there,
// takes the session, and gives it back with its files. The ledger says how a chain works and
// decides on calls.
//
// It knows the ledger's chains as values, and the record of a call that was lent out (ledger.Loan).
// The ledger knows nothing of the store. The store gets no text of prompts or answers.
//
// Invariant: a register calls a session live only together with the bundle of the run that left it
// live; of all runs that would take it from one version of the register at most one succeeds.
package fleet

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"reprise/fleet/store"
	"reprise/fleet/wire"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A Book is the ledger.Book of a store that several machines share. Each chain has a separate
// register: the register of a named task is found by the tool and role, an unnamed one by how the
// prompts begin. Only the call that holds a session makes it live again. Times only end waiting.
type Book struct {
	ledger.RemoteOptions
	Store   store.Shared
	Digests prompt.Key   // the store's key for digests
	client  *wire.Client // that Open has made
}

var _ ledger.Remote = (*Book)(nil)

// maxFound is how many registers of unnamed chains that begin alike a call is compared with.
const maxFound = ledger.MaxCandidates + 1

// maxRoles bounds the registers of one task that are looked at.
const maxRoles = 1000

// clocksDiffer is by how much the clocks of two machines can differ.
const clocksDiffer decide.Millis = 20 * 60_000

// Key implements ledger.Book.
func (b *Book) Key() prompt.Key { return b.Digests }

// Here implements ledger.Book.
func (b *Book) Here() *ledger.Ledger { return b.Local }

// A reading is the registers that a call depends on.
type reading struct {
	// without damaged ones; chains and sessions of facts have their numbers from these
	registers []*register
	versions  map[string]string // of all registers, by their IDs
	damaged   bool              // some register is
	more      bool              // there are other registers
	until     time.Time         // when the call must have taken the session
}

// find returns the register of a session of the facts, nil for none, and the number in it.
func (r *reading) find(id int64) (*register, int64) {
	for _, one := range r.registers {
		count := int64(len(one.Sessions))
		if id <= count {
			return one, id
		}
		id -= count
	}
	return nil, 0
}

// read reads the registers that a call depends on.
func (b *Book) read(ctx context.Context, c *ledger.Call) (r *reading, err error) {
	name := b.name(c)
	r = &reading{versions: map[string]string{}}
	var stored []store.Register
	if name.Kind == store.Opening || c.DerivedRole() {
		all := store.Name{Kind: name.Kind, Of: name.Of}
		stored, r.more, err = b.Store.List(ctx, all, maxFound)
	}
	isOwn := func(r store.Register) bool { return r.Name.ID == name.ID }
	if err == nil && name.Kind == store.Task && !slices.ContainsFunc(stored, isOwn) {
		var own []store.Register
		own, _, err = b.Store.List(ctx, name, 1)
		stored = append(stored, own...)
	}
	if err != nil {
		return nil, err
	}
	for _, one := range stored {
		r.versions[one.Name.ID] = one.Version
		decoded, err := decode(one)
		switch {
		case err == nil:
			r.registers = append(r.registers, decoded)
		case errors.Is(err, store.ErrBroken):
			r.damaged = true
		default:
			return nil, err
		}
	}
	return r, nil
}

// Load implements ledger.Book.
func (b *Book) Load(c *ledger.Call) (*ledger.Reading, error) {
	if b.HasTree != nil {
		c.Checkout = func(tree, place string) bool { return place == b.Place || b.HasTree(tree) }
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), b.Timeout)
	defer cancel()
	r, err := b.read(ctx, c)
	if err != nil {
		return nil, err
	}
	f, err := b.facts(c, r)
	if err != nil {
		return nil, err
	}
	f.More = f.More || r.more
	if f.Fresh == "" && (b.lacks(c, f.Chains) || r.damaged && len(f.Chains) == 0) {
		f.Fresh = reason.StoreUnavailable
	}
	r.until, _ = ctx.Deadline()
	return &ledger.Reading{Facts: f, State: r, Took: time.Since(began)}, nil
}

func (b *Book) facts(c *ledger.Call, r *reading) (decide.Facts, error) {
	there := *c
	there.Stored, there.ForkPoint = nil, nil // the session's file is another machine's
	var chains []ledger.Chain
	for _, one := range r.registers {
		chains = append(chains, one.chain(c.Now))
	}
	f, err := b.Local.FactsOf(&there, chains)
	if err != nil {
		return f, err
	}
	for i := range f.Chains {
		cf := &f.Chains[i]
		from, number := r.find(cf.Session)
		s := &from.Sessions[number-1]
		cf.Share, cf.Tree, cf.Directory = b.share(from.name, c), s.Tree, s.Place
		if s.Bundle == "" {
			cf.Stored = decide.StoredGone
		}
		cf.LastUsed, cf.Created = past(cf.LastUsed, c.Now), past(cf.Created, c.Now)
	}
	return f, nil
}

// past returns a time of another machine's clock as one of ours: it cannot be later than now.
func past(t, now decide.Millis) decide.Millis {
	if t > now && t-now <= clocksDiffer {
		return now
	}
	return t
}

// lacks reports whether this machine knows of a later session of the job than the store.
func (b *Book) lacks(c *ledger.Call, chains []decide.ChainFacts) bool {
	if len(chains) == 0 || c.Task == "" {
		return false
	}
	var last decide.Millis
	for _, cf := range chains {
		last = max(last, cf.LastUsed)
	}
	later, err := b.Local.HasOwnSince(b.Local.LentChain(c, ""), last)
	return err != nil || later
}

// Identity implements ledger.Remote.
func (b *Book) Identity(c *ledger.Call) ledger.Identity {
	n := b.name(c)
	digest := b.Digests.Digester()("identity of " +
		strings.Join(append(slices.Clone(n.Of), n.ID), "\x00"))
	return ledger.Identity{
		Name: hex.EncodeToString(digest[:6]), Project: b.Project, Directory: c.Cwd, Home: c.Home,
		Scope: c.Scope,
	}
}

// name returns the name of a call's chain; without the ID for an unnamed one.
func (b *Book) name(c *ledger.Call) store.Name {
	if c.Task != "" {
		id := ledger.EncodeJSON([]string{c.Tool, c.Home, c.Scope, c.Role})
		return store.Name{Kind: store.Task, Of: taskName(b.Project, c.Cwd, c.Task), ID: id}
	}
	return store.Name{Kind: store.Opening,
		Of: []string{b.Project, c.Tool, c.Cwd, c.Home, c.Scope, c.Role,
			hex.EncodeToString(c.FirstLine())}}
}

func taskName(project, cwd, task string) []string { return []string{project, cwd, task} }

// share returns the fixed number from 0 to 1 of a chain, equal on all machines.
func (b *Book) share(name store.Name, c *ledger.Call) float64 {
	d := b.Digests.Digester()("share of " +
		strings.Join(append(slices.Clone(name.Of), name.ID, c.Tool, c.Role), "\x00"))
	return float64(uint32(d[0])<<24|uint32(d[1])<<16|uint32(d[2])<<8|uint32(d[3])) / (math.MaxUint32 + 1)
}

// Take implements ledger.Book.
func (b *Book) Take(of *ledger.Reading, d decide.Decision, c *ledger.Call) (*ledger.Ticket, error) {
	read := of.State.(*reading)
	ctx, cancel := context.WithDeadline(context.Background(), read.until)
	defer cancel()
	h, r, own := b.takeOn(read, d, c)
	if err := b.resetOthers(ctx, r.name, c.Resets); err != nil {
		return nil, err
	}
	var err error
	h.Register.Version, err = b.Store.Swap(ctx, r.name, r.stored, h.Register.Value)
	if errors.Is(err, store.ErrMoved) {
		return nil, ledger.ErrMoved
	}
	if err != nil {
		return nil, err
	}
	of.Loan = &ledger.Loan{Kind: r.name.Kind, Key: b.Digests, Share: b.share(r.name, c), Hold: h}
	t, err := b.Local.Take(of, d, c)
	if err != nil {
		return nil, errors.Join(err, b.undo(h.Register, r.before))
	}
	t.Totals, t.Left = own.Totals, own.LeftFiles
	return t, nil
}

// undo takes a register back to the value before, nil for none, if nobody has changed it since.
func (b *Book) undo(at store.Register, before []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), b.Timeout)
	defer cancel()
	if before == nil {
		return b.Store.Remove(ctx, at)
	}
	_, err := b.Store.Swap(ctx, at.Name, at.Version, before)
	return err
}

// takeOn carries out the decision on a register that was read, and returns the hold.
func (b *Book) takeOn(read *reading, d decide.Decision,
	c *ledger.Call) (h *hold, r *register, own ledger.Session) {
	h = &hold{taken: taken{Holder: rand.Text()}, call: c}
	var from int64
	if d.Mode.Continues() {
		r, from = read.find(d.Session)
		h.from = r.Sessions[from-1]
	} else if r = read.of(b.name(c), d.Chain); r == nil {
		r = &register{name: b.name(c)}
		r.Chain = ledger.NewChain(c)
		if r.name.Kind == store.Opening {
			r.name.ID = rand.Text()
		}
		r.stored = read.versions[r.name.ID] // of a damaged register
	}
	before := r.bundles()
	chain := r.chain(c.Now)
	chain.ResetRoles(c.Cwd, c.Task, c.Resets)
	var goneOn *ledger.Session
	if from != 0 {
		goneOn = &chain.Sessions[from-1]
	}
	number, source := chain.Begin(c, d, goneOn)
	own = chain.Sessions[number-1]
	r.update(chain)
	r.hold(h.Holder, b.Host, c.Now, number, source)
	h.Register = store.Register{Name: r.name, Value: r.encode(c.Now)}
	h.Over = r.without(before)
	return h, r, own
}

// of returns the register with a chain's number in the facts, or of a task's name; nil for none.
func (r *reading) of(name store.Name, chain int64) *register {
	if chain != 0 {
		return r.registers[chain-1]
	}
	for _, one := range r.registers {
		if name.Kind == store.Task && one.name.ID == name.ID {
			return one
		}
	}
	return nil
}

// Restore implements ledger.Remote.
func (b *Book) Restore(ctx context.Context, t *ledger.Ticket,
	paths func(id, file string) []string) error {
	h := holdOf(t)
	if h == nil || h.from.Bundle == "" {
		return nil
	}
	known, err := b.Local.KnownFiles(t)
	if err != nil {
		return fmt.Errorf("%w: %w", reason.StoreUnavailable, err)
	}
	bundle := store.Bundle{Name: h.from.Bundle, Digest: h.from.BundleDigest}
	switch err := b.Store.Load(ctx, bundle, h.call.Home,
		paths(h.from.NativeID, h.from.File), known); {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrChanged):
		return fmt.Errorf("%w: %w", reason.SessionMoved, err)
	case errors.Is(err, store.ErrAbsent), errors.Is(err, store.ErrBroken):
		return fmt.Errorf("%w: %w", reason.SessionGone, err)
	default:
		return fmt.Errorf("%w: %w", reason.StoreUnavailable, err)
	}
}

// Open is the ledger.OpenRemote of a store behind the helper, which it starts.
func Open(o ledger.RemoteOptions) (ledger.Remote, error) {
	if err := wire.HideMemory(); err != nil {
		return nil, fmt.Errorf("hide the store's key: %w", err)
	}
	key, err := store.ReadKey(o.Key, o.KeyFile)
	if err != nil {
		return nil, err
	}
	config := wire.Config{URL: o.URL, Key: hex.EncodeToString(key[:])}
	client, err := wire.Start(o.Helper, o.Environ, o.Start, config)
	if err != nil {
		return nil, err
	}
	o.Key = "" // the client has it
	return &Book{RemoteOptions: o, Store: client, Digests: key.Derive("digests"),
		client: client}, nil
}

// Complete implements ledger.Remote.
func (b *Book) Complete(ctx context.Context, left []byte) error {
	var u Unfinished
	if err := json.Unmarshal(left, &u); err != nil {
		return fmt.Errorf("read what a call has left to do: %w", err)
	}
	return b.complete(ctx, &u)
}

// Stop implements ledger.Remote.
func (b *Book) Stop() { b.client.Stop() }

// Close implements ledger.Remote.
func (b *Book) Close() { _ = b.client.Close() } // it fails only if the connection is closed
