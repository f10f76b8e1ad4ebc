package caller

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"reprise/ledger/decide"
	"reprise/ledger/proc"
)

const (
	terminal = "/dev/pts/3"
	nothing  = "/dev/null"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A fakeProcess is a process in a fake /proc.
type fakeProcess struct {
	command string   // as in stat
	args    []string // nil for none
	stdin   string   // "" if it is hidden
	saved   string   // descriptor 10, "" if it is closed
	tty     int
	gone    bool // its files cannot be read
	start   int  // 0 for one in the order of the processes
}

// fakeProc makes a /proc with a process, pid 1000, below others, the nearest first. These have PIDs
// from 999 down, and the last one's parent is PID 0.
func fakeProc(t *testing.T, above ...fakeProcess) string {
	t.Helper()
	root := t.TempDir()
	link := func(target, path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	link("1000", filepath.Join(root, "self"))
	link("pid:[1]", filepath.Join(root, "1000/ns/pid"))
	for n, p := range above {
		if p.gone {
			continue
		}
		pid, start, parent := 999-n, 5000-n, 998-n
		if p.start != 0 {
			start = p.start
		}
		if n == len(above)-1 {
			parent = 0
		}
		dir := filepath.Join(root, strconv.Itoa(pid))
		write(t, filepath.Join(dir, "stat"),
			fmt.Sprintf("%d (%s) S %d 1 1 %d -1 4194560 1 1 1 1 1 1 1 1 20 0 1 0 %d 1 1 "+
				"18446744073709551615\n",
				pid, p.command, parent, p.tty, start))
		write(t, filepath.Join(dir, "cmdline"), "")
		if p.args != nil {
			write(t, filepath.Join(dir, "cmdline"), strings.Join(p.args, "\x00")+"\x00")
		}
		if p.stdin != "" {
			link(p.stdin, filepath.Join(dir, "fd/0"))
		}
		if p.saved != "" {
			link(p.saved, filepath.Join(dir, "fd/10"))
		}
	}
	return root
}

// described returns a caller as the names of its processes, with the person last: "a person", or
// the PID of the person's shell.
func described(c decide.Caller) string {
	var words []string
	for _, p := range c.Processes {
		words = append(words, p.Name)
	}
	switch {
	case c.Person && c.Shell.PID > 0:
		words = append(words, fmt.Sprintf("%s %d", c.Shell.Name, c.Shell.PID))
	case c.Person:
		words = append(words, "a person")
	}
	return strings.Join(words, ", ")
}

// running returns a process with a command line, and no terminal as stdin.
func running(command string, args ...string) fakeProcess {
	return fakeProcess{command: command, args: args, stdin: nothing}
}

// typed returns a process with a command line, and a terminal as stdin.
func typed(command string, args ...string) fakeProcess {
	return fakeProcess{command: command, args: args, stdin: terminal, tty: 34819}
}

var (
	bash    = typed("bash", "bash")
	systemd = running("systemd", "/sbin/init")
	sshd    = running("sshd", "sshd: me@pts/3")
)

// Each way in which programs and persons make calls leads to them, and not further.
func TestCallers(t *testing.T) {
	for name, tt := range map[string]struct {
		above []fakeProcess
		want  string
	}{
		"bash loop.sh": {[]fakeProcess{typed("bash", "bash", "./loop.sh", "a"),
			bash, sshd}, "loop.sh"},
		"./loop.sh": {[]fakeProcess{typed("loop.sh",
			"/bin/bash", "./loop.sh"), bash}, "loop.sh"},
		"sh -c in a script": {[]fakeProcess{running("sh", "sh", "-c", "claude -p x"),
			typed("python3", "python3", "loop.py"), bash}, "sh, loop.py"},
		"npm run": {[]fakeProcess{running("node", "node", "/x/cli.mjs"),
			running("sh", "sh", "-c", "node cli"), running("npm run work", "npm run work"), bash},
			"cli.mjs, sh, npm"},
		"npm exec": {[]fakeProcess{running("sh", "sh", "-c", "claude"),
			running("npm exec claude", "npm exec claude -p secret"), bash}, "sh, npm"},
		"uv run": {[]fakeProcess{running("python", "/venv/bin/python", "x.py"),
			running("uv", "uv", "run", "--with", "rich", "x.py"), bash}, "x.py, x.py"},
		"make": {[]fakeProcess{running("sh", "/bin/sh", "-c", "claude -p x"),
			typed("make", "make", "all"), bash}, "sh, make"},
		"xargs": {[]fakeProcess{running("xargs", "xargs", "-n1",
			"claude", "-p"), bash}, "xargs"},
		"timeout in a script": {[]fakeProcess{typed("timeout", "timeout", "60", "claude"),
			typed("bash", "bash", "loop.sh"), bash}, "timeout, loop.sh"},
		"sudo": {[]fakeProcess{{command: "sudo"},
			typed("bash", "bash", "loop.sh"), bash}, "sudo, loop.sh"},
		"docker exec":             {nil, ""},
		"docker exec of a script": {[]fakeProcess{running("sh", "sh", "/loop.sh")}, "loop.sh"},
		"docker exec of a shell":  {[]fakeProcess{bash}, "bash 999"},
		"a container's own loop": {[]fakeProcess{running("python3",
			"python", "loop.py")}, "loop.py"},
		"a container's init": {[]fakeProcess{running("python3", "python", "loop.py"),
			running("tini", "tini", "--")}, "loop.py"},
		"lost in a container": {[]fakeProcess{running("python3", "python", "loop.py"),
			running("tail", "tail", "-f", "/dev/null")}, "loop.py"},
		"a GitHub job": {[]fakeProcess{running("bash", "/usr/bin/bash",
			"-e", "/work/step.sh"), running("Runner.Worker"), running("Runner.Listener"), systemd},
			"step.sh, Runner.Worker"},
		"a GitLab job": {[]fakeProcess{running("bash", "bash", "--login"),
			running("gitlab-runner"), systemd}, "bash"},
		"a Jenkins job": {[]fakeProcess{running("sh", "sh", "-xe", "/tmp/step.sh"),
			running("java", "java", "-Dx=y", "-cp", "/lib", "-jar", "/home/agent.jar", "-url", "x"),
			systemd}, "step.sh"},
		"a Buildkite job": {[]fakeProcess{running("job.sh", "/bin/sh", "job.sh"),
			running("buildkite-agent")}, "job.sh"},
		"a tmux pane": {[]fakeProcess{typed("bash", "-bash"),
			running("tmux: server", "tmux")}, "bash 999"},
		"a tmux pane of its own": {[]fakeProcess{running("tmux: server", "tmux")}, "a person"},
		"ssh": {[]fakeProcess{typed("bash", "-bash"),
			sshd, systemd}, "bash 999"},
		"ssh without a terminal": {[]fakeProcess{running("bash", "-bash"), sshd}, "bash 999"},
		"ssh with a command": {[]fakeProcess{running("bash", "bash",
			"-c", "./loop.sh; true"), sshd}, "bash"},
		"VS Code's terminal": {[]fakeProcess{typed("bash", "/bin/bash", "--init-file",
			"/usr/share/code/shell.sh"), running("code", "code")}, "bash 999"},
		"VS Code itself": {[]fakeProcess{running("node", "node",
			"--dns-result-order=ipv4first", "/x/out/bootstrap-fork", "--type=extensionHost"),
			systemd}, "a person"},
		"an editor's command": {[]fakeProcess{running("sh", "sh", "-c", "claude"),
			typed("nvim", "nvim"), bash}, "sh"},
		"emacs with a version": {[]fakeProcess{typed("emacs-29.3", "emacs")}, "a person"},
		"a long name of a program": {[]fakeProcess{running("gnome-terminal-",
			"/usr/libexec/gnome-terminal-server")}, "a person"},
		"a systemd service": {[]fakeProcess{running("python3.12", "python3",
			"-u", "/srv/loop.py"), systemd}, "loop.py"},
		"a systemd unit's call": {[]fakeProcess{systemd}, ""},
		"cron": {[]fakeProcess{running("sh", "/bin/sh", "-c", "claude"),
			running("cron", "/usr/sbin/CRON"), running("cron", "/usr/sbin/cron")}, "sh"},
		"supervisord": {[]fakeProcess{running("worker", "worker"),
			running("supervisord", "/usr/bin/python3", "/usr/bin/supervisord", "-n")}, "worker"},
		"python's supervisord": {[]fakeProcess{running("worker", "worker"),
			running("python3", "python3", "/usr/bin/supervisord", "-n")}, "worker"},
		"s6": {[]fakeProcess{running("worker", "worker"),
			running("s6-supervise", "s6-supervise", "x")}, "worker"},
		"pm2": {[]fakeProcess{running("node", "node", "/x/work.js"),
			running("PM2 v5.3.0: God", "PM2 v5.3.0: God Daemon")}, "work.js"},
		"WSL": {[]fakeProcess{running("loop.sh", "/bin/sh", "loop.sh"),
			running("init(Ubuntu)", "/init")}, "loop.sh"},

		"typed": {[]fakeProcess{bash, sshd}, "bash 999"},
		"typed with a prompt from a file": {[]fakeProcess{{command: "dash", args: []string{"dash"},
			stdin: "/home/prompt", saved: "/dev/tty"}, sshd}, "dash 999"},
		"a script on stdin, with a prompt from a file": {[]fakeProcess{{command: "dash",
			args: []string{"dash"}, stdin: "/home/prompt", saved: "/home/script"}, sshd}, "dash"},
		"typed in a shell in a shell": {[]fakeProcess{bash,
			typed("zsh", "zsh"), sshd}, "zsh 998"},
		"typed after su": {[]fakeProcess{bash, typed("su", "su"),
			typed("zsh", "zsh"), sshd}, "bash 999"},
		"typed in a container": {[]fakeProcess{{command: "sh",
			args: []string{"sh"}, stdin: "/dev/console"}}, "sh 999"},
		"typed at a console": {[]fakeProcess{{command: "sh",
			args: []string{"sh"}, stdin: "/dev/tty1"}}, "sh 999"},
		"typed at a hypervisor's console": {[]fakeProcess{{command: "sh",
			args: []string{"sh"}, stdin: "/dev/hvc0"}}, "sh 999"},
		"typed, another user's shell": {[]fakeProcess{{command: "bash",
			args: []string{"bash"}, tty: 34819}}, "bash 999"},
		"another user's, without terminal": {[]fakeProcess{{command: "bash",
			args: []string{"bash"}}}, "bash"},
		"a typed loop behind a pipe": {[]fakeProcess{running("bash", "bash"), bash}, "bash"},
		"typed into Python": {[]fakeProcess{typed("python3", "python3"), bash},
			"bash 998"},
		"a script on stdin": {[]fakeProcess{running("python3", "python3",
			"-", "secret"), bash}, "python3"},

		"hidden": {[]fakeProcess{{gone: true}}, ""},
		"hidden further up": {[]fakeProcess{running("sh", "sh",
			"-c", "x"), {gone: true}}, "sh"},
		"a hidden command line": {[]fakeProcess{running("worker"),
			{command: "bash"}, running("other")}, "worker"},
		"a title of its own": {[]fakeProcess{typed("node (vitest 1)", "node (vitest 1)"),
			bash}, "node"},
		"a parent that has ended": {[]fakeProcess{running("sh", "sh", "-c", "x"),
			{command: "young", start: 6000}}, "sh"},
		"a parent as old": {[]fakeProcess{running("sh", "sh", "-c", "x"),
			{command: "fast", start: 5000}}, "sh, fast"},
		"odd names": {[]fakeProcess{running("a) R 1 (b"), running("(x y)"),
			running("x\x1b[1m\xffy"), running(strings.Repeat("é", 7))}, "a), (x y), x[1my, " +
			strings.Repeat("é", 7)},
	} {
		if got := described(find(fakeProc(t, tt.above...), "boot", 1000, 999)); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// A process is known by its boot, PID and start.
func TestCallerIsIdentified(t *testing.T) {
	root := fakeProc(t, running("make", "make"), bash)
	got := find(root, "boot", 1000, 999)
	want := decide.Caller{Processes: []decide.CallerProcess{{
		Process: proc.Process{Boot: "boot", Namespace: "pid:[1]", PID: 999, Start: 5000},
		Name:    "make"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for what, other := range map[string]decide.Caller{
		"with the PIDs of another namespace": find(root, "boot", 7, 999),
		"without /proc":                      find(t.TempDir(), "boot", 1000, 999),
	} {
		if !reflect.DeepEqual(other, decide.Caller{}) {
			t.Errorf("%s: %+v", what, other)
		}
	}
	if err := os.Remove(filepath.Join(root, "1000/ns/pid")); err != nil {
		t.Fatal(err)
	}
	if got := find(root, "boot", 1000, 999); !reflect.DeepEqual(got, decide.Caller{}) {
		t.Errorf("without a namespace: %+v", got)
	}
}

// A stat file that is not as expected is no process.
func TestBrokenStat(t *testing.T) {
	whole := "999 (make) S 0 1 1 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 1 0 5000 1"
	for text, want := range map[string]string{
		whole: "make", "": "", "999 make S 0": "", ")(": "", "999 (make) S 0 1 1 0": "",
		strings.Replace(whole, "S 0", "S x", 1): "", strings.Replace(whole, "5000", "x", 1): "",
	} {
		root := fakeProc(t, running("make"))
		write(t, filepath.Join(root, "999/stat"), text)
		if got := described(find(root, "boot", 1000, 999)); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestCallersAreBounded(t *testing.T) {
	var above []fakeProcess
	for range 20 {
		above = append(above, running("work"))
	}
	if got := find(fakeProc(t, above...), "boot", 1000, 999); len(got.Processes) != maxCallers {
		t.Errorf("%d processes", len(got.Processes))
	}
	long := running("python3", "python3", strings.Repeat("x", 60)+".py")
	if got := find(fakeProc(t, long), "boot",
		1000, 999).Run().Name; got != strings.Repeat("x", maxCallerName) {
		t.Errorf("named %q", got)
	}
	// the last one would be cut in two
	umlauts := running("python3", "python3", "x"+strings.Repeat("ü", 30))
	if got := find(fakeProc(t, umlauts), "boot",
		1000, 999).Run().Name; got != "x"+strings.Repeat("ü", 19) {
		t.Errorf("named %q", got)
	}
	// A command line is read to the end, where the script can be.
	whole := typed("bash", "bash", "--rcfile", strings.Repeat("x", 1<<17), "loop.sh")
	if got := described(find(fakeProc(t, whole), "boot", 1000, 999)); got != "loop.sh" {
		t.Errorf("with a long command line: %q", got)
	}
}

// The name of a script is found, and nothing else is taken for one.
func TestScriptOfACommandLine(t *testing.T) {
	const stdin = "from stdin"
	for line, want := range map[string]string{
		"bash loop.sh": "loop.sh", "bash -e -o pipefail ./loop.sh x": "loop.sh",
		"bash -euo pipefail dir/loop.sh":  "loop.sh",
		"bash --noprofile --norc -e x.sh": "x.sh", "bash +O extglob x.sh": "x.sh",
		"bash -c x.sh": "", "bash -lc x.sh": "", "bash -l": stdin,
		"bash -s secret": stdin, "bash --rcfile x": stdin, "bash -- x.sh": "x.sh",
		"bash --restricted x.sh": "x.sh", "bash --": stdin, "bash -": stdin, "bash": stdin,
		"zsh -il": stdin, "dash x": "x", "fish -C init x.fish": "x.fish",
		"fish --init-command=x": stdin, "fish --command=x": "", "nu -e x": stdin,
		"tcsh -c x": "", "pwsh -NoExit -Command x": stdin, "pwsh -NoLogo -File /x/y.ps1": "y.ps1",
		"pwsh -c x": "", "pwsh -wd /x": stdin,
		"python3 -u -W ignore loop.py": "loop.py", "python3.12 -Wignore loop.py": "loop.py",
		"python -m pkg.mod x": "pkg.mod", "python -Im mod": "mod",
		"python -mmod x": "mod", "python -m": "", "python -c x.py": "", "python -X dev": stdin,
		"python -": stdin, "python .": "", "python /x/": "x",
		"python a:b@c": "", "python ..": "",
		"node --require ./x.js cli.js --flag": "cli.js", "node --require=./x.js cli.js": "cli.js",
		"node -pe x": "", "node inspect x.js": "x.js",
		"node-MainThread x.js": "x.js", "MainThread x.js": "x.js", "nodejs x.js": "x.js",
		"bun run x.ts": "x.ts", "bun x.ts": "x.ts", "deno run -A x.ts": "x.ts",
		"ruby -rjson x.rb": "x.rb", "ruby -e x": "", "perl -lane x": "",
		"perl x.pl": "x.pl", "php -d a=b artisan": "artisan", "php8.2 -f x.php": "x.php",
		"java -jar /x/a.jar": "a.jar", "java -cp /x com.x.Main": "com.x.Main",
		"java -Djar=1 -Xmx1g Main": "Main",
		"uv run x.py":              "x.py",
		"uv run --index https://me:secret@host/simple x.py": "x.py",
		"uv --directory d run x.py":                         "x.py",
		"uv run --unknown secret x.py":                      "", "uv run -m mod": "mod",
		"uv run tool x.py": "",
	} {
		args := strings.Fields(line)
		p, known := interpreterNamed(args[0])
		if !known {
			t.Errorf("%s is not known", args[0])
			continue
		}
		got, fromStdin := p.parse(args[1:])
		if fromStdin {
			got = stdin
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	for _, command := range []string{"make", "pythonx", "node (x)", ""} {
		if _, known := interpreterNamed(command); known {
			t.Errorf("%q is known", command)
		}
	}
}

func BenchmarkCaller(b *testing.B) {
	boot, found := proc.BootID(), decide.Caller{}
	for b.Loop() {
		found = find(procRoot, boot, os.Getpid(), os.Getppid())
	}
	b.ReportMetric(float64(len(found.Processes)), "processes")
}

// Words that a process adds to its program's name are not part of the name.
func TestProgramName(t *testing.T) {
	for command, want := range map[string]string{
		"tmux: server": "tmux", "npm run x": "npm", "node (x)": "node", "R: run": "R",
		"make": "make", " odd": " odd", "": "",
	} {
		if got := programName(command); got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}
