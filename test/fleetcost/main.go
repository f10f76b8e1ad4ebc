// Command fleetcost measures what machines that share a store ask of it: requests, entries and money for each call, and how long a
// status takes once the log is long. It runs on servers on loopback only.
//
// usage: go run ./test/fleetcost [-calls N] [-log N] [-trip DURATION] [-hold DURATION]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"reprise/fleet"
	"reprise/fleet/bundle"
	"reprise/fleet/engine"
	"reprise/fleet/store"
	"reprise/fleet/vault"
	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/prompt"
	"reprise/rewrite/reason"
	"reprise/test/servers"
)

// What a request costs on S3, in dollars: list prices of us-east-1, 2026-11. Removing is free.
const (
	writePrice = 0.005 / 1000 // PUT and LIST
	readPrice  = 0.0004 / 1000
)

var (
	calls = flag.Int("calls", 600, "whole calls of each fleet")
	long  = flag.Int("log", 100_000, "calls of the long log")
	trip  = flag.Duration("trip", 30*time.Millisecond, "round trip to the server when the long log is read")
	hold  = flag.Duration("hold", 0, "how long the server with the long log stays, for shimctl status")
	key   = strings.Repeat("0123456789abcdef", 4)
)

func main() {
	flag.Parse()
	ctx := context.Background()
	var failed error
	for _, kind := range []servers.Kind{servers.Versitygw, servers.Postgres} {
		failed = errors.Join(failed, measure(ctx, kind, os.Stdout))
	}
	if failed != nil {
		fmt.Fprintln(os.Stderr, "error:", failed)
		os.Exit(1)
	}
}

func measure(ctx context.Context, kind servers.Kind, out io.Writer) error {
	server, err := kind.Start(ctx, false)
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop() }()
	for name, value := range server.Env {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%s\n%-34s %8s %8s %8s %8s %8s %10s %12s\n", kind.Name, "", "read", "write", "list", "remove", "entries", "ms a call", "$ a million")
	for _, named := range []bool{true, false} {
		for _, machines := range []int{1, 10, 100} {
			if err := workOf(ctx, server, machines, named, out); err != nil {
				return err
			}
		}
	}
	return longLog(ctx, server, out)
}

// A counted engine counts its requests, of all who share the counts.
type counted struct {
	store.Store
	counts *counts
}

type counts struct{ read, write, list, remove atomic.Int64 }

func (c counted) Read(ctx context.Context, key string) ([]byte, string, error) {
	c.counts.read.Add(1)
	return c.Store.Read(ctx, key)
}

func (c counted) Swap(ctx context.Context, key, old string, value []byte) (string, error) {
	c.counts.write.Add(1)
	return c.Store.Swap(ctx, key, old, value)
}

func (c counted) List(ctx context.Context, prefix string) ([]string, error) {
	c.counts.list.Add(1)
	return c.Store.List(ctx, prefix)
}

func (c counted) Put(ctx context.Context, name string, content []byte) error {
	c.counts.write.Add(1)
	return c.Store.Put(ctx, name, content)
}

func (c counted) Get(ctx context.Context, name string) ([]byte, error) {
	c.counts.read.Add(1)
	return c.Store.Get(ctx, name)
}

func (c counted) Delete(ctx context.Context, names ...string) error {
	c.counts.remove.Add(1)
	return c.Store.Delete(ctx, names...)
}

// A countedMany is a counted engine that reads many entries in one request.
type countedMany struct{ counted }

// Fetch implements store.Many.
func (c countedMany) Fetch(ctx context.Context, names []string) (map[string]store.Entry, error) {
	c.counts.read.Add(1)
	return c.Store.(store.Many).Fetch(ctx, names)
}

// open opens a store, as the helper of each call does.
func open(ctx context.Context, location string, counts *counts) (*vault.Vault, store.Store, error) {
	keys, err := vault.ParseKeys(key)
	if err != nil {
		return nil, nil, err
	}
	inner, err := engine.Open(ctx, location)
	if err != nil {
		return nil, nil, err
	}
	var e store.Store = counted{inner, counts}
	if _, many := inner.(store.Many); many {
		e = countedMany{counted{inner, counts}}
	}
	v, err := vault.Open(ctx, e, vault.Options{Keys: keys, Limits: bundle.Limits{Size: 1 << 20, Files: 100}, SelfTest: func(context.Context, store.Store) error { return nil },
		Now: time.Now})
	return v, e, err
}

// A log is a vault's log as its helper keeps it.
type log struct{ *vault.Vault }

// Note implements store.Log.
func (l log) Note(ctx context.Context, day string, value []byte, over ...string) error {
	err := l.Vault.Note(ctx, day, value)
	if len(over) > 0 {
		err = errors.Join(err, l.Drop(ctx, over...))
	}
	return err
}

// workOf lets machines make calls, each machine one after the other: rounds of jobs, in which each round is made by another machine.
func workOf(ctx context.Context, server *servers.Server, machines int, named bool, out io.Writer) error {
	location, err := server.Fresh(ctx)
	if err != nil {
		return err
	}
	home, err := os.MkdirTemp("", "fleetcost-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	const rounds = 4
	jobs := *calls / rounds
	var sum counts
	var resumed, failed atomic.Int64
	began := time.Now()
	for round := range rounds {
		var all sync.WaitGroup
		var next atomic.Int64
		for machine := range min(machines, 16) { // of the others it is not their number that counts
			all.Go(func() {
				for job := int(next.Add(1)) - 1; job < jobs; job = int(next.Add(1)) - 1 {
					d, err := call(ctx, location, &sum, home, fmt.Sprint("machine-", (job+round+machine)%machines), job, round, named)
					if err != nil {
						failed.Add(1)
					}
					if d.Mode.Continues() {
						resumed.Add(1)
					}
				}
			})
		}
		all.Wait()
	}
	took := time.Since(began)
	n := float64(jobs * rounds)
	names, err := entries(ctx, location)
	if err != nil {
		return err
	}
	each := func(c *atomic.Int64) float64 { return float64(c.Load()) / n }
	money := 1e6 * ((each(&sum.write)+each(&sum.list))*writePrice + each(&sum.read)*readPrice)
	title := map[bool]string{true: "named", false: "unnamed"}[named]
	fmt.Fprintf(out, "%-34s %8.2f %8.2f %8.2f %8.2f %8.2f %10.1f %12.2f\n", fmt.Sprintf("%s, %d of %.0f resumed, %d machines", title, resumed.Load(), n, machines),
		each(&sum.read), each(&sum.write), each(&sum.list), each(&sum.remove), float64(len(names))/n, float64(took.Milliseconds())/n*float64(min(machines, 16)), money)
	if failed.Load() > 0 {
		return fmt.Errorf("%d calls could not use the store", failed.Load())
	}
	return nil
}

func entries(ctx context.Context, location string) ([]string, error) {
	e, err := engine.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	return e.List(ctx, "")
}

// call makes a call as a process of its own does, with a ledger that knows nothing.
func call(ctx context.Context, location string, sum *counts, home, host string, job, round int, named bool) (decide.Decision, error) {
	v, e, err := open(ctx, location, sum)
	if err != nil {
		return decide.Decision{}, err
	}
	defer e.Close()
	defer v.End(time.Minute)
	hello, err := v.Hello(ctx)
	if err != nil {
		return decide.Decision{}, err
	}
	local, err := ledger.OpenMemory()
	if err != nil {
		return decide.Decision{}, err
	}
	defer local.Close()
	book := &fleet.Book{Local: local, Registers: v, Bundles: v, Log: log{v}, Digests: hello.DigestKey, Project: "org/repo", Host: host, Place: host,
		Timeout: 10 * time.Second, Upload: 10 * time.Second}
	text := fmt.Sprintf("Fix issue %d.\n\n", job) + strings.Repeat("Look at the whole change. ", 20)
	for n := range round {
		text += fmt.Sprintf("\n\n## Round %d\n\nThe reviewer says: still open.\n\nYour last report:\n\n%s", n+1, report(job, n))
	}
	now := decide.Millis(time.Now().UnixMilli())
	made := &ledger.Call{
		Tool: "claude", Cwd: "/project", Home: home, Format: rewrite.Text, Now: now, Prompt: prompt.New(text, hello.DigestKey),
		Limits: decide.Limits{TTL: 3_600_000, MaxAge: 3_600_000, ErrorLimit: 3, ContextShare: 0.8, MinBase: 200},
		Stored: func(string, string, decide.Stamp) decide.StoredState { return decide.StoredSame }, Checkout: func(string, string) bool { return true },
	}
	if named {
		made.Task = fmt.Sprint("issue-", job)
	}
	d, ticket, err := ledger.Begin(book, made)
	if err != nil {
		return d, err
	}
	session := d.NativeID
	if session == "" {
		session = fmt.Sprintf("00000000-0000-4000-8000-%012d", job)
	}
	file := filepath.Join("sessions-"+host, session)
	if err := os.MkdirAll(filepath.Join(home, filepath.Dir(file)), 0o700); err != nil {
		return d, err
	}
	if err := os.WriteFile(filepath.Join(home, file), fmt.Appendf(nil, "round %d", round), 0o600); err != nil {
		return d, err
	}
	return d, book.Finish(ticket, &ledger.Outcome{Now: now + 1, Seen: rewrite.StreamState{ID: session, Final: true, Content: true, Answer: report(job, round)},
		File: file, Stamp: "1", Paths: []string{file}, Tree: func() string { return "tree" }})
}

// report is what the agent says at the end of a round.
func report(job, round int) string {
	return fmt.Sprintf("Issue %d is fixed in round %d: the parser now keeps the position of each token it skips.", job, round)
}

// longLog logs many calls, and reads the log from far away.
func longLog(ctx context.Context, server *servers.Server, out io.Writer) error {
	location, err := server.Fresh(ctx)
	if err != nil {
		return err
	}
	var sum counts
	v, e, err := open(ctx, location, &sum)
	if err != nil {
		return err
	}
	now := decide.Millis(time.Now().UnixMilli())
	began := time.Now()
	var all sync.WaitGroup
	var next, failed atomic.Int64
	for range 8 {
		all.Go(func() {
			for n := int(next.Add(1)); n <= *long; n = int(next.Add(1)) {
				value := ledger.LoggedCall{When: now, Duration: 60_000, Host: fmt.Sprint("runner-", n%100), Project: "org/repo", Cwd: "/project", Tool: "claude",
					Task: fmt.Sprint("issue-", n/4), Role: "coder", Model: "a-model", Mode: rewrite.Resume, Reason: reason.Code("extends"), Outcome: "ok", Prompt: 5000 + n%1000, Sent: 400,
					Resumed: fmt.Sprintf("00000000-0000-4000-8000-%012d", n/4), Session: fmt.Sprintf("00000000-0000-4000-8000-%012d", n/4)}
				if err := fleet.LogCall(ctx, log{v}, value); err != nil {
					failed.Add(1)
				}
				v.End(time.Minute)
			}
		})
	}
	all.Wait()
	if err := e.Close(); err != nil {
		return err
	}
	names, err := entries(ctx, location)
	if err != nil {
		return err
	}
	n := float64(*long)
	fmt.Fprintf(out, "%-34s %8.2f %8.2f %8.2f %8.2f   %d entries, written in %s, %d failed\n", fmt.Sprintf("log of %d calls, each", *long),
		float64(sum.read.Load())/n, float64(sum.write.Load())/n, float64(sum.list.Load())/n, float64(sum.remove.Load())/n, len(names), time.Since(began).Round(time.Second), failed.Load())
	return readFar(ctx, server, location, now, out)
}

func readFar(ctx context.Context, server *servers.Server, location string, since decide.Millis, out io.Writer) error {
	location, proxy, err := server.Far(location, *trip)
	if err != nil {
		return err
	}
	defer proxy.Close()
	var sum counts
	v, e, err := open(ctx, location, &sum)
	if err != nil {
		return err
	}
	defer e.Close()
	began, n := time.Now(), 0
	if err := fleet.Calls(ctx, log{v}, since, func(ledger.LoggedCall) error { n++; return nil }); err != nil {
		return err
	}
	fmt.Fprintf(out, "read at %s: %d calls in %s, %d requests\nthe store is at %s\n", *trip, n, time.Since(began).Round(time.Millisecond), sum.read.Load()+sum.list.Load(), location)
	if *hold > 0 {
		fmt.Fprintf(out, "it stays for %s: REPRISE_STORE_KEY=%s", *hold, key)
		for name, value := range server.Env {
			fmt.Fprintf(out, " %s=%s", name, value)
		}
		fmt.Fprintln(out)
		time.Sleep(*hold)
	}
	return nil
}
