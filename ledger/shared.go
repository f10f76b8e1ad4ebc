package ledger

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"reprise/rewrite"
	"reprise/store"
)

// Shared is the Book of a store that several machines share. Each chain has a register of its own: that of a named
// task is found by its tool and role, an unnamed one by how its prompts begin.
//
// Taking a session is a swap of its register; of several from one version one succeeds. Only the
// call that holds the session makes it live again, with another bundle. Times only end waiting.
type Shared struct {
	Local     *Ledger // records the calls of this machine
	Registers store.Registers
	Bundles   store.Bundles
	Log       store.Log
	Digests   rewrite.Key // the store's key for digests
	Project   string
	Host      string
	Place     string        // a digest that tells the call's directory from all others
	Timeout   time.Duration // for reading and taking, again if another call was faster
	Upload    time.Duration // for a bundle to be brought or kept, with what belongs to it
}

// heldFor is how long a call that does not renew its hold is waited for.
const heldFor Millis = 15 * 60_000

// RenewEvery is how often a call that runs must renew its hold.
const RenewEvery = 5 * time.Minute

// maxRoles bounds the registers of one task that are looked at.
const maxRoles = 1000

// clocksDiffer is by how much the clocks of two machines may differ.
const clocksDiffer Millis = 20 * 60_000

// A hold is what a call has taken in a store.
type hold struct {
	name     store.Name
	holder   string // a random name of the run
	value    []byte // of the register as this call has last written it
	version  string
	over     []string     // bundles that no session of the register has any more
	now      Millis       // the call's start
	bundle   store.Bundle // of the session that it resumes
	native   string       // its ID
	from     string       // the host on which it was last used
	file     string       // in which it is stored
	share    float64      // see Ticket.share
	decision Decision
	// fellBack is why a resume was abandoned.
	fellBack rewrite.Reason
	lost     bool       // another call has it now, or that is not known: there is nothing to record in the store
	mu       sync.Mutex // of lost, and of what edit changes
}

func (h *hold) isLost() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lost
}

func (h *hold) lose() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = true
}

var _, _ Book = (*Ledger)(nil), (*Shared)(nil)

// Key implements Book.
func (s *Shared) Key() rewrite.Key { return s.Digests }

func (s *Shared) local() *Ledger { return s.Local }

// localChain returns the chain in which this machine records the calls of a shared one.
func (s *Shared) localChain(c *Call, d Decision) (chain int64) {
	if c.Task != "" {
		_ = s.Local.db.QueryRow(namedChain, c.Tool, c.Cwd, c.Home, c.Scope, c.Task, c.Role).Scan(&chain) // 0 if there is none
	} else if d.NativeID != "" {
		_ = s.Local.db.QueryRow("SELECT chain_id FROM sessions WHERE native_id = ? AND shared <> ''", d.NativeID).Scan(&chain)
	}
	return chain
}

// Facts implements Book.
func (s *Shared) Facts(c *Call) (Facts, Mark, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), s.Timeout)
	defer cancel()
	p, more, err := s.read(ctx, c)
	if err != nil {
		return Facts{}, Mark{}, err
	}
	there := *c
	there.Stored = nil
	f, err := p.facts(&there, false)
	if err != nil {
		return f, Mark{}, err
	}
	f.More = f.More || more
	if err := s.Local.addMeasured(c, &f); err != nil {
		return f, Mark{}, err
	}
	for i := range f.Chains {
		cf := &f.Chains[i]
		cf.Share = s.share(cf.Chain, p, c)
		if cf.bundle.Name == "" {
			cf.Stored = StoredGone
		}
		cf.LastUsed, cf.Created = past(cf.LastUsed, c.Now), past(cf.Created, c.Now)
	}
	switch {
	case f.Fresh != "":
	case s.lacks(c, f.Chains):
		f.Fresh = rewrite.StoreUnavailable
	case p.damaged && len(f.Chains) == 0:
		f.Fresh = rewrite.RegisterDamaged
	}
	until, _ := ctx.Deadline()
	return f, Mark{f, p, until, time.Since(began)}, nil
}

// An Identity is what must be equal for two machines to share a call's sessions.
type Identity struct {
	Name            string // the same on two machines with the same key if all the rest is
	Project         string
	Directory, Home string
	Scope           string // the rule that names task and role, "" if the caller does
}

// Identity returns the identity of a call.
func (s *Shared) Identity(c *Call) Identity {
	n := s.name(c)
	digest := s.Digests.Digester()("identity of " + strings.Join(append(slices.Clone(n.Of), n.ID), "\x00"))
	return Identity{hex.EncodeToString(digest[:6]), s.Project, c.Cwd, c.Home, c.Scope}
}

// lacks reports whether this machine knows of a later session of the job than the store: one of a
// call that was made without it.
func (s *Shared) lacks(c *Call, chains []ChainFacts) bool {
	if len(chains) == 0 || c.Task == "" {
		return false
	}
	var last Millis
	for _, cf := range chains {
		last = max(last, cf.LastUsed)
	}
	var later bool
	err := s.Local.db.QueryRow("SELECT EXISTS (SELECT 1 FROM sessions WHERE chain_id = ? AND shared = '' AND created > ?)", s.localChain(c, Decision{}), last).Scan(&later)
	return err != nil || later
}

// Preview implements Book.
func (s *Shared) Preview(c *Call) (Decision, []ChainFacts, error) {
	facts, mark, err := s.Facts(c)
	if err != nil {
		return Decision{}, nil, fmt.Errorf("read chains: %w", err)
	}
	defer mark.page.db.Close()
	d := c.decide(facts)
	return s.Local.withinBudget(c, d, s.localChain(c, d)), facts.Chains, nil
}

// past returns a time of another machine's clock as one of ours: it cannot be later than now.
func past(t, now Millis) Millis {
	if t > now && t-now <= clocksDiffer {
		return now
	}
	return t
}

// read returns the registers that a call depends on. more reports that there are others.
func (s *Shared) read(ctx context.Context, c *Call) (p *page, more bool, err error) {
	name := s.name(c)
	var registers []store.Register
	if name.Kind == store.Opening || c.derivedRole() {
		registers, more, err = s.Registers.List(ctx, name, maxCandidates+1)
	}
	if err == nil && name.Kind == store.Task && !slices.ContainsFunc(registers, func(r store.Register) bool { return r.Name.ID == name.ID }) {
		var own store.Register
		if own, err = s.Registers.Read(ctx, name); err == nil {
			registers = append(registers, own)
		} else if errors.Is(err, store.ErrAbsent) {
			err = nil
		}
	}
	if err != nil {
		return nil, false, err
	}
	p, err = newPage(s.Local, registers...)
	return p, more, err
}

// name returns the name of a call's chain; without its ID for an unnamed one.
func (s *Shared) name(c *Call) store.Name {
	if c.Task != "" {
		return store.Name{Kind: store.Task, Of: taskName(s.Project, c.Cwd, c.Task), ID: encodeJSON([]string{c.Tool, c.Home, c.Scope, c.Role})}
	}
	return store.Name{Kind: store.Opening,
		Of: []string{s.Project, c.Tool, c.Cwd, c.Home, c.Scope, c.Role, hex.EncodeToString(c.firstLine())}}
}

func taskName(project, cwd, task string) []string { return []string{project, cwd, task} }

// resetOthers ends the sessions that roles have in the other registers of a task.
func (s *Shared) resetOthers(ctx context.Context, name store.Name, roles []string) error {
	if len(roles) == 0 || name.Kind != store.Task {
		return nil
	}
	registers, _, err := s.Registers.List(ctx, name, maxRoles)
	if err != nil {
		return err
	}
	for _, r := range registers {
		if r.Damaged || r.Name.ID == name.ID {
			continue
		}
		h := &hold{name: r.Name, value: r.Value, version: r.Version}
		err := s.edit(ctx, h, func(tx *sql.Tx, _ *Ticket) error { return resetRoles(tx, name.Of[1], name.Of[2], roles) })
		if err != nil && !errors.Is(err, errFenced) {
			return err
		}
	}
	return nil
}

// share returns a chain's fixed number from 0 to 1, equal on all machines.
func (s *Shared) share(chain int64, p *page, c *Call) float64 {
	name := s.name(c)
	if at, known := p.of[chain]; known {
		name = p.registers[at].Name
	}
	return s.shareOf(name, c)
}

func (s *Shared) shareOf(name store.Name, c *Call) float64 {
	d := s.Digests.Digester()("share of " + strings.Join(append(slices.Clone(name.Of), name.ID, c.Tool, c.Role), "\x00"))
	return float64(uint32(d[0])<<24|uint32(d[1])<<16|uint32(d[2])<<8|uint32(d[3])) / (math.MaxUint32 + 1)
}

// Take implements Book.
func (s *Shared) Take(m Mark, d Decision, c *Call) (*Ticket, error) {
	defer m.page.db.Close()
	ctx, cancel := context.WithDeadline(context.Background(), m.until)
	defer cancel()
	there := &Ticket{call: c, key: s.Digests, onPage: true}
	held := &hold{name: s.name(c), holder: randomName(), now: c.Now, decision: d}
	var err error
	if held.value, err = s.takeIn(m, there, held, d, c); err != nil {
		return nil, err
	}
	if at, known := m.page.of[there.chain]; known {
		held.name, held.version = m.page.registers[at].Name, m.page.registers[at].Version
	} else if held.name.Kind == store.Opening {
		held.name.ID = randomName()
	} else {
		held.version = m.page.version(held.name) // of a damaged register
	}
	if err := s.resetOthers(ctx, held.name, c.Resets); err != nil {
		return nil, err
	}
	held.share = s.shareOf(held.name, c)
	held.version, err = s.Registers.Swap(ctx, held.name, held.version, held.value)
	if errors.Is(err, store.ErrMoved) {
		return nil, ErrMoved
	}
	if err != nil {
		return nil, err
	}
	return s.recordHere(c, d, there, held)
}

// takeIn carries out the decision on the page and returns the register's new value.
func (s *Shared) takeIn(m Mark, there *Ticket, held *hold, d Decision, c *Call) (value []byte, err error) {
	p := m.page
	err = p.transact(func(tx *sql.Tx) error {
		before, err := bundles(tx)
		if err != nil {
			return err
		}
		if err := resetRoles(tx, c.Cwd, c.Task, c.Resets); err != nil {
			return err
		}
		if d.Mode.Continues() {
			from := m.facts.session(d.Session)
			held.bundle, held.native, held.file, held.from = from.bundle, from.NativeID, from.file, from.host
		}
		if err := there.begin(tx, c, &d); err != nil {
			return err
		}
		if err := s.hold(tx, held.holder, c.Now, there.Session, there.source); err != nil {
			return err
		}
		if value, err = p.value(tx, there.chain, c.Now); err != nil {
			return err
		}
		held.over, err = without(before, tx)
		return err
	})
	return value, err
}

// without returns the bundles of before that no session of the page has now.
func without(before []string, tx *sql.Tx) ([]string, error) {
	now, err := bundles(tx)
	return slices.DeleteFunc(before, func(name string) bool { return slices.Contains(now, name) }), err
}

// hold makes sessions the call's own: its session, and the one that this is to be a copy of. Nobody
// else resumes either.
func (s *Shared) hold(tx *sql.Tx, holder string, now Millis, sessions ...int64) error {
	for _, session := range sessions {
		_, err := tx.Exec("UPDATE sessions SET state = ?, holder = ?, held_until = ?, host = ? WHERE id = ?",
			Running, holder, now+heldFor, s.Host, session)
		if err != nil {
			return err
		}
	}
	return nil
}

// recordHere records the call in the ledger of this machine.
func (s *Shared) recordHere(c *Call, d Decision, there *Ticket, held *hold) (*Ticket, error) {
	t := &Ticket{call: c, key: s.Digests, held: held}
	err := s.Local.write(func(tx *sql.Tx) error {
		d := d
		if err := t.begin(tx, c, &d); err != nil {
			return err
		}
		return t.noteShared(tx)
	})
	t.Totals, t.Left = there.Totals, there.Left
	return t, err
}

// noteShared records on this machine that the call's session is a store's.
func (t *Ticket) noteShared(tx *sql.Tx) error {
	_, err := tx.Exec("UPDATE sessions SET shared = ? WHERE id = ?", t.held.name.Kind, t.Session)
	return err
}

// findLocal sets the numbers that this machine's ledger has for a decision's chain and session, 0 for
// none.
func (h *hold) findLocal(tx *sql.Tx, d *Decision) error {
	native := d.NativeID
	d.Chain, d.Session = 0, 0
	if native == "" {
		return nil
	}
	err := tx.QueryRow("SELECT chain_id, id FROM sessions WHERE native_id = ? AND shared <> '' ORDER BY id DESC LIMIT 1", native).Scan(&d.Chain, &d.Session)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

func randomName() string {
	var b [12]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// shortest is how long a try in a store takes at least, as far as waiting for the next one goes.
const shortest = 20 * time.Millisecond

// pause waits before the next try: longer each time, and never as long as others. A try takes so long.
func pause(try time.Duration, n int) {
	time.Sleep(time.Duration(mathrand.Int64N(int64(max(try, shortest)) << min(n, maxDecisions))))
}

// Restore brings the files of the session that the call resumes to this machine. paths returns where
// they belong, relative to the tool's home, from the session's ID and its file. If Restore fails,
// the resume must be abandoned for the reason that it returns.
func (s *Shared) Restore(ctx context.Context, t *Ticket, paths func(id, file string) []string) (rewrite.Reason, error) {
	if t.held == nil || t.held.bundle.Name == "" {
		return "", nil
	}
	known, err := s.Local.knownDigests(t)
	if err != nil {
		return rewrite.StoreUnavailable, err
	}
	switch err := s.Bundles.Load(ctx, t.held.bundle, t.call.Home, paths(t.held.native, t.held.file), known); {
	case err == nil:
		return "", nil
	case errors.Is(err, store.ErrChanged):
		return rewrite.SessionMoved, err
	case errors.Is(err, store.ErrAbsent), errors.Is(err, store.ErrBroken):
		return rewrite.SessionGone, err
	default:
		return rewrite.StoreUnavailable, err
	}
}

// knownDigests returns the digests of the session's files that earlier runs on this machine have put there.
func (l *Ledger) knownDigests(t *Ticket) (digests []string, err error) {
	id := t.Session
	if t.source != 0 {
		id = t.source
	}
	err = each(l.db, "SELECT bundle_digest FROM sessions WHERE id = ? AND bundle_digest <> ''", func(rows *sql.Rows) error {
		var digest string
		err := rows.Scan(&digest)
		digests = append(digests, digest)
		return err
	}, id)
	return digests, err
}

// Renew prolongs the time for which others wait for the call.
func (s *Shared) Renew(t *Ticket, now Millis) error {
	if t.held == nil || t.held.isLost() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.Upload)
	defer cancel()
	return s.edit(ctx, t.held, func(tx *sql.Tx, own *Ticket) error {
		_, err := tx.Exec("UPDATE sessions SET held_until = ? WHERE holder = ?", now+heldFor, t.held.holder)
		return err
	})
}

// FallBack implements Book.
func (s *Shared) FallBack(t *Ticket, why rewrite.Reason) error {
	err := s.Local.FallBack(t, why)
	if t.held == nil || t.held.isLost() {
		return err
	}
	err = errors.Join(err, s.Local.write(t.noteShared))
	t.held.fellBack = why
	ctx, cancel := context.WithTimeout(context.Background(), s.Upload)
	defer cancel()
	failed := s.edit(ctx, t.held, func(tx *sql.Tx, own *Ticket) error {
		if _, err := tx.Exec("UPDATE sessions SET state = ?, holder = '' WHERE holder = ?", Live, t.held.holder); err != nil {
			return err
		}
		own.call, own.cut = t.call, t.cut
		if err := own.fallBack(tx, own.Session, why); err != nil {
			return err
		}
		return s.hold(tx, t.held.holder, t.call.Now, own.Session)
	})
	if failed != nil {
		t.held.lose()
		failed = fmt.Errorf("record refusal in the store: %w", failed)
	}
	return errors.Join(err, failed)
}

// errFenced reports that another call has replaced the session that this one held.
var errFenced = errors.New("another call has replaced the session in the store")

// release ends the call's hold: its session has a new bundle, or none, and the one that it is a copy of can be
// resumed again only if the copy came to nothing.
func (s *Shared) release(tx *sql.Tx, own *Ticket, b store.Bundle, tree string) error {
	_, err := tx.Exec(`UPDATE sessions SET holder = '', held_until = 0, bundle = ?, bundle_digest = ?, tree = ?, host = ?, place = ? WHERE id = ?`,
		b.Name, b.Digest, tree, s.Host, s.Place, own.Session)
	if err != nil || own.source == 0 {
		return err
	}
	_, err = tx.Exec(`UPDATE sessions SET holder = '', held_until = 0, state = ?,
		bundle = CASE WHEN (SELECT state FROM sessions WHERE id = ?) = ? THEN '' ELSE bundle END WHERE id = ? AND state = ?`,
		Live, own.Session, Live, own.source, Running)
	return err
}

// noteBundle records on this machine which files our run has left.
func (l *Ledger) noteBundle(session int64, b store.Bundle) error {
	return l.write(func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE sessions SET bundle_digest = ? WHERE id = ?", b.Digest, session)
		return err
	})
}

// edit changes what a call holds in the store. It fails with errFenced if the call holds it no more.
func (s *Shared) edit(ctx context.Context, h *hold, change func(tx *sql.Tx, own *Ticket) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n := 0; ; n++ {
		value, over, err := s.changed(h, change)
		if err != nil {
			return err
		}
		began := time.Now()
		version, err := s.Registers.Swap(ctx, h.name, h.version, value)
		if err == nil {
			h.value, h.version, h.over = value, version, append(h.over, over...)
			return nil
		}
		if !errors.Is(err, store.ErrMoved) || n >= maxEdits {
			return err
		}
		pause(time.Since(began), n)
		r, err := s.Registers.Read(ctx, h.name)
		if errors.Is(err, store.ErrAbsent) || r.Damaged {
			return errFenced
		}
		if err != nil {
			return err
		}
		h.value, h.version = r.Value, r.Version
	}
}

// maxEdits bounds how often a call tries to record what it holds while others change the register.
const maxEdits = 32

// changed returns the register's value with the change, and the bundles that are needed no more.
func (s *Shared) changed(h *hold, change func(tx *sql.Tx, own *Ticket) error) (value []byte, over []string, err error) {
	p, err := newPage(s.Local, store.Register{Name: h.name, Value: h.value, Version: h.version})
	if err != nil {
		return nil, nil, err
	}
	defer p.db.Close()
	err = p.transact(func(tx *sql.Tx) error {
		before, err := bundles(tx)
		if err != nil {
			return err
		}
		own, err := h.find(tx)
		if err != nil {
			return err
		}
		own.key = s.Digests
		if err := change(tx, own); err != nil {
			return err
		}
		if value, err = p.value(tx, own.chain, h.now); err != nil {
			return err
		}
		over, err = without(before, tx)
		return err
	})
	return value, over, err
}

// find returns what the call holds, as a ticket of the page.
func (h *hold) find(tx *sql.Tx) (*Ticket, error) {
	own := &Ticket{onPage: true}
	if h.holder == "" { // it holds nothing and changes the only chain
		return own, tx.QueryRow("SELECT id FROM chains").Scan(&own.chain)
	}
	err := tx.QueryRow(`SELECT id, chain_id, coalesce((SELECT p.id FROM sessions p WHERE p.id = s.parent_id AND p.holder = s.holder), 0)
		FROM sessions s WHERE holder = ? ORDER BY id DESC LIMIT 1`, h.holder).Scan(&own.Session, &own.chain, &own.source)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errFenced
	}
	return own, err
}
