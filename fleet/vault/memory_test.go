package vault

import (
	"context"
	"sync"

	"reprise/fleet/store"
	"reprise/test/stores/mem"
)

// A memory is an engine that remembers every entry that it was ever given. A test decides the
// faults.
type memory struct {
	mem.Store

	mu sync.Mutex
	// every name and every content
	history []string
	refuse  error                                                          // of reads
	swap    func(key string, write func() (string, error)) (string, error) // nil: write
}

func (m *memory) Read(ctx context.Context, name string) (store.Entry, error) {
	if m.refuse != nil {
		return store.Entry{}, m.refuse
	}
	return m.Store.Read(ctx, name)
}

func (m *memory) Swap(ctx context.Context, key, old string, value []byte) (string, error) {
	m.remember(key, value)
	write := func() (string, error) { return m.Store.Swap(ctx, key, old, value) }
	if m.swap != nil && key != formatEntry {
		return m.swap(key, write)
	}
	return write()
}

func (m *memory) remember(name string, content []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.history = append(m.history, name, string(content))
}

// put replaces an entry as somebody who can write into the store does.
func (m *memory) put(name string, content []byte) {
	ctx := context.Background()
	err := m.Delete(ctx, name)
	if err == nil {
		_, err = m.Store.Swap(ctx, name, "", content)
	}
	if err != nil {
		panic(err)
	}
}

// all returns the contents of all entries.
func (m *memory) all() map[string][]byte {
	ctx, found := context.Background(), map[string][]byte{}
	names, err := m.List(ctx, "")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		e, err := m.Store.Read(ctx, name)
		if err != nil {
			panic(err)
		}
		found[name] = e.Content
	}
	return found
}
