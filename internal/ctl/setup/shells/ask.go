package shells

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// patience is how long a shell may take to start. nvm alone takes a second on a slow machine.
const patience = 20 * time.Second

// Each script prints records, as parse reads them: the directory of the shell's files, PATH, and for each name in REPRISE_NAMES what
// the shell would run. It runs first what the shell runs before a prompt: mise and direnv set PATH there.
const (
	record = `\set +eu
__reprise_record() { \printf '\036%s\037%s\037%s\037%s\036' "$REPRISE_ASK" "$1" "$2" "$3"; }
`
	bashScript = record + `for __reprise_hook in "${PROMPT_COMMAND[@]-}"; do \eval "$__reprise_hook"; done >/dev/null 2>&1
__reprise_record path "$PATH" ''
for n in $REPRISE_NAMES; do
	k=$(\type -t "$n")
	case $k in
	alias) v=$(\alias "$n") v=${v#*=} ;;
	function) v=$(\declare -f "$n") ;;
	*) v=$(\type -p "$n") ;;
	esac
	__reprise_record "$n" "$k" "$v"
done`
	zshScript = record + `for __reprise_hook in precmd "${precmd_functions[@]-}"; do $__reprise_hook; done >/dev/null 2>&1
\emulate zsh
__reprise_record dir "${ZDOTDIR-}" ''
__reprise_record path "$PATH" ''
for n in ${=REPRISE_NAMES}; do
	k=$(\whence -w $n) k=${k##*: }
	case $k in
	alias) v=${aliases[$n]-${galiases[$n]}} ;;
	function) v=${functions[$n]} ;;
	*) k=file v=${commands[$n]} ;;
	esac
	__reprise_record "$n" "$k" "$v"
done`
	shScript = record + `__reprise_record path "$PATH" ''
for n in $REPRISE_NAMES; do
	v=$(\command -v "$n")
	case $v in
	alias*) k=alias v=${v#*=} ;;
	/*) k=file ;;
	'') k= ;;
	*) k=function v= ;;
	esac
	__reprise_record "$n" "$k" "$v"
done`
	fishScript = `emit fish_prompt >/dev/null 2>&1
function __reprise_record
	printf '\036%s\037%s\037%s\037%s\036' $REPRISE_ASK $argv[1] $argv[2] $argv[3]
end
__reprise_record path (string join : $PATH) ''
for n in (string split ' ' $REPRISE_NAMES)
	set -l k (type -t $n 2>/dev/null)
	set -l v (type -p $n 2>/dev/null)
	if test "$k" = function
		set v (functions $n | string collect)
	end
	__reprise_record $n "$k" "$v"
end`
)

// An Answer is what one shell said when it was started in one way.
type Answer struct {
	Shell    Shell
	Start    string
	File     string // where a block for this start stands
	Path     []string
	HasShims bool      // whether the directory of the shims is in Path
	Findings []Finding // one for each tool
	Problem  string    // why there is no answer
}

// Ask starts a fresh shell in every way and returns the answers, in order. It also returns the world as zsh's files have set it.
func Ask(ctx context.Context, w World) ([]Answer, World) {
	var answers []Answer
	var starts []start // of the answers
	for _, s := range Find(w) {
		for _, start := range s.starts {
			answers, starts = append(answers, Answer{Shell: s, Start: start.name}), append(starts, start)
		}
	}
	found := make([]map[string]answer, len(answers))
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	for i := range answers {
		all.Go(func() (err error) {
			if found[i], err = ask(ctx, w, answers[i].Shell, starts[i]); err != nil {
				answers[i].Problem = err.Error()
			}
			return nil
		})
	}
	_ = all.Wait()
	for _, records := range found {
		if dir := records["dir"].kind; filepath.IsAbs(dir) {
			w.ZshDir = dir
		}
	}
	for i := range answers {
		a := &answers[i]
		if a.File = a.Shell.file(w, starts[i]); a.Problem != "" {
			continue
		}
		a.Path = filepath.SplitList(found[i]["path"].kind)
		a.HasShims = slices.ContainsFunc(a.Path, func(dir string) bool {
			return slices.ContainsFunc(w.Tools, func(tool string) bool { return w.isShim(tool, filepath.Join(dir, tool)) })
		})
		for _, tool := range w.Tools {
			a.Findings = append(a.Findings, w.judge(tool, found[i][tool]))
		}
	}
	return answers, w
}

// ask starts the shell and returns its records by their names.
func ask(ctx context.Context, w World, s Shell, by start) (map[string]answer, error) {
	if s.Path == "" {
		return nil, errors.New("is not installed")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Path, append(slices.Clone(by.flags), "-c", s.script)...)
	cmd.Dir = w.Home
	cmd.Env = freshEnviron(w, by, s.Login || s.name == "sh")
	// Without a terminal of its own, it cannot take ours from us.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // what the files start in the background may keep the pipe open
	var out limited
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	_ = cmd.Wait()                                     // how it ended is its own matter
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGHUP) // what it left in the background, as a terminal does when it is closed
	found := parse(string(out.kept))
	switch {
	case len(found) > 0:
		return found, nil
	case ctx.Err() != nil:
		return nil, errors.New("did not start within " + patience.String())
	}
	return nil, errors.New("ended before it could be asked: its start-up files may start another program")
}

// limited keeps the start of what is written to it.
type limited struct{ kept []byte }

func (l *limited) Write(p []byte) (int, error) {
	const most = 1 << 20
	l.kept = append(l.kept, p[:min(len(p), most-len(l.kept))]...)
	return len(p), nil
}

// token marks our records among what a shell's files print.
const token = "reprise-setup"

// An answer is a kind and a value: "alias" and its text.
type answer struct{ kind, value string }

// parse returns the records of a script's output by their names.
func parse(output string) map[string]answer {
	found := map[string]answer{}
	for part := range strings.SplitSeq(output, "\x1e") {
		fields := strings.Split(part, "\x1f")
		if len(fields) == 4 && fields[0] == token {
			found[fields[1]] = answer{fields[2], fields[3]}
		}
	}
	return found
}

// kept are the variables that a login sets. Others come from the files of the shell that shimctl was started in.
var kept = []string{"HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TZ", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
	"XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}

// freshEnviron is the environment of a new shell: what a login sets, and PATH without the shims, unless it is nested. A shell
// that begins a session also starts without what is below the home directory: its own files add that, and other shells
// inherit it.
func freshEnviron(w World, by start, session bool) []string {
	var environ []string
	for _, entry := range w.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(kept, name) || strings.HasPrefix(name, "LC_") {
			environ = append(environ, entry)
		}
	}
	if w.ZshDir != "" {
		environ = append(environ, "ZDOTDIR="+w.ZshDir)
	}
	withoutHome := session && (by.name == Login || by.name == LoginScript) && w.Home != "/"
	path := slices.DeleteFunc(slices.Clone(w.Path), func(dir string) bool {
		return !filepath.IsAbs(dir) || filepath.Clean(dir) == w.Shims || withoutHome && strings.HasPrefix(dir, w.Home+"/")
	})
	if by.name == Nested {
		path = slices.Insert(path, 0, w.Shims)
	}
	if len(path) == 0 {
		path = []string{"/usr/local/bin", "/usr/bin", "/bin"}
	}
	return append(environ, "PATH="+strings.Join(path, string(filepath.ListSeparator)), "REPRISE_ASK="+token, "REPRISE_NAMES="+strings.Join(w.Tools, " "),
		// oh-my-zsh asks nothing and starts no tmux then.
		"DISABLE_AUTO_UPDATE=true", "ZSH_TMUX_AUTOSTART=false")
}
