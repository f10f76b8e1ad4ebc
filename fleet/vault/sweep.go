package vault

import (
	"context"
	"math"
	"time"
)

// late is after how long no write can arrive any more that was sent before.
const late = 24 * time.Hour

// Sweep removes the notes of registers that were removed more than a day ago, and returns how many these are.
func (v *Vault) Sweep(ctx context.Context) (removed int, err error) {
	var over []string
	until := v.options.Now().Add(-late).Unix()
	for _, prefix := range []string{prefixTask, prefixOpening} {
		err := v.eachRegister(ctx, prefix, math.MaxInt, func(f *found, err error) error {
			if err == nil && f.Gone && f.At <= until {
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
