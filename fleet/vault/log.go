package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"reprise/fleet/store"
)

// The log has an entry for each call, of level 0. When a day has many entries of a level, they are packed into one of the next, or a few
// if they are large: a thousand calls are one entry in the end. A reader tells by their IDs which it has read already, so that nothing is counted
// twice while entries are packed, by several at once, or by one that dies in between.
const (
	packedAt = 32 // entries of a level
	topLevel = 2
	mostNote = maxValue / 4 // bytes of values in an entry, if there are several
)

// A note is a value of the log, in one line, under a random ID.
type note struct {
	id    string
	value []byte
}

// Note implements wire.Service.
func (v *Vault) Note(ctx context.Context, day string, value []byte) error {
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return fmt.Errorf("note: %w", err)
	}
	if bytes.ContainsRune(value, '\n') {
		return errors.New("note: it has several lines")
	}
	if rand.IntN(packedAt) == 0 {
		v.full.Store(&day)
	}
	return v.putNotes(ctx, day, 0, note{random(), value})
}

// putNotes writes an entry of the log.
func (v *Vault) putNotes(ctx context.Context, day string, level int, notes ...note) error {
	var lines bytes.Buffer
	for _, n := range notes {
		fmt.Fprintf(&lines, "%s %s\n", n.id, n.value)
	}
	name := levelPrefix(day, level) + random()
	sealed, err := v.seal(ctx, v.keys[0], name, compress(lines.Bytes()))
	if err != nil {
		return err
	}
	return v.engine.Put(ctx, name, sealed)
}

func levelPrefix(day string, level int) string { return fmt.Sprintf("%s%s/%d-", prefixLog, day, level) }

// atOnce is how many values a reader is given at once.
const atOnce = 256

// Notes implements wire.Service.
func (v *Vault) Notes(ctx context.Context, since string, each func(day string, values [][]byte) error) error {
	entries, seen := map[string]bool{}, map[string]bool{}
	for {
		listed, err := v.notesSince(ctx, since)
		if err != nil {
			return err
		}
		var names []string
		for _, name := range listed {
			if !entries[name] {
				entries[name] = true
				names = append(names, name)
			}
		}
		gone, err := v.readNotes(ctx, names, seen, func(name string, notes []note) error {
			for some := range slices.Chunk(notes, atOnce) {
				values := make([][]byte, 0, len(some))
				for _, n := range some {
					values = append(values, n.value)
				}
				if err := each(dayOf(name), values); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || !gone {
			return err
		}
	}
}

// readNotes calls each with those values of each entry that are not among the seen ones. gone reports that an entry is not there any
// more: another one might have the contents.
func (v *Vault) readNotes(ctx context.Context, names []string, seen map[string]bool, each func(name string, notes []note) error) (gone bool, err error) {
	return v.readAll(ctx, names, store.MaxObject, func(name string, e store.Entry) error {
		notes, err := v.openNotes(ctx, name, e.Content)
		if err != nil {
			return err
		}
		return each(name, slices.DeleteFunc(notes, func(n note) bool {
			known := seen[n.id]
			seen[n.id] = true
			return known
		}))
	})
}

// openNotes returns the values of an entry.
func (v *Vault) openNotes(ctx context.Context, name string, sealed []byte) (notes []note, err error) {
	content, _, err := v.unseal(ctx, name, sealed)
	if err != nil {
		return nil, err
	}
	if content, err = decompress(content); err != nil {
		return nil, err
	}
	for line := range bytes.Lines(content) {
		id, value, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		if !ok {
			return nil, fmt.Errorf("%s: %w: no line of a log", name, store.ErrBroken)
		}
		notes = append(notes, note{string(id), value})
	}
	return notes, nil
}

// pack packs the entries of a day, level by level.
func (v *Vault) pack(ctx context.Context, day string) error {
	for level := range topLevel {
		names, err := v.engine.List(ctx, levelPrefix(day, level))
		if err != nil || len(names) < packedAt {
			return err
		}
		var notes []note
		var packed []string // without those that cannot be read
		_, err = v.readNotes(ctx, names, map[string]bool{}, func(name string, some []note) error {
			packed, notes = append(packed, name), append(notes, some...)
			return nil
		})
		if err != nil || len(packed) < 2 {
			return err
		}
		for begin, size, i := 0, 0, 0; i < len(notes); i++ {
			size += len(notes[i].value)
			if last := i+1 == len(notes); !last && size+len(notes[i+1].value) <= mostNote {
				continue
			}
			if err := v.putNotes(ctx, day, level+1, notes[begin:i+1]...); err != nil {
				return err
			}
			begin, size = i+1, 0
		}
		if err := v.engine.Delete(ctx, packed...); err != nil {
			return err
		}
	}
	return nil
}

// listedDays is how many days are listed one by one: a list of all is long if a store keeps its log.
const listedDays = 10

// notesSince returns the log's entries from a day on. Clocks can be a day ahead of ours.
func (v *Vault) notesSince(ctx context.Context, since string) (names []string, err error) {
	last := v.options.Now().UTC().AddDate(0, 0, 1)
	if day, err := time.Parse(time.DateOnly, since); err == nil && last.Sub(day) < listedDays*24*time.Hour {
		for ; !day.After(last); day = day.AddDate(0, 0, 1) {
			some, err := v.engine.List(ctx, prefixLog+day.Format(time.DateOnly)+"/")
			if err != nil {
				return nil, err
			}
			names = append(names, some...)
		}
		return names, nil
	}
	names, err = v.engine.List(ctx, prefixLog)
	for len(names) > 0 && dayOf(names[0]) < since { // they are in order
		names = names[1:]
	}
	return names, err
}

// dayOf returns the day of a log entry's name.
func dayOf(name string) string {
	day, _, _ := strings.Cut(strings.TrimPrefix(name, prefixLog), "/")
	return day
}
