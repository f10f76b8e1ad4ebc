package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"reprise/rewrite/reason"

	"github.com/rogpeppe/go-internal/testscript"
)

// An adviceWorld is where a reason comes up, as shell scripts on the functions of adviceHelpers.
type adviceWorld struct {
	before string // ends with the call that has the reason
	// repeats the call after the command that why prints, or in the script that it names, and
	// expects the promised decision
	after string
	set   string // the same after the setting that why names, "" if the command makes it
	named bool   // the reason is none of a decision: why is asked for it by its name
}

// adviceWorlds has a world for each reason with a command in the advice.
var adviceWorlds = map[reason.Code]adviceWorld{
	reason.BaseTooSmall: {before: `ask Short.; ask 'Short.

More.'; expect fresh base_too_small`,
		after: `ask Short.; ask 'Short.

More.'; expect resume extends`},
	reason.Ambiguous: {before: `ask "$base"; ask "$base"; ask "$base$failed"; expect fresh ambiguous`,
		after: `ask "$base"; ask "$base$failed"; expect resume extends`},
	reason.NoEvidence: {before: `rm "$FAKE/edit"; ask "$base"; ask "$base$new"; expect fresh no_evidence`,
		after: `export REPRISE_ROLE=r; ask "$base"; ask "$base$new"; expect resume extends`},
	reason.NewRole: {before: `ask "$base"; ask "$base$judge"; expect fresh new_role`,
		// Typed once around both, the command does not lead the judge into the coder's session.
		after: `ask "$base"; ask "$base$judge"; expect fresh new_role
			export REPRISE_ROLE=judge; ask "$base$judge"; ask "$base$judge$failed"; expect resume extends`},
	reason.UnnamedOff: {before: `configure 'unnamed = "off"'; ask "$base"; ask "$base$failed"; expect fresh unnamed_off`,
		after: `ask "$base"; ask "$base$failed"; expect resume extends`,
		set:   `ask "$base$again"; expect resume extends`},

	reason.Never: {before: `export RALPH_WORKSPACE_ROOT=.; ask "$base"; expect fresh never`,
		after: `ask "$base"; ask "$base$failed"; expect resume extends`},
	reason.ForcedFresh: {
		before: `ask "$base"; export REPRISE_FRESH=1; ask "$base$failed"; expect fresh forced_fresh`,
		after:  `ask "$base$failed$failed"; expect resume extends`},
	reason.PreviousFailed: {
		before: `export REPRISE_TASK=t; fake crash; ask "$base" || true; fake none; ask "$base$failed"; expect fresh previous_failed`,
		after:  `grep -q '^how it ended.*it failed with exit status 9$' said`},
	reason.JobChanged: {before: `export CI_JOB_ID=1; ask "$base"; export CI_JOB_ID=2; ask "$base$failed"; expect fresh job_changed`,
		after: `ask "$base"; export CI_JOB_ID=3; ask "$base$failed"; expect resume extends`},

	reason.Idle: {before: `configure 'ttl = "1ms"'; ask "$base"; sleep 0.02; ask "$base$failed"; expect fresh idle`,
		after: `ask "$base$failed$failed"; expect resume extends`},
	reason.TooOld: {before: `configure 'max_age = "1ms"'; ask "$base"; sleep 0.02; ask "$base$failed"; expect fresh max_age`,
		after: `sleep 0.02; ask "$base$failed$failed"; expect resume extends`},
	reason.ContextFull: {
		before: `configure 'context_limit = 0.00002'; ask "$base"; ask "$base$failed"; expect fresh context_full`,
		after:  `ask "$base$failed$failed"; expect resume extends`},
	reason.HeldOut: {before: `configure 'rollout = 0'; ask "$base"; ask "$base$failed"; expect fresh held_out`,
		after: `ask "$base$failed$failed"; expect resume extends`},
	reason.Dearer: {before: `configure 'unrelated = "resume"'; export REPRISE_TASK=t REPRISE_ROLE=r; ask Fresh.
			for i in 1 2; do echo "$((i + 1)).5" >"$FAKE/cost"; ask "Resumed $i."; done
			ask 'Once more.'; expect fresh dearer`,
		after: `ask 'Whatever it costs.'; expect resume unrelated`},
	reason.Leased: {before: `export REPRISE_TASK=t; ask "$base"; hold; ask "$base$new"; expect fresh leased`,
		after: `release; export REPRISE_ROLE=other; ask "$base"; hold; ( sleep 0.3; release ) & ask "$base$new$failed"; expect resume extends`},

	reason.StoreUnavailable: {before: `versioned; git init -q .; export REPRISE_PROJECT=org/repo REPRISE_STORE=s3://refused$WORK/store REPRISE_STORE_KEY=$key
			ask "$base"; expect fresh store_unavailable`,
		after: `grep -q 'the store cannot be reached' said`},

	reason.RefusedSilent: {
		before: `ask "$base"; rm "$FAKE/edit"; fake crash; ask "$base$failed" || true; shimctl why >&2`,
		after:  `grep -q 00000000-0000 said`},
	reason.Pruned: {named: true, before: `configure 'prune.keep_within = "1ms"'; ask "$base"; sleep 0.02; shimctl prune; ask "$base$failed"
			shimctl why | grep -q pruned`,
		after: `sleep 0.02; shimctl prune; ask "$base$failed$failed"; expect resume extends`},

	reason.SwitchedOff: {named: true,
		before: `ask "$base"; rm "$FAKE/edit"; export REPRISE_OFF=1
			ask "$base$failed"; expect fresh first_call`,
		after: `ask "$base$failed"; expect resume extends`},
	reason.Disabled: {named: true, before: `configure 'tool.claude.enabled = false'; ask "$base"`,
		after: `ask "$base"; expect fresh first_call`},
	reason.ConfigMistake: {before: `configure 'ttl = 3'; ask "$base"`,
		after: `grep -q 'config.toml:1: ttl: ' said`},
}

// namedWorlds are those in which the task is named already.
var namedWorlds = map[reason.Code]adviceWorld{
	reason.TooOld: {before: `configure 'max_age = "1ms"'; export REPRISE_TASK=t; ask "$base"; sleep 0.02; ask "$base$failed"; expect fresh max_age`,
		after: `sleep 0.02; ask "$base$failed$failed"; expect resume extends`},
	reason.Ambiguous: {before: `export REPRISE_TASK=t REPRISE_ROLE=r; ask "$base"; ask 'Go on.'; configure 'unrelated = "resume"'; ask 'And now?'; expect fresh ambiguous`,
		after: `ask 'Start with this.'; expect fresh context_reset; ask 'Go on with that.'; expect resume unrelated`},
}

const adviceHelpers = `
set -eu
base=$(cat base) failed='

The previous attempt failed: one of the tests is gone.' again='

It still fails: the build is broken.' judge='

You are the judge. Score the work from 1 to 10.' old='

The parser is to be tidied up first, and nothing else.' new='

The printer is what matters today, with all of its tests.'
key=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
ask() { printf '%s' "$1" | claude -p >/dev/null; }
# versioned gives the tool a version that copies its sessions.
versioned() { mv "$WORK/real/claude" "$WORK/real/2.1.329"; ln -s 2.1.329 "$WORK/real/claude"; }
fake() { echo "$1" >"$FAKE/mode"; }
configure() { mkdir -p "$HOME/.config/reprise"; printf '%s\n' "$1" >"$HOME/.config/reprise/config.toml"; }
decided() { shimctl log --json -n 1 | sed 's/.*"mode":"\([^"]*\)","reason":"\([^"]*\)".*/\1 \2/' | tr '\n' ' '; }
expect() { [ "$(decided)" = "$1 $2 " ] || { echo "decided: $(decided), want $1 $2" >&2; exit 1; }; }
# hold starts a call that does not end before release.
hold() {
	rm -f "$FAKE/held" "$FAKE/go"; fake hold; ask "$base$new" & until [ -e "$FAKE/held" ]; do sleep 0.02; done
	fake none
}
release() { touch "$FAKE/go"; }
# advised prints a member of why.json.
advised() { sed -n 's/^ *"'$1'": "\(.*\)",\{0,1\}$/\1/p' why.json | sed 's/\\"/"/g'; }
`

// nameTask types a command that names the task. The next job of the same shell has another name, or
// none: it is fresh.
const nameTask = `chmod +x yourscript
PATH=$PATH:$PWD
[ -z "${REPRISE_TASK+set}" ]
eval "$command"
[ -z "${REPRISE_TASK+set}" ]
ask "$base"
case "$(decided)" in fresh*) ;; *) echo "the next job: $(decided)" >&2; exit 1 ;; esac
`

// For each reason with a command in its advice, the command is typed into the shell as why prints
// it, the call is repeated, and the promise of the advice comes true.
func TestAdvice(t *testing.T) {
	dir := t.TempDir()
	write := func(name, script, typed string) {
		base := "-- base --\nYou are the coder of this project, and these are the rules that " +
			"hold for all that you write in it.\n\n" +
			"Keep every function small and clear, and write a test for each. Say why in " +
			"comments, never what.\nPrint STATUS: REVIEW when you are done, and nothing after it.\n"
		text := "env PATH=$PATH:$MORE_SHELLS\nmkdir fake\ncp workfile fake/edit\nexec sh " +
			"advice.sh\n" + base + "-- workfile --\nwork.txt\n-- advice.sh --\n" + adviceHelpers +
			script + "\nrelease\nwait\n-- yourscript --\n#!/bin/sh\n" + adviceHelpers + typed + "\n"
		if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	play := func(name string, code reason.Code, world adviceWorld, command string) {
		asked := ""
		if world.named {
			asked = string(code)
		}
		before := world.before + fmt.Sprintf(
			"\nshimctl why --json %s >why.json\ngrep -q '\"reason\": \"%s\"' why.json\n", asked,
			code)
		typed := "eval \"$command\" >said 2>&1 || [ $? = 3 ] # what doctor has found\n" +
			world.after
		if command == reason.NameTask {
			typed = nameTask
		}
		write(name, before+"command=$(advised command)\n[ -n \"$command\" ]\n[ \"$command\" = "+
			"\"$(shimctl why "+asked+" | sed -n 2p)\" ]\n"+
			"echo \"$command\"\n"+typed, world.after)
		if world.set != "" {
			write(name+"_setting", before+"setting=$(advised setting)\nshimctl config set "+
				"\"${setting%% = *}\" \"${setting#* = }\"\n"+world.set, "")
		}
	}
	for _, row := range slices.Concat(reason.Table, reason.Refusals) {
		world, shown := adviceWorlds[row.Code]
		if !shown && row.Command+row.Setting != "" {
			t.Errorf("%s: it needs a world in which its command is typed", row.Code)
		}
		if shown {
			play(string(row.Code), row.Code, world, row.Command)
		}
		if world, shown := namedWorlds[row.Code]; shown {
			play(string(row.Code)+"_named", row.Code, world, "")
		}
	}
	testscript.Run(t, testscript.Params{Dir: dir, RequireExplicitExec: true, Setup: setup})
}
