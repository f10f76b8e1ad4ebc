package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"reprise/fleet/store"
)

// A record is a register as it is sealed, this as JSON, a line feed and the value, and its entry.
type record struct {
	Kind  string      `json:"kind,omitempty"`
	Of    store.Texts `json:"of,omitempty"`
	ID    []byte      `json:"id,omitempty"`
	Write string      `json:"write"`          // the random name of this write
	Gone  bool        `json:"gone,omitempty"` // the register was removed
	At    int64       `json:"at,omitempty"`   // when that was, in seconds since 1970
	value []byte

	entry   string
	version string // the engine's
}

// readEntry reads and unseals one entry. With store.ErrBroken it returns the entry's version.
func (v *Vault) readEntry(ctx context.Context, entry string) (*record, error) {
	e, err := v.engine.Read(ctx, entry)
	if err != nil {
		return nil, err
	}
	f := &record{entry: entry, version: e.Version}
	content, err := v.unseal(entry, e.Content)
	if err != nil {
		return f, err
	}
	plain, err := decompress(content)
	if err != nil {
		return f, fmt.Errorf("%s: %w", entry, err)
	}
	head, value, ok := bytes.Cut(plain, []byte("\n"))
	if !ok || json.Unmarshal(head, f) != nil {
		return f, fmt.Errorf("%s: %w: no register", entry, store.ErrBroken)
	}
	f.value = value
	return f, nil
}

// register returns a caller's view of the result of readEntry: a damaged register of this name if
// it cannot be unsealed. It fails with store.ErrAbsent if the register was removed.
func (f *record) register(name store.Name, err error) (store.Register, error) {
	switch {
	case errors.Is(err, store.ErrBroken):
		return store.Register{Name: name, Damaged: true, Entry: f.entry, Version: f.version}, nil
	case err != nil:
		return store.Register{}, err
	case f.Gone:
		return store.Register{}, store.ErrAbsent
	}
	return store.Register{Name: store.Name{Kind: f.Kind, Of: f.Of, ID: string(f.ID)},
		Value: f.value, Version: f.version}, nil
}

// List implements store.Shared. Of a register that is damaged it does not know more than the name.
func (v *Vault) List(ctx context.Context,
	name store.Name, limit int) (registers []store.Register, more bool, err error) {
	more, err = v.eachEntry(ctx, name, limit, func(f *record, err error) error {
		r, err := f.register(name, err)
		if err == nil {
			registers = append(registers, r)
		} else if errors.Is(err, store.ErrAbsent) {
			err = nil
		}
		return err
	})
	return registers, more, err
}

// parallel is how many entries are read at once.
const parallel = 16

// eachEntry calls use with the result of readEntry for so many registers of a name.
func (v *Vault) eachEntry(ctx context.Context, name store.Name, limit int,
	use func(*record, error) error) (more bool, err error) {
	entries := []string{v.keys.entry(name)}
	if name.ID == "" {
		if entries, err = v.engine.List(ctx, v.keys.entries(name)); err != nil {
			return false, err
		}
	}
	for some := range slices.Chunk(entries[:min(limit, len(entries))], parallel) {
		read, errs := make([]*record, len(some)), make([]error, len(some))
		var all sync.WaitGroup
		for i, entry := range some {
			all.Go(func() { read[i], errs[i] = v.readEntry(ctx, entry) })
		}
		all.Wait()
		for i, f := range read {
			if err := use(f, errs[i]); err != nil {
				return false, err
			}
		}
	}
	return len(entries) > limit, nil
}

// Swap implements store.Shared.
func (v *Vault) Swap(ctx context.Context, name store.Name,
	old string, value []byte) (string, error) {
	entry, r := v.keys.entry(name),
		record{Kind: name.Kind, Of: name.Of, ID: []byte(name.ID), value: value}
	version, err := v.write(ctx, entry, old, r)
	if old == "" && errors.Is(err, store.ErrMoved) {
		// A removed register is still there, as the note of the removal.
		if f, readError := v.readEntry(ctx, entry); readError == nil && f.Gone {
			return v.write(ctx, entry, f.version, r)
		}
	}
	return version, err
}

// Remove implements store.Shared. It leaves a note of the removal, which ends with the store's
// lifecycle: after a deletion an engine might give a new register an old version.
func (v *Vault) Remove(ctx context.Context, r store.Register) error {
	entry := v.keys.entry(r.Name)
	if r.Damaged && strings.HasPrefix(r.Entry, v.keys.entries(r.Name)) {
		entry = r.Entry
	}
	_, err := v.write(ctx, entry, r.Version, record{Gone: true, At: v.options.Now().Unix()})
	return err
}

// write replaces an entry if it still has the version old, and reads it back if the answer is lost.
func (v *Vault) write(ctx context.Context, entry, old string, r record) (string, error) {
	r.Write = random()
	head, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	sealed, err := v.seal(entry, compress(slices.Concat(head, []byte("\n"), r.value)))
	if err != nil {
		return "", err
	}
	attempt, cancel := leaveTime(ctx)
	defer cancel()
	version, err := v.engine.Swap(attempt, entry, old, sealed)
	if errors.Is(err, store.ErrUnknown) || errors.Is(err, store.ErrMoved) {
		return v.readBack(ctx, entry, old, r.Write, err)
	}
	return version, err
}

// readBack returns the fate of a write that was refused, or got no answer: a connection's or a
// proxy's repetition of a write that succeeded is refused. An ErrMoved after a lost answer says
// that the caller does not hold the register now, not that the write never arrived.
func (v *Vault) readBack(ctx context.Context, entry, old,
	write string, lost error) (string, error) {
	f, err := v.readEntry(ctx, entry)
	switch {
	case err == nil && f.Write == write:
		return f.version, nil
	case err == nil && f.version != old || old != "" && errors.Is(err, store.ErrAbsent):
		return "", fmt.Errorf("%w: read back after: %w", store.ErrMoved, withoutKind(lost))
	default: // unchanged, or not readable: a lost write can still arrive
		return "", lost
	}
}

// withoutKind returns an error of the same text that is none of the store's errors.
func withoutKind(err error) error { return errors.New(err.Error()) }

// leaveTime returns a context that leaves a third of the time that is left for reading back.
func leaveTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	cause := fmt.Errorf("%w: no answer in time", store.ErrUnreachable)
	return context.WithTimeoutCause(ctx, time.Until(deadline)*2/3, cause)
}

// late is after how long no write can arrive any more that was sent before.
const late = 24 * time.Hour

// Sweep removes the notes of registers that were removed more than a day ago, and counts them.
func (v *Vault) Sweep(ctx context.Context) (removed int, err error) {
	var over []string
	until := v.options.Now().Add(-late).Unix()
	for _, kind := range store.Kinds {
		all := store.Name{Kind: kind}
		_, err := v.eachEntry(ctx, all, math.MaxInt, func(f *record, err error) error {
			switch {
			case errors.Is(err, store.ErrBroken), errors.Is(err, store.ErrAbsent):
				return nil
			case err == nil && f.Gone && f.At <= until:
				over = append(over, f.entry)
			}
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	if len(over) == 0 {
		return 0, nil
	}
	return len(over), v.engine.Delete(ctx, over...)
}
