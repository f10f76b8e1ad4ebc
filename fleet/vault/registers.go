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
	damaged bool   // it cannot be unsealed: nothing else is known
}

// readEntry reads and unseals one entry.
func (v *Vault) readEntry(ctx context.Context, entry string) (*record, error) {
	e, err := v.engine.Read(ctx, entry)
	if err != nil {
		return nil, err
	}
	packed, err := v.unseal(entry, e.Content)
	if err != nil && !errors.Is(err, store.ErrBroken) {
		return nil, err
	}
	f := &record{}
	if err == nil {
		var plain, head []byte
		plain, err = decompressor.DecodeAll(packed, nil)
		head, f.value, _ = bytes.Cut(plain, []byte("\n"))
		err = errors.Join(err, json.Unmarshal(head, f))
	}
	if err != nil {
		f = &record{damaged: true}
	}
	f.entry, f.version = entry, e.Version
	return f, nil
}

// List implements store.Shared. Of a register that is damaged it does not know more than the name.
func (v *Vault) List(ctx context.Context,
	name store.Name, limit int) (registers []store.Register, more bool, err error) {
	records, more, err := v.readEntries(ctx, name, limit)
	for _, f := range records {
		r := store.Register{Name: name, Damaged: true, Entry: f.entry, Version: f.version}
		if !f.damaged {
			r = store.Register{Name: store.Name{Kind: f.Kind, Of: f.Of, ID: string(f.ID)},
				Value: f.value, Version: f.version}
		}
		if !f.Gone {
			registers = append(registers, r)
		}
	}
	return registers, more, err
}

// parallel is how many entries are read at once.
const parallel = 16

// readEntries reads so many registers of a name.
func (v *Vault) readEntries(ctx context.Context, name store.Name,
	limit int) (records []*record, more bool, err error) {
	entries := []string{v.keys.entry(name)}
	if name.ID == "" {
		if entries, err = v.engine.List(ctx, v.keys.entries(name)); err != nil {
			return nil, false, err
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
			switch {
			case errs[i] == nil:
				records = append(records, f)
			case !errors.Is(errs[i], store.ErrAbsent):
				return nil, false, errs[i]
			}
		}
	}
	return records, len(entries) > limit, nil
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
	f, err := v.ready()
	if err != nil {
		return "", err
	}
	packed := compressor.EncodeAll(slices.Concat(head, []byte("\n"), r.value), nil)
	sealed := v.keys.seal(f.ID, entry, packed)
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
		return "", fmt.Errorf("%w: read back after: %v", store.ErrMoved, lost)
	default: // unchanged, or not readable: a lost write can still arrive
		return "", lost
	}
}

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
		records, _, err := v.readEntries(ctx, store.Name{Kind: kind}, math.MaxInt)
		if err != nil {
			return 0, err
		}
		for _, f := range records {
			if f.Gone && f.At <= until {
				over = append(over, f.entry)
			}
		}
	}
	return len(over), v.engine.Delete(ctx, over...)
}
