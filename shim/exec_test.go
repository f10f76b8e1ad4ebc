package shim

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/shim/front"
	"reprise/test/toolbox"
)

// A driver runs testdata/exec_driver.c. With REPRISE_SANITIZE=1 the address and
// undefined-behaviour sanitizers watch it.
type driver struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

func startDriver(t *testing.T) *driver {
	t.Helper()
	program := filepath.Join(t.TempDir(), "driver") // no tool's name: argv[0] counts
	flags := []string{"-std=gnu11", "-g", "-O1", "-o", program, "testdata/exec_driver.c"}
	if os.Getenv("REPRISE_SANITIZE") == "1" {
		flags = append([]string{"-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined",
			"-fno-sanitize-recover=all"}, flags...)
	}
	if out, err := exec.Command("cc", flags...).CombinedOutput(); err != nil {
		t.Fatalf("build the driver: %v\n%s", err, out)
	}
	cmd := exec.Command(program)
	cmd.Args[0] = "claude"
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil || said.Len() > 0 {
			t.Errorf("driver: %v\n%s", err, said.String())
		}
	})
	return &driver{t, in, bufio.NewReader(out)}
}

// ask puts one case to the driver.
func (d *driver) ask(kind string, a, b int, args, env []string) string {
	d.t.Helper()
	text := fmt.Sprintf("%s %d %d %d %d\n", kind, a, b, len(args), len(env))
	for _, s := range slices.Concat(args, env) {
		text += s + "\x00"
	}
	if _, err := io.WriteString(d.in, text); err != nil {
		d.t.Fatalf("%q: %v", text, err)
	}
	answer, err := d.out.ReadString(0)
	if err != nil {
		d.t.Fatalf("%q: %v", text, err)
	}
	return strings.TrimSuffix(answer, "\x00")
}

func (d *driver) unmanaged(args, env []string, stdinTTY, stdoutTTY bool) bool {
	d.t.Helper()
	return d.ask("u", number(stdinTTY), number(stdoutTTY), args, env) == "1"
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Calls that never get as far as Go, and calls that must.
func TestUnmanaged(t *testing.T) {
	d := startDriver(t)
	tests := []struct {
		line string // variables, then the command line
		want bool
	}{
		{"claude mcp list", true},
		{"/opt/bin/claude mcp", true},
		{"claude --version", true},
		{"codex login status", true},
		{"codex app-server", false}, // it is counted
		{"gemini --acp", false},
		{"codex mcp", true},
		{"codex -V", true},
		{"gemini mcp", true},
		{"gemini --list-sessions", true},
		{"vibe --setup", true},
		{"vibe update", true},
		{"CLAUDECODE=1 claude -p hi", true},
		{"CODEX_SANDBOX=seatbelt codex exec hi", true},
		{"GEMINI_CLI=1 gemini -p hi", true},
		{"REPRISE_INSIDE=claude:1 vibe -p hi", true},
		{"REPRISE_OFF=1 claude -p hi", true},
		{"REPRISE_OFF=1 REPRISE_LOG=debug claude -p hi", true}, // it is not logged
		{"claude -p hi", false},
		{"claude", false},
		{"claude mcp-like-prompt", false},
		{"claude hi mcp", false},
		{"codex exec hi", false},
		{"codex e hi", false},
		{"codex -m x login", false},
		{"gemini --help false", false}, // yargs: a flag turned off
		{"gemini mcp-x", false},
		{"vibe -p hi", false},
		{"REPRISE_OFF=0 claude -p hi", false},
		{"REPRISE_OFF=1 REPRISE_VERBOSE=1 claude mcp", false},
		{"REPRISE_LOG=debug claude mcp", false},
		{"REPRISE_VERBOSE=1 claude --version", false},
		{"GEMINI_CLI=1 claude -p hi", false},
		{"CLAUDECODE= claude -p hi", false},
		{"CLAUDECODEX=1 claude -p hi", false},
		{"shimctl mcp", false},
		{"claude/ mcp", false},
		{"shim.test mcp", false},
	}
	for _, test := range tests {
		words := strings.Fields(test.line)
		n := slices.IndexFunc(words, func(w string) bool { return !strings.Contains(w, "=") })
		if got := d.unmanaged(words[n:], words[:n], false, false); got != test.want {
			t.Errorf("%s: %v", test.line, got)
		}
	}
	for _, name := range rewrite.Names {
		if !d.unmanaged([]string{name}, nil, true, false) ||
			!d.unmanaged([]string{name, "fix it"}, nil, true, true) {
			t.Errorf("%s at a terminal is left to Go", name)
		}
		if d.unmanaged([]string{name, "--verbose", "-cp", "hi"}, nil, true, true) ||
			d.unmanaged([]string{name, "--pr=hi"}, nil, true, true) {
			t.Errorf("%s without a conversation is not left to Go", name)
		}
	}
	if d.unmanaged(nil, nil, true, true) {
		t.Error("a call without a name is not left to Go")
	}
}

// Every call that never gets as far as Go would have been passed through there.
func TestUnmanagedIsPassthrough(t *testing.T) {
	d := startDriver(t)
	r := rand.New(rand.NewPCG(1, 2))
	cases, taken := 60_000, 0
	if testing.Short() {
		cases = 2_000
	}
	for range cases {
		name := pick(r, rewrite.Names)
		args, env := randomCall(r, name)
		stdinTTY, stdoutTTY := r.IntN(2) == 0, r.IntN(4) == 0
		if !d.unmanaged(slices.Concat([]string{pick(r, []string{name, "/a/" + name})}, args), env,
			stdinTTY, stdoutTTY) {
			continue
		}
		taken++
		e := Env{Environ: env}
		if e.Get("REPRISE_OFF") == "1" {
			continue // nothing is parsed
		}
		tool, _ := rewrite.Lookup(name)
		in := rewrite.Input{Args: args, Env: e.Get, StdinTTY: stdinTTY, StdoutTTY: stdoutTTY}
		for _, in.Learned = range []rewrite.Probe{{}, learned} {
			if call := tool.Parse(in); call.Mode != rewrite.Passthrough {
				t.Fatalf("%q %q with %q, terminals %v %v: Go makes %s of it", name, args, env,
					stdinTTY, stdoutTTY, call.Mode)
			} else if rewrite.IsHeadless(tool, in, call.Reason) {
				t.Fatalf("%q %q with %q, terminal %v: Go would count it (%s)", name, args, env,
					stdinTTY, call.Reason)
			}
		}
	}
	if taken < cases/10 {
		t.Errorf("only %d of %d calls were taken", taken, cases)
	}
}

// learned are the options that a binary's own help can add to a grammar.
var learned = rewrite.Probe{Known: true, Resume: true, Options: []rewrite.Option{
	{Names: []string{"--novel"}, Arity: rewrite.OneValue},
	{Names: []string{"--version", "-v"}}, {Names: []string{"--help"}, Arity: rewrite.OptionalValue},
}}

// callWords are words of all four grammars, and others that look like them.
var callWords = strings.Fields(`-p --print -p=x --prompt --prompt= --prompt=hi hi mcp list agents help update config login exec e resume
	review fork app-server extensions skill hooks gemma run-server doctor --help --help=false -h --version -v -V -vp -hp --no-help
	true false - -- --output-format --output-format=json json text stream-json --input-format --input-format=stream-json
	--output --output=streaming streaming --json --ephemeral --no-session-persistence --resume -r --continue -c --session-id
	11111111-2222-4333-8444-555555555555 --model -m x --novel --novel=1 --add-dir --verbose --acp --experimental-acp --list-sessions
	-l --setup --check-upgrade --trust --teleport --yolo -y -i -e -C --cd /tmp /cost --listSessions --worktree -w --color always`)

var callEnv = strings.Fields(`REPRISE_OFF=1 REPRISE_OFF=0 REPRISE_OFF= REPRISE_VERBOSE=1 REPRISE_LOG=debug REPRISE_LOG=info CLAUDECODE=1
	CLAUDECODE= CLAUDECODE CODEX_SANDBOX=x CODEX_THREAD_ID= CODEX_SESSION_ID=1 GEMINI_CLI=1 GEMINI_CLI= VIBE_APP_SERVER_BIN=/x
	REPRISE_INSIDE=x REPRISE_INSIDE= REPRISE_INSIDER=1 HOME=/h PATH=/bin =x REPRISE_OFF`)

func randomCall(r *rand.Rand, name string) (args, env []string) {
	for range r.IntN(6) {
		args = append(args, pick(r, callWords))
	}
	if r.IntN(8) == 0 {
		args = append(args, mangled(r, pick(r, callWords)))
	}
	for range max(0, r.IntN(8)-4) {
		env = append(env, pick(r, callEnv))
	}
	return args, env
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

// mangled changes a byte or two of a word.
func mangled(r *rand.Rand, word string) string {
	b := []byte(word)
	for range 1 + r.IntN(2) {
		if i := r.IntN(len(b) + 1); i < len(b) {
			b[i] = byte(1 + r.IntN(255))
		} else {
			b = append(b, byte(1+r.IntN(255)))
		}
	}
	return string(b)
}

// A configuration is left to Go if it can name a binary or ask for more log.
func TestPlainConfig(t *testing.T) {
	d := startDriver(t)
	for text, want := range map[string]string{
		"":                                   "1",
		"ttl = \"1h\"\n[log]\nlevel=\"off\"": "1",
		"enabled = false":                    "1",
		"[[rule]]\nprompt = '^\\s*Task'":     "1",
		"[tool.claude]\npath = \"/x\"":       "0",
		"tool.codex.path=\"/x\"":             "0",
		"[tool.claude]\n\"p\\u0061th\"=\"\"": "0",
		"[tool.claude]\n\"p\\x61th\"=\"\"":   "0",
		"[log]\nlevel = \"debug\"":           "0",
		"[log]\nlevel = \"\\U00000064ebug\"": "0",
	} {
		if got := d.ask("c", 0, 0, []string{text}, nil); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// PATH and the guard come from outside and can hold anything.
func TestFindOddInput(t *testing.T) {
	d := startDriver(t)
	dir := t.TempDir()
	toolbox.Program(t, dir, "tool", "#!/bin/sh\n")
	long := strings.Repeat("/x", 5000)
	for path, want := range map[string]string{
		long + ":" + dir:                     dir + "/tool",
		dir + strings.Repeat("/", 5000):      "",
		strings.Repeat("/none:", 9000) + dir: dir + "/tool",
		// Cut off where the buffer ends, it would be the tool itself.
		strings.Repeat("/", 4095-len(dir+"/tool")) + dir + "/tool": "",
		"%s%n:" + dir:             dir + "/tool",
		strings.Repeat("x", 4088): "",
		strings.Repeat("x", 4096): "",
	} {
		if got := d.ask("f", 0, 0, []string{"tool", long, path, ""}, nil); got != want {
			t.Errorf("%.40q: %q", path, got)
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{dir, "", ".", "..", "/", long, "tool", "\xff", "%d", dir + "/", dir +
		"/tool", "/proc/self/fd"}
	for range 2_000 {
		var path, skip []string
		for range r.IntN(5) {
			path = append(path, pick(r, pieces))
			skip = append(skip,
				pick(r, []string{"", "1.2", front.Identify(dir + "/tool"), ".", "x", long}))
		}
		got := d.ask("f", 0, 0, []string{"tool", pick(r, pieces),
			strings.Join(path, ":"), strings.Join(skip, ",")}, nil)
		if skipped := slices.Contains(skip, front.Identify(dir+"/tool")); skipped && got != "" ||
			!skipped && slices.Contains(path, dir) && got == "" {
			t.Fatalf("%q without %q: %q", path, skip, got)
		}
		value := mangled(r, pick(r, []string{"7:3:1.2,3.4", "7:19:1.2", "8:1:", "7:1:1.2," +
			strings.Repeat("x", 2030), "7:0001:" + long, strings.Repeat("7:", 600)}))
		if got := d.ask("g", 7, 0,
			[]string{value, pick(r, []string{"", "a.b", "1.2"}), "f.e"},
			nil); !strings.HasPrefix(got, "7:") || !strings.HasSuffix(got, "f.e") {
			t.Fatalf("%q becomes %q", value, got)
		}
	}
}
