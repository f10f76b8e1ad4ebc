package git

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"reprise/shim/variables"
	"reprise/test/gitrepo"
	"reprise/test/toolbox"
)

// committedTree commits everything and returns the commit's tree.
func committedTree(t testing.TB, dir string) string {
	t.Helper()
	gitrepo.Run(t, dir, "add", "--all")
	gitrepo.Commit(t, dir, "all")
	return gitrepo.Run(t, dir, "rev-parse", "HEAD^{tree}")
}

// newCheckout returns a repository with a commit, in which files were changed, added and removed.
func newCheckout(t testing.TB) string {
	t.Helper()
	dir := gitrepo.New(t)
	toolbox.Write(t, filepath.Join(dir, "kept"), "kept\n")
	toolbox.Write(t, filepath.Join(dir, "changed"), "before\n")
	toolbox.Write(t, filepath.Join(dir, "removed"), "removed\n")
	toolbox.Write(t, filepath.Join(dir, ".gitignore"), "ignored\n")
	gitrepo.Run(t, dir, "add", "--all")
	gitrepo.Commit(t, dir, "1")
	edit(t, dir)
	return dir
}

func edit(t testing.TB, dir string) {
	t.Helper()
	toolbox.Write(t, filepath.Join(dir, "changed"), "after!\n")
	toolbox.Write(t, filepath.Join(dir, "new", "file"), "new\n")
	toolbox.Write(t, filepath.Join(dir, "ignored"), "ignored\n")
	if err := os.Remove(filepath.Join(dir, "removed")); err != nil {
		t.Fatal(err)
	}
}

// state returns all files below a directory with their content, and their times except for those
// that git renews to keep files.
func state(t testing.TB, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(data)
		}
		when := info.ModTime()
		if strings.Contains(path, "/objects/") || strings.Contains(path, "/sharedindex.") {
			when = time.Time{}
		}
		all = append(all, strings.Join([]string{path, info.Mode().String(),
			when.String(), text}, "\x00"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCheckoutTree(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string) (at string){
		"changed, new, removed and ignored files": func(_ *testing.T,
			dir string) string {
			return dir
		},
		"below the root": func(_ *testing.T,
			dir string) string {
			return filepath.Join(dir, "new")
		},
		"no commit": func(t *testing.T, _ string) string {
			dir := gitrepo.New(t)
			toolbox.Write(t, filepath.Join(dir, "a"), "a")
			return dir
		},
		"no file": func(t *testing.T, _ string) string { return gitrepo.New(t) },
		"no index": func(t *testing.T, dir string) string {
			if err := os.Remove(filepath.Join(dir, ".git", "index")); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"another work tree": func(t *testing.T, dir string) string {
			at := filepath.Join(t.TempDir(), "a:b \"c\"", "tree")
			gitrepo.Run(t, dir, "worktree", "add", "-q", "--detach", at, "HEAD")
			edit(t, at)
			return at
		},
		"a clone that borrows objects": func(t *testing.T, dir string) string {
			at := filepath.Join(t.TempDir(), "a:b", "clone")
			gitrepo.Run(t, dir, "clone", "-q", "--shared", dir, at)
			edit(t, at)
			return at
		},
		"a shallow clone": func(t *testing.T, dir string) string {
			at := filepath.Join(t.TempDir(), "clone")
			gitrepo.Run(t, dir, "clone", "-q", "--depth=1", "file://"+dir, at)
			edit(t, at)
			return at
		},
		"a split index": func(t *testing.T, dir string) string {
			gitrepo.Run(t, dir, "config", "core.splitIndex", "true")
			gitrepo.Run(t, dir, "update-index", "--split-index")
			return dir
		},
		"an untracked cache": func(t *testing.T, dir string) string {
			gitrepo.Run(t, dir, "update-index", "--force-untracked-cache")
			gitrepo.Run(t, dir, "status")
			return dir
		},
		"a sparse checkout": func(t *testing.T, dir string) string {
			toolbox.Write(t, filepath.Join(dir, "out", "there"), "there\n")
			committedTree(t, dir)
			gitrepo.Run(t, dir, "sparse-checkout", "set", "new")
			toolbox.Write(t, filepath.Join(dir, "new", "file"), "newer\n")
			toolbox.Write(t, filepath.Join(dir, "out", "here"), "here\n")
			toolbox.Write(t, filepath.Join(dir, "out", "there"), "changed\n")
			return dir
		},
		"a sparse index": func(t *testing.T, dir string) string {
			toolbox.Write(t, filepath.Join(dir, "out", "there"), "there\n")
			committedTree(t, dir)
			gitrepo.Run(t, dir, "sparse-checkout", "set", "--cone", "--sparse-index", "new")
			toolbox.Write(t, filepath.Join(dir, "new", "file"), "newer\n")
			return dir
		},
		"a conflict": func(t *testing.T, dir string) string {
			committedTree(t, dir)
			gitrepo.Run(t, dir, "checkout", "-q", "-b", "other", "HEAD~1")
			toolbox.Write(t, filepath.Join(dir, "changed"), "other\n")
			committedTree(t, dir)
			merge := exec.Command("git", "-c", "user.name=a", "-c", "user.email=a@b", "merge", "-q",
				"main")
			merge.Dir, merge.Env = dir, gitrepo.Env()
			if merge.Run() == nil {
				t.Fatal("there is no conflict")
			}
			return dir
		},
		"other times": func(t *testing.T, dir string) string {
			when := time.Now().Add(-time.Hour)
			if err := os.Chtimes(filepath.Join(dir, "kept"), when, when); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"names with white space at their ends": func(t *testing.T, dir string) string {
			for _, name := range []string{"\n0", " a", "b ", "c\n", "d\t"} {
				toolbox.Write(t, filepath.Join(dir, name), "new\n")
			}
			return dir
		},
		"a shared index that is not the index's": func(t *testing.T, dir string) string {
			path := filepath.Join(t.TempDir(), "large")
			toolbox.Write(t, path, "")
			if err := errors.Join(os.Truncate(path, 1<<40), os.Symlink(path,
				filepath.Join(dir, ".git", "sharedindex."+strings.Repeat("1", 40)))); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"links and modes": func(t *testing.T, dir string) string {
			if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(filepath.Join(dir, "kept"), 0o700); err != nil {
				t.Fatal(err)
			}
			return dir
		},
		"line ends": func(t *testing.T, dir string) string {
			toolbox.Write(t, filepath.Join(dir, ".gitattributes"), "* text=auto\n")
			toolbox.Write(t, filepath.Join(dir, "changed"), "one\r\ntwo\r\n")
			gitrepo.Run(t, dir, "config", "core.safecrlf", "true")
			gitrepo.Run(t, dir, "config", "core.eol", "crlf")
			return dir
		},
		"a submodule": func(t *testing.T, dir string) string {
			sub := newCheckout(t)
			committedTree(t, sub)
			gitrepo.Run(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
				sub, "sub")
			committedTree(t, dir)
			toolbox.Write(t, filepath.Join(dir, "sub", "file"), "in it\n")
			committedTree(t, filepath.Join(dir, "sub"))
			return dir
		},
		"within a submodule": func(t *testing.T, dir string) string {
			sub := newCheckout(t)
			committedTree(t, sub)
			gitrepo.Run(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
				sub, "sub")
			toolbox.Write(t, filepath.Join(dir, "sub", "file"), "in it\n")
			return filepath.Join(dir, "sub")
		},
	} {
		t.Run(name, func(t *testing.T) {
			at := prepare(t, newCheckout(t))
			repo, err := Find(at)
			if err != nil {
				t.Fatal(err)
			}
			before := append(state(t, repo.common), state(t, repo.Root)...)
			got := Tree(at, gitrepo.Env())
			if after := append(state(t, repo.common), state(t, repo.Root)...); !slices.Equal(before,
				after) {
				t.Error("the repository has changed")
			}
			if again := HasTree(at, got, gitrepo.Env()); !again {
				t.Error("the directory has not its own tree")
			}
			if name == "a sparse checkout" || name == "a sparse index" {
				gitrepo.Run(t, repo.Root, "add", "--all", "--sparse")
			}
			gitrepo.Run(t, repo.Root, "config", "core.safecrlf", "false")
			if want := committedTree(t, repo.Root); got != want {
				t.Errorf("%q, want %q: %s", got, want,
					gitrepo.Run(t, repo.Root, "status", "--short"))
			}
		})
	}
}

func TestNoCheckoutTree(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string) (at string,
		environ []string){
		"no repository": func(t *testing.T, _ string) (string,
			[]string) {
			return t.TempDir(), gitrepo.Env()
		},
		"no git": func(t *testing.T, dir string) (string, []string) {
			t.Setenv("PATH", t.TempDir())
			return dir, gitrepo.Env()
		},
		"a broken index": func(t *testing.T, dir string) (string, []string) {
			toolbox.Write(t, filepath.Join(dir, ".git", "index"), "no index")
			return dir, gitrepo.Env()
		},
		"an index that is a directory": func(t *testing.T, dir string) (string, []string) {
			if err := os.Remove(filepath.Join(dir, ".git", "index")); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(dir, ".git", "index"), 0o700); err != nil {
				t.Fatal(err)
			}
			return dir, gitrepo.Env()
		},
		"too many shared indexes": func(t *testing.T, dir string) (string, []string) {
			for n := range maxSharedIndexes + 1 {
				toolbox.Write(t, filepath.Join(dir, ".git", "sharedindex."+strconv.Itoa(n)), "")
			}
			return dir, gitrepo.Env()
		},
		"a link to this repository within it": func(t *testing.T, dir string) (string, []string) {
			if err := errors.Join(os.Mkdir(filepath.Join(dir, "n"), 0o700),
				os.Symlink("../.git", filepath.Join(dir, "n", ".git"))); err != nil {
				t.Fatal(err)
			}
			return dir, gitrepo.Env()
		},
		"changes in a submodule": func(t *testing.T, dir string) (string, []string) {
			sub := newCheckout(t)
			committedTree(t, sub)
			gitrepo.Run(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
				sub, "sub")
			committedTree(t, dir)
			toolbox.Write(t, filepath.Join(dir, "sub", "changed"), "in it\n")
			return dir, gitrepo.Env()
		},
		"a new file in a submodule that is to be ignored": func(t *testing.T, dir string) (string,
			[]string) {
			sub := newCheckout(t)
			committedTree(t, sub)
			gitrepo.Run(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
				sub, "sub")
			gitrepo.Run(t, dir, "config", "submodule.sub.ignore", "all")
			gitrepo.Run(t, dir, "config", "diff.ignoreSubmodules", "all")
			toolbox.Write(t, filepath.Join(dir, "sub", "unknown"), "in it\n")
			return dir, gitrepo.Env()
		},
		"a repository within it without a commit": func(t *testing.T, dir string) (string,
			[]string) {
			gitrepo.Run(t, dir, "init", "-q", "within")
			toolbox.Write(t, filepath.Join(dir, "within", "file"), "in it\n")
			return dir, gitrepo.Env()
		},
		"a tree that takes too long": func(t *testing.T, dir string) (string, []string) {
			bin := t.TempDir()
			toolbox.Write(t, filepath.Join(bin, "git"), "#!/bin/sh\nexec sleep 60\n")
			if err := os.Chmod(filepath.Join(bin, "git"), 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			return dir, gitrepo.Env()
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, environ := prepare(t, newCheckout(t))
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			environ = variables.Set(environ, "XDG_STATE_HOME", tmp)
			start := time.Now()
			if got := Tree(dir, environ); got != "" {
				t.Errorf("%q", got)
			}
			if took := time.Since(start); took > 10*checkoutTimeout {
				t.Errorf("it took %v", took)
			}
			_ = os.Remove(filepath.Join(tmp, "reprise"))
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// Nothing that the repository names is run, and no variable leads elsewhere.
func TestCheckoutTreeRunsNothing(t *testing.T) {
	dir := newCheckout(t)
	ran := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	toolbox.Write(t, program, "#!/bin/sh\necho \"$0 $*\" >>"+ran+"\ncat\n")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	committedTree(t, dir)
	editAgain := func() {
		toolbox.Write(t, filepath.Join(dir, "changed"), "once more\n")
		toolbox.Write(t, filepath.Join(dir, "x.filtered"), "content\n")
	}
	sub := newCheckout(t)
	committedTree(t, sub)
	gitrepo.Run(t, dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub,
		"sub")
	toolbox.Write(t, filepath.Join(dir, ".gitattributes"),
		"*.filtered filter=one\nchanged filter=two.three diff=d\n")
	editAgain()
	want := committedTree(t, dir)
	signed := strings.Replace(gitrepo.Run(t, dir, "cat-file", "commit", "HEAD"), "\n\n",
		"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n none\n -----END PGP SIGNATURE-----\n\n", 1)
	toolbox.Write(t, filepath.Join(dir, ".git", "signed"), signed+"\n")
	gitrepo.Run(t, dir, "reset", "-q", "--soft",
		gitrepo.Run(t, dir, "hash-object", "-t", "commit", "-w", ".git/signed"))
	toolbox.Write(t, filepath.Join(dir, "changed"), "in between\n")
	gitrepo.Run(t, dir, "add", "--all")
	editAgain()
	for _, hook := range []string{"post-index-change", "pre-commit", "fsmonitor-watchman"} {
		for _, hooks := range []string{".git/hooks", ".git/modules/sub/hooks"} {
			if err := os.MkdirAll(filepath.Join(dir, hooks), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(program, filepath.Join(dir, hooks, hook)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for key, value := range map[string]string{
		"filter.one.clean": program, "filter.one.required": "true",
		"filter.two.three.process": program, "filter.two.three.required": "true",
		"core.fsmonitor": program, "diff.d.textconv": program, "diff.d.command": program,
		"diff.external": program, "core.pager": program,
		"log.showSignature": "true", "gpg.program": program, "core.sshCommand": program,
		"alias.add": "!" + program,
	} {
		gitrepo.Run(t, dir, "config", key, value)
		if key == "core.fsmonitor" {
			gitrepo.Run(t, filepath.Join(dir, "sub"), "config", key, value)
		}
	}
	if err := os.RemoveAll(ran); err != nil {
		t.Fatal(err)
	}
	environ := append(gitrepo.Env(), "GIT_DIR=/nowhere", "GIT_INDEX_FILE=/nowhere/index",
		"GIT_WORK_TREE=/", "GIT_OBJECT_DIRECTORY=/nowhere/objects",
		"GIT_EXTERNAL_DIFF="+program, "GIT_PAGER="+program, "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0="+filepath.Dir(program))
	before := state(t, dir)
	if got := Tree(dir, environ); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if !HasTree(dir, want, environ) {
		t.Error("the tree of HEAD is not found")
	}
	if !slices.Equal(before, state(t, dir)) {
		t.Error("the repository has changed")
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("these have run:\n%s", text)
	}
}

// A repository within another one, such as a tool that can only write files can make, runs nothing:
// neither filters nor programs that the configuration names.
func TestNestedRepositoryRunsNothing(t *testing.T) {
	dir, marks := newCheckout(t), t.TempDir()
	ran := filepath.Join(marks, "ran")
	program := filepath.Join(marks, "program")
	toolbox.Write(t, program, "#!/bin/sh\necho \"$0 $*\" >>"+ran+"\ncat\n")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	within := filepath.Join(dir, "vendor", "x")
	if err := os.MkdirAll(within, 0o700); err != nil {
		t.Fatal(err)
	}
	gitrepo.Run(t, within, "init", "-q")
	toolbox.Write(t, filepath.Join(within, ".gitattributes"), "* filter=e diff=e\n")
	toolbox.Write(t, filepath.Join(within, "f"), "before\n")
	committedTree(t, within)
	for _, added := range []bool{false, true} {
		if added {
			committedTree(t, dir)
		}
		for key, value := range map[string]string{"filter.e.clean": program,
			"filter.e.smudge": program, "filter.e.process": program, "filter.e.required": "true",
			"core.fsmonitor": program, "core.hooksPath": marks, "diff.e.textconv": program,
			"core.sshCommand": program, "core.pager": program} {
			gitrepo.Run(t, within, "config", key, value)
		}
		toolbox.Write(t, filepath.Join(within, "f"), "after!\n") // of the same size, and not newer
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(within, "f"), old, old); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(ran) // of gitIn
		if got := Tree(dir, gitrepo.Env()); got != "" {
			t.Errorf("with changes in the repository within: %s", got)
		}
		if text, err := os.ReadFile(ran); err == nil {
			t.Errorf("these have run:\n%s", text)
		}
		for _, key := range []string{"filter.e.clean", "filter.e.process",
			"filter.e.required", "core.fsmonitor"} {
			gitrepo.Run(t, within, "config", "--unset", key)
		}
		toolbox.Write(t, filepath.Join(within, "f"), "before\n")
		if got := Tree(dir, gitrepo.Env()); got == "" {
			t.Error("no tree without changes")
		}
	}
}

// A process that the tool has left behind can rewrite the configuration at any moment.
func TestConfigurationThatChangesRunsNothing(t *testing.T) {
	dir, marks := newCheckout(t), t.TempDir()
	ran := filepath.Join(marks, "ran")
	program := filepath.Join(marks, "program")
	toolbox.Write(t, program, "#!/bin/sh\n>"+ran+"\ncat\n")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	toolbox.Write(t, filepath.Join(dir, ".gitattributes"), "* filter=e\n")
	config := filepath.Join(dir, ".git", "config")
	plain, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	hostile := append(slices.Clone(plain),
		"[filter \"e\"]\n\tclean = "+program+"\n[core]\n\tfsmonitor = "+program+"\n\thooksPath = "+marks+"\n"...)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 0; ; n++ {
			text := plain
			if n%2 == 0 {
				text = hostile
			}
			temporary := config + ".new"
			if os.WriteFile(temporary, text, 0o600) == nil {
				_ = os.Rename(temporary, config)
			}
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	for n := range 20 {
		toolbox.Write(t, filepath.Join(dir, "changed"), strings.Repeat("x", n))
		if got := Tree(dir, gitrepo.Env()); got == "" || !HasTree(dir, got, gitrepo.Env()) {
			t.Errorf("%d: %q", n, got)
		}
	}
	close(stop)
	<-stopped
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program has run")
	}
}

// No settings of the repository, or of one within it, make git wait, or look elsewhere.
func TestSettingsLeadNowhere(t *testing.T) {
	dir, pipe := newCheckout(t), filepath.Join(t.TempDir(), "pipe")
	gitrepo.Run(t, dir, "init", "-q", "within")
	toolbox.Write(t, filepath.Join(dir, "within", "f"), "f\n")
	committedTree(t, filepath.Join(dir, "within"))
	want := Tree(dir, gitrepo.Env())
	if err := syscall.Mkfifo(pipe, 0o600); err != nil || want == "" {
		t.Fatal(err, want)
	}
	for _, at := range []string{dir, filepath.Join(dir, "within")} {
		f, err := os.OpenFile(filepath.Join(at, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteString("[include]\n\tpath = " + pipe +
			"\n[core]\n\tworktree = /nowhere\n\tattributesFile = " + pipe + "\n\texcludesFile = " +
			pipe + "\n")
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if got := Tree(dir, gitrepo.Env()); got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
}

// A file that is changed counts, whatever the index says of it.
func TestHiddenChanges(t *testing.T) {
	for _, how := range []string{"assume-unchanged", "skip-worktree"} {
		dir := newCheckout(t)
		committedTree(t, dir)
		gitrepo.Run(t, dir, "update-index", "--"+how, "kept")
		toolbox.Write(t, filepath.Join(dir, "kept"), "other\n")
		got := Tree(dir, gitrepo.Env())
		gitrepo.Run(t, dir, "update-index", "--no-"+how, "kept")
		if want := committedTree(t, dir); got != want {
			t.Errorf("%s: %q, want %q", how, got, want)
		}
	}
}

// Nothing is asked about another user's repository, unless the user has told git that it is safe.
func TestAnotherUsersRepository(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := newCheckout(t)
	committedTree(t, dir)
	first := gitrepo.Commit(t, dir, "1")
	second := gitrepo.Commit(t, dir, "2")
	if err := os.Remove(filepath.Join(dir, ".git", "logs", "HEAD")); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(t.TempDir(), "gitconfig")
	environ := variables.Set(variables.Unset(gitrepo.Env(), "SUDO_UID"), "GIT_CONFIG_GLOBAL",
		settings)
	check := func(what string, environ []string, want bool) {
		t.Helper()
		if got := Tree(dir, environ) != ""; got != want {
			t.Errorf("%s: tree: %v, want %v", what, got, want)
		}
		if got := History(dir, first, second, environ) == nil; got != want {
			t.Errorf("%s: ancestry: %v, want %v", what, got, want)
		}
	}
	check("the user's own", environ, true)
	for _, path := range []string{filepath.Join(dir, ".git"), dir} {
		if err := os.Chown(path, 1500, -1); err != nil {
			t.Fatal(err)
		}
		check(path, environ, false)
		check(path+" with sudo", variables.Set(environ, "SUDO_UID", "1500"), true)
		for list, want := range map[string]bool{"*": true, dir: true, filepath.Dir(dir) +
			"/*": true, filepath.Dir(dir): false, dir + "/*": false, "/*": true,
			"*\n\tdirectory =": false} {
			toolbox.Write(t, settings, "[safe]\n\tdirectory = "+list+"\n")
			check(path+" with "+list, environ, want)
		}
		if err := errors.Join(os.Remove(settings), os.Chown(path, 0, -1)); err != nil {
			t.Fatal(err)
		}
	}
	check("given back", environ, true)
}

// The scratch is where the ledger is, out of the reach of a sandbox that can write temporary files.
// Files that killed calls have left there go after some time.
func TestScratchIsBesideTheLedger(t *testing.T) {
	dir, home := newCheckout(t), t.TempDir()
	environ := variables.Set(variables.Set(gitrepo.Env(), "XDG_STATE_HOME", home), "TMPDIR",
		t.TempDir())
	repo, err := Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []*scratch
	for range 2 {
		s, err := repo.newScratch(environ)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Dir(s.at) != filepath.Join(home, "reprise") {
			t.Error(s.at)
		}
		all = append(all, s)
	}
	old := time.Now().Add(-2 * maxScratchAge)
	if err := os.Chtimes(all[0].at, old, old); err != nil {
		t.Fatal(err)
	}
	Tree(dir, environ)
	left, err := filepath.Glob(filepath.Join(home, "reprise", "*"))
	if err != nil || !slices.Equal(left, []string{all[1].at}) {
		t.Errorf("%q, want %q", left, all[1].at)
	}
}

// Files that the user's own list ignores do not count.
func TestUserIgnores(t *testing.T) {
	dir, home := newCheckout(t), t.TempDir()
	environ := variables.Set(variables.Set(variables.Unset(os.Environ(), "GIT_CONFIG_GLOBAL"),
		"HOME", home), "XDG_CONFIG_HOME", "")
	want := Tree(dir, environ)
	toolbox.Write(t, filepath.Join(dir, "x.swp"), "x")
	toolbox.Write(t, filepath.Join(dir, "x.orig"), "x")
	toolbox.Write(t, filepath.Join(home, ".config", "git", "ignore"), "*.swp\n*.orig\n")
	if got := Tree(dir, environ); got != want {
		t.Error("the usual list is not read")
	}
	toolbox.Write(t, filepath.Join(home, ".config", "git", "ignore"), "")
	toolbox.Write(t, filepath.Join(home, "list"), "*.swp\n*.orig\n")
	toolbox.Write(t, filepath.Join(home, ".gitconfig"), "[core]\n\texcludesFile = ~/list\n")
	if got := Tree(dir, environ); got != want {
		t.Error("the configured list is not read")
	}
}

func TestHasTree(t *testing.T) {
	dir := newCheckout(t)
	uncommitted := Tree(dir, gitrepo.Env())
	if !HasTree(dir, uncommitted, gitrepo.Env()) {
		t.Error("the directory's own tree is not found")
	}
	toolbox.Write(t, filepath.Join(dir, "kept"), "other\n")
	if HasTree(dir, uncommitted, gitrepo.Env()) {
		t.Error("a tree is found that is nowhere")
	}
	gitrepo.Run(t, dir, "checkout", "-q", "kept")
	if got := committedTree(t, dir); got != uncommitted {
		t.Fatalf("%q, want %q", got, uncommitted)
	}
	toolbox.Write(t, filepath.Join(dir, "kept"), "other\n")
	for n := range 49 {
		toolbox.Write(t, filepath.Join(dir, "counter"), strings.Repeat("x", n))
		gitrepo.Run(t, dir, "add", "counter")
		gitrepo.Commit(t, dir, "more")
	}
	if !HasTree(dir, uncommitted, gitrepo.Env()) {
		t.Error("the tree of the 50th commit is not found")
	}
	gitrepo.Commit(t, dir, "one too many")
	if HasTree(dir, uncommitted, gitrepo.Env()) {
		t.Error("the tree of the 51st commit is found")
	}
	gitrepo.Run(t, dir, "checkout", "-q", "--orphan", "none")
	if HasTree(dir, uncommitted, gitrepo.Env()) {
		t.Error("another branch's tree is found")
	}
	for _, none := range []string{"", "HEAD", uncommitted[:39], uncommitted + "0"} {
		if HasTree(dir, none, gitrepo.Env()) {
			t.Errorf("%q is found", none)
		}
	}
	if HasTree(t.TempDir(), uncommitted, gitrepo.Env()) {
		t.Error("a tree is found without a repository")
	}
}

// A file that was changed in the moment in which git wrote its index is read again.
func TestCheckoutTreeOfTheSameMoment(t *testing.T) {
	dir := newCheckout(t)
	committedTree(t, dir)
	when := time.Now().Add(-time.Minute)
	path, index := filepath.Join(dir, "kept"), filepath.Join(dir, ".git", "index")
	toolbox.Write(t, path, "one\n")
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
	gitrepo.Run(t, dir, "add", "kept")
	toolbox.Write(t, path, "two\n")
	for _, at := range []string{path, index} {
		if err := os.Chtimes(at, when, when); err != nil {
			t.Fatal(err)
		}
	}
	got := Tree(dir, gitrepo.Env())
	if err := os.Chtimes(path, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if want := committedTree(t, dir); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
