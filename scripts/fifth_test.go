package scripts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reprise/scripts/toolbox"
	"strings"
	"testing"
)

// fifthTool is all that a tool which speaks claude's dialect under another name needs.
const fifthTool = `package rewrite

func init() { Register(fifth{}) }

type fifth struct{ claude }

var fifthDescriptor = Descriptor{
	Name:     "fifth",
	Headless: []string{"fifth", "-p"},
	Home:     func(env func(string) string) string { return env("HOME") + "/.fifth" },
}

func (fifth) Descriptor() *Descriptor { return &fifthDescriptor }

func (f fifth) Parse(in Invocation) Call {
	call := f.claude.Parse(in)
	call.Tool, call.Home = fifthDescriptor.Name, fifthDescriptor.Home(in.Env)
	return call
}
`

const fifthProgram = `#!/bin/sh
case "$1" in
--help) echo '  -p, --print
  --output-format <format>
  --verbose
  -r, --resume [id]'; exit ;;
esac
echo "$*" >>"$HOME/calls"
id=00000000-0000-4000-8000-000000000001
mkdir -p "$HOME/.fifth/projects/p"
cat >>"$HOME/.fifth/projects/p/$id.jsonl"
echo '{"type":"system","subtype":"init","session_id":"'$id'"}'
echo '{"type":"assistant","session_id":"'$id'","message":{"model":"m","content":[{"type":"text","text":"answer"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"answer","session_id":"'$id'"}'
`

// A tool is added by one file in rewrite/: its calls are managed, and shimctl knows it.
func TestFifthTool(t *testing.T) {
	dir := t.TempDir()
	home, shims, real := filepath.Join(dir, "home"), filepath.Join(dir, "shims"), filepath.Join(dir, "real")
	for _, d := range []string{home, shims, real} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(real, "fifth"), fifthProgram, 0o700)
	write(filepath.Join(dir, "fifth.go"), fifthTool, 0o600)
	added, err := filepath.Abs("../rewrite/fifth.go")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{added: filepath.Join(dir, "fifth.go")}})
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "overlay.json"), string(overlay), 0o600)
	for name, pkg := range map[string]string{"fifth": "shim", "shimctl": "shimctl"} {
		build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", filepath.Join(shims, name), "../cmd/"+pkg)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	run := func(stdin, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(shims, name), args...)
		cmd.Args[0] = name
		cmd.Dir, cmd.Stdin = home, strings.NewReader(stdin)
		cmd.Env = append(toolbox.Home(home), "PATH="+shims+":"+real+":/usr/bin:/bin", "REPRISE_TASK=t")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	for _, prompt := range []string{"Do it.", "Do it.\n\nThe test still fails."} {
		if got := run(prompt, "fifth", "-p"); got != "answer\n" {
			t.Errorf("answer %q", got)
		}
	}
	calls, _ := os.ReadFile(filepath.Join(home, "calls"))
	if lines := strings.Split(strings.TrimSpace(string(calls)), "\n"); len(lines) != 2 || strings.Contains(lines[0], "--resume") || !strings.Contains(lines[1], "--resume") {
		t.Errorf("called as %q", calls)
	}
	config := filepath.Join(home, ".config", "reprise", "config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	write(config, "[tool.fifth]\nenabled = false\n", 0o600)
	for want, args := range map[string][]string{
		"1 resumed": {"status"}, "fifth": {"stats", "--by", "tool"}, "passthrough": {"explain", "--", "fifth", "-p", "hi"}, "": {"config", "check"},
	} {
		if got := run("", "shimctl", args...); !strings.Contains(got, want) {
			t.Errorf("shimctl %q: %s", args, got)
		}
	}
}
