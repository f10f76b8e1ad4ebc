package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/fleet"
	"reprise/fleet/store"
	"reprise/fleet/wire"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/test/servers"
)

// Ten roles of one task at once, on three machines and with a server 30 ms away: each resumes its
// session, which was used on another machine before.
func TestRolesAtOnce(t *testing.T) {
	const roles, machines = 10, 3
	for _, kind := range []servers.Kind{servers.Versitygw} {
		t.Run(kind.Name, func(t *testing.T) {
			server := kind.Test(t, false)
			location := server.Fresh()
			location = far(t, server, location, 30*time.Millisecond)
			program, home := build(t), t.TempDir()
			if err := os.Mkdir(filepath.Join(home, "sessions"), 0o700); err != nil {
				t.Fatal(err)
			}
			// call runs a role's call on a machine, as a process of its own does, and returns the
			// decision.
			call := func(machine, role, round int) (decide.Decision, error) {
				config := wire.Config{URL: location, Key: strings.Repeat("0123456789abcdef", 4)}
				client, err := wire.Start(program, os.Environ(),
					(*exec.Cmd).Start, config)
				if err != nil {
					return decide.Decision{}, err
				}
				defer client.Stop()
				key, err := store.ReadKey(config.Key, "")
				if err != nil {
					return decide.Decision{}, err
				}
				digests := key.Derive("digests")
				local, err := ledger.OpenMemory()
				if err != nil {
					return decide.Decision{}, err
				}
				defer local.Close()
				host := fmt.Sprint("machine-", machine)
				book := &fleet.Book{Store: client, Digests: digests,
					RemoteOptions: ledger.RemoteOptions{Local: local, Project: "org/repo",
						// of a busy machine
						Host: host, Place: host, Timeout: 20 * time.Second,
						Upload: 30 * time.Second}}
				text := "You are reviewer " + fmt.Sprint(role) + ".\n\n" +
					strings.Repeat("Look at the whole change. ", 20)
				for n := range round {
					text += fmt.Sprintf("\n\n## Round %d", n+1)
				}
				now := decide.MillisOf(time.Now())
				d, ticket, err := ledger.Begin(book, &ledger.Call{
					Record: ledger.Record{Tool: "claude", Cwd: "/project", Format: rewrite.Text,
						Task: "task", Role: fmt.Sprint("reviewer-", role)},
					Home:   home,
					Prompt: prompt.New(text, digests),
					Request: decide.Request{Now: now, Limits: decide.Limits{TTL: 3_600_000,
						MaxAge: 3_600_000, ContextShare: 0.8, MinBase: 200},
						Checkout: func(string, string) bool { return true }},
					Stored: func(string, string, decide.Stamp) decide.StoredState {
						return decide.StoredSame
					},
				})
				if err != nil {
					return d, err
				}
				session := d.NativeID
				if session == "" {
					session = fmt.Sprintf("00000000-0000-4000-8000-%012d", role)
				}
				file := filepath.Join("sessions", session)
				if err := os.WriteFile(filepath.Join(home, file),
					fmt.Appendf(nil, "round %d", round), 0o600); err != nil {
					return d, err
				}
				ctx, cancel := context.WithTimeout(t.Context(), book.Upload)
				defer cancel()
				left, err := book.FinishWithin(ctx, ticket, &ledger.Outcome{Now: now + 1,
					Seen: rewrite.StreamState{ID: session, Final: true, Content: true,
						Answer: "Done."},
					File: file, Stamp: "1", Paths: []string{file}, Tree: func() string {
						return "tree"
					}})
				if left != nil {
					err = errors.Join(err, errors.New("the time is over"))
				}
				return d, err
			}
			for round := range 3 {
				var all sync.WaitGroup
				for role := range roles {
					all.Go(func() {
						d, err := call((role+round)%machines, role, round)
						if err != nil || d.Mode.Continues() != (round > 0) {
							t.Errorf("round %d, role %d: %s (%s), %v", round+1, role, d.Mode,
								d.Reason, err)
						}
					})
				}
				all.Wait()
			}
		})
	}
}

// far returns the URL of a store behind a proxy that delays it.
func far(t *testing.T, server *servers.Server, location string, trip time.Duration) string {
	t.Helper()
	proxy, err := servers.NewProxy(server.Address, trip)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { proxy.Close() })
	moved := strings.NewReplacer(server.Address, proxy.Address(), url.QueryEscape(server.Address),
		url.QueryEscape(proxy.Address())).Replace(location)
	if moved == location {
		t.Fatalf("%s does not contain %s", location, server.Address)
	}
	return moved
}

// A store 200 ms away is used from the second call on: the first call's helper ends the test of the
// store.
func TestNewStoreFarAway(t *testing.T) {
	server := servers.Versitygw.Test(t, false)
	location := server.Fresh()
	location = far(t, server, location, 200*time.Millisecond)
	program := build(t)
	swap := func() error {
		c, err := wire.Start(program, os.Environ(), (*exec.Cmd).Start,
			wire.Config{URL: location, Key: strings.Repeat("0123456789abcdef", 4)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err = c.Swap(ctx, task, "", []byte("value"))
		return err
	}
	if err := swap(); err == nil {
		t.Skip("the first call was fast enough")
	}
	for n := 0; ; n++ {
		err := swap()
		if err == nil {
			return
		}
		if n == 20 {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
	}
}
