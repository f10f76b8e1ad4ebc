package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/test/sample"
	"reprise/test/toolbox"

	"github.com/creack/pty"
	"github.com/mattn/go-runewidth"
)

var colors = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// A person's first command ends by itself on a terminal of any size, and no line of it is wider.
func TestScreensFit(t *testing.T) {
	state := "XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(sample.Ledger(t, 400, false)))
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []pty.Winsize{{Rows: 24, Cols: 80}, {Rows: 30, Cols: 100},
		{Rows: 40, Cols: 120}} {
		for _, args := range []string{"status", "status --since 2026-01-01", "why", "why 7",
			"why identical", "--help", "status --help", "show --help", "doctor --help",
			"config --help", "help rule"} {
			cmd := exec.Command(self, strings.Fields(args)...)
			cmd.Args[0] = "shimctl"
			cmd.Env = append(toolbox.Home(t.TempDir()), state, "TERM=xterm", "LANG=C.UTF-8",
				"PATH="+tools)
			fitsIn(t, args, showSized(t, cmd, size).end(), int(size.Cols))
		}
	}
}

// fitsIn complains of lines that are wider than the terminal, but for one word, which is a path,
// and for the lines that setup writes into files.
func fitsIn(t *testing.T, args, shown string, columns int) {
	t.Helper()
	shown = strings.ReplaceAll(strings.ReplaceAll(colors.ReplaceAllString(shown, ""), "\r\n", "\n"),
		"\x1b[K", "")
	// one writes over another after \r
	for line := range strings.FieldsFuncSeq(shown, func(r rune) bool {
		return r == '\n' || r == '\r'
	}) {
		wide, whole := runewidth.StringWidth(line), strings.HasPrefix(args, "setup") &&
			strings.HasPrefix(line, "+") || !strings.Contains(strings.TrimSpace(line), " ")
		if wide > columns && !whole {
			t.Errorf("%s on %d columns: a line of %d: %s", args, columns, wide, line)
		}
	}
}

// Every command ends by itself at a terminal, where all that it says has room, and no line is
// wider.
func TestAllCommandsFit(t *testing.T) {
	m := newMachine(t)
	m.sh(everydayCalls)
	size := pty.Winsize{Rows: 24, Cols: 80}
	show := func(args string, answers ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(m.root, "shims", "shimctl"), strings.Fields(args)...)
		cmd.Dir, cmd.Env = filepath.Join(m.root, "repo"),
			append(m.env, "TERM=xterm", "LANG=C.UTF-8", "SHELL=/bin/bash",
				"REPRISE_BIN_DIR="+m.root+"/shims")
		s := showSized(t, cmd, size)
		for _, answer := range answers {
			s.until("[y/N] ")
			s.typing(answer + "\n")
			s.until(answer + "\r\n")
		}
		if s.exit() < 0 {
			t.Errorf("%s does not end", args)
		}
		fitsIn(t, args, s.shown.String(), int(size.Cols))
		return s.shown.String()
	}
	for line := range strings.SplitSeq(strings.TrimSpace(everyCommand), "\n") {
		args, answers, _ := strings.Cut(line, " < ")
		shown := show(args, strings.Fields(answers)...)
		if answers == "n" && (!strings.HasSuffix(shown, "\r\nnothing was changed\r\n") ||
			strings.Contains(shown, "error:")) {
			t.Errorf("%s was answered with no, and shows %q", args, shown)
		}
	}
	named := regexp.MustCompile(`(?m)^  ([a-z-]+)  +.*\r$`)
	for left := []string{""}; len(left) > 0; left = left[1:] {
		_, commands, _ := strings.Cut(show("help"+left[0]), "\ncommands:\r\n")
		commands, _, _ = strings.Cut(commands, "\r\n\r\n")
		for _, found := range named.FindAllStringSubmatch(commands, -1) {
			left = append(left, left[0]+" "+found[1])
		}
	}
}

// everydayCalls are a loop with names, a loop with replaced feedback, calls that end badly, a rule,
// two runs of a loop without names, and a ledger that others can read.
const everydayCalls = `
mkdir -p ../home/.config/reprise ../home/tools
touch ../fake/remember
cp ../real/claude ../home/tools/codex
cp ../real/claude ../home/tools/gemini
printf '%s\n' '[ -s "$NVM_DIR/nvm.sh" ] && . "$NVM_DIR/nvm.sh"' 'alias codex="$HOME/tools/codex"' 'alias gemini="KEY=secret $HOME/tools/gemini"' >../home/.bashrc
prompt() {
	printf 'You are the coder.\n\n'
	for i in $(seq 60); do echo "- Rule $i: keep functions small, and write a test for case $i."; done
	for note in "$@"; do printf '\n%s\n' "$note"; done
}
for note in one two three four; do prompt "Feedback of this round: $note" "Begin now." | claude -p; done
export REPRISE_TASK=a-job-with-a-rather-long-name
prompt | claude -p
prompt "It fails: fix it." | claude -p
prompt "It fails: fix it." "It still fails: fix it." | claude -p --output-format json
REPRISE_ROLE=reviewer claude -p "Review it."
echo refuse >../fake/mode; prompt "It fails: fix it." "It still fails: fix it." "Again." | claude -p
echo crash >../fake/mode; claude -p "This fails." || :
echo killed >../fake/mode; claude -p "This is killed." || :
rm ../fake/mode
claude -p --resume 00000000-0000-4000-8000-000000000005 "The caller's own." || :
claude -p /compact || :
printf '[prune]\nauto = "all"\n[[rule]]\nname = "a-rule"\ntool = "claude"\ntask = "x"\ncwd = "/nowhere"\n' >../home/.config/reprise/config.toml
rules=$(prompt)
cat >loop.sh <<'EOF'
for round in 1 2; do printf 'Ticket: TIX-%s\n\n%s\n\n## Round\n\nNote %s.\n\n## Contract\n\nPrint DONE.\n' $1 "$rules" $round | claude -p; done
EOF
for ticket in 101 102; do rules="$rules" REPRISE_TASK= sh loop.sh $ticket; done
chmod 755 ../home/.local/state/reprise
`

// everyCommand is one call of shimctl a line, with the answers to its questions. Commands that
// never end, fetch, or print a format for programs are left out.
const everyCommand = `
--help
--version
status
status --all
status --nonsense
status --since 2001-01-01
doctor
doctor --all
doctor --fix < n
config
config --path
config nonsense
config set ttl 2h < n
config set ttl nonsense
config set prune.auto --unset < n
why
why 1
why identical
why base_changed
why nonsense
why -- claude -p hi
stats
stats --by tool
stats --by role
stats --since nonsense
stats --since 2001-01-01
log
log --reason nonsense
log --chain nonsense
show
show c5
show 5
show 9
show 99
show nonsense
show a-job-with-a-rather-long-name
rule add --from 4 < n
rule add --from 14 < n
rule add --from 9
prune
prune --keep-last 1
prune -n --keep-last -1
prune --keep-history 1ms < n
prune c5 < n
prune c6 < n
prune c99
reset c5 < n
reset a-job-with-a-rather-long-name < n
report --output page.html
version
completion
setup < n
setup --yes --tools claude
setup --undo < n
setup --undo < y
setup --tools claude < y
setup --undo --yes
setup --tools nonsense
nonsense
`
