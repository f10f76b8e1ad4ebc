package fleet

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"reprise/fleet/store"
)

// A crowdedStore needs a second for each swap, and another call is always faster.
type crowdedStore struct{ *fakeStore }

func (crowdedStore) Swap(ctx context.Context, _ store.Name, _ string, _ []byte) (string, error) {
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	time.Sleep(time.Second)
	return "", store.ErrMoved
}

// A change that others always forestall ends with the time that it has, not after one more pause.
func TestEditEndsInTime(t *testing.T) {
	const limit, swap = 5 * time.Second, time.Second
	f := newFakeStore()
	a := f.machine(t, "a")
	runShared(t, a, sharedCall(a, "task", fmt.Sprintf(base, 1), 1000), "", firstID)
	for _, at := range f.registers {
		synctest.Test(t, func(t *testing.T) {
			for range 100 { // the pauses are random
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				_, err := edit(ctx, crowdedStore{f}, &at, 0, func(*register) error { return nil })
				if took := time.Since(began); err == nil || took > limit+swap {
					t.Fatalf("%v after %v", err, took)
				}
				cancel()
			}
		})
	}
}
