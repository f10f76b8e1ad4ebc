package mem_test

import (
	"testing"
	"time"

	"reprise/fleet/store"
	"reprise/test/stores/mem"
	"reprise/test/stores/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(*testing.T) func() store.Store {
		s := mem.New()
		return func() store.Store { return s }
	})
}

// A caller that keeps or changes what it wrote or read must not change the store.
func TestCopies(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	s := &mem.Store{Now: func() time.Time { return at }}
	value := []byte("value")
	if _, err := s.Swap(t.Context(), "key", "", value); err != nil {
		t.Fatal(err)
	}
	value[0] = 'X'
	for range 2 {
		got, _, now, err := s.Read(t.Context(), "key")
		if err != nil || string(got) != "value" || !now.Equal(at) {
			t.Fatal(string(got), now, err)
		}
		got[0] = 'X'
	}
}
