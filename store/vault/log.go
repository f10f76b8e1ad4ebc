package vault

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Note implements wire.Service.
func (v *Vault) Note(ctx context.Context, day string, value []byte) error {
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return fmt.Errorf("note: %w", err)
	}
	content, err := compress(value)
	if err != nil {
		return err
	}
	name := prefixLog + day + "/" + random()
	sealed, err := v.seal(ctx, v.keys[0], name, content)
	if err != nil {
		return err
	}
	return v.engine.Put(ctx, name, sealed)
}

// Notes implements wire.Service.
func (v *Vault) Notes(ctx context.Context, since string, each func(day string, value []byte) error) error {
	names, err := v.notesSince(ctx, since)
	if err != nil {
		return err
	}
	type note struct {
		day   string
		value []byte
	}
	read := func(ctx context.Context, name string) (any, error) {
		sealed, err := v.engine.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		content, _, err := v.unseal(ctx, name, sealed)
		if err != nil {
			return nil, err
		}
		value, err := decompress(content)
		return note{dayOf(name), value}, err
	}
	return v.readAll(ctx, names, read, func(entry any) error {
		n := entry.(note)
		return each(n.day, n.value)
	})
}

// listedDays is how many days are listed one by one: a list of all is long if a store keeps its log.
const listedDays = 10

// notesSince returns the log's entries from a day on. Clocks may be a day ahead of ours.
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
