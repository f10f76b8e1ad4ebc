package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"reprise/store"
)

// An Unfinished is what a call leaves to do in the store once it has ended. It contains no text of
// prompts or answers.
type Unfinished struct {
	Register store.Name
	Holder   string
	Value    []byte // of the register as the call has last written it
	Version  string
	Over     []string // bundles to remove
	Home     string
	Paths    []string     // the session's files, none if there is nothing to resume
	Bundle   store.Bundle // of these files, once they are in the store
	Place    string       // see Shared
	Tree     string
	Result   pendingOutcome
	Call     SharedCall
	tree     func() string // returns Tree, nil once it is known
}

// Mark names the job in names of files, as Shared.Mark does.
func (u *Unfinished) Mark() string { return markOf(u.Register) }

// Mark names a call's job in names of files: its task, or all that begin as it does.
func (s *Shared) Mark(c *Call) string { return markOf(s.name(c)) }

func markOf(n store.Name) string {
	d := sha256.Sum256([]byte(n.Kind + "\x00" + strings.Join(n.Of, "\x00")))
	return hex.EncodeToString(d[:8])
}

// Finish implements Book. What the store does not get is not resumed by anybody.
func (s *Shared) Finish(t *Ticket, o *Outcome, later ...Turn) error {
	u, err := s.FinishHere(t, o, later...)
	if u == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.Upload)
	defer cancel()
	return errors.Join(err, s.Complete(ctx, u))
}

// FinishHere finishes the call on this machine only and returns what is left to do, which another
// process may Complete; nil if nothing is.
func (s *Shared) FinishHere(t *Ticket, o *Outcome, later ...Turn) (*Unfinished, error) {
	err := s.Local.Finish(t, o, later...)
	h := t.held
	if h == nil || h.isLost() || t.Session == 0 { // or a refusal could not be recorded here
		return nil, err
	}
	e := s.Local.pendingOutcome(t, o, later)
	last := e.last()
	h.mu.Lock()
	u := &Unfinished{Register: h.name, Holder: h.holder, Value: h.value, Version: h.version, Over: h.over, Home: t.call.Home,
		Place: s.Place, Result: e, Call: s.logged(t, o)}
	h.mu.Unlock()
	if state, _ := last.state(); state == Live && last.Seen.Refusal == "" {
		u.Paths = last.Paths
	}
	if last.Tree != nil {
		u.tree = sync.OnceValue(last.Tree)
		go u.tree() // while the session is packed
	}
	return u, err
}

// ErrUnfinished reports that the time was over before the work was done. Another process may go on with it.
var ErrUnfinished = errors.New("the time is over")

// isOver reports whether the time for a store is over. The helper gives a request up somewhat before.
func (s *Shared) isOver(ctx context.Context) bool {
	until, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && time.Until(until) < s.Upload/10
}

// Complete puts the session of a call that has ended into the store, and gives it back. It fails with ErrUnfinished if the context
// ends before. A second Complete of work that is done finds nothing to do.
func (s *Shared) Complete(ctx context.Context, u *Unfinished) error {
	var failed error
	if len(u.Paths) > 0 && u.Bundle.Name == "" {
		u.Bundle, failed = s.Bundles.Save(ctx, u.Home, u.Paths)
	}
	if failed != nil && s.isOver(ctx) || ctx.Err() != nil {
		return errors.Join(ErrUnfinished, failed, context.Cause(ctx))
	}
	u.settleTree()
	h := &hold{name: u.Register, holder: u.Holder, value: u.Value, version: u.Version, over: u.Over, now: u.Call.When}
	err := s.resetOthers(ctx, u.Register, u.Result.resets())
	if err == nil {
		err = s.edit(ctx, h, func(tx *sql.Tx, own *Ticket) error {
			e := u.Result
			e.Session, e.Chain = own.Session, own.chain
			if err := resetRoles(tx, e.Cwd, e.Task, e.Outcome.Resets); err != nil {
				return err
			}
			if err := e.recordTurns(tx); err != nil {
				return err
			}
			return s.release(tx, own, u.Bundle, u.Tree)
		})
	}
	if err != nil && s.isOver(ctx) {
		return errors.Join(ErrUnfinished, failed, err)
	}
	switch {
	case err == nil && u.Bundle.Name != "":
		err = s.Local.noteBundle(u.Result.Session, u.Bundle)
	case errors.Is(err, errFenced) && u.Bundle.Name != "":
		h.over = append(h.over, u.Bundle.Name)
	}
	err = errors.Join(failed, err)
	u.Call.Lost, u.Call.Size = whyLost(err), u.Bundle.Size
	s.tidy(ctx, u.Call, h.over, err)
	return err
}

// resets returns the roles whose chains the run's answers end.
func (e *pendingOutcome) resets() []string {
	roles := slices.Clone(e.Outcome.Resets)
	for i := range e.Later {
		roles = append(roles, e.Later[i].Outcome.Resets...)
	}
	return roles
}

// tidy logs the call in the store and removes bundles that no session has any more. What stays is
// removed by the store's own rules.
func (s *Shared) tidy(ctx context.Context, call SharedCall, over []string, lost error) {
	if lost != nil && !errors.Is(lost, errFenced) {
		over = nil // the register may name them still
	}
	_ = LogCall(ctx, s.Log, call, over...)
}

// Encode returns the work as text for another process.
func (u *Unfinished) Encode() []byte {
	u.settleTree()
	return []byte(encodeJSON(u))
}

// DecodeUnfinished reads the text.
func DecodeUnfinished(text []byte) (*Unfinished, error) {
	var u Unfinished
	if err := json.Unmarshal(text, &u); err != nil {
		return nil, fmt.Errorf("read what a call has left to do: %w", err)
	}
	return &u, nil
}

// settleTree waits for the name of the directory's content, which is found out meanwhile.
func (u *Unfinished) settleTree() {
	if u.tree != nil {
		u.Tree, u.tree = u.tree(), nil
	}
}
