package suite

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"reprise/test/harness"
)

type call = harness.Call

// A cli has the facts about a tool that the suite needs. Adding a tool adds a cli.
type cli struct {
	formats []format // plain text first
	others  []format // the sessions of rows alone
	ask     func(f format, prompt string) []string
	stdin   []string // a call with the prompt on stdin
	tools   []string // options that let the model use the shell
	// options that make formats of an unknown version send the same request
	same             []string
	nested           string        // a call of the tool from within its shell
	inside           string        // a variable that is set there
	pause            string        // the marker for an answer during which a signal is sent
	modest           bool          // it starts slowly: fewer scenarios
	waits            time.Duration // by which its text begins later if it is told its session's ID
	exitsBeforeFlush bool          // it exits before a full pipe has taken all
	brokenPipes      bool          // it reports a broken pipe once, or several times
	rows             map[string]row
	own              map[string]call
	then             map[string]call // after a call with a number to remember
	jobs             map[string][]call
	again            func(f format, id, prompt string) []string // a call that resumes that session
	guard            guard
	// returns the context window that a call in the last format reports; nil if none does
	window func(harness.Result) string
}

// window is the scenario in which the model's context window is compared.
const window = "window of a resumed call"

// passed are calls that are passed through, of each tool.
var passed = list("version|unknown flag|unknown session, text")

// A format is an output format, and whether it shows an answer while it comes.
type format struct {
	name    string
	args    []string
	streams bool
}

// A row is a prompt in each format.
type row struct {
	prompt, stdin string
	options       []string
}

// each has the calls that are made with every tool in each of its formats.
var each = map[string]row{
	"several lines":      {prompt: "MULTI"},
	"nothing":            {prompt: "EMPTY"},
	"401":                {prompt: "HTTP401"},
	"404":                {prompt: "HTTP404"},
	"429":                {prompt: "HTTP429"},
	"500":                {prompt: "HTTP500"},
	"broken transcript":  {prompt: "BADTOOL"},
	"overflow":           {prompt: "TOOBIG"},
	"stdin and argument": {prompt: "look here", stdin: "hi remember number 9\n"},
}

// single returns the tool's single calls, the calls of rows by names such as "401, json". A call of
// the tool's own comes first.
func (c cli) single() map[string]call {
	all := maps.Clone(c.own)
	all["stdin only"] = call{Args: c.stdin, Stdin: "hi remember number 9\n"}
	all["nested"] = call{Args: c.ask(c.text(), "hi"), Env: []string{c.inside}}
	all["unknown flag"] = call{Args: c.ask(format{args: list("--no-such-flag")}, "hi")}
	all["version"] = call{Args: list("--version")}
	for _, f := range slices.Concat(c.others, c.formats) { // the others come first too
		add := func(name string, r row) {
			with := format{args: slices.Concat(f.args, r.options)}
			if all[name].Args == nil {
				all[name] = call{Args: c.ask(with, r.prompt), Stdin: r.stdin}
			}
		}
		add(f.name, row{prompt: "hi remember number 456"})
		add("tool use, "+f.name, row{prompt: "RUNTOOL please", options: c.tools})
		for _, rows := range []map[string]row{c.rows, each} {
			for name, r := range rows {
				if !c.retries(name) || f.name == c.formats[len(c.formats)-1].name {
					add(name+", "+f.name, r)
				}
			}
		}
	}
	for _, f := range c.formats {
		if name := "unknown session, " + f.name; all[name].Args == nil {
			all[name] = call{Args: c.again(f, unknownID, "hi")}
		}
	}
	if all["no prompt"].Args == nil {
		all["no prompt"] = call{Args: c.stdin}
	}
	return all
}

// retries reports whether a tool that starts slowly also asks again for minutes after a failure
// (droid 0.225.2: 100 to 250 s): one format shows that.
func (c cli) retries(failure string) bool {
	return c.modest && (failure == "429" || failure == "500")
}

// managed are the names of calls that are managed, for the matrix.
func (c cli) managed() (names []string) {
	for _, f := range c.formats {
		names = append(names, f.name)
	}
	return append(names, "stdin only", "401, text", window)
}

// conversations returns the jobs of every tool and this tool's own: calls of a caller that resumes.
func (c cli) conversations() map[string][]call {
	first := call{Args: c.ask(c.text(), "remember number 7")}
	next := func(f format, prompt string) call { return call{Args: c.again(f, "{id}", prompt)} }
	all := map[string][]call{
		"two jobs":              {first, {Args: c.ask(c.text(), "what number")}},
		"resume after overflow": {first, next(c.text(), "TOOBIG"), next(c.text(), "what number")},
	}
	for _, f := range slices.Concat(c.formats, c.others) {
		all["own resume, "+f.name] = []call{first, next(f, "what number")}
	}
	for name, second := range c.then {
		all[name] = []call{first, second}
	}
	maps.Copy(all, c.jobs)
	return all
}

// promptOption is the ask of most tools, and resumeOption the again.
func promptOption(f format, prompt string) []string {
	return append([]string{"-p", prompt}, f.args...)
}

func resumeOption(f format, id, prompt string) []string {
	return append([]string{"--resume", id}, promptOption(f, prompt)...)
}

// clis are the tools by their names. Each tool's file adds its own.
var clis = map[string]cli{}

// A scenario is one or several calls that must look the same with and without the shim.
type scenario struct {
	tool  string
	kind  string // its subject
	name  string
	calls []call
	timed bool // it runs alone, and the time of its output is compared too
	// by which a timed one can begin later, for the tool's own reasons
	waits time.Duration
	racy  bool   // even without the shim it can end in several ways
	proof string // a text in the last result without the shim
	// how many calls of its chain the shim resumes, "" for any
	resumes string
	shown   func(harness.Result) string // the compared text, nil for everything; calls have IDs
	ends    bool                        // only how and when its calls end is compared
	// of a tool that starts slowly, and like another tool's: no sample has it
	slow bool
}

const unknownID = "11111111-2222-4333-8444-555555555555"

func list(words string) []string { return strings.Split(words, "|") }

// scenarios returns all scenarios of a tool. Some are random.
func (c cli) scenarios(tool string, seed uint64) (all []scenario) {
	for name, one := range c.single() {
		all = append(all, scenario{kind: "single calls", name: name, calls: []call{one}})
	}
	for name, calls := range c.conversations() {
		all = append(all, scenario{kind: "jobs", name: name, calls: calls})
	}
	for kind, more := range map[string][]scenario{"resumed": c.resumed(), "inputs": c.inputs(),
		"outputs": c.outputs(), "sizes": c.sizes(), "tool use": c.toolUse(),
		"opt-outs": c.optOuts(), "signals": c.signals(), "timing": c.timing(),
		"terminals": c.terminals(tool), "moments": c.moments(harness.Dice(seed, tool)),
		"notices": c.notices(tool), "rounds": c.rounds(tool)} {
		for _, s := range more {
			s.kind = kind
			all = append(all, s)
		}
	}
	for i := range all {
		all[i].tool = tool
	}
	return all
}

// notices returns the tool's notices in each format.
func (c cli) notices(tool string) (all []scenario) {
	for name, n := range harness.Notices[tool] {
		for _, f := range c.formats {
			f.args = append(f.args[:len(f.args):len(f.args)], n.Options...)
			all = append(all, scenario{tool: tool, name: name + ", " + f.name,
				calls: []call{n.Call(func(prompt string) []string { return c.ask(f, prompt) })}})
		}
	}
	return all
}

// moments returns calls that get SIGTERM at a random moment during start or answer, for callers
// that read, read slowly, or do not read. How and when they end is compared. Which way a tool ends
// can depend on tiny differences in time.
func (c cli) moments(rng *rand.Rand) (all []scenario) {
	listeners := []struct {
		name string
		to   harness.Target
	}{{"read", harness.Reader}, {"read slowly", harness.Slow}, {"unread", harness.Unread}}
	for i := range 6 {
		f, l := c.formats[rng.IntN(len(c.formats))], listeners[i%len(listeners)]
		s := one(fmt.Sprintf("TERM at moment %d, %s", i+1, l.name),
			call{Args: c.ask(f, c.pause), To: l.to, Signal: syscall.SIGTERM, At: harness.Start,
				After: time.Duration(rng.IntN(2500)) * time.Millisecond})
		s.ends, s.racy = true, true
		all = append(all, s)
	}
	return all
}

// resumed returns calls that continue a session with the shim and begin one without it. Both must
// leave the caller the same session to resume and the model the same context window.
func (c cli) resumed() []scenario {
	const ask = "what number was it?"
	again := harness.Round("The review says that it still fails: fix that. Please remember " +
		"number 12.")
	all := []scenario{{name: "own resume of each id", shown: answer, calls: []call{
		{Args: c.ask(c.text(), harness.Round())}, {Args: c.ask(c.text(), again)},
		{Args: c.again(c.text(), "{id1}", ask)}, {Args: c.again(c.text(), "{id2}", ask)}}}}
	if c.window != nil {
		stream := c.formats[len(c.formats)-1]
		all = append(all, scenario{name: window, shown: c.window, calls: []call{
			{Args: c.ask(stream, harness.Round())}, {Args: c.ask(stream, again)}}})
	}
	return all
}

func answer(r harness.Result) string {
	return fmt.Sprintf("exit %d\n%s%s", r.Exit, r.Stdout, r.Stderr)
}

func (c cli) text() format { return c.formats[0] }

// some returns the formats for tests that do not need every format.
func (c cli) some() []format {
	if c.modest {
		return c.formats[:1]
	}
	return c.formats
}

func one(name string, c call) scenario { return scenario{name: name, calls: []call{c}} }

// inputs returns calls with each kind of stdin.
func (c cli) inputs() []scenario {
	const prompt = "hi remember number 9\n"
	ask := c.ask(c.text(), "look here")
	all := []scenario{
		one("prompt in a file", call{Args: c.stdin, Stdin: prompt, From: harness.File}),
		one("prompt in a socket", call{Args: c.stdin, Stdin: prompt, From: harness.Socket}),
		one("prompt in two parts", call{Args: c.stdin, Stdin: prompt, From: harness.Late}),
		one("stdin open and silent", call{Args: ask, From: harness.Silent}),
		one("stdin closed", call{Args: ask, From: harness.Shut}),
	}
	if c.modest {
		return all
	}
	return append(all,
		one("data in a file", call{Args: ask, Stdin: prompt, From: harness.File}),
		one("data in a socket", call{Args: ask, Stdin: prompt, From: harness.Socket}),
		one("data in two parts", call{Args: ask, Stdin: prompt, From: harness.Late}),
		one("empty file", call{Args: ask, From: harness.File}),
		one("stdin open and silent, no prompt", call{Args: c.stdin, From: harness.Silent}))
}

// outputs returns calls with each kind of stdout.
func (c cli) outputs() (all []scenario) {
	for _, f := range c.some() {
		ask := c.ask(f, "hi")
		all = append(all,
			one("stdout a file, "+f.name, call{Args: ask, To: harness.ToFile}),
			one("stdout unread, "+f.name, call{Args: ask, To: harness.Gone}),
			one("stdout closed, "+f.name, call{Args: ask, To: harness.Closed}),
			scenario{name: "stdout a full device, " + f.name, ends: true,
				calls: []call{{Args: ask, Around: `exec "$0" "$@" >/dev/full`}}})
	}
	for _, f := range c.some() {
		ask := append(c.ask(f, "hi remember number 5"), c.same...)
		all = append(all,
			one("behind a wrapper that speaks, "+f.name,
				call{Args: ask,
					Wrap: `echo "Starting ..."; "$REAL" "$@"; status=$?; printf Bye; exit $status`}),
			one("a wrapper that fails, "+f.name,
				call{Args: ask, Wrap: `echo "no such model"; exit 3`}))
	}
	leaves := one("reader leaves", call{Args: c.ask(c.text(), "BIG5MB"), To: harness.Leaves})
	leaves.racy = c.brokenPipes
	return append(all,
		one("stderr a terminal", call{Args: c.ask(c.text(), "hi"), To: harness.Terminal}),
		one("one stream", call{Args: c.ask(c.text(), "hi remember number 5"), Mixed: true}),
		leaves)
}

// sizes returns calls with long prompts and answers. gemini itself loses output on a pipe, and its
// text callers that have a file get it through one: the arriving part depends on timing.
func (c cli) sizes() (all []scenario) {
	long := strings.Repeat("All work and no play. ", 4600)
	all = append(all, one("100 KB prompt", call{Args: c.ask(c.text(), long)}),
		one("300 KB prompt on stdin", call{Args: c.stdin, Stdin: long + long + long}))
	for _, f := range c.some() {
		file := one("5 MB answer, "+f.name, call{Args: c.ask(f, "BIG5MB"), To: harness.ToFile})
		file.racy = c.exitsBeforeFlush
		all = append(all, file)
		if !c.modest {
			all = append(all, one("5 MB answer on a pipe, "+f.name, call{Args: c.ask(f, "BIG5MB")}))
		}
	}
	return all
}

// toolUse returns runs in which the model works in the project, or calls the tool again.
func (c cli) toolUse() (all []scenario) {
	for _, f := range c.some() {
		f.args = append(f.args[:len(f.args):len(f.args)], c.tools...)
		all = append(all, one("file written, "+f.name,
			call{Args: c.ask(f, "RUN<<echo made > made.txt>>")}))
	}
	f := format{args: c.tools}
	return append(all, one("nested call", call{Args: c.ask(f, "RUN<<"+c.nested+">>")}))
}

// optOuts returns calls that the shim must pass through or not resume.
func (c cli) optOuts() (all []scenario) {
	for _, variable := range []string{"REPRISE_OFF=1", "REPRISE_FRESH=1", "REPRISE_LOG=debug"} {
		all = append(all, one(variable, call{Args: c.ask(c.text(), "hi"), Env: []string{variable}}))
	}
	return all
}

// signals returns runs that get a signal at their start, while the model answers, and at their end.
func (c cli) signals() (all []scenario) {
	for _, s := range []struct {
		name   string
		signal syscall.Signal
	}{{"TERM", syscall.SIGTERM}, {"INT", syscall.SIGINT}, {"HUP", syscall.SIGHUP},
		{"KILL", syscall.SIGKILL}} {
		for _, f := range c.some() {
			middle := one(s.name+" in the middle, "+f.name,
				call{Args: c.ask(f, c.pause), Signal: s.signal, At: harness.Middle})
			// claude 2.1.329 ends an interrupted turn in one of several ways, with a result that
			// has more or fewer fields, or with none.
			middle.racy = s.signal == syscall.SIGINT
			all = append(all, middle)
		}
		group := one(s.name+" to the group", call{Args: c.ask(c.text(), "HANG"), Signal: s.signal,
			At: harness.Middle, Group: true})
		start := one(s.name+" at the start", call{Args: c.ask(c.text(), "hi"), Signal: s.signal,
			At: harness.Start})
		end := one(s.name+" at the end", call{Args: c.ask(c.text(), "hi"), Signal: s.signal,
			At: harness.End})
		end.racy = true
		all = append(all, group, start, end)
	}
	return all
}

// timing returns slow answers.
func (c cli) timing() (all []scenario) {
	for _, f := range c.formats {
		s := one("slow answer, "+f.name, call{Args: c.ask(f, "SLOW")})
		s.timed = f.streams
		if f.name == c.text().name {
			s.waits = c.waits
		}
		all = append(all, s)
	}
	return all
}
