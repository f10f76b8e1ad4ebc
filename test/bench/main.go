// Command bench measures what the shims cost. It compares the time of a call without a shim,
// through the least shim possible in C, and through ours; what a managed call adds,
// compared with a plain Go program that does the same kind of work (goledger); speed and memory use
// with a long answer; 64 calls at once; a large ledger, and a locked one; what shimctl shows of 20,000 calls. With -store it measures
// what a store that machines share adds, and nothing else. Everything compared is measured in one run, in rounds of shuffled order,
// in front of a tool that takes no time (c/tool.c). It needs a C compiler.
//
// Absolute times hold only for this machine at this moment: only ratios are meaningful. -check
// fails if a ratio exceeds what a busy machine explains.
package main

import (
	"cmp"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"reprise/ledger"
	"reprise/rewrite"
	"reprise/test/harness"

	_ "github.com/mattn/go-sqlite3"
)

func main() {
	var o options
	flag.StringVar(&o.beside, "beside", "", "the `directory` of other installed shims, to be measured in the same rounds")
	flag.IntVar(&o.rounds, "rounds", 300, "how many `rounds` of the short calls to measure")
	flag.Int64Var(&o.large, "large", 1_000, "megabytes of the long `stream`")
	flag.Int64Var(&o.calls, "calls", 1_000_000, "`calls` in the large ledger")
	flag.BoolVar(&o.check, "check", false, "leave with 1 if a target is missed")
	flag.BoolVar(&o.store, "store", false, "measure what a store adds, as is done seldom, since it needs versitygw and PostgreSQL")
	flag.Parse()
	missed, err := o.main()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	if o.check && missed > 0 {
		os.Exit(1)
	}
}

type options struct {
	beside       string
	rounds       int
	large, calls int64
	check, store bool
}

func (o options) main() (missed int, err error) {
	dir, err := os.MkdirTemp("", "reprise-bench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	b := &bench{options: o, dir: dir, bin: filepath.Join(dir, "bin"), times: map[string]times{}, figures: map[string]float64{}}
	steps := []func() error{b.build, b.starts, b.managed, b.streams, b.atOnce, b.ledgers, b.statusline, b.screens}
	if o.store {
		steps = []func() error{b.build, b.stores}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return 0, err
		}
	}
	if o.store {
		return 0, nil
	}
	return b.targets(), nil
}

// A bench is one run, and its results.
type bench struct {
	options
	dir     string
	bin     string // of the shims
	linked  string // how they are
	times   map[string]times
	figures map[string]float64
}

// times are the durations of one kind of call, in milliseconds.
type times struct {
	addedMin float64 // what the fastest takes longer than the fastest direct one
	ratio    float64 // the median of the quotients with the direct call of the same round
}

// --- what is measured ---

// build installs the shims and builds the other programs. The C shim is linked like ours.
func (b *bench) build() error {
	install := exec.Command("./install.sh", "--bin-dir", b.bin, "--tools", strings.Join(rewrite.Names, ","))
	if b.store {
		install.Args = append(install.Args, "--store")
	}
	out, err := install.CombinedOutput()
	if err != nil {
		return fmt.Errorf("install the shims: %w\n%s", err, out)
	}
	_, linked, _ := strings.Cut(string(out), "linked: ")
	b.linked, _, _ = strings.Cut(linked, "\n")
	cc := []string{"cc", "-O2"}
	if strings.HasPrefix(b.linked, "static") {
		cc = append(cc, "-static")
	}
	if strings.HasSuffix(b.linked, "musl") {
		cc[0] = "musl-gcc"
	}
	for _, kind := range []string{"real", "c", "goledger"} {
		if err := os.MkdirAll(filepath.Dir(b.shim(kind)), 0o700); err != nil {
			return err
		}
	}
	for _, build := range [][]string{
		append(cc, "-o", b.shim("c"), "test/bench/c/shim.c"),
		{"cc", "-O2", "-o", b.shim("real"), "test/bench/c/tool.c"},
		{"sh", "-c", linkedAsOurs, cc[0], b.shim("goledger"), b.linked},
	} {
		if out, err := exec.Command(build[0], build[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", build, err, out)
		}
	}
	l, err := ledger.Open(filepath.Join(b.dir, b.plain().state, "reprise/ledger.db"))
	if err != nil {
		return err
	}
	return l.Close()
}

// linkedAsOurs builds goledger the way install.sh builds the shims. Its arguments are the compiler,
// the program to build, and the kind of link.
const linkedAsOurs = `. scripts/flags.sh
case $2 in static*) ;; *) static= ;; esac
CC=$0 CGO_ENABLED=1 go build -trimpath -buildvcs=false -tags "$tags" -ldflags "-s -w $static" -o "$1" ./test/bench/goledger`

func (b *bench) shim(kind string) string { return filepath.Join(b.dir, kind, "claude") }

// A call is a command line to measure.
type call struct {
	path  string // of the first program with its name on PATH
	args  []string
	env   []string
	state string // the directory of its ledger, "" for the default one
	home  string // a home that is emptied before, "" for the one that all others have
	stdin string
	more  func() []string // further arguments, different for each call
}

// run makes the call and returns how long it took and the resources it used.
func (b *bench) run(c call) (time.Duration, *syscall.Rusage, error) {
	cmd := exec.Command(c.path, c.args...)
	if c.more != nil {
		cmd.Args = append(cmd.Args, c.more()...)
	}
	home := cmp.Or(c.home, b.dir)
	if c.home != "" {
		if err := errors.Join(os.RemoveAll(home), os.Mkdir(home, 0o700)); err != nil {
			return 0, nil, err
		}
	}
	cmd.Args[0], cmd.Dir, cmd.Stderr = filepath.Base(c.path), b.dir, os.Stderr
	cmd.Env = append([]string{"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"XDG_STATE_HOME=" + filepath.Join(home, cmp.Or(c.state, ".local/state")), "PATH=" + filepath.Dir(c.path) + ":" + filepath.Dir(b.shim("real")) + ":/usr/local/bin:/usr/bin:/bin"}, c.env...)
	if c.stdin != "" {
		stdin, err := os.Open(c.stdin)
		if err != nil {
			return 0, nil, err
		}
		defer stdin.Close()
		cmd.Stdin = stdin
	}
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil {
		return 0, nil, fmt.Errorf("%q: %w", cmd.Args, err)
	}
	return took, cmd.ProcessState.SysUsage().(*syscall.Rusage), nil
}

// compare measures calls relative to the one named "direct", and prints a table.
func (b *bench) compare(title string, rounds int, calls map[string]call) error {
	names := make([]string, 0, len(calls))
	for name, c := range calls {
		names = append(names, name)
		for range 3 { // to fill the system's caches
			if _, _, err := b.run(c); err != nil {
				return err
			}
		}
	}
	all := map[string][]float64{}
	added, ratio := map[string][]float64{}, map[string][]float64{}
	for range rounds {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		took := map[string]float64{}
		for _, name := range names {
			d, _, err := b.run(calls[name])
			if err != nil {
				return err
			}
			took[name] = float64(d.Microseconds()) / 1000
		}
		for name, ms := range took {
			all[name] = append(all[name], ms)
			added[name] = append(added[name], ms-took["direct"])
			ratio[name] = append(ratio[name], ms/took["direct"])
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\tmin ms\tmedian\tp95\tadded, min\tadded, median\tx direct\t\n", title)
	slices.SortFunc(names, func(a, c string) int { return cmp.Compare(harness.Median(all[a]), harness.Median(all[c])) })
	for _, name := range names {
		t := times{addedMin: slices.Min(all[name]) - slices.Min(all["direct"]), ratio: harness.Median(ratio[name])}
		b.times[title+": "+name] = t
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%.3f\t%+.3f\t%+.3f\t%.2f\t\n", name, slices.Min(all[name]), harness.Median(all[name]), harness.Quantile(all[name], 0.95),
			t.addedMin, harness.Median(added[name]), t.ratio)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Println()
	return nil
}

// figure records and prints one figure.
func (b *bench) figure(name string, value float64, unit string) {
	b.figures[name] = value
	fmt.Printf("%s: %.4g %s\n", name, value, unit)
}

func (b *bench) ours() string { return filepath.Join(b.bin, "claude") }

// shims returns our shims and those to compare with them, with a ledger of their own.
func (b *bench) shims() map[string]call {
	shims := map[string]call{"ours": {path: b.ours()}}
	if b.beside != "" {
		shims["beside"] = call{path: filepath.Join(b.beside, "claude"), state: ".local/beside"}
	}
	return shims
}

// starts compares what a shim adds to a call that it passes through.
func (b *bench) starts() error {
	fmt.Printf("the shims are linked: %s\n\n", b.linked)
	version := []string{"--version"}
	return b.compare("start", b.rounds, map[string]call{
		"direct":           {path: b.shim("real"), args: version},
		"C shim":           {path: b.shim("c"), args: version},
		"ours":             {path: b.ours(), args: version},
		"ours, left to Go": {path: b.ours(), args: []string{"--version", "--verbose"}},
	})
}

// plain returns goledger, with a ledger of its own.
func (b *bench) plain() call { return call{path: b.shim("goledger"), state: ".local/goledger"} }

var streamJSON = []string{"-p", "--output-format", "stream-json", "--verbose"}

// prompts returns a function whose results are all different, and begin differently.
func prompts() func() []string { return numbered("Round %d. %s") }

// rounds returns a function whose results are prompts of one job: only their last block differs.
func rounds() func() []string { return numbered("You are the coder.\n\n%[2]s\n\nNote %[1]d.") }

func numbered(format string) func() []string {
	n := 0
	return func() []string {
		n++
		return []string{fmt.Sprintf(format, n, strings.Repeat("Keep it small. ", 20))}
	}
}

// managed compares calls with an answer of a line or two, and prompts of all sizes.
func (b *bench) managed() error {
	calls := map[string]call{"direct": {path: b.shim("real"), args: streamJSON, more: prompts()}}
	plain := b.plain()
	plain.args, plain.more = streamJSON, prompts()
	calls["goledger"] = plain
	for name, shim := range b.shims() {
		shim.args, shim.more = streamJSON, prompts()
		shim.env = []string{"REPRISE_FRESH=1"}
		calls[name+", fresh"] = shim
		shim.more, shim.env = rounds(), []string{"REPRISE_TASK=bench", "REPRISE_ROLE=coder"}
		calls[name+", resume"] = shim
	}
	if err := b.compare("one answer", b.rounds, calls); err != nil {
		return err
	}
	if err := expectResumes(b.dir, b.rounds); err != nil {
		return err
	}
	for _, kb := range []int{1, 64, 1024} {
		prompt := filepath.Join(b.dir, "prompt")
		if err := os.WriteFile(prompt, []byte(strings.Repeat("Do what is asked, line by line, in order.\n\n", kb*1024/43)), 0o600); err != nil {
			return err
		}
		err := b.compare(fmt.Sprintf("a prompt of %d KB", kb), max(b.rounds/6, 3), map[string]call{
			"direct":      {path: b.shim("real"), args: streamJSON, stdin: prompt},
			"ours, fresh": {path: b.ours(), args: streamJSON, stdin: prompt, env: []string{"REPRISE_FRESH=1"}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// expectResumes checks that the calls that were measured in a home were resumed as intended.
func expectResumes(home string, n int) error {
	var resumed int
	err := ledgerOf(home, func(db *sql.DB) error {
		return db.QueryRow(`SELECT count(*) FROM invocations WHERE mode = 'resume' AND outcome = 'ok'`).Scan(&resumed)
	})
	if err == nil && resumed < n {
		err = fmt.Errorf("only %d calls of %d were resumed", resumed, n)
	}
	return err
}

func (b *bench) ledger(do func(*sql.DB) error) error { return ledgerOf(b.dir, do) }

// ledgerOf opens the ledger of a home.
func ledgerOf(home string, do func(*sql.DB) error) error {
	db, err := harness.OpenLedger(filepath.Join(home, ".local/state/reprise/ledger.db"))
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}

// streams compares a long answer through our shim with one through a plain pipe.
func (b *bench) streams() error {
	for _, mb := range []int64{10, b.large} {
		size := fmt.Sprintf("BENCH_BYTES=%d", mb<<20)
		var pipe, ours []float64
		var memory int64
		for range 5 {
			start := time.Now()
			cmd := exec.Command("sh", "-c", `"$0" -p </dev/null | cat >/dev/null`, b.shim("real"))
			cmd.Env = []string{"HOME=" + b.dir, "PATH=/usr/bin:/bin", size}
			if err := cmd.Run(); err != nil {
				return err
			}
			pipe = append(pipe, time.Since(start).Seconds())
			took, usage, err := b.run(call{path: b.ours(), args: append(streamJSON, "stream"), env: []string{size, "REPRISE_FRESH=1"}})
			if err != nil {
				return err
			}
			ours, memory = append(ours, took.Seconds()), max(memory, usage.Maxrss)
		}
		b.figure(fmt.Sprintf("%d MB, a plain pipe", mb), float64(mb)/slices.Min(pipe), "MB/s")
		b.figure(fmt.Sprintf("%d MB, ours", mb), float64(mb)/slices.Min(ours), "MB/s")
		b.figure(fmt.Sprintf("%d MB, share of a plain pipe", mb), slices.Min(pipe)/slices.Min(ours), "")
		b.figure(fmt.Sprintf("%d MB, memory", mb), float64(memory)/1024, "MB")
	}
	return nil
}

// atOnce runs 64 calls at once.
func (b *bench) atOnce() error {
	const many = 64
	burst := func(c call) (float64, error) {
		start := time.Now()
		errs := make(chan error)
		for range many {
			go func() {
				_, _, err := b.run(c)
				errs <- err
			}()
		}
		var all error
		for range many {
			all = errors.Join(all, <-errs)
		}
		return float64(time.Since(start).Microseconds()) / 1000, all
	}
	count := func() (n int, err error) {
		err = b.ledger(func(db *sql.DB) error {
			return db.QueryRow(`SELECT count(*) FROM invocations WHERE outcome = 'ok'`).Scan(&n)
		})
		return n, err
	}
	before, err := count()
	if err != nil {
		return err
	}
	calls := b.shims()
	calls["direct"], calls["goledger"] = call{path: b.shim("real")}, b.plain()
	names := slices.Collect(maps.Keys(calls))
	const rounds = 9
	took := map[string][]float64{}
	for range rounds {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			c := calls[name]
			c.args, c.env = append(streamJSON, "at once"), []string{"REPRISE_FRESH=1"}
			ms, err := burst(c)
			if err != nil {
				return err
			}
			took[name] = append(took[name], ms)
		}
	}
	after, err := count()
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		b.figure("64 at once, "+name, slices.Min(took[name]), "ms at least")
		b.figure("64 at once, "+name+", added", slices.Min(took[name])-slices.Min(took["direct"]), "ms")
	}
	b.figure("64 at once, lost", float64(before+rounds*many-after), "calls")
	return nil
}

// ledgers measures a resume with increasing numbers of calls in the ledger, and a call while
// another process keeps it locked.
func (b *bench) ledgers() error {
	resume := call{path: b.ours(), args: streamJSON, more: rounds(), env: []string{"REPRISE_TASK=bench", "REPRISE_ROLE=coder"}}
	least := func() (float64, error) {
		ms := math.Inf(1)
		for range max(b.rounds/10, 5) {
			took, _, err := b.run(resume)
			if err != nil {
				return 0, err
			}
			ms = min(ms, float64(took.Microseconds())/1000)
		}
		return ms, nil
	}
	var first float64
	for _, calls := range []int64{0, 10_000, b.calls} {
		if err := b.fill(calls); err != nil {
			return err
		}
		ms, err := least()
		if err != nil {
			return err
		}
		if calls == 0 {
			first = ms
		}
		b.figure(fmt.Sprintf("a resume with %d calls in the ledger", calls), ms, "ms at least")
		b.figure(fmt.Sprintf("a resume with %d calls, x few", calls), ms/first, "")
	}
	return b.ledger(func(db *sql.DB) error {
		if _, err := db.Exec(`BEGIN EXCLUSIVE`); err != nil {
			return err
		}
		defer func() { _, _ = db.Exec(`ROLLBACK`) }()
		locked, err := least()
		b.figure("locked ledger, delay", locked-first, "ms")
		return err
	})
}

// statusline compares what a shell's prompt or claude's status line waits for with the least that
// shimctl does, on the large ledger, all of whose calls were made today.
func (b *bench) statusline() error {
	input := filepath.Join(b.dir, "statusline.json")
	if err := os.WriteFile(input, fmt.Appendf(nil, `{"session_id":"1","workspace":{"current_dir":%q}}`, b.dir), 0o600); err != nil {
		return err
	}
	shimctl := filepath.Join(b.bin, "shimctl")
	return b.compare("status line", b.rounds, map[string]call{
		"direct":     {path: shimctl, args: []string{"version"}},
		"statusline": {path: shimctl, args: []string{"statusline"}, stdin: input},
	})
}

// fill copies a call of the chain until the ledger has that many. The copies follow the other calls, ten in a
// millisecond: calls with higher numbers began later in any ledger whose clock was not set.
func (b *bench) fill(calls int64) error {
	return b.ledger(func(db *sql.DB) error {
		var columns string
		if err := db.QueryRow(`SELECT group_concat(name) FROM pragma_table_info('invocations') WHERE name <> 'id'`).Scan(&columns); err != nil {
			return err
		}
		_, err := db.Exec(fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT count(*) FROM invocations UNION ALL SELECT i + 1 FROM n WHERE i < ?),
			latest (began) AS (SELECT max(started) FROM invocations)
			INSERT INTO invocations (%s) SELECT %s FROM n, latest, (SELECT * FROM invocations WHERE mode = 'resume' LIMIT 1)
			WHERE i < ?`, columns, strings.Replace(columns, "started", "began + i / 10", 1)), calls, calls)
		return err
	})
}

// slack is the factor by which a busy machine may exceed a target, or the known figure if that
// misses the target.
const slack = 1.25

// targets prints the targets beside the results, and counts the results that exceed what is known
// by more than slack. Added time is the difference of the least times, which is the most reliable
// figure on a machine with other work.
func (b *bench) targets() (missed int) {
	c, ours := b.times["start: C shim"], b.times["start: ours"]
	plain := b.times["one answer: goledger"].addedMin
	large := fmt.Sprintf("%d MB, ", b.large)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\ntarget\tat most\tfound\t\n")
	for _, t := range []struct {
		what               string
		most, known, found float64 // known is the measured figure if the target is missed
	}{
		{"passed through, x the C shim", 1.15, 0, ours.ratio / c.ratio},
		{"fresh: added, x what goledger adds", 1.3, 1.6, b.times["one answer: ours, fresh"].addedMin / plain},
		{"resumed: added, x what goledger adds", 1.3, 1.8, b.times["one answer: ours, resume"].addedMin / plain},
		{"64 at once: added, x what goledger adds", 1.3, 1.8, b.figures["64 at once, ours, added"] / b.figures["64 at once, goledger, added"]},
		{"64 at once, lost", 0, 0, b.figures["64 at once, lost"]},
		{"a plain pipe, x a long answer", 1 / 0.65, 1 / 0.44, 1 / b.figures[large+"share of a plain pipe"]},
		{"a large ledger, x a small one", 1.5, 1.63, b.figures[fmt.Sprintf("a resume with %d calls, x few", b.calls)]},
		{"statusline, x shimctl version", 3, 0, b.times["status line: statusline"].ratio},
		{"the slowest screen of 20,000 calls but export, x shimctl version", 30, 62, b.slowestScreen()}, // 0.3 s if that takes 10 ms
		{"locked ledger: delay, x its bound", 1, 0, b.figures["locked ledger, delay"] / float64(ledger.LockTimeout.Milliseconds())},
	} {
		verdict := ""
		if t.found > t.most {
			verdict = "missed"
		}
		if t.found > max(t.most, t.known)*slack {
			missed++
		}
		fmt.Fprintf(w, "%s\t%.4g\t%.4g\t%s\n", t.what, t.most, t.found, verdict)
	}
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	return missed
}
