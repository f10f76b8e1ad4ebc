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
	"time"

	"reprise/fleet/store"
)

// A record is a register as it is sealed: this as JSON, a line feed, the value.
type record struct {
	Kind  string      `json:"kind,omitempty"`
	Of    store.Texts `json:"of,omitempty"`
	ID    []byte      `json:"id,omitempty"`
	Write string      `json:"write"`          // the random name of this write
	Gone  bool        `json:"gone,omitempty"` // the register was removed, or now has its name under another key
	At    int64       `json:"at,omitempty"`   // when that was, in seconds since 1970
	value []byte
}

// found is a register as it is in the store.
type found struct {
	record
	entry   string
	version string // the engine's
	key     int    // the index of the key
}

// readEntry reads and unseals one entry. With store.ErrBroken it returns the entry's version.
func (v *Vault) readEntry(ctx context.Context, entry string) (*found, error) {
	e, err := store.ReadOne(ctx, v.engine, store.MaxRegister, entry)
	if err != nil {
		return nil, err
	}
	return v.openEntry(ctx, entry, e)
}

// openEntry unseals an entry, as readEntry does.
func (v *Vault) openEntry(ctx context.Context, entry string, e store.Entry) (*found, error) {
	f := &found{entry: entry, version: e.Version}
	content, key, err := v.unseal(ctx, entry, e.Content)
	if err != nil {
		return f, err
	}
	f.key = key
	plain, err := decompress(content)
	if err != nil {
		return f, fmt.Errorf("%s: %w", entry, err)
	}
	head, value, ok := bytes.Cut(plain, []byte("\n"))
	if !ok || json.Unmarshal(head, &f.record) != nil {
		return f, fmt.Errorf("%s: %w: no register", entry, store.ErrBroken)
	}
	f.value = value
	return f, nil
}

// damaged returns the register of an entry under a key of this vault that cannot be unsealed.
func (v *Vault) damaged(f *found, key int, name store.Name) store.Register {
	return store.Register{Name: name, Damaged: true, Entry: f.entry, Version: v.keys[key].id + ":" + f.version}
}

// register returns a caller's view. A version names the key too: a register of an old key has
// another entry than the next write.
func (v *Vault) register(f *found) store.Register {
	return store.Register{Name: store.Name{Kind: f.Kind, Of: f.Of, ID: string(f.ID)}, Value: f.value, Version: v.keys[f.key].id + ":" + f.version}
}

// Read implements store.Registers. A register of the first key hides those of others.
func (v *Vault) Read(ctx context.Context, name store.Name) (store.Register, error) {
	var names []string
	for _, k := range v.keys {
		names = append(names, k.entry(name))
	}
	entries, err := v.engine.Read(ctx, store.MaxRegister, names...)
	if err != nil {
		return store.Register{}, err
	}
	for key, entry := range names {
		e, there := entries[entry]
		if !there {
			continue
		}
		f, err := v.openEntry(ctx, entry, e)
		switch {
		case errors.Is(err, store.ErrBroken):
			return v.damaged(f, key, name), nil
		case err != nil:
			return store.Register{}, err
		case !f.Gone:
			return v.register(f), nil
		}
	}
	return store.Register{}, store.ErrAbsent
}

// List implements store.Registers. Of a register that is damaged it does not know the ID.
func (v *Vault) List(ctx context.Context, name store.Name, limit int) (registers []store.Register, more bool, err error) {
	seen := map[string]bool{}
	for key, k := range v.keys {
		entries, err := v.engine.List(ctx, k.entries(name))
		if err != nil {
			return nil, false, err
		}
		if left := limit - len(registers); len(entries) > left {
			entries, more = entries[:left], true
		}
		_, err = v.readAll(ctx, entries, store.MaxRegister, func(entry string, e store.Entry) error {
			f, err := v.openEntry(ctx, entry, e)
			if errors.Is(err, store.ErrBroken) {
				registers = append(registers, v.damaged(f, key, store.Name{Kind: name.Kind, Of: name.Of}))
				return nil
			}
			if id := string(f.ID); err == nil && !f.Gone && !seen[id] { // the first key's comes first
				registers = append(registers, v.register(f))
				seen[id] = true
			}
			return err
		})
		if err != nil {
			return nil, false, err
		}
	}
	return registers, more, nil
}

// Registers implements wire.Service.
func (v *Vault) Registers(ctx context.Context, kind string, each func(store.Register) error) error {
	return v.eachRegister(ctx, prefixOf(kind), math.MaxInt, func(f *found, err error) error {
		if err != nil || f.Gone {
			return err
		}
		return each(v.register(f))
	})
}

// eachRegister calls use with what openEntry returns of the registers below a prefix, at most so many of them.
func (v *Vault) eachRegister(ctx context.Context, prefix string, limit int, use func(*found, error) error) error {
	entries, err := v.engine.List(ctx, prefix)
	if err != nil {
		return err
	}
	_, err = v.readAll(ctx, entries[:min(limit, len(entries))], store.MaxRegister, func(entry string, e store.Entry) error {
		return use(v.openEntry(ctx, entry, e))
	})
	return err
}

// Swap implements store.Registers.
//
// A register of an old key moves to the entry under the first key by two writes: it is marked as gone
// where it was, which only one caller can, who then writes the new entry. What fails between them
// loses the register, which costs a fresh session. Nobody can take it twice.
func (v *Vault) Swap(ctx context.Context, name store.Name, old string, value []byte) (string, error) {
	key, version, err := v.splitVersion(old)
	if err != nil {
		return "", err
	}
	if key != 0 {
		if _, err := v.write(ctx, key, v.keys[key].entry(name), version, v.gone()); err != nil {
			return "", err
		}
		version = ""
	}
	entry, r := v.keys[0].entry(name), record{Kind: name.Kind, Of: name.Of, ID: []byte(name.ID), value: value}
	written, err := v.write(ctx, 0, entry, version, r)
	if version == "" && errors.Is(err, store.ErrMoved) {
		// A removed register is still there, as the note of the removal.
		if f, readError := v.readEntry(ctx, entry); readError == nil && f.Gone {
			written, err = v.write(ctx, 0, entry, f.version, r)
		}
	}
	if err != nil {
		return "", err
	}
	return v.keys[0].id + ":" + written, nil
}

// Remove implements wire.Service. It leaves a note of the removal, which ends with the store's
// lifecycle: after a deletion an engine might give a new register an old version.
func (v *Vault) Remove(ctx context.Context, r store.Register) error {
	key, version, err := v.splitVersion(r.Version)
	if err != nil || version == "" {
		return errors.Join(store.ErrMoved, err)
	}
	entry := v.keys[key].entry(r.Name)
	if r.Damaged && strings.HasPrefix(r.Entry, v.keys[key].entries(r.Name)) {
		entry = r.Entry
	}
	_, err = v.write(ctx, key, entry, version, v.gone())
	return err
}

// gone returns the note of a removal.
func (v *Vault) gone() record { return record{Gone: true, At: v.options.Now().Unix()} }

// splitVersion returns the key and the engine's version that a version names.
func (v *Vault) splitVersion(version string) (key int, engine string, err error) {
	if version == "" {
		return 0, "", nil
	}
	id, engine, _ := strings.Cut(version, ":")
	key = slices.IndexFunc(v.keys, func(k *keys) bool { return k.id == id })
	if key < 0 || engine == "" {
		return 0, "", fmt.Errorf("%w: its version is of another key", store.ErrMoved)
	}
	return key, engine, nil
}

// write replaces an entry if it still has the version old, and reads it back if the answer is lost.
func (v *Vault) write(ctx context.Context, key int, entry, old string, r record) (string, error) {
	r.Write = random()
	head, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	sealed, err := v.seal(ctx, v.keys[key], entry, compress(slices.Concat(head, []byte("\n"), r.value)))
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
// proxy's repetition of a write that succeeded is refused. An ErrMoved after a lost answer says that
// the caller does not hold the register now, not that the write never arrived.
func (v *Vault) readBack(ctx context.Context, entry, old, write string, lost error) (string, error) {
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
	return context.WithTimeoutCause(ctx, time.Until(deadline)*2/3, fmt.Errorf("%w: no answer in time", store.ErrUnreachable))
}
