// Command bench measures the cost of the shims. It compares the time of a call without a shim,
// through the least shim possible in C, and through ours; the time that a managed call adds,
// compared with a plain Go program that does the same kind of work (goledger); a whole call of a
// tool of a real size; a long answer; 64 calls at once; a large ledger, and a locked one; shimctl's
// screens of 20,000 calls. With -scale it measures only how cost grows with callers, prompt and
// ledger. Everything compared is measured in one run, in rounds of shuffled order, in front of a
// tool that takes no time (c/tool.c). It needs a C compiler.
//
// Absolute times hold only for this machine at this moment: only ratios are meaningful. All figures
// are p20 of the time by the clock and of processor time, which other work on the machine changes
// less than the median.
package main

import (
	"cmp"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"reprise/ledger"
	"reprise/rewrite"
	"reprise/test/harness"
	"reprise/test/toolbox"

	_ "github.com/mattn/go-sqlite3"
)

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 300, "how many `rounds` of the short calls to measure")
	flag.Int64Var(&o.large, "large", 1_000, "megabytes of the long `stream`")
	flag.Int64Var(&o.calls, "calls", 1_000_000, "`calls` in the large ledger")
	flag.BoolVar(&o.check, "check", false, "leave with 1 if a target is missed")
	flag.BoolVar(&o.scale, "scale", false,
		"measure how cost grows with callers, prompt and ledger, as is done seldom: it takes "+
			"half an hour")
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
	rounds       int
	large, calls int64
	check, scale bool
}

func (o options) main() (missed int, err error) {
	dir, err := os.MkdirTemp("", "reprise-bench")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	b := &bench{options: o, dir: dir, bin: filepath.Join(dir, "bin"), shown: screenCalls,
		costs: map[string]map[string]cost{}}
	steps, targets := []func() error{b.starts, b.managed, b.whole, b.streams, b.bursts, b.ledgers,
		b.screens}, b.targets
	if o.scale {
		b.shown = o.calls
		steps, targets = []func() error{b.bursts, b.prompts, b.ledgers, b.screens}, b.targetsOfScale
	}
	for _, step := range append([]func() error{b.build}, steps...) {
		if err := step(); err != nil {
			return 0, err
		}
	}
	return missedOf(targets()), nil
}

// A bench is one run, and its results.
type bench struct {
	options
	dir    string
	bin    string                     // of the shims
	linked string                     // how they are
	shown  int64                      // calls in the ledger for the measured screens
	costs  map[string]map[string]cost // of each comparison, of each call
	lost   int                        // of the last calls at once, those that are not recorded
}

// A cost is the p20 of a call's time, of a long answer the median, in milliseconds: by the clock,
// and of processors, with the children's. For several calls at once it is the time until the last
// has ended, and the sum.
type cost struct{ wall, cpu float64 }

func (c cost) less(d cost) cost { return cost{c.wall - d.wall, c.cpu - d.cpu} }
func (c cost) over(d cost) cost { return cost{c.wall / d.wall, c.cpu / d.cpu} }

// added returns the cost of a call beyond the direct call of the comparison.
func (b *bench) added(title, name string) cost {
	return b.costs[title][name].less(b.costs[title]["direct"])
}

// --- measurements ---

// build installs the shims and builds the other programs. The C shim is linked like ours.
func (b *bench) build() error {
	said, err := toolbox.Output("./install.sh", "--bin-dir", b.bin, "--tools",
		strings.Join(rewrite.Names, ","))
	if err != nil {
		return err
	}
	_, linked, _ := strings.Cut(said, "linked: ")
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
		if _, err := toolbox.Output(build[0], build[1:]...); err != nil {
			return err
		}
	}
	settings := filepath.Join(b.dir, ".config/reprise/config.toml")
	for _, state := range []string{"", b.plain().state} {
		l, err := ledger.Open(b.ledger(state))
		if err != nil {
			return err
		}
		l.Close()
	}
	return toolbox.Put(settings, "ttl = \"2h\"\n", 0o600)
}

// linkedAsOurs builds goledger the way install.sh builds the shims. Its arguments are the compiler,
// the program to build, and the kind of link.
const linkedAsOurs = `. scripts/flags.sh
case $2 in static*) ;; *) static= ;; esac
CC=$0 CGO_ENABLED=1 go build -trimpath -buildvcs=false -tags "$tags" -ldflags "-s -w $static" -o "$1" ./test/bench/goledger`

func (b *bench) shim(kind string) string { return filepath.Join(b.dir, kind, "claude") }

// A call is a command line to measure.
type call struct {
	path   string // of the first program with its name on PATH
	args   []string
	env    []string
	state  string        // the directory of its ledger, "" for the default one
	prompt func() string // its last argument, different for each call; nil for none
	stdin  func() string // its input, likewise
	many   int           // how many are made at once, 0 for one
	reader bool          // its output goes to a program that reads a pipe, not to /dev/null
}

// command returns one call that is ready to be made.
func (b *bench) command(c call) *exec.Cmd {
	if c.prompt != nil {
		c.args = append(slices.Clone(c.args), c.prompt())
	}
	cmd := exec.Command(c.path, c.args...)
	cmd.Args[0] = filepath.Base(c.path)
	if c.reader {
		cmd = exec.Command("sh", append([]string{"-c", `{ "$0" "$@" || kill $$; } | cat >/dev/null`,
			c.path}, c.args...)...)
	}
	cmd.Dir, cmd.Stderr = b.dir, os.Stderr
	cmd.Env = append([]string{"HOME=" + b.dir, "XDG_CONFIG_HOME=" + filepath.Join(b.dir, ".config"),
		"XDG_STATE_HOME=" + filepath.Join(b.dir, cmp.Or(c.state, defaultState)),
		"PATH=" + filepath.Dir(c.path) + ":" + filepath.Dir(b.shim("real")) +
			":/usr/local/bin:/usr/bin:/bin"}, c.env...)
	if c.stdin != nil {
		cmd.Stdin = strings.NewReader(c.stdin())
	}
	return cmd
}

// run makes the call, or as many as it says at once.
func (b *bench) run(c call) (took cost, err error) {
	cmds, errs := make([]*exec.Cmd, max(c.many, 1)), make([]error, max(c.many, 1))
	for i := range cmds {
		cmds[i] = b.command(c)
	}
	var all sync.WaitGroup
	start := time.Now()
	for i, cmd := range cmds {
		all.Go(func() {
			if err := cmd.Run(); err != nil {
				errs[i] = fmt.Errorf("%.200q: %w", cmd.Args, err)
			}
		})
	}
	all.Wait()
	took.wall = ms(time.Since(start))
	if err := errors.Join(errs...); err != nil {
		return took, err
	}
	for _, cmd := range cmds {
		took.cpu += ms(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime())
	}
	return took, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// warm is how many rounds only fill the system's caches.
const warm = 3

// compare measures calls relative to the one named "direct", and prints a table.
func (b *bench) compare(title string, rounds int, calls map[string]call) error {
	return b.compareAt(0.2, title, rounds, calls)
}

// compareAt is compare by another quantile of the rounds than the p20.
func (b *bench) compareAt(quantile float64, title string, rounds int,
	calls map[string]call) error {
	names := slices.Collect(maps.Keys(calls))
	walls, cpus := map[string][]float64{}, map[string][]float64{}
	for round := range warm + rounds {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			took, err := b.run(calls[name])
			if err != nil {
				return err
			}
			if round >= warm {
				walls[name], cpus[name] = append(walls[name], took.wall),
					append(cpus[name], took.cpu)
			}
		}
	}
	b.costs[title] = map[string]cost{}
	for _, name := range names {
		b.costs[title][name] = cost{harness.Quantile(walls[name], quantile),
			harness.Quantile(cpus[name], quantile)}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\tms\tCPU\tadded\tCPU\tx direct\tCPU\t\n", title)
	slices.SortFunc(names, func(a, c string) int {
		return cmp.Compare(b.costs[title][a].wall, b.costs[title][c].wall)
	})
	for _, name := range names {
		c, added, ratio := b.costs[title][name], b.added(title, name),
			b.costs[title][name].over(b.costs[title]["direct"])
		fmt.Fprintf(w, "%s\t%.3f\t%.3f\t%+.3f\t%+.3f\t%.2f\t%.2f\t\n", name, c.wall, c.cpu,
			added.wall, added.cpu, ratio.wall, ratio.cpu)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

func (b *bench) ours() string { return filepath.Join(b.bin, "claude") }

// starts compares the time that a shim adds to a call that it passes through.
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

var (
	streamJSON = []string{"-p", "--output-format", "stream-json", "--verbose"}
	fresh      = []string{"REPRISE_FRESH=1"}
	job        = []string{"REPRISE_TASK=bench", "REPRISE_ROLE=coder"}
)

var sentences = strings.Repeat("Keep it small. ", 16)

// prompts returns a function with results that are all different, and begin differently.
func prompts() func() string {
	return numbered(func(n int) string {
		return fmt.Sprintf("Round %d. %s", n, sentences)
	})
}

// rounds returns a function with prompts of one job as results: each later one adds a note to the
// first.
func rounds() func() string {
	return numbered(func(n int) string {
		text := "You are the coder.\n\n" + sentences
		if n > 1 {
			text += fmt.Sprintf("\n\nNote %d.", n)
		}
		return text
	})
}

func numbered(prompt func(n int) string) func() string {
	n := 0
	return func() string { n++; return prompt(n) }
}

// managed compares calls with an answer of a line or two.
func (b *bench) managed() error {
	calls := map[string]call{"direct": {path: b.shim("real"), args: streamJSON, prompt: prompts()}}
	plain := b.plain()
	plain.args, plain.prompt = streamJSON, prompts()
	calls["goledger"] = plain
	b.addShims(calls, streamJSON)
	if err := b.compare("one answer", b.rounds, calls); err != nil {
		return err
	}
	return expectResumes(b.ledger(""), b.rounds)
}

// addShims adds a fresh and a resumed call of the shim.
func (b *bench) addShims(calls map[string]call, args []string, env ...string) {
	calls["ours, fresh"] = call{path: b.ours(), args: args, prompt: prompts(),
		env: append(fresh, env...)}
	calls["ours, resume"] = call{path: b.ours(), args: args, prompt: rounds(),
		env: append(job, env...)}
}

// whole compares calls of a tool of a real one's size, from start to end.
func (b *bench) whole() error {
	args, size := []string{"-p"}, "BENCH_REAL=1"
	calls := map[string]call{"direct": {path: b.shim("real"), args: args, prompt: prompts(),
		env: []string{size}}}
	b.addShims(calls, args, size)
	return b.compare(wholeTitle, max(b.rounds/6, 12), calls)
}

const wholeTitle = "a whole call of a real size"

// expectResumes checks that the calls in a ledger were resumed as intended.
func expectResumes(path string, n int) error {
	resumed, err := recorded(path, "mode = 'resume'")
	if err == nil && resumed < n {
		err = fmt.Errorf("only %d calls of %d were resumed", resumed, n)
	}
	return err
}

// recorded counts calls in a ledger that succeeded.
func recorded(path, which string) (n int, err error) {
	err = withLedger(path, func(db *sql.DB) error {
		return db.QueryRow(`SELECT count(*) FROM calls WHERE outcome = 'ok' AND ` +
			which).Scan(&n)
	})
	return n, err
}

const defaultState = ".local/state"

// ledger returns the path of the ledger in a directory, "" for the default one.
func (b *bench) ledger(state string) string {
	return filepath.Join(b.dir, cmp.Or(state, defaultState), "reprise/ledger.db")
}

func withLedger(path string, do func(*sql.DB) error) error {
	db, err := harness.OpenLedger(path)
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}

// streams compares a long answer through our shim, to a caller that reads it and to a caller that
// drops it, with an answer through a plain pipe.
func (b *bench) streams() error {
	pipe := call{path: b.shim("real"), args: streamJSON,
		env:    append([]string{fmt.Sprintf("BENCH_BYTES=%d", b.large<<20)}, fresh...),
		prompt: prompts(), reader: true}
	read := pipe
	read.path = b.ours()
	dropped := read
	dropped.reader = false
	// By chance, a plain pipe takes a third of the usual time or less.
	return b.compareAt(0.5, streamTitle, 12, map[string]call{"direct": pipe, "ours": dropped,
		"ours, to a reader": read})
}

const streamTitle = "a long answer; direct: a pipe"

// bursts measures calls at once: 64, with -scale other numbers too.
func (b *bench) bursts() (err error) {
	if !b.scale {
		return b.atOnce(64, 9)
	}
	for _, many := range callers {
		err = errors.Join(err, b.atOnce(many, 5+b.rounds/many/20))
	}
	return err
}

// atOnce compares calls at once, with as many prompts. It counts our calls that are not recorded
// once the next call has come.
func (b *bench) atOnce(many, rounds int) error {
	before, err := recorded(b.ledger(""), "true")
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%d at once", many)
	calls := map[string]call{"ours": {path: b.ours()}, "direct": {path: b.shim("real")}}
	if many <= 64 { // of more, some wait in vain for its ledger
		calls["goledger"] = b.plain()
	}
	prompt := numbered(func(n int) string {
		return fmt.Sprintf("%s, number %d. %s", title, n, sentences)
	})
	for name, c := range calls {
		c.args, c.env, c.many, c.prompt = streamJSON, fresh, many, prompt
		calls[name] = c
	}
	if err := b.compare(title, rounds, calls); err != nil {
		return err
	}
	next := call{path: b.ours(), args: streamJSON, env: fresh, prompt: prompt}
	if _, err := b.run(next); err != nil {
		return err
	}
	after, err := recorded(b.ledger(""), "true")
	b.lost = before + (warm+rounds)*many + 1 - after
	fmt.Printf("lost of %d calls: %d\n\n", (warm+rounds)*many, b.lost)
	return err
}

// The sizes that -scale increases: calls at once, and the prompt in KB.
var (
	callers     = []int{1, 8, 64, 256, 768}
	promptSizes = []int{1, 64, 1024, 5120}
)

// alike is how many sessions begin like a measured prompt.
const alike = 40

func promptOf(kb int) string { return fmt.Sprintf("a prompt of %d KB, %d alike", kb, alike) }

// prompts measures prompts of all sizes, in paragraphs of ten lines and in one.
func (b *bench) prompts() error {
	for _, kb := range promptSizes {
		calls := map[string]call{}
		for name, mark := range map[string]string{"ours": "\n", "ours, one paragraph": ""} {
			text := strings.Builder{}
			for i := 1; text.Len() < kb<<10; i++ {
				fmt.Fprintf(&text, "Line %d. Do what is asked, line by line, in order.\n%s", i,
					strings.Repeat(mark, i%10/9))
			}
			ours := call{path: b.ours(), args: streamJSON, env: fresh,
				state: fmt.Sprint(".local/", kb, name), stdin: numbered(func(n int) string {
					return fmt.Sprintf("%sNote %d.\n", text.String(), n)
				})}
			for range alike {
				if _, err := b.run(ours); err != nil {
					return err
				}
			}
			calls[name], calls["direct"] = ours, call{path: b.shim("real"), args: streamJSON,
				stdin: ours.stdin}
		}
		if err := b.compare(promptOf(kb), 5+b.rounds/30, calls); err != nil {
			return err
		}
	}
	return nil
}

// ledgers compares a resume by the number of calls in the ledger, and by whether another process
// keeps it locked.
func (b *bench) ledgers() error {
	resume := call{path: b.ours(), args: streamJSON, prompt: rounds(), env: job}
	calls := map[string]call{"direct": {path: b.shim("real"), args: streamJSON, prompt: rounds()}}
	for _, n := range []int64{0, 10_000, b.calls} {
		resume.state = stateOf(n)
		for range 2 { // the second is resumed
			if _, err := b.run(resume); err != nil {
				return err
			}
		}
		if err := fill(b.ledger(resume.state), n); err != nil {
			return err
		}
		calls[fmt.Sprint(n)] = resume
	}
	most := max(b.rounds/10, 5)
	if err := b.compare(ledgerTitle, most, calls); err != nil {
		return err
	}
	return withLedger(b.ledger(stateOf(0)), func(db *sql.DB) error {
		if _, err := db.Exec(`BEGIN EXCLUSIVE`); err != nil {
			return err
		}
		defer func() { _, _ = db.Exec(`ROLLBACK`) }()
		return b.compare("a resume", most, map[string]call{"direct": calls["10000"],
			"locked": calls["0"]})
	})
}

const ledgerTitle = "a resume, calls in the ledger"

// stateOf returns where the ledger of so many calls is.
func stateOf(calls int64) string { return fmt.Sprintf(".local/calls-%d", calls) }

// fill copies a call of the chain until the ledger has that many. The copies follow the other
// calls, ten in a millisecond: calls with higher numbers began later unless the clock was set.
func fill(path string, calls int64) error {
	return withLedger(path, func(db *sql.DB) error {
		var columns string
		if err := db.QueryRow(
			`SELECT group_concat(name) FROM pragma_table_info('calls') WHERE name <> 'id'`).Scan(&columns); err != nil {
			return err
		}
		_, err := db.Exec(fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT count(*) FROM calls UNION ALL SELECT i + 1 FROM n WHERE i < ?),
			latest (began) AS (SELECT max(started) FROM calls)
			INSERT INTO calls (%s) SELECT %s FROM n, latest, (SELECT * FROM calls WHERE mode = 'resume' LIMIT 1)
			WHERE i < ?`, columns, strings.Replace(columns, "started", "began + i / 10", 1)), calls, calls)
		return err
	})
}

// slack is the factor by which a busy machine can exceed a target, or the known figure if that
// misses the target.
const slack = 1.25

// A target is a ratio and the most that it should be. Known is the measured figure if the target is
// missed.
type target struct {
	what               string
	most, known, found float64
}

// both returns targets of the time by the clock and of processors.
func both(what string, most float64, known, found cost) []target {
	return []target{{what, most, known.wall, found.wall},
		{what + ", CPU", most, known.cpu, found.cpu}}
}

func (b *bench) targets() []target {
	plain, start, pipe := b.added("one answer", "goledger"), b.costs["start"], b.costs[streamTitle]
	calls := b.costs[ledgerTitle]
	return slices.Concat(
		both("passed through, x the C shim", 1.15, cost{}, start["ours"].over(start["C shim"])),
		both("fresh: added, x what goledger adds", 1.45, cost{1.8, 1.8},
			b.added("one answer", "ours, fresh").over(plain)),
		both("resumed: added, x what goledger adds", 1.65, cost{2.4, 2.4},
			b.added("one answer", "ours, resume").over(plain)),
		[]target{
			{"a whole call, fresh, x direct", 1.02, 1.04,
				b.costs[wholeTitle]["ours, fresh"].over(b.costs[wholeTitle]["direct"]).wall},
			{"a whole call, resumed, x direct", 1.03, 1.05,
				b.costs[wholeTitle]["ours, resume"].over(b.costs[wholeTitle]["direct"]).wall},
			{"64 at once: added CPU, x what goledger adds", 1.5, 2.5,
				b.added("64 at once", "ours").cpu / b.added("64 at once", "goledger").cpu},
			{"64 at once, lost", 0, 0, float64(b.lost)},
		},
		both("a long answer, x a plain pipe", 1/0.65, cost{3.15, 3.9},
			pipe["ours"].over(pipe["direct"])),
		both("a long answer to a reader, x a plain pipe", 1/0.65, cost{4.15, 5.2},
			pipe["ours, to a reader"].over(pipe["direct"])),
		both("a large ledger, x a small one", 1.5, cost{},
			calls[fmt.Sprint(b.calls)].over(calls["0"])),
		[]target{
			// 0.3 s if that takes 10 ms
			{"the slowest screen of 20,000 calls: CPU, x shimctl version", 30, 95,
				b.slowestScreen().over(b.costs[screenTitle]["direct"]).cpu},
			{"locked ledger: delay, x its bound", 1, 0,
				b.added("a resume", "locked").wall / ms(ledger.LockTimeout)},
		})
}

// targetsOfScale are absolute: times that a person notices, whatever else the machine does.
func (b *bench) targetsOfScale() []target {
	calls := b.costs[ledgerTitle]
	return []target{
		{"768 at once, lost", 0, 0, float64(b.lost)},
		{"a prompt of 1 MB, beside sessions that begin alike: ms", 60, 75,
			b.costs[promptOf(1024)]["ours"].wall},
		{"a prompt of 5 MB, beside sessions that begin alike: ms", 500, 0,
			b.costs[promptOf(5120)]["ours"].wall},
		{"the same in one paragraph: ms", 500, 1000,
			b.costs[promptOf(5120)]["ours, one paragraph"].wall},
		{"a large ledger, x a small one", 1.5, 0, calls[fmt.Sprint(b.calls)].over(calls["0"]).wall},
		{"the slowest screen of a large ledger: ms", 1000, 0, b.slowestScreen().wall},
	}
}

// missedOf prints the targets beside the measured times, and counts the targets that are exceeded
// by more than slack, or by more than the known excess.
func missedOf(targets []target) (missed int) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\ntarget\tat most\tfound\t\n")
	for _, t := range targets {
		verdict := ""
		if t.found > t.most {
			verdict = "missed"
		}
		if t.found > max(t.most, t.known)*slack {
			missed++
		}
		fmt.Fprintf(w, "%s\t%.4g\t%.4g\t%s\n", t.what, t.most, t.found, verdict)
	}
	_ = w.Flush()
	return missed
}
