package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"reprise/fleet"
	"reprise/fleet/store"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
)

// A runner makes one call after the other, on machines that come and go.
type runner struct {
	*world
	history  *history
	task     string
	unnamed  bool          // the prompts alone say which call continues which
	sections *atomic.Int64 // of all runners' prompts
	client   int
	random   *rand.Rand

	connection *faulty
	digests    prompt.Key
	store      *observed
	machine    *fleet.Book
	home       string
	skew       int64
}

// An observed store notes how swaps end.
type observed struct {
	store.Shared
	results []error
}

// Swap implements store.Shared.
func (o *observed) Swap(ctx context.Context, name store.Name, old string, value []byte) (string,
	error) {
	version, err := o.Shared.Swap(ctx, name, old, value)
	o.results = append(o.results, err)
	return version, err
}

// An end is the end of an operation that some swaps are tried for.
type end int

const (
	nothing   end = iota
	uncertain     // one might have been made, and replaced
	open          // one can still arrive
	made
)

// ended returns how the swaps since the last time have ended.
func (o *observed) ended() (e end) {
	for _, err := range o.results {
		switch {
		case err == nil:
			e = made
		case errors.Is(err, store.ErrMoved):
			e = max(e, uncertain)
		case !errors.Is(err, store.ErrUnreachable):
			e = max(e, open)
		}
	}
	o.results = nil
	return e
}

// downPause keeps runners from making all their calls while a server is down.
const downPause = 500 * time.Millisecond

const rareDeath = 12 // one in so many calls dies at each of three moments

func (r *runner) dies() bool { return r.random.IntN(rareDeath) == 0 }

// call makes one call as the shim does: decide and take, bring the session here, run, finish.
func (r *runner) call() error {
	r.tally.calls.Add(1)
	r.store.results = nil
	c, run, began := r.newCall(), r.name("run"), r.history.tick()
	d, ticket, err := ledger.Begin(r.machine, c)
	returned := r.history.tick()
	taken := r.store.ended() == made
	if err != nil {
		r.tally.refused.Add(1)
		if r.open != nil {
			time.Sleep(downPause)
		}
		return r.unexpected("begin", err) // or the real binary runs without us
	}
	session, state := r.newSession(), ""
	if d.Mode.Continues() && taken {
		session = d.NativeID
		state, err = r.restore(ticket, session)
	}
	if err != nil {
		r.tally.fellBack.Add(1)
		r.history.add(op{abandon, run, session, ""}, r.client, began, returned)
		session = r.newSession()
		// a store that does not get it has lost the run
		_ = r.machine.FallBack(ticket, reason.SessionGone)
	}
	if taken {
		r.history.add(op{take, run, session, state}, r.client, began, returned)
	}
	if state != "" {
		r.tally.resumed.Add(1)
	}
	if r.dies() {
		return r.die()
	}
	if taken && r.random.IntN(4) == 0 {
		// a store that does not get it only lets others wait less long
		_ = r.machine.Renew(ticket, r.now())
	}
	return r.finish(ticket, run, session)
}

func (r *runner) newCall() *ledger.Call {
	c := &ledger.Call{
		Record: ledger.Record{Tool: "claude", Cwd: "/project", Format: rewrite.Text, Task: r.task},
		Home:   "/home/.claude",
		Prompt: prompt.New(r.prompt(), r.digests),
		Request: decide.Request{Now: r.now(),
			Limits: decide.Limits{TTL: 1 << 40, MaxAge: 1 << 40, ContextShare: 0.8,
				MinBase: 200, Unnamed: rewrite.UnnamedExtends},
			Checkout: func(string, string) bool { return true }},
		Stored: func(string, string, decide.Stamp) decide.StoredState {
			return decide.StoredSame
		},
	}
	if r.unnamed {
		c.Task = ""
	}
	return c
}

// unexpected returns an error that is none that a store in memory can bring about.
func (r *runner) unexpected(what string, err error) error {
	if err == nil || r.open != nil ||
		strings.Contains(err.Error(), "another call has replaced the session") {
		return nil
	}
	for _, kind := range []error{store.ErrUnreachable, store.ErrUnknown, store.ErrMoved,
		context.DeadlineExceeded} {
		if errors.Is(err, kind) {
			return nil
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// newSession returns the ID of a new session, as claude forms it.
func (r *runner) newSession() string {
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", r.made.Add(1))
}

// file returns the path of a session's file relative to the tool's home.
func file(session string) string { return "sessions/" + session + ".jsonl" }

// restore brings the session here and returns its state: the last line.
func (r *runner) restore(t *ledger.Ticket, session string) (state string, err error) {
	err = r.machine.Restore(context.Background(), t, func(id, _ string) []string {
		return []string{file(id)}
	})
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(filepath.Join(r.home, file(session)))
	if err != nil {
		return "", fmt.Errorf("read restored session: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return lines[len(lines)-1], nil
}

// finish adds a state to the session, and lets the next run have it.
func (r *runner) finish(t *ledger.Ticket, run, session string) error {
	time.Sleep(time.Duration(r.random.IntN(1500)) * time.Microsecond)
	state := r.name("state")
	f, err := os.OpenFile(filepath.Join(r.home, file(session)), os.O_CREATE|os.O_APPEND|os.O_WRONLY,
		0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, state)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if r.dies() {
		return r.die()
	}
	r.store.results = nil
	began := r.history.tick()
	ctx, cancel := context.WithTimeout(context.Background(), r.machine.Upload)
	defer cancel()
	left, err := r.machine.FinishWithin(ctx, t, &ledger.Outcome{Now: r.now(),
		File: file(session), Stamp: "1", Paths: []string{file(session)},
		Seen: rewrite.StreamState{ID: session, Final: true, Content: true, Answer: "Done."}})
	if left != nil {
		err = errors.Join(err, errors.New("the time is over"))
	}
	if err := r.unexpected("finish", err); err != nil {
		return err
	}
	returned := r.history.tick()
	switch r.store.ended() {
	case made:
		r.history.add(op{finish, run, session, state}, r.client, began, returned)
	case uncertain:
		r.history.add(op{maybeFinish, run, session, state}, r.client, began, returned)
	case open:
		r.tally.unknown.Add(1)
		r.history.add(op{maybeFinish, run, session, state}, r.client, began, never)
	default:
		r.tally.unfinished.Add(1)
	}
	return nil
}

// die ends the run where it is; the next one is on another machine.
func (r *runner) die() error {
	r.tally.died.Add(1)
	if err := r.removeHomes(); err != nil {
		return err
	}
	return r.renewMachine()
}
