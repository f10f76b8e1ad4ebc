package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/fleet/store"
	"reprise/fleet/wire"
	"reprise/test/servers"
)

// TestServers uses the program as it is installed, on each kind of server: two machines share a
// session.
func TestServers(t *testing.T) {
	for _, kind := range []servers.Kind{servers.Versitygw, servers.Minio} {
		t.Run(kind.Name, func(t *testing.T) {
			server := kind.Test(t, true)
			program := build(t)
			url := server.Fresh()
			start := func() *wire.Client {
				c, err := wire.Start(program, os.Environ(), (*exec.Cmd).Start,
					wire.Config{URL: url, Key: strings.Repeat("0123456789abcdef", 4)})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				return c
			}
			share(t, start(), start())
			c, err := wire.Start(program, os.Environ(), (*exec.Cmd).Start,
				wire.Config{URL: strings.Replace(url, server.Address, "127.0.0.1:1", 1),
					Key: strings.Repeat("0123456789abcdef", 4)})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if strings.Contains(url, server.Address) {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				if _, _, err := c.List(ctx, task, 1); !errors.Is(err, store.ErrUnreachable) {
					t.Errorf("a server that is not there: %v", err)
				}
			}
		})
	}
}

var task = store.Name{Kind: store.Task, Of: []string{"project", "/work", "task"}}

func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "reprise-store")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// share has one machine leave a session in the store that another one goes on with.
func share(t *testing.T, one, other *wire.Client) {
	ctx := t.Context()
	if _, err := store.One(other.List(ctx, task, 1)); !errors.Is(err, store.ErrAbsent) {
		t.Errorf("in an empty store: %v", err)
	}
	here, there := t.TempDir(), filepath.Join(t.TempDir(), "home")
	content := bytes.Repeat([]byte("a line of a session\n"), 30_000)
	if err := os.WriteFile(filepath.Join(here, "session.jsonl"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	bundle, err := one.Save(ctx, here, []string{"session.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	version, err := one.Swap(ctx, task, "", []byte(bundle.Name))
	if err != nil {
		t.Fatal(err)
	}
	r, err := store.One(other.List(ctx, task, 1))
	if err != nil || r.Version != version || string(r.Value) != bundle.Name {
		t.Fatalf("the other machine read %+v, %v", r, err)
	}
	taken, err := other.Swap(ctx, task, version, []byte("taken"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := one.Swap(ctx, task, version, []byte("taken too")); !errors.Is(err,
		store.ErrMoved) {
		t.Errorf("taken twice: %v", err)
	}
	if err := other.Load(ctx, bundle, there, []string{"session.jsonl"}, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(there, "session.jsonl")); err != nil ||
		!bytes.Equal(got, content) {
		t.Errorf("%d bytes arrived, %v", len(got), err)
	}
	rest(t, one, other, bundle, taken)
}

// rest uses the flags that share does not.
func rest(t *testing.T, one, other *wire.Client, bundle store.Bundle, taken string) {
	ctx := t.Context()
	if err := one.Drop(ctx, bundle.Name); err != nil {
		t.Error(err)
	}
	if err := one.Load(ctx, bundle, t.TempDir(), []string{"session.jsonl"}, nil); !errors.Is(err,
		store.ErrAbsent) {
		t.Errorf("a dropped bundle: %v", err)
	}
	opening := store.Name{Kind: store.Opening, Of: []string{"job", "digest"}}
	for _, id := range []string{"1", "2", "3"} {
		name := opening
		name.ID = id
		if _, err := one.Swap(ctx, name, "", []byte(id)); err != nil {
			t.Fatal(err)
		}
	}
	if list, more, err := other.List(ctx, opening, 9); err != nil || more || len(list) != 3 {
		t.Errorf("listed %v, %v, %v", list, more, err)
	}
	all, _, err := other.List(ctx, store.Name{Kind: store.Task}, math.MaxInt)
	if err != nil || len(all) != 1 || string(all[0].Value) != "taken" {
		t.Errorf("registers %v, %v", all, err)
	}
	if err := one.Remove(ctx, store.Register{Name: task, Version: taken}); err != nil {
		t.Error(err)
	}
	if _, err := store.One(other.List(ctx, task, 1)); !errors.Is(err, store.ErrAbsent) {
		t.Errorf("removed: %v", err)
	}
}
