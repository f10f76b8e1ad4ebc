package binary

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/test/realcli"

	"github.com/rogpeppe/go-internal/txtar"
)

// A script that looks at the places of arguments gets the calls as they were written, also if no
// other tool stands behind it on PATH. A script that looks for an option anywhere does not mind
// another one.
func TestWrapperMindsPlaces(t *testing.T) {
	const all = "\nexec /real/tool \"$@\"\n"
	const run = "\nexec(real, rest)\n"
	for text, want := range map[string]bool{
		`#!/bin/bash
case "$1" in -p) shift; exec real -p --x "$@";; esac` + all: true,
		`#!/bin/sh
[ "${1:-}" = -p ] && date >>log` + all: true,
		`#!/bin/sh
if test $# -gt 1; then date; fi` + all: true,
		`#!/bin/bash
(( ${#} > 1 )) && date` + all: true,
		`#!/bin/bash
exec real -p --x "${@:2}"`: true,
		`#!/bin/bash
echo "${@: -1}" >>log` + all: true,
		`#!/bin/bash
echo "${!#}" >>log` + all: true,
		`#!/usr/bin/env bash
while getopts p: o; do :; done` + all: true,
		`#!/bin/dash
set -- $(getopt p: "$@")` + all: true,
		`#!/bin/sh
for last; do :; done
echo "${#last}" >log` + all: true,
		`#!/bin/sh
for a in "$@"
do last=$a
done` + all: true,
		`#!/bin/bash
args=("$@")
[ "${args[0]}" = -p ] && date` + all: true,
		`#!/bin/bash
args=("$@")
exec real "${args[@]:1}"`: true,
		`#!/bin/zsh
[[ $argv[1] = -p ]] && date` + all: true,
		`#!/usr/bin/fish
if test (count $argv) -gt 1; date; end
exec real $argv`: true,
		`#!/bin/sh
case "$*" in "-p "*) date;; esac` + all: true,
		`#!/bin/bash
[[ "$*" == -p* ]] && date` + all: true,
		`#!/bin/bash
[[ $* =~ ^-p ]] && date` + all: true,
		`#!/bin/bash
eval first=\$1` + all: true,
		`#!/usr/bin/env python3
if sys.argv[1] == '-p': log()` + run: true,
		`#!/usr/bin/python3
last = sys.argv[-1]` + run: true,
		`#!/usr/bin/python3
run(sys.argv[2:])` + run: true,
		`#!/usr/bin/python3
if argv[1:2] == ['-p']: log()` + run: true,
		`#!/usr/bin/python3
if len(sys.argv) > 1: log()` + run: true,
		`#!/usr/bin/python3
args = sys.argv[1:]
if args and args[0] == '-p': log()` + run: true,
		`#!/usr/bin/env node
if (process.argv[2] === '-p') log()` + run: true,
		`#!/usr/bin/env node
log(process.argv.at(-1))` + run: true,
		`#!/usr/bin/env -S node -r x
run(process.argv.slice(3))` + run: true,
		`#!/usr/bin/env bun
const args = process.argv.slice(2)
if (args[0] == '-p') log()` + run: true,
		`#!/usr/bin/perl
exec 'real', '-p', @ARGV[1..9] if $ARGV[0] eq '-p';` + run: true,
		`#!/usr/bin/perl
my $first = shift @ARGV;` + run: true,
		`#!/usr/bin/env ruby
log if ARGV.first == '-p'` + run: true,
		`#!/usr/bin/php
if ($argv[1] == '-p') log();` + run: true,
		`#!/bin/bash
prev=; for a; do [ "$prev" = -p ] && echo "$a" >>log; prev=$a; done` + all: true,
		`#!/bin/bash
i=0; for a in "$@"; do i=$((i+1)); [ $i = 2 ] && echo "$a" >>log; done` + all: true,
		`#!/bin/bash
for a in "$@"; do ((n++)); done; [ $n = 2 ] && date` + all: true,
		`#!/usr/bin/env python3
a = sys.argv[1:]
if len(a) == 2: log()` + run: true,
		`#!/usr/bin/env python3
_, mode, *rest = sys.argv` + run: true,
		`#!/usr/bin/env python3
a = list(sys.argv[1:])
prompt = a[a.index('-p') + 1]` + run: true,
		`#!/usr/bin/env python3
for i, a in enumerate(sys.argv): log(i, a)` + run: true,
		`#!/usr/bin/env node
const [, , mode, ...rest] = process.argv` + run: true,
		`#!/usr/bin/env node
const args = process.argv.slice(2); log(args.length)` + run: true,
		`#!/usr/bin/env node
const prompt = process.argv[process.argv.indexOf('-p') + 1]` + run: true,
		`#!/usr/bin/perl
my @args = @ARGV; log(scalar @args);` + run: true,
		`#!/usr/bin/env node
const args = process.argv.slice(2); if (args.includes('-p')) args.push('--x')` + run: false,
		`#!/bin/sh
for a in "$@"; do [ "$a" = -p ] && flag=$a$a; done; set -x` + all: false,
		`#!/usr/bin/env python3
args = sys.argv[1:]
if '-p' in args: args += ['--x']` + run: false,

		`#!/bin/sh` + all: false,
		// Programs of their own: they start no other one with their arguments.
		`#!/bin/sh
for arg in "$@"; do printf '%s\n' "$arg" >>"$LOG"; done
while [ $# -gt 0 ]; do case $1 in -r) id=$2; shift ;; esac; shift; done`: false,
		`#!/usr/bin/env python3
if sys.argv[1] == '-p': answer()`: false,
		`#!/usr/bin/env node
answer(process.argv[2])`: false,
		`#!/usr/bin/env python3
import os, subprocess, sys
a = sys.argv[1:]; prompt = a[a.index('-p') + 1]
subprocess.run(os.environ['DO'], shell=True, stdin=subprocess.DEVNULL)
subprocess.run(['git', 'status'], capture_output=True); os.system("date >>log")
print({'type': 'system', 'exec': E['LOG']}); E = os.environ; os.system(E['DO'])`: false,
		`#!/usr/bin/env node
const { execSync } = require('node:child_process');
execSync(process.env.DO, {stdio: 'ignore'}); answer(process.argv[2])`: false,
		`#!/usr/bin/env python3
import subprocess as run
if sys.argv[1] == '-p': run.call('/real/tool', *rest)`: true,
		`#!/usr/bin/env python3
from subprocess import run
run(['/real/tool', sys.argv[1]])`: true,
		`#!/usr/bin/env python3
import subprocess
subprocess.run(f'/real/tool {sys.argv[2]}', shell=True)`: true,
		`#!/usr/bin/env python3
import subprocess
prompt = sys.argv[2]
subprocess.run(['/real/tool', '-p', prompt])`: true,
		`#!/usr/bin/env python3
import os
if sys.argv[1] == '-p': os.fork() or os.execv(real, rest)`: true,
		`#!/usr/bin/env node
const cp = require('child_process'), a = process.argv; cp.spawn(a[2])`: true,
		`#!/bin/sh
# $1 is the command
exec real --x ${1+"$@"}  # not $2`: false,
		`#!/bin/bash
for a in "$@"; do [ "$a" = -p ] && exec real --x "$@"; done` + all: false,
		`#!/bin/bash
for a; do case $a in -p|--print) exec real --x "$@";; esac; done` + all: false,
		`#!/bin/sh
case " $* " in *" -p "*) exec real --x "$@";; esac` + all: false,
		`#!/bin/sh
case "$*" in *-p*) exec real --x "$@";; *) exec real "$@";; esac`: false,
		`#!/bin/bash
[[ " $* " == *" -p "* ]] && date` + all: false,
		`#!/bin/bash
[[ $* == *-p* ]] && date` + all: false,
		`#!/bin/sh
printf '%s\n' "$@" | grep -qx -- -p && date` + all: false,
		`#!/bin/bash
dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd); name=${0##*/}
exec "$dir/$name-real" "$@"`: false,
		`#!/bin/bash
args=(--x "$@")
exec real "${args[@]}"`: false,
		`#!/bin/bash
n=$(nproc | awk '{print $1}')` + all: false,
		`#!/usr/bin/python3
os.execv('real', ['real', '--x', *sys.argv[1:]])`: false,
		`#!/usr/bin/python3
if '-p' in sys.argv: log(sys.argv[0])
run(sys.argv[1:])`: false,
		`#!/usr/bin/python3
a = sys.argv[1:]; i = 0
while i < len(a): look(a[i]); i += 1`: false,
		`#!/usr/bin/env node
spawn('real', process.argv.slice(2), {argv0: process.argv[1]})`: false,
		`#!/usr/bin/perl
exec 'real', @ARGV;`: false,
		`#!/usr/bin/env ruby
exec 'real', *ARGV`: false,
		"\x7fELF $1 shift": false,
		// Programs that package and version managers put on PATH: npm and pnpm, nodenv, asdf, Nix,
		// pip below a long path.
		`#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\,/,g')")

case ` + "`uname`" + ` in
    *CYGWIN*) basedir=` + "`cygpath -w \"$basedir\"`" + `;;
esac

if [ -x "$basedir/node" ]; then
  exec "$basedir/node"  "$basedir/../x/cli.js" "$@"
else
  exec node  "$basedir/../x/cli.js" "$@"
fi`: false,
		`#!/usr/bin/env bash
set -e
[ -n "$NODENV_DEBUG" ] && set -x
program="${0##*/}"
if [ "$program" = "node" ]; then
  for arg; do
    case "$arg" in
    -c* | -- ) break ;;
    */* ) export NODENV_FILE_ARG="$arg"; break ;;
    esac
  done
fi
exec "/r/libexec/nodenv" exec "$program" "$@"`: false,
		`#!/usr/bin/env bash
# asdf-plugin: nodejs 22.1.0
exec /root/.asdf/bin/asdf exec "claude" "$@" # asdf_allow: ' asdf '`: false,
		`#! /nix/store/x-bash-5.2/bin/bash -e
PATH=${PATH:+':'$PATH':'}
PATH=${PATH/':''/nix/store/x/bin'':'/':'}
export PATH
exec -a "$0" "/nix/store/x/bin/.claude-wrapped"  "$@" `: false,
		`#!/bin/sh
'''exec' "/a long path/python" "$0" "$@"
' '''
import re
import sys
from x import main
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\.pyw|\.exe)?$', '', sys.argv[0])
    sys.exit(main())`: false,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "tool"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		real, err := Resolve("tool", "", dir, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := real.IsWrapper("tool", dir, ""); got != want {
			t.Errorf("%v: %s", got, text)
		}
	}
}

// Each snippet of testdata/wrappers.txtar stands in a script that then hands its arguments on. It
// looks at their places, or looks for one of them anywhere. Under "other" are whole scripts.
func TestUsesOfArguments(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/wrappers.txtar")
	if err != nil {
		t.Fatal(err)
	}
	frames := map[string][2]string{
		"bash": {"#!/bin/bash\n", "\nexec /real/tool \"$@\"\n"},
		"zsh":  {"#!/usr/bin/zsh\n", "\nexec /real/tool \"$@\"\n"},
		"fish": {"#!/usr/bin/fish\n", "\nexec /real/tool $argv\n"},
		"perl": {"#!/usr/bin/perl\n", "\nexec '/real/tool', @ARGV;\n"},
		"ruby": {"#!/usr/bin/env ruby\n", "\nexec '/real/tool', *ARGV\n"},
		"python3": {"#!/usr/bin/env python3\nimport sys, os, subprocess\n",
			"\nsys.exit(subprocess.call(['/real/tool'] + sys.argv[1:]))\n"},
		"node": {"#!/usr/bin/env node\nconst {spawnSync} = require('child_process')\n",
			"\nprocess.exit(spawnSync('/real/tool', process.argv.slice(2)).status)\n"},
	}
	for _, file := range archive.Files {
		language, use, _ := strings.Cut(file.Name, " ")
		for snippet := range strings.SplitSeq(strings.TrimSpace(string(file.Data)), "\n\n") {
			dir := t.TempDir()
			path := filepath.Join(dir, "tool")
			text := frames[language][0] + snippet + frames[language][1]
			if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			real, err := Resolve("tool", path, "", "")
			if err != nil {
				t.Fatal(err)
			}
			if got := real.IsWrapper("tool", dir, ""); got != (use == "places") {
				t.Errorf("%s: %v:\n%s", file.Name, got, text)
			}
		}
	}
}

// A script looks at places too if a file does that it sources or hands its arguments on to. DIR is
// the script's directory.
func TestWrapperInSeveralFiles(t *testing.T) {
	const look, run = "[ \"$1\" = -p ] && date\n", "exec /real/tool \"$@\"\n"
	for _, test := range []struct {
		tool, second string
		want         bool
	}{
		{". DIR/second\nmain \"$@\"",
			"main() { case $1 in -p) date;; esac; /real/tool \"$@\"; }", true},
		{". \"$(dirname \"$0\")/second\"\n" + run, look, true},
		{"here=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"\nsource \"$here/second\"\n" +
			run, look, true},
		{". \"$HOME/second\"\n" + run, look, true},
		{"if . ${0%/*}/second; then :; fi\n" + run, look, true},
		{". DIR/second\n" + run, "export PATH=/x:$PATH\n", false},
		{". /nowhere/second\n" + run, look, false},
		{"exec DIR/second \"$@\"", "#!/bin/sh\n" + look + run, true},
		{"exec DIR/second \"$@\"", look + run, true},
		{"\"$(dirname \"$0\")/second\" \"$@\"; exit $?",
			"#!/usr/bin/python3\nimport sys,os\nif sys.argv[1]: os.execv('/x', sys.argv)\n", true},
		{"exec bash DIR/second \"$@\"", look + run, true},
		{"exec node --no-warnings DIR/second \"$@\"",
			"const [,, a] = process.argv; spawn('/x', process.argv.slice(2))", true},
		{"exec node --no-warnings DIR/second \"$@\"", "spawn('/x', process.argv.slice(2))", false},
		{"exec DIR/second \"$@\"", "#!/bin/sh\n" + run, false},
		{"exec DIR/second exec tool \"$@\"", "#!/bin/sh\n" + look + run, false}, // of asdf
		{"exec DIR/second \"$@\"", "#!/bin/sh\n" + look + "exec x \"$@\"\x00", false},
		{"exec DIR/second \"$@\"", "exec DIR/second \"$@\"", false},
	} {
		dir := t.TempDir()
		t.Setenv("HOME", dir)
		for name, text := range map[string]string{"tool": "#!/bin/bash\n" +
			test.tool, "second": test.second} {
			if err := os.WriteFile(filepath.Join(dir, name),
				[]byte(strings.ReplaceAll(text, "DIR", dir)), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		real, err := Resolve("tool", filepath.Join(dir, "tool"), "", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := real.IsWrapper("tool", "", ""); got != test.want {
			t.Errorf("%v: %s\n%s", got, test.tool, test.second)
		}
	}
}

// A script that runs a tool by its path several times is a wrapper, whatever stands behind it on
// PATH.
func TestWrapperRepeatsByPath(t *testing.T) {
	for text, want := range map[string]bool{
		"/opt/tool \"$@\" || /opt/tool \"$@\"\n":                               true,
		"/opt/tool \"$@\"\n[ $? = 0 ] || exit 1\n":                             false,
		"if ! /opt/tool \"$@\"; then sleep 1; /opt/tool \"$@\"; fi\n":          true,
		"until /opt/tool \"$@\"; do sleep 60; done\n":                          true,
		"for i in 1 2 3; do /opt/tool \"$@\" && break; done\n":                 true,
		"for a in \"$@\"; do [ \"$a\" = -p ] && x=1; done\n/opt/tool \"$@\"\n": false,
		"/opt/tool \"$@\" | tee -a log\n":                                      false,
		"echo \"$@\" >>log\n/opt/tool \"$@\"\n":                                false,
		"[ -x /a ] && exec /a \"$@\"\nexec /opt/tool \"$@\"\n":                 false,
	} {
		path := filepath.Join(t.TempDir(), "tool")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
		real, err := Resolve("tool", path, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := real.IsWrapper("tool", "", ""); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// The tools' own launchers are scripts too, and so are the files that packages name as commands.
func TestToolsAreNoWrappers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("pkg/package.json", `{"version": "1.2.3", "bin": {"tool": "cli.js"}}`)
	paths := map[string]string{"tool": write("pkg/cli.js",
		"#!/usr/bin/env node\nconst command = process.argv[2]\n")}
	if os.Getenv("REPRISE_E2E") != "" {
		for name, pin := range realcli.Pins {
			bin, err := realcli.Install(pin)
			if err != nil {
				t.Fatal(err)
			}
			paths[name] = filepath.Join(bin, name)
		}
	}
	for name, path := range paths {
		real, err := Resolve(name, path, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if real.IsWrapper(name, "", "") {
			t.Errorf("%s is taken for a wrapper", path)
		}
	}
}

// A script that can run the next tool on PATH several times is a wrapper, if there is one.
func TestWrapperMayRepeat(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	for _, d := range []string{first, second} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tool, behind := filepath.Join(first, "tool"), filepath.Join(second, "tool")
	for text, want := range map[string]bool{
		"#!/bin/sh\ntool \"$@\"\n":                                            true,
		"#!/bin/bash\nuntil real-tool \"$@\"; do sleep 60; done\n":            true,
		"#!/bin/sh\ntool \"$@\" || tool \"$@\"\n":                             true,
		"#!/bin/sh\ntool \"$@\"\nexec tool \"$@\"\n":                          true,
		"#!/usr/bin/env zsh\nargs=($*)\nexec tool $args\n":                    true,
		"#!/bin/sh\n(exec tool \"$@\") || (exec tool \"$@\")\n":               true,
		"#!/bin/bash\nfor i in 1 2 3; do (exec tool \"$@\") && break; done\n": true,
		"#!/bin/sh\nout=$(exec tool \"$@\") || out=$(exec tool \"$@\")\n":     true,
		"#!/bin/sh\ntool \"$@\" || exec tool \"$@\"\n":                        true,
		"#!/bin/sh\nexec 3>&1; tool \"$@\"\n":                                 true,
		"#!/bin/sh\nuntil exec tool \"$@\" | tee log; do :; done\n":           true,
		"#!/bin/sh\ncase $HOME in\nx) exec a \"$@\" ;;\nesac\nexec \"$(dirname \"$0\")/b\" " +
			"\"$@\"\n": false,
		"#!/bin/sh\ncd \"$(dirname \"$0\")\" && exec ./tool \"$@\" 2>&1\n":       false,
		"#!/bin/sh\n[ -x /a ] && { exec /a \"$@\"; }\nexec b \"$@\" || exit 1\n": false,
		"#!/bin/sh\necho none\n":                                           true,
		"#!/bin/sh\n# all of \"$@\"\nexec real-tool \"$@\"\n":              false,
		"#!/bin/bash -e\nexec -a \"$0\" /store/tool --flag \"$@\"\n":       false,
		"#!/bin/sh\nif x; then exec a \"$@\"; fi\nPATH=/x exec b \"$@\"\n": false,
		"#!/bin/bash\nargs+=(--flag)\nexec tool \"${args[@]}\"\n":          false,
		"#!/usr/bin/env node\nrun('$@')\n":                                 false,
		"\x7fELF sh $@":                                                    false,
	} {
		for _, path := range []string{tool, behind} {
			if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		real, err := Resolve("tool", "", first, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := real.IsWrapper("tool", first+":"+second, ""); got != want {
			t.Errorf("%q: %v", text, got)
		}
		if twice := strings.Count(text, "tool \"$@\"") > 1 ||
			strings.Contains(text, "until "); real.IsWrapper("tool", first, "") && !twice {
			t.Errorf("%q repeats a tool that is not there", text)
		}
	}
}
