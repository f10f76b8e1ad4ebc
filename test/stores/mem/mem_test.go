package mem_test

import (
	"testing"

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

// A caller that keeps or changes bytes that it wrote or read must not change the store.
func TestCopies(t *testing.T) {
	s := mem.New()
	value := []byte("value")
	if _, err := s.Swap(t.Context(), "key", "", value); err != nil {
		t.Fatal(err)
	}
	value[0] = 'X'
	for range 2 {
		got, err := s.Read(t.Context(), "key")
		if err != nil || string(got.Content) != "value" {
			t.Fatal(string(got.Content), err)
		}
		got.Content[0] = 'X'
	}
}
