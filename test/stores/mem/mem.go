// Package mem is a store in memory, for tests.
//
// It fails only when its context ends. Invariant: all verbs are linearizable, and no version is
// used twice.
package mem

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reprise/fleet/store"
)

// A Store is an engine that keeps the entries in memory. The zero value is an empty one.
type Store struct {
	mu      sync.Mutex
	entries map[string]store.Entry
	writes  int64
}

// New returns an empty store.
func New() *Store { return &Store{} }

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, name string) (store.Entry, error) {
	if ctx.Err() != nil {
		return store.Entry{}, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[name]
	if !ok {
		return e, fmt.Errorf("read %s: %w", name, store.ErrAbsent)
	}
	return store.Entry{Content: slices.Clone(e.Content), Version: e.Version}, nil
}

// Swap implements store.Store.
func (s *Store) Swap(ctx context.Context, key, old string, value []byte) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries[key].Version != old {
		return "", store.ErrMoved
	}
	if s.entries == nil {
		s.entries = map[string]store.Entry{}
	}
	s.writes++
	version := strconv.FormatInt(s.writes, 10)
	s.entries[key] = store.Entry{Content: slices.Clone(value), Version: version}
	return version, nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string) ([]string, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := slices.Sorted(maps.Keys(s.entries))
	return slices.DeleteFunc(keys, func(key string) bool {
		return !strings.HasPrefix(key, prefix)
	}), nil
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, names ...string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		delete(s.entries, name)
	}
	return nil
}
