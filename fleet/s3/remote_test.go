package s3_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"reprise/fleet/store"
	"reprise/test/servers"
	"reprise/test/stores/storetest"
)

// A remote is a server with stores; each is reached by a new connection.
type remote struct{ *servers.Server }

// at returns an empty store, reached by another address.
func (r remote) at(t *testing.T, address string) store.Store {
	return open(t, strings.Replace(r.Fresh(), url.QueryEscape(r.Address),
		url.QueryEscape(address), 1))
}

// missing returns a store in a bucket that does not exist.
func (r remote) missing(t *testing.T) store.Store {
	return open(t, strings.Replace(r.Fresh(), "s3://sessions", "s3://missing", 1))
}

// denied returns a store with credentials that the server does not accept.
func (r remote) denied(t *testing.T) store.Store {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	s := open(t, r.Fresh())
	_, _ = s.Read(t.Context(), "b/x") // reads the credentials
	t.Setenv("AWS_SECRET_ACCESS_KEY", r.Secret)
	return s
}

// run tests for mistakes that only an engine with a server can make.
func (r remote) run(t *testing.T) {
	t.Run("Errors", r.errors)
	t.Run("AnswerLost", r.answerLost)
	t.Run("Silent", r.silent)
	t.Run("Reconnects", r.reconnects)
}

// Nothing has been sent to a server that cannot be reached or does not let the caller in, so that
// no write is unknown.
func (r remote) errors(t *testing.T) {
	for _, c := range []struct {
		want error
		s    store.Store
	}{{store.ErrUnreachable, r.at(t, "127.0.0.1:1")}, {store.ErrNoStore, r.missing(t)},
		{store.ErrDenied, r.denied(t)}} {
		for verb, err := range storetest.Verbs(t.Context(), c.s) {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v; want %v", verb, err, c.want)
			}
			for _, other := range []error{store.ErrAbsent, store.ErrMoved, store.ErrUnknown,
				store.ErrUnreachable, store.ErrNoStore, store.ErrDenied} {
				if other != c.want && errors.Is(err, other) {
					t.Errorf("%s: %v is %v too", verb, err, other)
				}
			}
			if err != nil && strings.Contains(err.Error(), r.Secret) {
				t.Errorf("%s: %v contains the secret", verb, err)
			}
		}
	}
}

// behind returns a store that is reached through a proxy, and connected.
func (r remote) behind(t *testing.T) (store.Store, *servers.Proxy) {
	t.Helper()
	proxy, err := servers.NewProxy(r.Address, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := r.at(t, proxy.Address())
	t.Cleanup(func() { proxy.Close() })
	if _, err := s.Read(t.Context(), "t/a"); !errors.Is(err, store.ErrAbsent) {
		t.Fatal(err)
	}
	return s, proxy
}

func (r remote) answerLost(t *testing.T) {
	for _, verb := range []string{"create", "swap"} {
		t.Run(verb, func(t *testing.T) {
			s, proxy := r.behind(t)
			old := ""
			if verb == "swap" {
				old = storetest.Swap(t, s, "t/a", "", "one")
			}
			proxy.Set(servers.LoseAnswers)
			if _, err := s.Swap(t.Context(), "t/a", old,
				[]byte("two")); !errors.Is(err, store.ErrUnknown) {
				t.Fatal(err)
			}
			proxy.Set(servers.Pass)
			// The proxy closes the connection when the answer comes, so that the write has been
			// made.
			got, err := s.Read(t.Context(), "t/a")
			if err != nil || string(got.Content) != "two" {
				t.Fatalf("%q, %v", got, err)
			}
		})
	}
}

// A server that accepts and does not answer is left when the context ends.
func (r remote) silent(t *testing.T) {
	s, proxy := r.behind(t)
	proxy.Set(servers.Hold)
	cause := errors.New("the store's time is up")
	for _, connected := range []bool{true, false} {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, cause)
		_, err := s.Swap(ctx, "t/a", "", []byte("two"))
		if !errors.Is(err, cause) || connected && !errors.Is(err, store.ErrUnknown) {
			t.Errorf("swap: %v", err)
		}
		_, err = s.Read(ctx, "t/a")
		if !errors.Is(err, cause) || errors.Is(err, store.ErrUnknown) {
			t.Errorf("read: %v", err)
		}
		cancel()
	}
}

// A connection that was cut is made again by the next verb.
func (r remote) reconnects(t *testing.T) {
	s, proxy := r.behind(t)
	version := storetest.Swap(t, s, "t/a", "", "one")
	proxy.Cut()
	time.Sleep(10 * time.Millisecond) // until the client sees it
	_, err := s.Read(t.Context(), "t/a")
	if err != nil && !errors.Is(err, store.ErrUnreachable) {
		t.Fatal(err)
	}
	storetest.Holds(t, s, "t/a", "one", version)
}
