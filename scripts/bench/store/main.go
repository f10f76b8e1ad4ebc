// Command store measures what a store that machines share adds to a call: the whole shim, a tool that takes no
// time, a session of 683 KB, each call in an empty home.
//
//	go run ./scripts/bench/store
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"reprise/scripts/parity"
	"reprise/scripts/servers"
)

// sessionSize is that of a session of 43 turns over real files, as it was measured.
const sessionSize = 683_000

func main() {
	calls := flag.Int("calls", 12, "how many `calls` of each kind; half of them where a trip is long")
	flag.Parse()
	if err := run(context.Background(), *calls); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// A bench is one run.
type bench struct {
	dir, home, project string
	bin, real          string
	rounds             int // so far
}

func run(ctx context.Context, calls int) error {
	dir, err := os.MkdirTemp("", "reprise-bench-store")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"),
		bin: filepath.Join(dir, "bin"), real: filepath.Join(dir, "real")}
	if err := b.build(); err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ms, minimum / median\tfresh\tresumed")
	if err := b.row(w, "the tool alone", calls, []string{"REPRISE_OFF=1"}, false, false); err != nil {
		return err
	}
	if err := b.row(w, "no store, one machine", calls, nil, true, true); err != nil {
		return err
	}
	if err := b.row(w, "no store, empty home", calls, nil, false, false); err != nil {
		return err
	}
	for _, kind := range []servers.Kind{servers.Versitygw, servers.Postgres} {
		if err := b.store(ctx, w, kind, calls); err != nil {
			return err
		}
	}
	return w.Flush()
}

// build builds the programs, and a repository with a real project's files.
func (b *bench) build() error {
	for _, dir := range []string{b.home, b.project, b.bin, b.real} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := parity.Build(b.bin); err != nil {
		return err
	}
	if out, err := exec.Command("cc", "-O2", "-o", filepath.Join(b.real, "9.9.9"), "scripts/bench/store/c/tool.c").CombinedOutput(); err != nil {
		return fmt.Errorf("build the tool: %w: %s", err, out)
	}
	if err := os.Symlink("9.9.9", filepath.Join(b.real, "claude")); err != nil {
		return err
	}
	if err := b.session(); err != nil {
		return err
	}
	script := `git -C "$0" init -q && git archive HEAD | tar -x -C "$0" && cd "$0" && git add . && git -c user.name=b -c user.email=b@example.org commit -q -m Begin`
	if out, err := exec.Command("sh", "-c", script, b.project).CombinedOutput(); err != nil {
		return fmt.Errorf("make the project: %w: %s", err, out)
	}
	return nil
}

// session makes a transcript whose turns show real files.
func (b *bench) session() error {
	var text []byte
	paths, err := filepath.Glob("*/*.go")
	if err != nil {
		return err
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		line, err := json.Marshal(map[string]any{"type": "user", "uuid": path, "message": map[string]string{"role": "user", "content": string(content)}})
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
		if len(text) > sessionSize {
			break
		}
	}
	return os.WriteFile(filepath.Join(b.dir, "session"), text, 0o600)
}

// store measures with a server, at several distances.
func (b *bench) store(ctx context.Context, w *tabwriter.Writer, kind servers.Kind, calls int) error {
	server, err := kind.Start(ctx, true)
	if err != nil {
		return err
	}
	defer server.Stop()
	for _, trip := range []time.Duration{0, time.Millisecond, 30 * time.Millisecond} {
		url, err := server.Fresh(ctx)
		if err != nil {
			return err
		}
		name, n := kind.Name+", same machine", calls
		if trip > 0 {
			proxy, err := servers.NewProxy(server.Address)
			if err != nil {
				return err
			}
			defer proxy.Close()
			proxy.SetTrip(trip)
			url = strings.ReplaceAll(url, server.Address, proxy.Address())
			name = fmt.Sprintf("%s, %s away", kind.Name, trip)
		}
		if trip > 10*time.Millisecond {
			n /= 2
		}
		env := []string{"REPRISE_STORE=" + url, "REPRISE_STORE_KEY=" + strings.Repeat("5a", 32), "REPRISE_PROJECT=org/repo"}
		for name, value := range server.Env {
			env = append(env, name+"="+value)
		}
		if err := b.row(w, name, n, env, true, false); err != nil {
			return err
		}
	}
	return nil
}

// row measures pairs of calls: a fresh one, and one that resumes it where resumes is set. Each has an empty
// home unless one stays.
func (b *bench) row(w *tabwriter.Writer, name string, calls int, env []string, resumes, stays bool) error {
	var fresh, resumed []float64
	for n := range calls + 1 {
		b.rounds++
		task := fmt.Sprint("task ", b.rounds)
		for _, times := range []*[]float64{&fresh, &resumed} {
			if times == &resumed && !resumes {
				continue
			}
			if !stays {
				if err := os.RemoveAll(b.home); err != nil {
					return err
				}
			}
			if err := os.MkdirAll(b.home, 0o755); err != nil {
				return err
			}
			ms, mode, err := b.call(task, env)
			if want := map[bool]string{false: "fresh", true: "resume"}[times == &resumed]; err == nil && !strings.Contains(mode, want) && name != "the tool alone" {
				err = fmt.Errorf("%s: %s instead of %s\n%s", name, mode, want, b.log())
			}
			if err != nil {
				return err
			}
			if n > 0 { // the first one fills the system's caches
				*times = append(*times, ms)
			}
		}
	}
	fmt.Fprintf(w, "%s\t%s\t%s\n", name, summary(fresh), summary(resumed))
	return w.Flush()
}

func (b *bench) log() string {
	text, _ := os.ReadFile(filepath.Join(b.home, ".local/state/reprise/shim.log"))
	return string(text)
}

func (b *bench) call(task string, env []string) (ms float64, mode string, err error) {
	cmd := exec.Command(filepath.Join(b.bin, "claude"), "-p", "Go on. This is call "+fmt.Sprint(time.Now().UnixNano()))
	cmd.Dir = b.project
	cmd.Env = append([]string{"HOME=" + b.home, "PATH=" + b.bin + ":" + b.real + ":/usr/local/bin:/usr/bin:/bin",
		"SESSION_FILE=" + filepath.Join(b.dir, "session"), "REPRISE_TASK=" + task, "REPRISE_VERBOSE=1"}, env...)
	var messages strings.Builder
	cmd.Stderr = &messages
	start := time.Now()
	err = cmd.Run()
	return float64(time.Since(start).Microseconds()) / 1000, messages.String(), err
}

func summary(ms []float64) string {
	if len(ms) == 0 {
		return "never"
	}
	slices.Sort(ms)
	return fmt.Sprintf("%.1f / %.1f", ms[0], ms[len(ms)/2])
}
