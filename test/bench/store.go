package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reprise/test/servers"
)

// sessionSize is that of a session of 43 turns over real files, as it was measured.
const sessionSize = 683_000

// stores compares calls without a store and with one, on this machine and far away. With a store each call has an empty home.
func (b *bench) stores() error {
	ctx := context.Background()
	session := filepath.Join(b.dir, "session")
	line := `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("Do what is asked. ", 50) + `"}}` + "\n"
	// The name of the tool's file tells its version, so that no call of an empty home asks for it.
	named := filepath.Join(filepath.Dir(b.shim("real")), "9.9.9")
	if err := errors.Join(os.WriteFile(session, []byte(strings.Repeat(line, sessionSize/len(line))), 0o600),
		os.Rename(b.shim("real"), named), os.Symlink(named, b.shim("real"))); err != nil {
		return err
	}
	git := exec.Command("sh", "-c", `git init -q && echo '*' >.git/info/exclude && git -c user.name=b -c user.email=b@example.org commit -q --allow-empty -m Begin`)
	git.Dir = b.dir
	if out, err := git.CombinedOutput(); err != nil {
		return fmt.Errorf("make the project: %w: %s", err, out)
	}
	calls := map[string]call{"direct": {path: b.shim("real"), args: streamJSON, more: prompts()}}
	add := func(name string, env ...string) {
		for kind, more := range map[string]func() []string{"fresh": prompts(), "resumed": rounds()} {
			c := call{path: b.ours(), args: streamJSON, more: more}
			c.env = slices.Concat(env, []string{"BENCH_SESSION=" + session, "REPRISE_PROJECT=org/repo", "REPRISE_TASK=bench", "REPRISE_ROLE=" + kind})
			if env != nil {
				c.home = filepath.Join(b.dir, name+", "+kind)
			}
			calls[name+", "+kind] = c
		}
	}
	add("no store")
	for _, kind := range []servers.Kind{servers.Versitygw} {
		server, err := kind.Start(ctx, true)
		if err != nil {
			return err
		}
		defer server.Stop()
		for _, trip := range []time.Duration{0, 30 * time.Millisecond} {
			location, err := server.Fresh(ctx)
			if err != nil {
				return err
			}
			location, proxy, err := server.Far(location, trip)
			if err != nil {
				return err
			}
			defer proxy.Close()
			env := []string{"REPRISE_STORE=" + location, "REPRISE_STORE_KEY=" + strings.Repeat("0123456789abcdef", 4)}
			for name, value := range server.Env {
				env = append(env, name+"="+value)
			}
			add(fmt.Sprint(kind.Name, ", ", trip, " away"), env...)
		}
	}
	if err := b.compare("a call", b.rounds, calls); err != nil {
		return err
	}
	for name, c := range calls {
		if c.home != "" && strings.HasSuffix(name, "resumed") {
			if err := expectResumes(b.ledger(c.home, ""), 1); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}
