package caller

import (
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// maxCommand is how many bytes Linux keeps of a program's name.
const maxCommand = 15

// notCallers returns the programs above a call that are a person's or a service's, by name.
var notCallers = sync.OnceValue(func() map[string]callerRole {
	roles := map[string]callerRole{}
	for role, names := range map[callerRole]string{rolePerson: personPrograms,
		roleService: services} {
		for _, name := range strings.Fields(names) {
			roles[name[:min(len(name), maxCommand)]] = role
		}
	}
	return roles
})

const personPrograms = `
	login sshd sshd-session sshd-auth dropbear mosh-server telnetd
	tmux screen zellij byobu tmate dtach abduco dvtm
	xterm uxterm urxvt rxvt st foot alacritty kitty ghostty wezterm wezterm-gui wezterm-mux-server
	konsole yakuake
	gnome-terminal gnome-terminal-server ptyxis ptyxis-agent kgx xfce4-terminal mate-terminal
	lxterminal qterminal
	deepin-terminal terminator tilix tilda guake terminology sakura cool-retro-term hyper tabby warp
	warp-terminal
	ttyd gotty iTerm2 Terminal
	code code-insiders code-oss code-server codium vscodium cursor windsurf electron bootstrap-fork
	server-main.js
	vi vim nvim gvim view nano micro helix hx kak kate gedit emacs zed zed-editor sublime_text
	eclipse
	idea idea64 pycharm pycharm64 webstorm webstorm64 goland goland64 clion clion64 rider rider64
	phpstorm phpstorm64
	rubymine rubymine64 rustrover rustrover64 datagrip datagrip64 studio studio64
	com.intellij.idea.Main
	ipython ipykernel_launcher
	gnome-shell plasmashell xfce4-session`

// sleep, tail, cat and pause keep a container alive and make no calls: a process below them has
// lost its own parent.
const services = `
	systemd init launchd openrc-init supervise-daemon start-stop-daemon upstart dinit runit runsv
	runsvdir runit-init
	supervise svscan supervisord circusd monit PM2 pm2 forever xinetd inetd dbus-daemon
	tini dumb-init docker-init catatonit containerd-shim containerd-shim-runc-v2 containerd dockerd
	conmon crio podman kubelet
	sleep tail cat pause
	cron crond fcron anacron atd incrond
	gitlab-runner gitlab-runner-helper Runner.Listener Agent.Listener act_runner forgejo-runner
	buildkite-agent
	woodpecker-agent drone-runner-docker drone-runner-exec circleci-agent circleci-runner
	teamcity-agent
	agent.jar remoting.jar slave.jar swarm-client.jar jenkins.war
	slurmd slurmstepd sge_execd sge_shepherd pbs_mom`

// roleOf returns the part in a call that a program of this name has.
func roleOf(name string) callerRole {
	switch {
	case strings.HasPrefix(name, "emacs"): // emacs-gtk, emacs-29.3
		return rolePerson
	case strings.HasPrefix(name, "s6-"):
		return roleService
	}
	return notCallers()[name[:min(len(name), maxCommand)]]
}

// An interpreter is a program that runs a script. Lists are separated by spaces.
type interpreter struct {
	names  string
	value  string // options with a value
	script string // options with the script or module as value
	code   string // options after which there is code instead of a script
	stdin  string // options after which the code is read from stdin
	words  bool   // an option of one dash is a word in any case, not letters
	verbs  string // subcommands that a script follows
	suffix string // a file with another suffix is not a script
}

var interpreters = []interpreter{
	{names: "sh bash rbash dash ash ksh mksh yash zsh", code: "-c", stdin: "-s",
		value: "-o -O --rcfile --init-file"},
	{names: "csh tcsh", code: "-c", stdin: "-s"},
	{names: "fish", code: "-c --command",
		value: "-C --init-command -d --debug -f --features -o --debug-output"},
	{names: "nu", code: "-c --commands",
		value: "-e --execute -t --table-mode -m -I --include-path --config --env-config " +
			"--log-level --plugin-config --plugins"},
	{names: "pwsh", words: true, code: "-command -c -encodedcommand -e -ec", script: "-file -f",
		stdin: "-noexit",
		value: "-workingdirectory -wd -executionpolicy -ep -ex -windowstyle -w " +
			"-configurationname -settingsfile"},
	{names: "python pypy", code: "-c", script: "-m", value: "-W -X --check-hash-based-pycs"},
	{names: "node nodejs node-MainThread MainThread", code: "-e --eval -p --print --run",
		verbs: "inspect",
		value: "-r --require --import --loader --experimental-loader -C --conditions --env-file " +
			"--input-type --title"},
	{names: "bun", code: "-e --eval -p --print", verbs: "run",
		value: "-r --preload -c --config --cwd"},
	{names: "deno", verbs: "run", value: "-c --config --import-map"},
	{names: "ruby", code: "-e", value: "-r -I -C -E"},
	{names: "perl", code: "-e -E", value: "-I"},
	{names: "php", code: "-r -R -B -E", script: "-f -F", value: "-d -c -z -S -t"},
	{names: "java", words: true, script: "-jar -m --module",
		value: "-cp -classpath --class-path -p --module-path --add-modules --add-opens " +
			"--add-exports --add-reads"},
	{names: "uv", verbs: "run", suffix: ".py", script: "-m --module",
		value: "-p --python --with --with-editable --with-requirements --project --directory " +
			"--env-file --extra --group --index --default-index"},
}

// interpreterNamed returns the interpreter that a process calls itself, with or without a version.
func interpreterNamed(command string) (i interpreter, known bool) {
	name := strings.TrimRight(command, "0123456789.")
	at := slices.IndexFunc(interpreters, func(i interpreter) bool { return has(i.names, name) })
	if at < 0 {
		return i, false
	}
	return interpreters[at], true
}

func has(list, name string) bool { return slices.Contains(strings.Fields(list), name) }

// knows reports whether an option has a meaning here.
func (i interpreter) knows(option string) bool {
	return has(i.code, option) || has(i.stdin, option) || has(i.script, option) ||
		has(i.value, option)
}

// parse returns the name of the script that a command line runs, "" if it runs code or something
// that might not be a script. fromStdin reports whether the interpreter reads the program from
// stdin.
func (i interpreter) parse(args []string) (script string, fromStdin bool) {
	for n := 0; n < len(args); n++ {
		arg := args[n]
		switch {
		case arg == "-":
			return "", true
		case !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "+"):
			switch {
			case has(i.verbs, arg):
				continue
			case !strings.HasSuffix(arg, i.suffix):
				return "", false
			}
			return scriptName(arg), false
		}
		switch option, value := i.option(arg); {
		case has(i.code, option):
			return "", false
		case has(i.stdin, option):
			return "", true
		case has(i.script, option):
			if value == "" && n+1 < len(args) {
				value = args[n+1]
			}
			return scriptName(value), false
		case has(i.value, option) && value == "":
			n++
		}
	}
	return "", true
}

// scriptName returns the base name of a path, "" if it can be something else: an argument can hold
// a secret.
func scriptName(arg string) string {
	name := path.Base(arg)
	if strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-+", r)
	}) || strings.Trim(name, ".") == "" {
		return ""
	}
	return name
}

// option returns the name of an option, of a cluster the first letter with a meaning, and the value
// that is a part of it.
func (i interpreter) option(arg string) (name, value string) {
	if i.words {
		arg = strings.ToLower(arg)
	}
	name, value, _ = strings.Cut(arg, "=")
	if i.knows(name) || i.words || strings.HasPrefix(arg, "--") {
		return name, value
	}
	for n, letter := range arg[1:] {
		if name = "-" + string(letter); i.knows(name) {
			return name, arg[n+2:]
		}
	}
	return "", ""
}
