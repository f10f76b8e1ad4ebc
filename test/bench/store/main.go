// Command store measures what a store that machines share adds to a call: the whole shim, a tool that takes no
// time, a session of 683 KB, each call in an empty home.
//
//	go run ./test/bench/store
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

	"reprise/test/harness"
	"reprise/test/servers"
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
	dir, home, bin, real string
	small, large         string // repositories to work in
	rounds               int    // so far
}

// A row is pairs of calls: a fresh one, and one that resumes its session. Each call has an empty home.
type row struct {
	name  string
	dir   string
	calls int
	env   []string
	alone bool // the tool runs without a shim
	stays bool // all calls have one home
	fresh bool // none is resumed
}

func run(ctx context.Context, calls int) error {
	dir, err := os.MkdirTemp("", "reprise-bench-store")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, home: filepath.Join(dir, "home"), small: filepath.Join(dir, "small"), large: filepath.Join(dir, "large"),
		bin: filepath.Join(dir, "bin"), real: filepath.Join(dir, "real")}
	if err := b.build(); err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ms, minimum / median\tfresh\tresumed")
	for _, r := range []row{
		{name: "the tool alone", alone: true, fresh: true},
		{name: "no store, one home", stays: true},
		{name: "no store, empty home", fresh: true},
	} {
		r.dir, r.calls = b.small, calls
		if err := b.measure(w, r); err != nil {
			return err
		}
	}
	for _, kind := range []servers.Kind{servers.Versitygw, servers.Postgres} {
		if err := b.store(ctx, w, kind, calls); err != nil {
			return err
		}
	}
	return nil
}

// build builds the programs, a repository with a file, and one with a real project's files.
func (b *bench) build() error {
	for _, dir := range []string{b.home, b.small, b.large, b.bin, b.real} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := harness.Build(b.bin); err != nil {
		return err
	}
	if out, err := exec.Command("cc", "-O2", "-o", filepath.Join(b.real, "9.9.9"), "test/bench/store/c/tool.c").CombinedOutput(); err != nil {
		return fmt.Errorf("build the tool: %w: %s", err, out)
	}
	if err := os.Symlink("9.9.9", filepath.Join(b.real, "claude")); err != nil {
		return err
	}
	if err := b.session(); err != nil {
		return err
	}
	for dir, files := range map[string]string{b.small: "README.md", b.large: "."} {
		script := `git -C "$0" init -q && git archive HEAD "$1" | tar -x -C "$0" && cd "$0" && git add . && git -c user.name=b -c user.email=b@example.org commit -q -m Begin`
		if out, err := exec.Command("sh", "-c", script, dir, files).CombinedOutput(); err != nil {
			return fmt.Errorf("make the project: %w: %s", err, out)
		}
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

// store measures with a server, at several distances, and in a directory with many files.
func (b *bench) store(ctx context.Context, w *tabwriter.Writer, kind servers.Kind, calls int) error {
	server, err := kind.Start(ctx, true)
	if err != nil {
		return err
	}
	defer server.Stop()
	for _, at := range []struct {
		place string
		dir   string
		trip  time.Duration
		calls int
	}{
		{"same machine", b.small, 0, calls},
		{"1 ms away", b.small, time.Millisecond, calls},
		{"30 ms away", b.small, 30 * time.Millisecond, calls / 2},
		{"same machine, all files of reprise", b.large, 0, calls},
	} {
		location, err := server.Fresh(ctx)
		if err != nil {
			return err
		}
		if at.trip > 0 {
			var proxy *servers.Proxy
			if location, proxy, err = server.Far(location, at.trip); err != nil {
				return err
			}
			defer proxy.Close()
		}
		r := row{name: kind.Name + ", " + at.place, dir: at.dir, calls: at.calls,
			env: []string{"REPRISE_STORE=" + location, "REPRISE_STORE_KEY=" + strings.Repeat("0123456789abcdef", 4), "REPRISE_PROJECT=org/repo"}}
		for name, value := range server.Env {
			r.env = append(r.env, name+"="+value)
		}
		if err := b.measure(w, r); err != nil {
			return err
		}
	}
	return nil
}

// measure prints a row's times. A pair before the first fills the system's caches.
func (b *bench) measure(w *tabwriter.Writer, r row) error {
	var fresh, resumed []float64
	for n := range r.calls + 1 {
		b.rounds++
		ms, err := b.call(r, "fresh")
		if err != nil {
			return err
		}
		if n > 0 {
			fresh = append(fresh, ms)
		}
		if r.fresh {
			continue
		}
		if ms, err = b.call(r, "resume"); err != nil {
			return err
		}
		if n > 0 {
			resumed = append(resumed, ms)
		}
	}
	fmt.Fprintf(w, "%s\t%s\t%s\n", r.name, summary(fresh), summary(resumed))
	return w.Flush()
}

// call returns how long a call of the present round takes. It fails if the shim does not do what is wanted.
func (b *bench) call(r row, want string) (ms float64, err error) {
	if !r.stays {
		if err := os.RemoveAll(b.home); err != nil {
			return 0, err
		}
	}
	if err := os.MkdirAll(b.home, 0o755); err != nil {
		return 0, err
	}
	bin := b.bin
	if r.alone {
		bin = b.real
	}
	cmd := exec.Command(filepath.Join(bin, "claude"), "-p", fmt.Sprint("You are the coder.\n\nKeep it small.\n\nThis is call ", time.Now().UnixNano()))
	cmd.Dir = r.dir
	cmd.Env = append([]string{"HOME=" + b.home, "PATH=" + b.bin + ":" + b.real + ":/usr/local/bin:/usr/bin:/bin",
		"SESSION_FILE=" + filepath.Join(b.dir, "session"), fmt.Sprint("REPRISE_TASK=task ", b.rounds), "REPRISE_ROLE=coder", "REPRISE_VERBOSE=1"}, r.env...)
	var messages strings.Builder
	cmd.Stderr = &messages
	start := time.Now()
	err = cmd.Run()
	ms = float64(time.Since(start).Microseconds()) / 1000
	if said := messages.String(); err == nil && !r.alone && !strings.Contains(said, want) {
		log, _ := os.ReadFile(filepath.Join(b.home, ".local/state/reprise/shim.log"))
		err = fmt.Errorf("%s: %s instead of %s\n%s", r.name, said, want, log)
	}
	return ms, err
}

func summary(ms []float64) string {
	if len(ms) == 0 {
		return "never"
	}
	return fmt.Sprintf("%.1f / %.1f", slices.Min(ms), harness.Median(ms))
}
