package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/ledger"
	"reprise/ledger/decide"
	"reprise/rewrite"
	"reprise/rewrite/reason"
	"reprise/shim/binary"
	"reprise/shim/caller"
	"reprise/shim/disk"
	"reprise/test/gitrepo"
	"reprise/test/toolbox"
)

// guarded is a call of claude in a directory, ready for its guards.
func guarded(t testing.TB, l *ledger.Ledger, dir, home string, environ ...string) *decided {
	t.Helper()
	env := Env{Args: []string{"claude", "-p", "hi"},
		Environ: append([]string{"HOME=" + home}, environ...)}
	tool, _ := rewrite.Lookup("claude")
	timed := &timedLedger{Ledger: l}
	f := newFound(&asked{env: env, ledger: timed, log: &log{}})
	f.tool, f.cwd = tool, dir
	f.line = tool.Parse(rewrite.Input{Args: env.Args[1:], Env: env.Get})
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	f.real = binary.Program{Path: "/claude/2.1.329", Real: "/claude/2.1.329", Info: info}
	return &decided{found: f, record: &ledger.Call{Record: ledger.Record{Cwd: dir}}}
}

// gather adds the guards' fingerprints to a call.
func (d *decided) gather() {
	d.line = d.tool.ResolveWithEnv(d.found.line, d.hostEnv())
	d.addGuards()
}

func memoryLedger(t testing.TB) *ledger.Ledger {
	t.Helper()
	l, err := ledger.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// Every file that claude reads by itself counts, and is named.
func TestWatchedFilesCount(t *testing.T) {
	l, home, root := memoryLedger(t), t.TempDir(), t.TempDir()
	dir := filepath.Join(root, "proj[e]ct")
	toolbox.Write(t, filepath.Join(dir, "x"), "")
	names := func() (names []string) {
		c := guarded(t, l, dir, home)
		c.gather()
		for line := range strings.Lines(string(c.record.Fingerprints.Settings +
			c.record.Fingerprints.Auth)) {
			names = append(names, strings.Split(line, "\t")[1])
		}
		return names
	}
	prints := func() decide.Fingerprints {
		c := guarded(t, l, dir, home)
		c.gather()
		return c.record.Fingerprints
	}
	was := prints()
	if again := prints(); again != was {
		t.Fatalf("the same call differs: %+v, then %+v", was, again)
	}
	for file, name := range map[string]string{
		dir + "/CLAUDE.md": "CLAUDE.md", dir + "/CLAUDE.local.md": "CLAUDE.local.md", root +
			"/CLAUDE.md": "../CLAUDE.md",
		dir + "/.claude/CLAUDE.md": ".claude/CLAUDE.md", dir +
			"/.claude/rules/go.md": ".claude/rules/go.md",
		dir + "/.claude/rules/go/tests.md": ".claude/rules/go/tests.md",
		home + "/.claude/CLAUDE.md":        "~/.claude/CLAUDE.md", home +
			"/.claude/rules/a.md": "~/.claude/rules/a.md",
		dir + "/.mcp.json": ".mcp.json", root + "/.mcp.json": "../.mcp.json", dir +
			"/.claude/agents/coder.md": ".claude/agents/coder.md",
		home + "/.claude/agents/coder.md":    "~/.claude/agents/coder.md",
		home + "/.claude/skills/x/SKILL.md":  "~/.claude/skills/x/SKILL.md",
		dir + "/.claude/skills/a*b/SKILL.md": ".claude/skills/a*b/SKILL.md",
	} {
		for _, text := range []string{"one", "two"} {
			toolbox.Write(t, file, text)
			now := prints()
			if now == was || !slices.Contains(names(), name) {
				t.Errorf("%s does not count as %s: %q", file, name, names())
			}
			was = now
		}
	}
	toolbox.Write(t, dir+"/CLAUDE.md", "See @docs/rules.md.")
	toolbox.Write(t, dir+"/docs/rules.md", "Also @more.md\nand @rules.md")
	was = prints()
	toolbox.Write(t, dir+"/docs/more.md", "1")
	if prints() == was || !slices.Contains(names(), "more.md") {
		t.Errorf("a file that instructions take in does not count: %q", names())
	}
}

// So do the files that tools read in directories below others, and where options say.
func TestWatchedFilesBelow(t *testing.T) {
	for _, tt := range []struct{ call, file string }{
		{"claude -p", ".claude/rules/a/b/c/d/e.md"},
		{"claude -p", "HOME/.claude/rules/a/b/c.md"},
		{"claude -p", "HOME/.claude/commands/a/b.md"},
		{"claude -p", "../.claude/agents/a/b.md"},
		{"claude -p --add-dir other HOME/more", "HOME/more/CLAUDE.md"},
		{"claude -p --add-dir=../other", "../other/.claude/rules/a/b/c.md"},
		{"claude -p --add-dir other", "other/.claude/skills/a/SKILL.md"},
		{"claude -p --plugin-dir ./p", "p/commands/a.md"},
		{"claude -p --plugin-dir HOME/all", "HOME/all/a/skills/b/SKILL.md"},
		{"claude -p --plugin-dir p", "p/.mcp.json"},
		{"codex exec", ".agents/skills/a/b/SKILL.md"},
		{"gemini --include-directories a,../b -p", "../b/GEMINI.md"},
		{"qwen --add-dir a -p", "a/QWEN.md"},
		{"copilot -p", ".github/instructions/a/b.instructions.md"},
		{"copilot -p", "HOME/.copilot/hooks/a/b.json"},
		{"copilot --plugin-dir=p -p", "p/agents/a.md"},
	} {
		t.Run(tt.call+" "+tt.file, func(t *testing.T) {
			home := t.TempDir()
			cwd := filepath.Join(home, "repo", "sub")
			toolbox.Write(t, filepath.Join(cwd, "x"), "")
			in := func(text string) string { return strings.ReplaceAll(text, "HOME/", home+"/") }
			file := disk.Absolute(cwd, in(tt.file))
			for _, text := range []string{"one", "two"} {
				toolbox.Write(t, file, text)
				var contents []string
				c := hookCall(t, cwd, home, "", in(tt.call), "")
				c.watched(c.line, func(_ reason.Code, _, value string) {
					contents = append(contents, value)
				})
				if !slices.Contains(contents, "content "+text) {
					t.Errorf("%q of %s is not in %q", text, file, contents)
				}
			}
		})
	}
}

// Directories that contain themselves, and many of them, are read up to a limit.
func TestExpandIsBounded(t *testing.T) {
	dir := t.TempDir()
	toolbox.Write(t, dir+"/rules/a/b.md", "")
	if got := expand(dir, "rules/**/*.md"); !slices.Equal(got, []string{dir + "/rules/a/b.md"}) {
		t.Errorf("%q", got)
	}
	for _, name := range []string{"again", "loop", "once"} {
		if err := os.Symlink(".", dir+"/rules/"+name); err != nil {
			t.Fatal(err)
		}
	}
	if got := expand(dir, "rules/**/*.md"); len(got) != maxWatched ||
		got[0] != dir+"/rules/a/b.md" {
		t.Errorf("%d paths, the first %q", len(got), got[0])
	}
	for i := range maxWatched {
		toolbox.Write(t, fmt.Sprintf("%s/hooks/%d/a.txt", dir, i), "")
	}
	if got := expand(dir, "hooks/**/*.json"); len(got) != maxWatched {
		t.Errorf("%d paths for hooks that cannot all be read", len(got))
	}
}

// A repository cannot have the shim read without an end.
func TestWatchedFilesAreReadUpToALimit(t *testing.T) {
	dir := t.TempDir()
	for i := range maxImports {
		toolbox.Write(t, fmt.Sprintf("%s/big%d", dir, i), strings.Repeat("x ", 450_000))
	}
	var imports strings.Builder
	for i := range maxImports {
		fmt.Fprintf(&imports, "@big%d ", i)
	}
	toolbox.Write(t, dir+"/CLAUDE.md", imports.String())
	c := guarded(t, memoryLedger(t), dir, dir)
	read := 0
	c.line.Watched = []rewrite.Watch{{Path: "CLAUDE.md", Guard: reason.InstructionsChanged}}
	names := 0
	c.watched(c.line, func(_ reason.Code, _, value string) {
		names++
		read += len(value)
	})
	if names != maxImports+1 || read > maxWatchedBytes+maxImports*100 {
		t.Errorf("%d files, %d bytes", names, read)
	}
}

// maxImports is as many files as one takes in.
const maxImports = 32

// No value of a variable or a file is stored.
func TestPrintsHoldNoValues(t *testing.T) {
	dir := t.TempDir()
	toolbox.Write(t, dir+"/CLAUDE.md", "SECRET instructions")
	c := guarded(t, memoryLedger(t), dir, t.TempDir(), "ANTHROPIC_API_KEY=SECRET", "TENANT=SECRET",
		"CLAUDE_CODE_X=SECRET")
	c.gather()
	all := string(c.record.Fingerprints.Settings + c.record.Fingerprints.Auth)
	for _, name := range []string{"ANTHROPIC_API_KEY", "TENANT", "CLAUDE_CODE_X", "CLAUDE.md",
		"directory", "uid"} {
		if !strings.Contains(all, "\t"+name+"\t") {
			t.Errorf("%s is missing in %q", name, all)
		}
	}
	if strings.Contains(all, "SECRET") {
		t.Errorf("a value is kept: %q", all)
	}
}

// A credential that cannot be read is no other call's.
func TestCredentialsBehindDescriptors(t *testing.T) {
	l, dir := memoryLedger(t), t.TempDir()
	var prints []decide.Fingerprints
	for i := range 2 {
		c := guarded(t, l, dir, dir, "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR=3")
		c.started = time.Unix(int64(i), 0)
		c.gather()
		prints = append(prints, c.record.Fingerprints)
	}
	if prints[0].Auth == prints[1].Auth {
		t.Error("two descriptors of the same number hold the same")
	}
}

// A directory that was made anew is another one, also where the file system uses the number
// of the old one again.
func TestDirectoryIDs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	seen := map[string]bool{}
	for range 20 {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		id := disk.DirectoryID(dir)
		toolbox.Write(t, filepath.Join(dir, "sub", "file"), "")
		if now := disk.DirectoryID(dir); now != id || id == "" {
			t.Errorf("%q, after it was used %q", id, now)
		}
		if seen[id] {
			t.Errorf("%q twice", id)
		}
		seen[id] = true
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// All guards together, in a repository of 60,000 files.
func BenchmarkGuards(b *testing.B) {
	dir, home := gitrepo.New(b), b.TempDir()
	for i := range 60_000 {
		path := fmt.Sprintf("%s/src/%d/%d/file%d.go", dir, i/3000, i/100, i)
		if i%100 == 0 {
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.WriteFile(path, []byte("package x\n"), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	gitrepo.Run(b, dir, "add", ".")
	gitrepo.Commit(b, dir, "1")
	gitrepo.Run(b, dir, "remote", "add", "origin", "https://host/a/b.git")
	toolbox.Write(b, dir+"/CLAUDE.md",
		strings.Repeat("Keep functions small. See @AGENTS.md\n", 100))
	toolbox.Write(b, dir+"/AGENTS.md", strings.Repeat("Keep functions small.\n", 100))
	toolbox.Write(b, dir+"/.mcp.json", `{"mcpServers": {"a": {"command": "b"}}}`)
	toolbox.Write(b, dir+"/.claude/settings.json",
		`{"permissions": {"allow": ["Bash(go test:*)"]}}`)
	for i := range 5 {
		toolbox.Write(b, fmt.Sprintf("%s/.claude/agents/agent%d.md", dir, i),
			strings.Repeat("You are a reviewer.\n", 50))
	}
	var projects strings.Builder
	for i := range 100 {
		fmt.Fprintf(&projects,
			`"/home/me/project%d": {"allowedTools": [], "mcpServers": {}, "lastSessionId": %q},`+"\n", i, strings.Repeat("x", 500))
	}
	toolbox.Write(b, home+"/.claude.json",
		`{"mcpServers": {}, "projects": {`+projects.String()+`"x": {}}, "oauthAccount": {"accountUuid": "a"}}`)
	environ := []string{"ANTHROPIC_API_KEY=k", "CI_JOB_ID=1"}
	for i := range 60 {
		environ = append(environ, fmt.Sprintf("SOME_VARIABLE_%d=%s", i, strings.Repeat("v", 50)))
	}
	l := memoryLedger(b)
	for b.Loop() {
		c := guarded(b, l, filepath.Join(dir, "src", "1"), home, environ...)
		c.gather()
	}
}

// The guards find the caller of the process itself.
func TestGuardsFindTheCaller(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("callers are known on Linux only")
	}
	c := guarded(t, memoryLedger(t), t.TempDir(), t.TempDir())
	d, err := newDecided(c.found, c.found.line, "hi", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	want := caller.Find()
	if got := d.record.Caller; len(got.Processes) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
