package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"reprise/fleet/store"
)

// faultRates are the probabilities of a request's fates.
type faultRates struct {
	RequestLost float64 // a write is not made, and its answer is store.ErrUnknown
	AnswerLost  float64 // a write is made, and its answer is store.ErrUnknown
	Late        float64 // a write is made after later requests, and its answer is store.ErrUnknown
	Repeated    float64 // a write is made, and once more after later requests
	Twice       float64 // a write is made twice, and the second answer is returned
	ReadLost    float64 // a read fails
	Down        float64 // from this request on the server is down for a while
}

// How many requests the server is down, and a late one is late, at most.
const (
	maxDown = 20
	maxLate = 60
)

// A faulty store is one with a connection that fails: it passes requests on to another store, or
// does not. A seed decides the fate of each request. A write can be lost, or arrive while the
// answer is lost, or later than requests that were sent after it, or twice. Invariant: it never
// breaks the promises of store.Store, so a client must withstand each of these faults.
type faulty struct {
	store.Store
	rates faultRates

	mu       sync.Mutex
	random   *rand.Rand
	requests int
	up       int // the request that finds the server up again
	waiting  []waiting
}

// A waiting write arrives with a later request.
type waiting struct {
	due   int
	write func()
}

// newFaulty returns a store with faults drawn from the seed.
func newFaulty(inner store.Store, seed uint64, rates faultRates) *faulty {
	return &faulty{Store: inner, rates: rates, random: rand.New(rand.NewPCG(seed, seed))}
}

// Requests returns how many requests were made.
func (s *faulty) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Settle lets all writes arrive that have not.
func (s *faulty) Settle() {
	s.mu.Lock()
	late := s.waiting
	s.waiting = nil
	s.mu.Unlock()
	for _, w := range late {
		w.write()
	}
}

// A fate is the result of a request.
type fate int

const (
	arrives fate = iota
	unreachable
	requestLost
	answerLost
	isLate
	isRepeated
	isTwice
)

// draw counts a request, lets late writes arrive before it, and returns its fate.
func (s *faulty) draw(write bool) fate {
	s.mu.Lock()
	s.requests++
	var due []waiting
	if s.requests >= s.up {
		kept := s.waiting[:0:0]
		for _, w := range s.waiting {
			if w.due <= s.requests {
				due = append(due, w)
			} else {
				kept = append(kept, w)
			}
		}
		s.waiting = kept
	}
	fate := s.drawFate(write)
	s.mu.Unlock()
	for _, w := range due {
		w.write()
	}
	return fate
}

func (s *faulty) drawFate(write bool) fate {
	if s.requests < s.up {
		return unreachable
	}
	drawn := s.random.Float64()
	happens := func(rate float64) bool {
		drawn -= rate
		return drawn < 0
	}
	switch {
	case happens(s.rates.Down):
		s.up = s.requests + 1 + s.random.IntN(maxDown)
		return unreachable
	case !write && happens(s.rates.ReadLost):
		return unreachable
	case !write:
		return arrives
	case happens(s.rates.RequestLost):
		return requestLost
	case happens(s.rates.AnswerLost):
		return answerLost
	case happens(s.rates.Late):
		return isLate
	case happens(s.rates.Repeated):
		return isRepeated
	case happens(s.rates.Twice):
		return isTwice
	default:
		return arrives
	}
}

// later lets a write arrive after later requests.
func (s *faulty) later(write func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, waiting{s.requests + 1 + s.random.IntN(maxLate), write})
}

var errLost = fmt.Errorf("%w: a fault", store.ErrUnknown)

// write makes a write, or does not. make can be called after write has returned.
func (s *faulty) write(ctx context.Context,
	make func(context.Context) (version string, err error)) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	fate := s.draw(true)
	background := context.WithoutCancel(ctx)
	again := func() { _, _ = make(background) } // nobody hears the answer
	switch fate {
	case unreachable:
		return "", fmt.Errorf("%w: a fault", store.ErrUnreachable)
	case requestLost:
		return "", errLost
	case answerLost:
		again()
		return "", errLost
	case isLate:
		s.later(again)
		return "", errLost
	case isTwice:
		again()
	}
	version, err := make(ctx)
	unsent := errors.Is(err, store.ErrUnreachable) // the server is down by itself
	switch {
	case fate == isRepeated && !unsent:
		s.later(again)
	case fate == isTwice && unsent:
		err = errLost // the first might have arrived
	}
	return version, err
}

func (s *faulty) read(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.draw(false) == unreachable {
		return fmt.Errorf("%w: a fault", store.ErrUnreachable)
	}
	return nil
}

func (s *faulty) Read(ctx context.Context, name string) (store.Entry, error) {
	if err := s.read(ctx); err != nil {
		return store.Entry{}, err
	}
	return s.Store.Read(ctx, name)
}

func (s *faulty) Swap(ctx context.Context, key, old string, value []byte) (string, error) {
	return s.write(ctx, func(ctx context.Context) (string, error) {
		return s.Store.Swap(ctx, key, old, value)
	})
}

func (s *faulty) List(ctx context.Context, prefix string) ([]string, error) {
	if err := s.read(ctx); err != nil {
		return nil, err
	}
	return s.Store.List(ctx, prefix)
}

func (s *faulty) Delete(ctx context.Context, names ...string) error {
	_, err := s.write(ctx, func(ctx context.Context) (string, error) {
		return "", s.Store.Delete(ctx, names...)
	})
	return err
}
