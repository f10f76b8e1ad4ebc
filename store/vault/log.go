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
	return v.engine.Put(ctx, name, v.keys[0].seal(name, content))
}

// Notes implements wire.Service.
func (v *Vault) Notes(ctx context.Context, since string, each func(day string, value []byte) error) error {
	names, err := v.engine.List(ctx, prefixLog)
	if err != nil {
		return err
	}
	for len(names) > 0 && dayOf(names[0]) < since { // they are in order
		names = names[1:]
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
		content, _, err := v.unseal(name, sealed)
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

// dayOf returns the day of a log entry's name.
func dayOf(name string) string {
	day, _, _ := strings.Cut(strings.TrimPrefix(name, prefixLog), "/")
	return day
}
