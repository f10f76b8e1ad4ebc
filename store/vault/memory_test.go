package vault

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"reprise/store"
)

// A memory is an engine that remembers all that it was ever given, and whose faults a test decides.
type memory struct {
	mu      sync.Mutex
	entries map[string]entry
	writes  int
	history []string // every name and every content

	swap   func(key, old string, write func() (string, error)) (string, error) // nil: write
	refuse error                                                               // of reads
	reads  int
}

type entry struct {
	content []byte
	version string
}

func (m *memory) Read(_ context.Context, key string) ([]byte, string, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	if m.refuse != nil {
		return nil, "", time.Time{}, m.refuse
	}
	e, ok := m.entries[key]
	if !ok {
		return nil, "", time.Time{}, fmt.Errorf("read %s: %w", key, store.ErrAbsent)
	}
	return slices.Clone(e.content), e.version, time.Time{}, nil
}

func (m *memory) Swap(_ context.Context, key, old string, value []byte) (string, error) {
	write := func() (string, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.entries[key].version != old {
			return "", fmt.Errorf("swap %s: %w", key, store.ErrMoved)
		}
		return m.put(key, value), nil
	}
	if m.swap != nil && key != formatEntry {
		return m.swap(key, old, write)
	}
	return write()
}

func (m *memory) put(key string, value []byte) string {
	if m.entries == nil {
		m.entries = map[string]entry{}
	}
	m.writes++
	version := fmt.Sprint("v", m.writes)
	m.entries[key] = entry{slices.Clone(value), version}
	m.history = append(m.history, key, string(value))
	return version
}

func (m *memory) List(_ context.Context, prefix string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := slices.Sorted(maps.Keys(m.entries))
	return slices.DeleteFunc(keys, func(key string) bool { return !strings.HasPrefix(key, prefix) }), nil
}

func (m *memory) Put(_ context.Context, name string, content []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(name, content)
	return nil
}

func (m *memory) Get(ctx context.Context, name string) ([]byte, error) {
	content, _, _, err := m.Read(ctx, name)
	return content, err
}

func (m *memory) Delete(_ context.Context, names ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names {
		delete(m.entries, name)
	}
	return nil
}

func (m *memory) Close() error { return nil }
