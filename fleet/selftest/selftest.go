// Package selftest tests whether a store keeps conditions on writes.
//
// Every promise about sessions on several machines rests on these conditions, and some servers
// accept a condition and ignore it. The package reads no clock and leaves nothing in the store but
// entries that a broken connection prevents it from removing. Invariant: it never accepts a store
// that has let two writers replace the same version.
package selftest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"reprise/fleet/store"
)

// prefix begins the names of the entries that a test makes.
const prefix = "selftest/"

const (
	rounds  = 3
	writers = 4
)

// Run tests a store with entries of its own. It fails with store.ErrUnsafe if the
// store ignores conditions on writes, and with other errors if the test could not be made.
func Run(ctx context.Context, s store.Store) error {
	names := []string{prefix + rand.Text(), prefix + rand.Text()}
	if err := cmp.Or(try(ctx, s, names), s.Delete(ctx, names...)); err != nil {
		return fmt.Errorf("test conditional writes: %w", err)
	}
	return nil
}

func try(ctx context.Context, s store.Store, names []string) error {
	key, absent := names[0], names[1]
	version, err := s.Swap(ctx, key, "", value())
	if err != nil {
		return unexpected(err, "a first creation was refused")
	}
	if err := refused(ctx, s, key, "", "a second creation succeeded"); err != nil {
		return err
	}
	stale := version
	if version, err = s.Swap(ctx, key, version, value()); err != nil {
		return unexpected(err, "a write with the right version was refused")
	}
	if version == stale {
		return fmt.Errorf("%w: a write left the version as it was", store.ErrUnsafe)
	}
	if err := refused(ctx, s, key, stale, "a write with an old version succeeded"); err != nil {
		return err
	}
	if err := refused(ctx, s, absent, version,
		"a write with a version succeeded where there was nothing"); err != nil {
		return err
	}
	for range rounds {
		if version, err = race(ctx, s, key, version); err != nil {
			return err
		}
	}
	return nil
}

// value returns a content that no other write has: an S3 server derives the version from it.
func value() []byte { return []byte(rand.Text()) }

// unexpected returns the error of a write that should have succeeded.
func unexpected(err error, what string) error {
	if errors.Is(err, store.ErrMoved) {
		return fmt.Errorf("%w: %s", store.ErrUnsafe, what)
	}
	return err
}

// refused checks that a write is refused and has not been made all the same.
func refused(ctx context.Context, s store.Store, key, old, what string) error {
	written := value()
	_, err := s.Swap(ctx, key, old, written)
	if err == nil {
		return fmt.Errorf("%w: %s", store.ErrUnsafe, what)
	}
	if !errors.Is(err, store.ErrMoved) {
		return err
	}
	found, err := s.Read(ctx, key)
	if err == nil && string(found.Content) == string(written) {
		return fmt.Errorf("%w: a refused write was made", store.ErrUnsafe)
	}
	if errors.Is(err, store.ErrAbsent) {
		return nil
	}
	return err
}

// race lets several write at once, and returns the version of the one who succeeded.
func race(ctx context.Context, s store.Store, key, old string) (version string, err error) {
	won, errs := make(chan string, writers), make([]error, writers)
	var done sync.WaitGroup
	for i := range writers {
		done.Go(func() {
			v, err := s.Swap(ctx, key, old, value())
			if err == nil {
				won <- v
			} else if !errors.Is(err, store.ErrMoved) {
				errs[i] = err
			}
		})
	}
	done.Wait()
	if len(won) > 1 {
		return "", fmt.Errorf("%w: %d of %d writers at once succeeded", store.ErrUnsafe, len(won),
			writers)
	}
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	if len(won) == 0 {
		return "", fmt.Errorf("%w: none of %d writers at once succeeded", store.ErrUnsafe, writers)
	}
	return <-won, nil
}
