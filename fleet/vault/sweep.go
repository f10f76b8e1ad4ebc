package vault

import (
	"context"
	"time"

	"reprise/fleet/store"
)

// late is after how long no request can arrive any more that was sent before.
const late = 24 * time.Hour

// Sweep implements wire.Service.
func (v *Vault) Sweep(ctx context.Context, before string) (removed int, err error) {
	var over []string
	if before != "" {
		days, err := v.engine.List(ctx, prefixLog)
		if err != nil {
			return 0, err
		}
		for len(days) > 0 && dayOf(days[0]) < before { // they are in order
			over, days = append(over, days[0]), days[1:]
		}
	}
	for _, prefix := range []string{prefixTask, prefixOpening} {
		gone, err := v.longGone(ctx, prefix)
		if err != nil {
			return 0, err
		}
		over = append(over, gone...)
	}
	if len(over) == 0 {
		return 0, nil
	}
	return len(over), v.engine.Delete(ctx, over...)
}

// longGone returns the entries of registers that were removed so long ago that no late write can have
// meant them.
func (v *Vault) longGone(ctx context.Context, prefix string) (gone []string, err error) {
	entries, err := v.engine.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	until := v.options.Now().Add(-late).Unix()
	_, err = v.readAll(ctx, entries, store.MaxRegister, func(entry string, e store.Entry) error {
		f, err := v.openEntry(ctx, entry, e)
		if err == nil && f.Gone && f.At <= until {
			gone = append(gone, entry)
		}
		return err
	})
	return gone, err
}
