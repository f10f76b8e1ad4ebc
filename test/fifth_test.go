package test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/test/toolbox"

	_ "github.com/mattn/go-sqlite3"
)

// fifthTool is all that a tool needs which speaks claude's dialect under another name and keeps its
// sessions in a database.
const fifthTool = `package fifth

import (
	"reprise/rewrite"
	"reprise/rewrite/reason"
	_ "reprise/rewrite/tool/claude"
)

func init() {
	claude, _ := rewrite.Lookup("claude")
	rewrite.Register(fifth{claude})
}

type fifth struct{ rewrite.Tool }

var descriptor = rewrite.Descriptor{
	Name:  "fifth",
	Home:  func(env func(string) string) string { return env("HOME") + "/.fifth" },
	Paths: []string{"fifth.db"},

	SessionQuery: "SELECT json_array(updated, (SELECT count(*) FROM message WHERE session = session.id)) FROM session WHERE id = ?",
	AsksVersion:  true,
}

func (fifth) Descriptor() *rewrite.Descriptor { return &descriptor }

func (f fifth) Parse(in rewrite.Input) rewrite.CommandLine {
	call := f.Tool.Parse(in)
	call.Home = descriptor.Home(in.Env)
	return call
}

func (fifth) ResolveWithEnv(c rewrite.CommandLine, s rewrite.HostEnv) rewrite.CommandLine {
	if s.Version != "5.0" {
		c.Mode, c.Reason = rewrite.Passthrough, reason.NoResume
	}
	return c
}

// stream reads the session's row: how many messages there are is the model's name.
type stream struct{ rewrite.Stream }

func (f fifth) Stream(c rewrite.CommandLine, p rewrite.Plan, t rewrite.Totals) rewrite.Stream {
	return stream{f.Tool.Stream(c, p, t)}
}

func (s stream) File(_ string, row []byte) { s.Seen().Model = string(row) }

`

// TestMain makes the test binary the fifth tool itself when it is started under that name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "fifth" {
		status := toolbox.Tests{M: m}.Run()
		if programs, err := built(); err == nil {
			os.RemoveAll(programs)
		}
		os.Exit(status)
	}
	if err := runFifth(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const fifthHelp = `  -p, --print
  --output-format <format>
  --verbose
  -r, --resume [id]
`

// runFifth is the fifth tool: it adds the prompt to a session in its database.
func runFifth(args []string) error {
	if len(args) > 0 && (args[0] == "--help" || args[0] == "--version") {
		fmt.Print(map[string]string{"--help": fifthHelp, "--version": "5.0\n"}[args[0]])
		return nil
	}
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	db, err := openFifth(os.Getenv("HOME"))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(`CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, updated INTEGER);
		CREATE TABLE IF NOT EXISTS message (session TEXT, text TEXT)`)
	if err != nil {
		return err
	}
	id := ""
	if i := slices.Index(args, "--resume"); i >= 0 {
		id = args[i+1]
	} else if err := db.QueryRow("SELECT printf('00000000-0000-4000-8000-%012d', count(DISTINCT " +
		"session)) FROM message").Scan(&id); err != nil {
		return err
	}
	if _, err := db.Exec("INSERT INTO session VALUES (?, 1) ON CONFLICT DO UPDATE SET updated = "+
		"updated + 1", id); err != nil {
		return err
	}
	if _, err := db.Exec("INSERT INTO message VALUES (?, ?)", id, prompt); err != nil {
		return err
	}
	fmt.Printf(`{"type":"system","subtype":"init","session_id":%[1]q}
{"type":"assistant","session_id":%[1]q,"message":{"model":"m","content":[{"type":"text","text":"answer"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"answer","session_id":%[1]q}
`, id)
	return nil
}

// openFifth opens the fifth tool's database.
func openFifth(home string) (*sql.DB, error) {
	dir := filepath.Join(home, ".fifth")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return sql.Open("sqlite3", "file:"+filepath.Join(dir,
		"fifth.db")+"?_journal_mode=WAL&_busy_timeout=5000")
}

// A tool is added by one directory in rewrite/tool, and a line in the generated list: its calls are
// managed, and shimctl knows it.
func TestFifthTool(t *testing.T) {
	toolbox.Long(t)
	t.Parallel()
	dir := t.TempDir()
	home, shims, real := filepath.Join(dir, "home"), filepath.Join(dir, "shims"),
		filepath.Join(dir, "real")
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
	if self, err := os.Executable(); err != nil {
		t.Fatal(err)
	} else if err := os.Symlink(self, filepath.Join(real, "fifth")); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "fifth.go"), fifthTool, 0o600)
	tools, err := filepath.Abs("../rewrite/tool")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(tools, "tool.go"))
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "tool.go"), strings.Replace(string(list), "import (",
		"import (\n\t_ \"reprise/rewrite/tool/fifth\"", 1), 0o600)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(tools, "fifth", "fifth.go"): filepath.Join(dir, "fifth.go"),
		filepath.Join(tools, "tool.go"):           filepath.Join(dir, "tool.go"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "overlay.json"), string(overlay), 0o600)
	for name, pkg := range map[string]string{"fifth": "shim", "shimctl": "shimctl"} {
		build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o",
			filepath.Join(shims, name), "../cmd/"+pkg)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	run := func(stdin, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(shims, name), args...)
		cmd.Args[0] = name
		cmd.Dir, cmd.Stdin = home, strings.NewReader(stdin)
		cmd.Env = append(toolbox.Home(home), "PATH="+shims+":"+real+":/usr/bin:/bin",
			"REPRISE_TASK=t")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	db, err := openFifth(home)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	prompt := "Do it."
	for _, step := range []struct{ before, decision string }{
		{"", "fresh: first_call"},
		{"", "resume: extends"},
		{"INSERT INTO message SELECT id, 'from another process' FROM session",
			"fresh: session_changed"},
		{"", "resume: extends"},
		{"DELETE FROM session", "fresh: session_file_gone"},
	} {
		if _, err := db.Exec(step.before); err != nil {
			t.Fatal(err)
		}
		if got := run(prompt, "fifth", "-p", "--output-format", "stream-json",
			"--verbose"); !strings.Contains(got, `"result":"answer"`) {
			t.Errorf("answer %q", got)
		}
		if got := run("", "shimctl", "log", "-n", "1"); !strings.Contains(got, step.decision) {
			t.Errorf("after %q: %s, want %s", step.before, got, step.decision)
		}
		if got := run("", "shimctl", "log", "-n", "1", "--json"); !strings.Contains(got,
			`"model":"[`) && !strings.Contains(got, `"model": "[`) {
			t.Errorf("after %q: the row was not read: %s", step.before, got)
		}
		prompt += "\n\nThe test still fails."
	}
	if got := run("", "shimctl", "prune", "-n", "--keep-last", "1"); !strings.Contains(got,
		"in_database") {
		t.Errorf("prune: %s", got)
	}
	config := filepath.Join(home, ".config", "reprise", "config.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	write(config, "[tool.fifth]\nenabled = false\n", 0o600)
	for want, args := range map[string][]string{
		"2 of 5 calls resumed": {"status"}, "fifth": {"stats", "--by", "tool"},
		"passthrough": {"why", "--", "fifth", "-p", "hi"}, "tool.fifth.enabled\tfalse": {"config"},
	} {
		if got := run("", "shimctl", args...); !strings.Contains(got, want) {
			t.Errorf("shimctl %q: %s", args, got)
		}
	}
}
