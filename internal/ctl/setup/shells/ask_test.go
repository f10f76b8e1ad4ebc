package shells

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/test/toolbox"
)

func TestMain(m *testing.M) { os.Exit(toolbox.Tests{M: m}.Run()) }

// newWorld makes a home of its own with shims, a claude behind them in ~/bin, and files by their names in the home.
func newWorld(t *testing.T, login string, files map[string]string) World {
	t.Helper()
	home := t.TempDir()
	files["bin/claude"], files["shims/claude"], files["shims/shimctl"] = "#!/bin/sh\n", "#!/bin/sh\n# the shim\n", ""
	files[".local/share/fish/generated_completions/none"] = "" // or else a first fish fills it, and goes on when it has ended
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	tools := filepath.Join(home, "tools")
	if err := toolbox.Make(tools, "zsh", "fish", "dash"); err != nil {
		t.Fatal(err)
	}
	if login != "" {
		login = installed(t, login)
	}
	environ := []string{"HOME=" + home, "SHELL=" + login, "PATH=" + filepath.Join(home, "bin") + ":" + tools, "SECRET=x", "TMPDIR=" + t.TempDir()}
	return NewWorld(environ, filepath.Join(home, "shims"), []string{"claude", "codex"})
}

func installed(t *testing.T, shell string) string {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("%s is not installed here", shell)
	}
	return path
}

// of returns what the shell said of claude in each of its starts.
func of(t *testing.T, answers []Answer, shell string) (said string) {
	t.Helper()
	for _, a := range answers {
		if a.Shell.Name() != shell {
			continue
		}
		if a.Problem != "" {
			return said + a.Start + ": " + a.Problem + "\n"
		}
		said += fmt.Sprintf("%s: %s %v\n", a.Start, a.Findings[0].Kind, a.Findings[0].Plain)
	}
	return said
}

// What setup writes is what makes each shell find the shim, in every way in which it can be started; and --undo brings back
// what was there.
func TestEveryShell(t *testing.T) {
	const local = "~/.claude/local/claude"
	for _, c := range []struct {
		shell  string
		files  map[string]string
		before string
	}{
		{"bash", map[string]string{
			".bashrc":  "alias claude=\"$HOME/.claude/local/claude\"\n",
			".profile": ". ~/.bashrc\nPATH=$HOME/bin:$PATH",
		}, "interactive: alias true\nnested: alias true\nlogin: alias true\nlogin -c: file false\n"},
		{"bash", map[string]string{
			".bash_profile": "claude() { ~/.claude/local/claude \"$@\"; }\n",
			".profile":      "exit 3\n",
		}, "interactive: file false\nnested: shim false\nlogin: function true\nlogin -c: function true\n"},
		{"bash", map[string]string{
			".bashrc": "set -u\nhash -p ~/bin/claude claude\nPROMPT_COMMAND='PATH=~/bin:$PATH'\n",
		}, "interactive: file false\nnested: file false\nlogin: nothing false\nlogin -c: nothing false\n"},
		{"bash", map[string]string{ // mise, which asks for its own place at each prompt
			".bashrc": `eval "$(true mise activate bash)"
export __MISE_ORIG_PATH="${__MISE_ORIG_PATH:-$PATH}"
m() { local d before after IFS=:; for d in $PATH; do case :$__MISE_ORIG_PATH: in *":$d:"*) after+=:$d ;; *) before+=$d: ;; esac; done; PATH=$before$HOME/bin$after; }
PROMPT_COMMAND=(true m)
`,
		}, "interactive: file false\nnested: file false\nlogin: nothing false\nlogin -c: nothing false\n"},
		{"zsh", map[string]string{
			".zshrc": `eval "$(true mise activate zsh)"
export __MISE_ORIG_PATH="${__MISE_ORIG_PATH:-$PATH}"
m() { local d; local -a before after; for d in $path; do if [[ :$__MISE_ORIG_PATH: == *:$d:* ]]; then after+=($d); else before+=($d); fi; done; path=($before ~/bin $after) }
precmd_functions+=(m)
`,
		}, "interactive: file false\nnested: file false\nlogin: file false\nlogin -c: nothing false\n"},
		{"fish", map[string]string{
			".config/fish/config.fish": `true mise activate fish | source
set -q __MISE_ORIG_PATH; or set -gx __MISE_ORIG_PATH $PATH
function m --on-event fish_prompt
	set -l before; set -l after
	for d in $PATH; if contains $d $__MISE_ORIG_PATH; set -a after $d; else; set -a before $d; end; end
	set PATH $before ~/bin $after
end
`,
		}, "interactive: file false\nnested: file false\nlogin: file false\n"},
		{"zsh", map[string]string{
			".zshenv":   "ZDOTDIR=~/z\n",
			"z/.zshrc":  "alias claude=" + local + "\nalias r=true\nsetopt ksh_arrays no_unset",
			"z/.zlogin": "path=(~/bin $path)\n",
		}, "interactive: alias true\nnested: alias true\nlogin: alias true\nlogin -c: file false\n"},
		{"fish", map[string]string{
			".config/fish/config.fish":           "set -gx PATH ~/bin $PATH\n",
			".config/fish/functions/claude.fish": "function claude\n" + local + " $argv\nend\n",
		}, "interactive: function true\nnested: function true\nlogin: function true\n"},
		{"sh", map[string]string{
			".profile": "PATH=$HOME/bin:$PATH\nset -e\n",
		}, "login: file false\n"},
		{"dash", map[string]string{".profile": "alias claude=" + local + "\n"}, "login: alias true\n"},
	} {
		t.Run(c.shell, func(t *testing.T) {
			c.files[".claude/local/claude"] = "#!/bin/sh\n"
			w := newWorld(t, c.shell, c.files)
			name := strings.Replace(c.shell, "dash", "sh", 1)
			answers, w := Ask(context.Background(), w)
			if got := of(t, answers, name); got != c.before {
				t.Errorf("before:\n%swant:\n%s", got, c.before)
			}
			was := map[string]string{}
			for _, a := range answers {
				text, err := os.ReadFile(a.File)
				if _, seen := was[a.File]; !seen {
					was[a.File] = string(text)
				}
				e, errBlock := WithBlock(a.File, string(text), err == nil, PathBlock{a.File, w.Shims, w.Home, []string{"claude"}, strings.Contains(string(text), "mise")}.Lines())
				if errBlock != nil || os.WriteFile(a.File, []byte(e.New), 0o600) != nil {
					t.Fatal(errBlock)
				}
			}
			answers, _ = Ask(context.Background(), w)
			for _, line := range strings.Split(strings.TrimSpace(of(t, answers, name)), "\n") {
				if want := "shim"; !strings.Contains(line, ": "+want) && !(strings.Contains(c.files[".bashrc"], "PROMPT_COMMAND='") && !strings.HasPrefix(line, Login)) {
					t.Errorf("after: %s", line)
				}
			}
			for file, text := range was {
				now, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if gone, err := WithoutBlock(file, string(now)); err != nil || gone.New != text {
					t.Errorf("%s: after undo %q, %v", file, gone.New, err)
				}
			}
		})
	}
}

// A shell gets what a login gives it: not the variables of the shell that shimctl runs in, nor what that one's files have
// put on PATH.
func TestFreshEnviron(t *testing.T) {
	w := World{Home: "/home/u", Shims: "/usr/lib/reprise/bin", Environ: []string{"HOME=/home/u", "LC_ALL=C", "NVM_BIN=x", "MISE_SHELL=bash"},
		Path: []string{"/home/u/bin", "/usr/lib/reprise/bin/", "rel", "/usr/bin", "/home/user/bin"}, Tools: []string{"a", "b"}}
	if got := strings.Join(freshEnviron(w, start{name: Login}, true), "\n"); !strings.HasPrefix(got, "HOME=/home/u\nLC_ALL=C\nPATH=/usr/bin:/home/user/bin\n") ||
		!strings.Contains(got, "\nREPRISE_NAMES=a b\n") || strings.Contains(got, "NVM") || strings.Contains(got, "MISE") {
		t.Errorf("%s", got)
	}
	w.ZshDir = "/z"
	if got := freshEnviron(w, start{name: Nested}, true); !slices.Contains(got, "PATH=/usr/lib/reprise/bin:/home/u/bin:/usr/bin:/home/user/bin") || !slices.Contains(got, "ZDOTDIR=/z") {
		t.Errorf("%s", got)
	}
	if got := freshEnviron(World{Home: "/home/u"}, start{name: Login}, true); !slices.Contains(got, "PATH=/usr/local/bin:/usr/bin:/bin") {
		t.Errorf("%s", got)
	}
}

// A file that starts another program, waits for ever or says a lot is no reason to fail or to hang.
func TestShellsThatDoNotAnswer(t *testing.T) {
	w := newWorld(t, "bash", map[string]string{".bashrc": "yes & exec true\n"})
	answers, _ := Ask(context.Background(), w)
	if got := of(t, answers, "bash"); !strings.HasPrefix(got, "interactive: ended before it could be asked") {
		t.Errorf("%s", got)
	}
	w = newWorld(t, "bash", map[string]string{".bashrc": "head -c 3000000 /dev/zero; echo hi >&2; read -r line; sleep 98765 &\n"})
	start := time.Now()
	answers, _ = Ask(context.Background(), w)
	if got := of(t, answers, "bash"); !strings.HasPrefix(got, "interactive: ") || time.Since(start) > patience {
		t.Errorf("%s after %s", got, time.Since(start))
	}
	for exec.Command("pgrep", "-f", "^sleep 98765$").Run() == nil {
		if time.Since(start) > patience {
			t.Fatal("what it started in the background is still there")
		}
		time.Sleep(10 * time.Millisecond)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w = newWorld(t, "bash", map[string]string{".bashrc": "sleep 1000\n"})
	if answers, _ = Ask(ctx, w); answers[0].Problem == "" {
		t.Errorf("%+v", answers[0])
	}
}

func TestFind(t *testing.T) {
	w := newWorld(t, "", map[string]string{".bashrc": ""})
	names := func() (list []string) {
		for _, s := range Find(w) {
			list = append(list, s.Name())
			if s.Name() == "bash" && (s.Path == "" || s.Login) {
				t.Errorf("%+v", s)
			}
		}
		return list
	}
	if got := names(); !slices.Equal(got, []string{"bash"}) {
		t.Error(got)
	}
	w.Login = "/nowhere/zsh"
	w.Path = w.Path[:1]
	found := Find(w)
	if len(found) != 2 || found[1].Name() != "zsh" || found[1].Path != "" || !found[1].Login || found[0].Path != "" {
		t.Errorf("%+v", found)
	}
	answers, _ := Ask(context.Background(), w)
	if answers[0].Problem != "is not installed" {
		t.Errorf("%+v", answers[0])
	}
}
