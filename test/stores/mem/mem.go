// Package mem is a store in memory, for tests.
//
// It never fails but by its context. Its invariant: all verbs are linearizable, and no version is used twice.
package mem

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"reprise/fleet/store"
)

// A Store is an engine whose entries end with it. The zero value is an empty one.
type Store struct {
	mu        sync.Mutex
	registers map[string]register
	objects   map[string][]byte
	writes    int64
}

type register struct {
	value   []byte
	version string
}

// New returns an empty store.
func New() *Store { return &Store{} }

// Read implements store.Store.
func (s *Store) Read(ctx context.Context, key string) ([]byte, string, error) {
	if ctx.Err() != nil {
		return nil, "", context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.registers[key]
	if !ok {
		return nil, "", store.ErrAbsent
	}
	return slices.Clone(r.value), r.version, nil
}

// Swap implements store.Store.
func (s *Store) Swap(ctx context.Context, key, old string, value []byte) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.registers[key].version != old {
		return "", store.ErrMoved
	}
	if s.registers == nil {
		s.registers = map[string]register{}
	}
	s.writes++
	version := strconv.FormatInt(s.writes, 10)
	s.registers[key] = register{slices.Clone(value), version}
	return version, nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string) ([]string, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for key := range s.registers {
		keys = append(keys, key)
	}
	for name := range s.objects {
		keys = append(keys, name)
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return !strings.HasPrefix(key, prefix) })
	slices.Sort(keys)
	return keys, nil
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, name string, content []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.objects[name]; ok {
		return store.ErrMoved
	}
	if s.objects == nil {
		s.objects = map[string][]byte{}
	}
	s.objects[name] = slices.Clone(content)
	return nil
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, name string) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := s.objects[name]
	if !ok {
		return nil, store.ErrAbsent
	}
	return slices.Clone(content), nil
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, names ...string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		delete(s.registers, name)
		delete(s.objects, name)
	}
	return nil
}

// Close implements store.Store.
func (s *Store) Close() error { return nil }
