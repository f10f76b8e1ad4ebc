package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/test/toolbox"
)

// A machine has an installed package, the usual programs and a fake claude, but neither Go nor a
// compiler.
type machine struct {
	t      *testing.T
	root   string
	before []string
}

const fakeClaude = `#!/bin/sh
case " $* " in
*" --help "*) echo '  -p, --print
  --session-id <id>
  -r, --resume [id]'; exit ;;
esac
echo "$*" >>"$HOME/calls"
for word in "$@"; do
	case $before in --resume | --session-id) id=$word ;; esac
	before=$word
done
dir=$HOME/.claude/projects/$(pwd | tr -c 'A-Za-z0-9\n' -)
mkdir -p "$dir"
{ cat; echo; } >>"$dir/$id.jsonl"
echo '{"type":"assistant","timestamp":"'"$(date -u +%Y-%m-%dT%H:%M:%S).999Z"'","message":{"model":"m","content":[{"type":"text","text":"answer"}]}}' >>"$dir/$id.jsonl"
echo answer
`

// newMachine returns a machine with a PATH of its own, which has the named programs besides.
func newMachine(t *testing.T, release string, more ...string) *machine {
	t.Helper()
	m := &machine{t: t, root: t.TempDir()}
	for _, dir := range []string{"home", "real", "release", "tmp"} {
		m.mkdir(dir)
	}
	if err := os.WriteFile(filepath.Join(m.root, "real", "claude"),
		[]byte(fakeClaude), 0o755); err != nil {
		t.Fatal(err)
	}
	shell(t, m.root, "cp "+release+"/* release/")
	if err := toolbox.Make(filepath.Join(m.root, "bin"),
		append(more, "tar", "gzip", "sha256sum", "curl")...); err != nil {
		t.Fatal(err)
	}
	m.before = m.list()
	return m
}

func (m *machine) mkdir(name string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Join(m.root, name), 0o755); err != nil {
		m.t.Fatal(err)
	}
}

// command runs a script in which $root is where the machine's files are.
func (m *machine) command(script string) *exec.Cmd {
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = m.root
	cmd.Env = append(toolbox.Home(m.root+"/home"), "root="+m.root, "TMPDIR="+m.root+"/tmp",
		"SHELL=/bin/sh", "PATH="+m.root+"/bin")
	return cmd
}

func (m *machine) sh(script string) string {
	m.t.Helper()
	out, err := m.command(script).CombinedOutput()
	if err != nil {
		m.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// try calls the tools through the shims in a directory: a second call is resumed.
func (m *machine) try(shims string) {
	m.t.Helper()
	if said := m.sh(shims + "/shimctl version"); said != "reprise v1.2.3 (abc)\n" {
		m.t.Errorf("shimctl says %q", said)
	}
	if said := m.sh("command -v go cc gcc clang || echo none"); said != "none\n" {
		m.t.Errorf("the machine has %q", said)
	}
	for _, name := range rewrite.Names {
		if name == "claude" {
			continue // the machine's only one
		}
		if said := m.sh("PATH=" + shims + ":$PATH; " + name +
			" --version 2>&1 || true"); !strings.HasPrefix(said,
			"reprise: "+name+": no other executable") {
			m.t.Errorf("the shim %s says %q", name, said)
		}
	}
	said := m.sh(`cd "$HOME"; PATH=` + shims + `:$root/real:$PATH; export REPRISE_TASK=t
		printf 'Do it.' | claude -p
		printf 'Do it.\n\nThe test still fails.' | claude -p
		cat calls; rm calls`)
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if len(lines) != 4 || lines[0] != "answer" || lines[1] != "answer" ||
		strings.Contains(lines[2], "--resume") || !strings.Contains(lines[3], "--resume") {
		m.t.Errorf("two calls: %q\n%s", lines, m.sh("PATH="+shims+":$root/real:$PATH; shimctl log"))
	}
}

// removed checks that nothing is left of a package, after the user has removed the shims' files.
func (m *machine) removed() {
	m.t.Helper()
	m.sh("rm -rf $HOME/.local/state/reprise $HOME/.config/reprise")
	if found := m.sh("find $HOME $root/tmp -name '*reprise*' -o -name '*shim*'"); found != "" {
		m.t.Errorf("left in the home: %s", found)
	}
	after := m.list()
	left := slices.DeleteFunc(slices.Clone(after), func(name string) bool {
		return slices.Contains(m.before, name)
	})
	gone := slices.DeleteFunc(slices.Clone(m.before), func(name string) bool {
		return slices.Contains(after, name)
	})
	if len(left)+len(gone) > 0 {
		m.t.Errorf("left %q, removed %q, which were there before", left, gone)
	}
}

// list is every file, and every directory of ours, but those that other programs write for
// themselves.
func (m *machine) list() (list []string) {
	m.t.Helper()
	own := []string{"home", "tmp", "npm-cache"}
	err := filepath.WalkDir(m.root, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(m.root, path)
		if slices.Contains(own, rel) {
			return fs.SkipDir
		}
		if !e.IsDir() || strings.Contains(rel, "reprise") {
			list = append(list, rel)
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return list
}

func shell(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}
