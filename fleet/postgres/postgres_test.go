package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/fleet/postgres"
	"reprise/fleet/selftest"
	"reprise/fleet/store"
	"reprise/test/servers"
	"reprise/test/stores/storetest"

	"github.com/jackc/pgx/v5/pgconn"
)

func open(t *testing.T, text string) *postgres.Store {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(u)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fresh(t *testing.T, server *servers.Server) string {
	t.Helper()
	u, err := server.Fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestPostgres(t *testing.T) {
	for _, tls := range []bool{false, true} {
		t.Run(fmt.Sprint("tls=", tls), func(t *testing.T) {
			server := servers.Postgres.Test(t, tls)
			storetest.Run(t, func(t *testing.T) func() store.Store {
				u := fresh(t, server)
				return func() store.Store { return open(t, u) }
			})
			storetest.RunRemote(t, storetest.Remote{
				Address: server.Address,
				At: func(address string) store.Store {
					return open(t, strings.Replace(fresh(t, server), server.Address, address, 1))
				},
				Missing: func() store.Store { return open(t, strings.Replace(fresh(t, server), "/postgres?", "/missing?", 1)) },
				Denied:  func() store.Store { return open(t, strings.Replace(fresh(t, server), "reprise@", "reprise:wrong@", 1)) },
				Secret:  server.Secret,
			})
			tested := open(t, fresh(t, server))
			defer tested.Close()
			if err := selftest.Run(t.Context(), tested); err != nil {
				t.Error(err)
			}
			t.Run("Schema", func(t *testing.T) { otherSchema(t, server) })
			t.Run("MadeAtOnce", func(t *testing.T) { madeAtOnce(t, server) })
			t.Run("Sweep", func(t *testing.T) { sweep(t, server) })
			t.Run("Killed", func(t *testing.T) { killed(t, server) })
		})
	}
}

func exec(t *testing.T, u, statement string) {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), statement).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// Tables that are not ours are left alone, and a schema that does not exist is no store.
func otherSchema(t *testing.T, server *servers.Server) {
	for _, table := range []string{"reprise_register (id int)", "reprise_register (key text, version int, value bytea, updated timestamptz)"} {
		u := fresh(t, server)
		exec(t, u, "CREATE TABLE "+table)
		s := open(t, u)
		defer s.Close()
		if _, err := s.Swap(t.Context(), "t/a", "", []byte("x")); err == nil || !strings.Contains(err.Error(), "not as expected") || errors.Is(err, store.ErrUnknown) {
			t.Error(err)
		}
	}
	s := open(t, strings.Replace(fresh(t, server), "search_path=", "search_path=none_", 1))
	defer s.Close()
	if _, err := s.Read(t.Context(), store.MaxRegister, "t/a"); !errors.Is(err, store.ErrNoStore) {
		t.Error(err)
	}
}

func madeAtOnce(t *testing.T, server *servers.Server) {
	u := fresh(t, server)
	var done sync.WaitGroup
	for i := range 16 {
		done.Go(func() {
			s := open(t, u)
			defer s.Close()
			if err := s.Put(t.Context(), fmt.Sprint("b/", i), nil); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
}

// What was written lately stays, and of all who sweep in a day one does.
func sweep(t *testing.T, server *servers.Server) {
	u := fresh(t, server)
	s := open(t, u)
	defer s.Close()
	for _, key := range []string{"old", "new"} {
		if _, err := s.Swap(t.Context(), "t/"+key, "", []byte(key)); err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), "b/"+key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	age := func(where string) {
		exec(t, u, "UPDATE reprise_register SET updated = updated - interval '8 days' WHERE "+where+
			"; UPDATE reprise_blob SET created = created - interval '8 days' WHERE "+strings.Replace(where, "key", "name", 1))
	}
	sweeps := func(want int, left string) {
		t.Helper()
		if removed, err := s.Sweep(t.Context(), 7*24*time.Hour); err != nil || removed != want {
			t.Fatal(removed, err)
		}
		keys, err := s.List(t.Context(), "")
		if got := strings.Join(keys, " "); err != nil || got != left {
			t.Fatal(got, err)
		}
	}
	age("key LIKE '_/old'")
	sweeps(2, "b/new swept t/new")
	age("key LIKE '_/new'")
	sweeps(0, "b/new swept t/new")
	age("key = 'swept'")
	sweeps(2, "swept")
}

// The server returns before a commit is on the disk by default. A write that has succeeded survives its end all the
// same.
func killed(t *testing.T, server *servers.Server) {
	s := open(t, fresh(t, server))
	defer s.Close()
	version := ""
	for n := range 3 {
		var err error
		if version, err = s.Swap(t.Context(), "t/a", version, fmt.Append(nil, n)); err != nil {
			t.Fatal(err)
		}
		if err := s.Put(t.Context(), fmt.Sprint("b/", n), nil); err != nil {
			t.Fatal(err)
		}
		server.Kill9()
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		e, err := readWhenUp(t.Context(), s)
		if err != nil || e.Version != version || string(e.Content) != fmt.Sprint(n) {
			t.Fatalf("after %q at %s: %q, %v", fmt.Sprint(n), version, e, err)
		}
		if _, err := store.ReadOne(t.Context(), s, store.MaxObject, fmt.Sprint("b/", n)); err != nil {
			t.Fatal(err)
		}
	}
}

func readWhenUp(ctx context.Context, s store.Store) (e store.Entry, err error) {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if e, err = store.ReadOne(ctx, s, store.MaxRegister, "t/a"); !errors.Is(err, store.ErrUnreachable) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return e, err
}

func TestURLs(t *testing.T) {
	for _, text := range []string{"postgres://u:hush@h/db?sslmode=hush", "postgres://h/db?connect_timeout=hush", "postgres://h/db?password=hush&sslrootcert=/none/hush&sslmode=verify-full"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := postgres.Open(u); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
