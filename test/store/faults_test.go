package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"reprise/fleet/store"
	"reprise/test/stores/mem"
	"reprise/test/stores/storetest"
)

// Without faults it is the store that it wraps.
func TestNoFault(t *testing.T) {
	storetest.Run(t, func(*testing.T) func() store.Store {
		s := mem.New()
		return func() store.Store { return newFaulty(s, 1, faultRates{}) }
	})
}

// Each fault, with the caller's answer and the content of the store at once and in the end.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name        string
		rates       faultRates
		want        error
		atOnce, end string
	}{
		{"request lost", faultRates{RequestLost: 1}, store.ErrUnknown, "", ""},
		{"answer lost", faultRates{AnswerLost: 1}, store.ErrUnknown, "b/x t/x", "b/x t/x"},
		{"late", faultRates{Late: 1}, store.ErrUnknown, "", "b/x t/x"},
		{"repeated", faultRates{Repeated: 1}, nil, "b/x t/x", "b/x t/x"},
		{"twice", faultRates{Twice: 1}, store.ErrMoved, "b/x t/x", "b/x t/x"},
		{"down", faultRates{Down: 1}, store.ErrUnreachable, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			inner := mem.New()
			s := newFaulty(inner, 1, c.rates)
			if _, err := s.Swap(t.Context(), "t/x", "", []byte("value")); !errors.Is(err, c.want) {
				t.Error(err)
			}
			if _, err := s.Swap(t.Context(), "b/x", "", nil); !errors.Is(err, c.want) {
				t.Error(err)
			}
			for _, want := range []string{c.atOnce, c.end} {
				if keys, err := inner.List(t.Context(), ""); err != nil ||
					strings.Join(keys, " ") != want {
					t.Errorf("%v, want %s", keys, want)
				}
				s.Settle()
			}
		})
	}
	s := newFaulty(mem.New(), 1, faultRates{ReadLost: 1})
	if _, err := s.Read(t.Context(), "t/x"); !errors.Is(err, store.ErrUnreachable) {
		t.Error(err)
	}
}

// The same seed draws the same faults.
func TestSeed(t *testing.T) {
	run := func(seed uint64) (all []string) {
		inner := mem.New()
		s := newFaulty(inner, seed, faultRates{Late: 0.3, Down: 0.05, Repeated: 0.1})
		for range 200 {
			now, err := s.Read(t.Context(), "t/x")
			if err == nil || errors.Is(err, store.ErrAbsent) {
				_, err = s.Swap(t.Context(), "t/x", now.Version, []byte("value"))
			}
			all = append(all, fmt.Sprint(now, err))
		}
		return all
	}
	if first := run(7); !slices.Equal(first, run(7)) || slices.Equal(first, run(8)) {
		t.Error("the seed does not decide")
	}
}

// A dying is a store that takes so many writes and is down from then on, until it is not.
type dying struct {
	store.Store
	writes int
	up     bool
}

func (d *dying) Swap(ctx context.Context, key, old string, value []byte) (string, error) {
	if d.writes--; d.writes < 0 && !d.up {
		return "", store.ErrUnreachable
	}
	return d.Store.Swap(ctx, key, old, value)
}

// A write that is reported as not made never arrives, even where the server itself goes down
// between two attempts.
func TestUnreachableIsNotMade(t *testing.T) {
	for _, c := range []struct {
		name   string
		rates  faultRates
		writes int
		want   error
		end    string
	}{
		{"repeated", faultRates{Repeated: 1}, 0, store.ErrUnreachable, ""},
		{"twice, neither arrives", faultRates{Twice: 1}, 0, store.ErrUnknown, ""},
		{"twice, the first arrives", faultRates{Twice: 1}, 1, store.ErrUnknown, "t/x"},
	} {
		inner := &dying{Store: mem.New(), writes: c.writes}
		s := newFaulty(inner, 1, c.rates)
		if _, err := s.Swap(t.Context(), "t/x", "", []byte("value")); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		inner.up = true
		s.Settle()
		if keys, err := inner.List(t.Context(), ""); err != nil ||
			strings.Join(keys, " ") != c.end {
			t.Errorf("%s: %v, want %s", c.name, keys, c.end)
		}
	}
}
