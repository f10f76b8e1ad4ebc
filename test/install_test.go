// Package test holds the tests of the repository itself; the tests of the shims are below it.
//
// The tests of install.sh build for real, but mostly small stand-ins for the programs, in a
// checkout of their own: the installer is tested. They never write outside temporary directories.
package test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"reprise/rewrite"
	_ "reprise/rewrite/tool" // registers the tools
	"reprise/test/toolbox"
)

var names = append(slices.Clone(rewrite.Names), "shimctl")

// standIn is built as all programs. It meets the installer's checks: it starts, links C, holds a
// stamped version, and a shim that finds no tool says so. Called with "hold" it runs until stdin is
// closed, called with "demo" it prints its path, with "version" the version.
const standIn = `package main

/*
static int status(void) { return 127; }
*/
import "C"

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"reprise/config"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		fmt.Println("holding")
		io.Copy(io.Discard, os.Stdin)
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "demo" {
		fmt.Print("the demo of ", os.Args[0])
		return
	}
	if len(os.Args) > 2 && os.Args[2] == "--undo" {
		profile := filepath.Join(os.Getenv("HOME"), ".profile")
		if os.Remove(profile) != nil || os.Args[3] != "--yes" {
			fmt.Fprintln(os.Stderr, "there is nothing to change")
		} else {
			fmt.Println("wrote ~/.profile")
		}
		return
	}
	name := filepath.Base(os.Args[0])
	fmt.Fprintln(os.Stderr, "reprise:", name, "first", config.Version)
	if name == "shimctl" || name == "reprise-store" {
		if len(os.Args) > 1 && os.Args[1] == "version" {
			fmt.Println("reprise", config.Version)
		}
		os.Exit(0)
	}
	os.Exit(int(C.status()))
}
`

// withoutC makes a stand-in that is built without a C compiler.
var withoutC = strings.NewReplacer(
	"/*\nstatic int status(void) { return 127; }\n*/\nimport \"C\"\n", "", "int(C.status())", "127")

// goOnce is a go command that builds a program once for all sites: it copies a program that it has
// built from the same files, in the same way and with the same compiler.
const goOnce = `#!/bin/sh
case $1 in build) ;; *) exec GO "$@" ;; esac
way='' before='' arg=''
for arg; do
	if [ "$before" = -o ]; then out=$arg; else way="$way $arg"; fi
	before=$arg
done
built=BUILT/$({ echo "$way $CC $CGO_ENABLED" && readlink -f "$(command -v "$CC")" && cat go.mod config/*.go "$arg"/*.go; } | cksum | tr ' ' -)
if ! [ -e "$built" ]; then
	GO "$@" && cp "$out" "$built.$$" && mv "$built.$$" "$built" || exit
fi
cp "$built" "$out"
`

// built is the directory of the programs that goOnce has built.
var built = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "reprise-built-") })

// site is a checkout with stand-ins, a home, and a directory to install into.
type site struct {
	t               *testing.T
	repo, home, bin string
	path            string // PATH, which holds no CLI of this machine
	env             []string
	user            *syscall.SysProcAttr // whom the installer is run as, nil for ourselves
}

func newSite(t *testing.T) *site {
	t.Helper()
	toolbox.Long(t)
	t.Parallel()
	dir := filepath.Join(tempDir(t), "a directory")
	s := &site{t: t, repo: filepath.Join(dir, "repo"), home: filepath.Join(dir, "home")}
	s.bin = filepath.Join(s.home, ".local/share/reprise/bin")
	s.path = s.at("usual")
	if err := toolbox.Make(s.path, "cc", "gcc", "clang", "musl-gcc", "as", "ld", "ar", "git",
		"dash"); err != nil {
		t.Fatal(err)
	}
	programs, err := built()
	if err != nil {
		t.Fatal(err)
	}
	s.write("usual/go", strings.NewReplacer("GO ", goEnv(t, "GOROOT")+"/bin/go ", "BUILT",
		programs).Replace(goOnce))
	s.env = []string{
		"PATH=" + s.path, "HOME=" + s.home, "SHELL=/bin/sh", "GOTOOLCHAIN=local", "GOPROXY=off",
		"GOCACHE=" + goEnv(t, "GOCACHE"), "GOMODCACHE=" + goEnv(t, "GOMODCACHE"),
	}
	s.mkdir(s.home)
	s.write("repo/go.mod", "module reprise\n\ngo 1.26.0\n")
	s.write("repo/config/version.go", "package config\n\nvar Version, Commit = \"dev\", \"\"\n")
	s.write("repo/cmd/shim/main.go", standIn)
	s.write("repo/cmd/shimctl/main.go", standIn)
	s.write("repo/cmd/reprise-store/main.go", withoutC.Replace(standIn))
	script, err := os.ReadFile("../install.sh")
	if err != nil {
		t.Fatal(err)
	}
	s.write("repo/install.sh", string(script))
	flags, err := os.ReadFile("../scripts/flags.sh")
	if err != nil {
		t.Fatal(err)
	}
	s.write("repo/scripts/flags.sh", string(flags))
	return s
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Skip("no go")
	}
	return strings.TrimSpace(string(out))
}

// at returns the path of a name in the site; an absolute one stays as it is.
func (s *site) at(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(s.repo), name)
}

func (s *site) mkdir(name string) {
	s.t.Helper()
	if err := os.MkdirAll(s.at(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// write makes an executable file, and the directories above it.
func (s *site) write(name, text string) {
	s.t.Helper()
	s.mkdir(filepath.Dir(s.at(name)))
	// A process that is forked while the file is open for writing would make it busy for a moment.
	syscall.ForkLock.RLock()
	err := os.WriteFile(s.at(name), []byte(text), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) set(pairs ...string) { s.env = append(s.env, pairs...) } // the last of a name counts

func (s *site) prependPath(name string) {
	s.set("PATH=" + s.at(name) + ":" + s.path)
}

type result struct {
	stdout, stderr string
	code           int
}

// run runs the installer from a directory that is not the repository.
func (s *site) run(args ...string) result {
	s.t.Helper()
	return s.runShell(append([]string{filepath.Join(s.repo, "install.sh")}, args...)...)
}

func (s *site) runShell(args ...string) result {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(shell(s.t), args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.home, s.env, &stdout, &stderr
	cmd.SysProcAttr = s.user
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// shell is dash, the strictest that is common, or whatever sh is here.
func shell(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"dash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no POSIX shell")
	return ""
}

// install runs the installer and expects success.
func (s *site) install(args ...string) string {
	s.t.Helper()
	r := s.run(args...)
	if r.code != 0 || r.stderr != "" {
		s.t.Fatalf("install.sh %q: exit %d, stderr:\n%s", args, r.code, r.stderr)
	}
	return r.stdout
}

// refused expects a failure with these two lines, nothing else on stderr, and the bin dir as it
// was.
func (s *site) refused(code int, problem, hint string, args ...string) {
	s.t.Helper()
	before := s.list()
	r := s.run(args...)
	if want := "error: " + problem + "\nhint: " + hint + "\n"; r.code != code || r.stderr != want {
		s.t.Errorf("install.sh %q: exit %d, stderr:\n%swant %d:\n%s", args, r.code, r.stderr, code,
			want)
	}
	if after := s.list(); !slices.Equal(before, after) {
		s.t.Errorf("bin dir was %q, is %q", before, after)
	}
}

// list returns the names in the bin dir, hidden files too.
func (s *site) list() []string {
	var found []string
	entries, _ := os.ReadDir(s.bin)
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

// checkInstalled checks that all start, and that the shims are one file or, at the least, files.
func (s *site) checkInstalled(want string) {
	s.t.Helper()
	if got, all := s.list(), slices.Sorted(
		slices.Values(append([]string{".reprise"}, names...))); !slices.Equal(got, all) {
		s.t.Errorf("bin dir holds %q, want %q", got, all)
	}
	for _, name := range names {
		path := filepath.Join(s.bin, name)
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			s.t.Errorf("%s is not a regular file: %v", name, err)
			continue
		}
		cmd := exec.Command(path)
		cmd.Env = s.env
		out, _ := cmd.CombinedOutput()
		if !strings.Contains(string(out), "reprise: "+name+" "+want) {
			s.t.Errorf("%s says %.200q, want %q", name, out, want)
		}
	}
}

// Only tools on PATH get a shim, and those that are asked for. Shims that are there stay, with any
// tools on PATH later.
func TestShimsOfToolsOnPath(t *testing.T) {
	s := newSite(t)
	holds := func(want ...string) {
		t.Helper()
		if got := s.list(); !slices.Equal(got, want) {
			t.Errorf("bin dir holds %q, want %q", got, want)
		}
	}
	s.write("tools/codex", "#!/bin/sh\n")
	s.mkdir("tools/vibe")
	s.prependPath("tools")
	contains(t, s.install(), "installed codex, shimctl in ",
		"not on PATH, so without a shim: claude, ", "shimctl setup --tools NAME adds one")
	holds(".reprise", "codex", "shimctl")
	s.prependPath("none")
	s.set("PATH=" + s.bin + ":" + s.path)
	contains(t, s.install("--tools", "vibe,claude", "--tools=claude", "--store"),
		"shimctl, reprise-store in ")
	holds(".reprise", "claude", "codex", "reprise-store", "shimctl", "vibe")
	s.install()
	holds(".reprise", "claude", "codex", "reprise-store", "shimctl", "vibe")

	// The shim of npx, as shimctl setup --npx adds it, is brought up to date and removed like the
	// others.
	if err := os.Link(filepath.Join(s.bin, "codex"), filepath.Join(s.bin, "npx")); err != nil {
		t.Fatal(err)
	}
	s.revise("first", "second")
	s.install()
	holds(".reprise", "claude", "codex", "npx", "reprise-store", "shimctl", "vibe")
	if !s.sameFile("npx", "codex") {
		t.Error("the shim of npx is an old one")
	}
	s.install("--uninstall")
	s.gone(s.bin)
}

func (s *site) sameFile(a, b string) bool {
	s.t.Helper()
	x, errX := os.Stat(filepath.Join(s.bin, a))
	y, errY := os.Stat(filepath.Join(s.bin, b))
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}

// revise changes the stand-in shims, so that a new installation can be told from the old one.
func (s *site) revise(old, new string) {
	s.t.Helper()
	for _, name := range []string{"repo/cmd/shim/main.go", "repo/cmd/shimctl/main.go"} {
		s.write(name, strings.Replace(standIn, old, new, 1))
	}
	s.write("repo/cmd/reprise-store/main.go", strings.Replace(withoutC.Replace(standIn), old, new,
		1))
}

func TestInstallTwiceAndUninstall(t *testing.T) {
	s := newSite(t)
	out := s.install()
	contains(t, out, "one to four minutes the first time",
		"\n    "+strings.ReplaceAll("'%/shimctl' setup\n", "%", s.bin), "shimctl status shows",
		"installed "+strings.Join(names, ", ")+" in "+s.bin+"\n", "version dev, linked: ",
		"hash -r")
	s.checkInstalled("first dev")
	for _, name := range rewrite.Names {
		if !s.sameFile("claude", name) {
			t.Errorf("%s and claude are two files", name)
		}
	}
	marker, _ := os.ReadFile(filepath.Join(s.bin, ".reprise"))

	if again := s.install(); again != out {
		t.Errorf("the second run says\n%snot\n%s", again, out)
	}
	s.checkInstalled("first dev")
	if now, _ := os.ReadFile(filepath.Join(s.bin, ".reprise")); !bytes.Equal(now, marker) {
		t.Errorf("the second run installed\n%snot\n%s", now, marker)
	}

	s.write(s.home+"/.local/state/reprise/ledger.db", "")
	s.write(s.home+"/.config/reprise/config.toml", "")
	s.write(s.home+"/.profile", "the line of shimctl setup\n")
	out = s.install("--uninstall")
	contains(t, out, "wrote ~/.profile\nremoved reprise from "+s.bin,
		"left "+s.home+"/.local/state/reprise; to remove it too: ",
		"left "+s.home+"/.config/reprise; ", "--purge")
	s.gone(filepath.Dir(s.bin))
	contains(t, s.install("--uninstall"), "nothing of reprise is installed in "+s.bin)
	contains(t, s.install("--uninstall", "--purge"), "removed "+s.home+"/.local/state/reprise\n")
	s.gone(s.home + "/.local/share/reprise")
	s.gone(s.home + "/.local/state/reprise")
	s.gone(s.home + "/.config/reprise")
	if _, err := os.Stat(s.home + "/.config"); err != nil {
		t.Error("a directory that is not ours was purged")
	}
	s.gone(s.home + "/.profile")
}

func (s *site) gone(path string) {
	s.t.Helper()
	if _, err := os.Lstat(path); err == nil {
		s.t.Errorf("%s is still there", path)
	}
}

func TestPurgeLeavesPrograms(t *testing.T) {
	s := newSite(t)
	base := s.at("all")
	s.set("XDG_DATA_HOME="+base, "XDG_STATE_HOME="+base, "XDG_CONFIG_HOME="+base)
	s.write("all/reprise/bin/claude", "someone else's")
	s.install("--uninstall", "--purge")
	if _, err := os.Stat(s.at("all/reprise/bin/claude")); err != nil {
		t.Error(err)
	}
}

func TestInstallWhileAShimRuns(t *testing.T) {
	s := newSite(t)
	s.install()
	cmd := exec.Command(filepath.Join(s.bin, "claude"), "hold")
	cmd.Env = s.env
	stdin, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if n, err := stdout.Read(make([]byte, 8)); n != 8 {
		t.Fatalf("the shim does not run: %v", err)
	}
	s.revise("first", "second")
	s.install()
	s.checkInstalled("second")
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the running shim was broken: %v", err)
	}
}

// TestInterrupted stops an installation among its renames: each name still has a program, and the
// next run takes both the old and the new ones for ours.
func TestInterrupted(t *testing.T) {
	s := newSite(t)
	s.install()
	s.write("tools/mv",
		"#!/bin/sh\ncase \"$*\" in */bin/gemini) exit 1 ;; esac\nPATH='"+s.path+"'\nexec mv \"$@\"\n")
	s.prependPath("tools")
	s.revise("first", "second")
	if r := s.run(); r.code == 0 {
		t.Fatal("mv did not stop it")
	}
	s.checkInstalled("")
	if s.sameFile("claude", "gemini") {
		t.Error("claude was not renamed")
	}
	s.prependPath("none")
	s.install()
	s.checkInstalled("second")
	s.install("--uninstall")
	s.gone(s.bin)
}

func TestForeignFiles(t *testing.T) {
	const own = "name a directory of its own with --bin-dir DIR"
	cases := []struct {
		name, problem, hint string // %: the bin dir
		prepare             func(s *site)
	}{
		{"claude", "%/claude was not installed by reprise", own, func(s *site) {
			s.write(s.bin+"/claude", "theirs")
		}},
		{"shimctl", "%/shimctl was not installed by reprise", own, func(s *site) {
			s.write(s.bin+"/shimctl", "theirs")
		}},
		{"link", "%/vibe was not installed by reprise", own, func(s *site) {
			s.link("/bin/sh", s.bin+"/vibe")
		}},
		{"dangling link", "%/vibe was not installed by reprise", own, func(s *site) {
			s.link("/none", s.bin+"/vibe")
		}},
		{"directory", "%/codex was not installed by reprise", own, func(s *site) {
			s.mkdir(s.bin + "/codex")
		}},
		{"marker", "%/.reprise was not written by reprise", own, func(s *site) {
			s.mkdir(s.bin + "/.reprise")
		}},
		{"with a marker", "%/claude was not installed by reprise", own, func(s *site) {
			s.write(s.bin+"/.reprise", "claude 1 2\nshimctl 1 2\n")
			s.write(s.bin+"/claude", "theirs")
		}},
		{"other programs", "% holds other files",
			"name a directory of its own, such as %/reprise, with --bin-dir DIR",
			func(s *site) { s.write(s.bin+"/git", "theirs") }},
		{"bin dir is a link", "% is a symbolic link", "name the directory that it leads to",
			func(s *site) {
				s.mkdir("elsewhere")
				s.link(s.at("elsewhere"), s.bin)
			}},
		{"bin dir is a file", "% is not a directory", "name another one with --bin-dir DIR",
			func(s *site) { s.write(s.bin, "") }},
		{"bin dir below a file", "% cannot be created", "name another directory with --bin-dir DIR",
			func(s *site) { s.write(filepath.Dir(s.bin), "") }},
		{"not writable", "% is not writable", "name another directory with --bin-dir DIR",
			func(s *site) {
				s.mkdir(s.bin)
				os.Chmod(s.bin, 0o555)
				if os.Getuid() == 0 { // who can write anywhere
					s.user = toolbox.Nobody
					os.Chmod(filepath.Dir(filepath.Dir(s.repo)), 0o755)
					s.write("tools/go", "#!/bin/sh\ncase $1 in version) echo go version go1.26.0 "+
						"linux/amd64 ;; *) echo ;; esac\n")
					s.prependPath("tools") // nobody might not be allowed to reach the one of root
				}
			}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			c.prepare(s)
			s.refused(1, strings.ReplaceAll(c.problem, "%", s.bin),
				strings.ReplaceAll(c.hint, "%", s.bin))
		})
	}
}

func (s *site) link(target, name string) {
	s.t.Helper()
	s.mkdir(filepath.Dir(s.at(name)))
	if err := os.Symlink(target, s.at(name)); err != nil {
		s.t.Fatal(err)
	}
}

// TestReplacedSinceInstall: an updater has put the real tool where our shim was.
func TestReplacedSinceInstall(t *testing.T) {
	s := newSite(t)
	s.install()
	path := filepath.Join(s.bin, "claude")
	os.Remove(path)
	s.write(path, "theirs")
	s.refused(1, path+" was not installed by reprise",
		"name a directory of its own with --bin-dir DIR")
	contains(t, s.install("--uninstall"), "left "+path+": install.sh did not install it")
	if got := s.list(); !slices.Equal(got, []string{"claude"}) {
		t.Errorf("uninstall left %q", got)
	}
}

func TestUsage(t *testing.T) {
	const hint = "./install.sh --help lists the options"
	cases := []struct {
		name, problem string
		args          []string
	}{
		{"unknown", "unknown option --prefix", []string{"--prefix"}},
		{"operand", "unknown option x", []string{"x"}},
		{"no directory", "--bin-dir needs a directory", []string{"--bin-dir"}},
		{"empty directory", "--bin-dir needs a directory", []string{"--bin-dir", ""}},
		{"empty directory, joined", "--bin-dir needs a directory", []string{"--bin-dir="}},
		{"no release", "--from needs a directory or a URL", []string{"--from"}},
		{"empty release", "--from needs a directory or a URL", []string{"--from="}},
		{"no tools", "--tools needs tools", []string{"--tools", ""}},
		{"unknown tool", "cursor is not a tool: " + strings.Join(rewrite.Names, ", "),
			[]string{"--tools=claude,cursor"}},
		{"strange tools", "* is no list of tools", []string{"--tools", "*"}},
		{"purge alone", "--purge goes only with --uninstall", []string{"--purge"}},
		{"demo of nothing", "--demo does not go with --uninstall",
			[]string{"--demo", "--uninstall"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { newSite(t).refused(2, c.problem, hint, c.args...) })
	}
	s := newSite(t)
	contains(t, s.install("--help"), "usage: ", "--bin-dir DIR", "--uninstall", "--purge", "--demo")
}

func TestBinDirs(t *testing.T) {
	cases := []struct {
		name, want string // in the site
		env, args  []string
	}{
		{"option", "x y", nil, []string{"--bin-dir", "%/x y"}},
		{"joined", "x", nil, []string{"--bin-dir=%/x/"}},
		{"relative to the caller", "home/x", nil, []string{"--bin-dir", "x"}},
		{"variable", "x", []string{"REPRISE_BIN_DIR=%/x"}, nil},
		{"option first", "y", []string{"REPRISE_BIN_DIR=%/x"}, []string{"--bin-dir", "%/y"}},
		{"data directory", "d/reprise/bin", []string{"XDG_DATA_HOME=%/d"}, nil},
		{"relative data directory is ignored", "home/.local/share/reprise/bin",
			[]string{"XDG_DATA_HOME=d"}, nil},
		{"without a home", "x", []string{"HOME="}, []string{"--bin-dir=%/x"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.set(s.fill(c.env)...)
			s.install(s.fill(c.args)...)
			s.bin = s.at(c.want)
			s.checkInstalled("first")
		})
	}
	s := newSite(t)
	s.set("HOME=")
	s.refused(1, "HOME is not set to an absolute path",
		"set it, or name a directory with --bin-dir DIR")
	s.set("HOME=home")
	s.refused(1, "HOME is not set to an absolute path",
		"set it, or name a directory with --bin-dir DIR")
	s.refused(1, "/a:b cannot stand on PATH",
		"name a directory without a colon or a line break in it", "--bin-dir", "/a:b")
	s.refused(1, "the bin dir must not be /", "name a directory of its own with --bin-dir DIR",
		"--bin-dir", "//")
	s.set("REPRISE_BIN_DIR=x")
	s.refused(1, "REPRISE_BIN_DIR is x, not an absolute path",
		"programs in other directories would not find it; set it anew")
}

// fill puts the site's directory for %.
func (s *site) fill(list []string) []string {
	var filled []string
	for _, text := range list {
		filled = append(filled, strings.ReplaceAll(text, "%", s.at("")))
	}
	return filled
}

// without and getGo are the ways that the installer names if it cannot build.
const (
	without = "or build a release elsewhere (go run ./scripts/release -out DIR) and name it " +
		"with --from"
	getGo = "install go from https://go.dev/dl: from 1.21 on it fetches a newer one itself, " +
		"unless GOTOOLCHAIN is local; " + without
)

func TestWhatItTakes(t *testing.T) {
	t.Run("no go", func(t *testing.T) {
		s := newSite(t)
		s.toolbox()
		s.refused(1, "go is not on PATH", getGo)
	})
	t.Run("old go", func(t *testing.T) {
		s := newSite(t)
		s.write("repo/go.mod", "module reprise\n\ngo 1.999\n")
		r := s.run()
		contains(t, r.stderr, "go.mod requires go >= 1.999 ",
			"error: the packages to build cannot be loaded\nhint: the lines above say why; if go "+
				"is too old, "+getGo+"\n")
	})
	t.Run("broken go", func(t *testing.T) {
		s := newSite(t)
		s.write("tools/go", "#!/bin/sh\nexit 3\n")
		s.prependPath("tools")
		s.refused(1, "go does not start", "the lines above say why; "+getGo)
	})
	t.Run("no C compiler", func(t *testing.T) {
		s := newSite(t)
		s.toolbox("go")
		s.refused(1, "no C compiler on PATH (cc, gcc or clang)",
			"SQLite needs one: apt-get install gcc libc6-dev, dnf install gcc or apk add gcc "+
				"musl-dev; "+without)
	})
	t.Run("not the repository", func(t *testing.T) {
		s := newSite(t)
		s.write("repo/go.mod", "module other\n")
		s.refused(1, s.repo+" is not the reprise repository",
			"clone it and run ./install.sh in it, or name a release with --from")
	})
}

// toolbox makes a PATH of the usual tools and these, and nothing else.
func (s *site) toolbox(extra ...string) {
	s.t.Helper()
	usual := []string{"sh", "sed", "grep", "cat", "mkdir", "rm", "rmdir", "mv", "ln", "cp", "ls",
		"cksum", "sort", "env", "dirname"}
	for _, name := range append(usual, extra...) {
		path, err := exec.LookPath(name)
		if err != nil {
			s.t.Skip("no " + name)
		}
		s.link(path, "tools/"+name)
	}
	s.set("PATH=" + s.at("tools"))
}

// TestHostileEnvironment: settings for other builds do not reach this one.
func TestHostileEnvironment(t *testing.T) {
	s := newSite(t)
	s.set("CGO_ENABLED=0", "GOOS=plan9", "GOARCH=arm", "GO111MODULE=off", "GOWORK="+s.at("go.work"),
		"CDPATH=/",
		"GIT_DIR=/none", "PWD=/none")
	s.install()
	s.checkInstalled("first")
}

func TestDemo(t *testing.T) {
	s := newSite(t)
	if out := s.install("--demo"); !strings.HasSuffix(out, "the demo of "+s.bin+"/shimctl") {
		t.Errorf("the installed shimctl was not asked for its demo:\n%s", out)
	}
}

func TestPathAdvice(t *testing.T) {
	s := newSite(t)
	s.bin = s.at(`a "b" $c`)
	contains(t, s.install("--bin-dir", s.bin), "\n    '"+s.bin+"/shimctl' setup\n")
	s.prependPath(s.bin + "/")
	contains(t, s.install("--bin-dir", s.bin), "that directory is first on PATH already")
}

// fromSource skips a test that builds the programs several times.
func fromSource(t *testing.T) {
	if !toolbox.Everything() {
		t.Skip("set REPRISE_ALL=1 to install from source")
	}
}

func TestLinking(t *testing.T) {
	fromSource(t)
	if runtime.GOOS != "linux" {
		t.Skip("static only on Linux")
	}
	const onlyDynamic = "#!/bin/sh\ncase \" $* \" in *' -static '*) echo no static library >&2; " +
		"exit 1 ;; esac\nexec gcc \"$@\"\n"
	cases := []struct {
		name, want string
		tools      map[string]string
		env        []string
	}{
		{"musl", "linked: static, musl\n",
			map[string]string{"musl-gcc": "#!/bin/sh\nexec gcc \"$@\"\n"}, nil},
		{"broken musl", "linked: static\n", map[string]string{"musl-gcc": "#!/bin/sh\nexit 1\n"},
			nil},
		{"compiler of the user", "linked: static\n",
			map[string]string{"musl-gcc": "#!/bin/sh\nexec gcc \"$@\"\n"}, []string{"CC=gcc"}},
		{"no static library", "linked: dynamic\n", map[string]string{"mine": onlyDynamic},
			[]string{"CC=mine"}},
		{"compiler of the user is missing", "linked: static\n", nil, []string{"CC=none"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			requireStatic(t)
			s.mkdir("tools")
			for name, text := range c.tools {
				s.write("tools/"+name, text)
			}
			s.prependPath("tools")
			s.set(c.env...)
			contains(t, s.install(), c.want)
			s.checkInstalled("first")
		})
	}
}

// requireStatic skips where gcc cannot link the C library statically.
func requireStatic(t *testing.T) {
	t.Helper()
	cmd := exec.Command("gcc", "-static", "-x", "c", "-o", filepath.Join(t.TempDir(), "x"), "-")
	cmd.Stdin = strings.NewReader("int main(void) { return 0; }")
	if cmd.Run() != nil {
		t.Skip("no static C library")
	}
}

// TestBrokenBuild: a program that does not build or start leaves the installed one alone.
func TestBrokenBuild(t *testing.T) {
	cases := []struct{ name, old, new, want string }{
		{"does not compile", "C.status()", "C.status(", "cmd/shim/main.go:"},
		{"does not load", `"fmt"`, `"fmt"; _ "example.invalid/none"`,
			"the packages to build cannot be loaded"},
		{"shim crashes", "return 127", "__builtin_trap()", "does not start here"},
		{"shim is not loaded", `"reprise:"`, `"not found:"`, "does not start here"},
		{"shimctl crashes", "os.Exit(0)", `panic("no")`, "does not start here"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.install()
			s.revise(c.old, c.new)
			r := s.run()
			if r.code != 1 {
				t.Errorf("exit %d", r.code)
			}
			contains(t, r.stderr, c.want, "error: ", "\nhint: ")
			s.checkInstalled("first")
		})
	}
}

func TestVersionFromGit(t *testing.T) {
	s := newSite(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	git := func(dir string, args ...string) {
		t.Helper()
		args = append([]string{"-C", s.at(dir), "-c", "user.name=x", "-c", "user.email=x"}, args...)
		cmd := exec.Command("git", args...)
		cmd.Env = append(slices.Clone(s.env), "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("", "init", "-q")
	git("", "commit", "-q", "--allow-empty", "-m", "around")
	contains(t, s.install(), "version dev,") // the repository around it is another one

	git("repo", "init", "-q")
	contains(t, s.install(), "version dev,") // there is no commit
	git("repo", "add", ".")
	git("repo", "commit", "-q", "-m", "one")
	git("repo", "tag", "v1.2.3")
	contains(t, s.install(), "version v1.2.3,")
	s.checkInstalled("first v1.2.3")
	s.revise("first", "second")
	contains(t, s.install(), "version v1.2.3-dirty,")
}

// TestRepository installs the programs themselves, from source. .ci/run does so in another way.
func TestRepository(t *testing.T) {
	fromSource(t)
	s := newSite(t)
	for _, dir := range []string{"../cmd/shim", "../cmd/shimctl", "../cmd/reprise-store"} {
		if _, err := os.Stat(dir); err != nil {
			t.Skip("no " + dir)
		}
	}
	script, err := filepath.Abs("../install.sh")
	if err != nil {
		t.Fatal(err)
	}
	s.set("GOPROXY=" + goEnv(t, "GOPROXY")) // its modules might not be in the cache yet
	r := s.runShell(script)
	if r.code != 0 {
		t.Fatalf("exit %d:\n%s", r.code, r.stderr)
	}
	t.Log(r.stdout)
	if got := len(s.list()); got != len(names)+1 { // the marker
		t.Errorf("bin dir holds %q", s.list())
	}
	if r := s.runShell(script, "--uninstall"); r.code != 0 || len(s.list()) != 0 {
		t.Errorf("exit %d, bin dir holds %q:\n%s", r.code, s.list(), r.stderr)
	}
}

// tempDir is t.TempDir, but for a removal that can fail: a go command leaves a
// process behind that still writes its counters into the home directory.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "reprise-install-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
