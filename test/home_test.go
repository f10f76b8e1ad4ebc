package test

import (
	"archive/zip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/test/toolbox"
)

// home is a module path for a copy of this checkout.
const home = "example.org/you/reprise"

// A copied is a copy of the tracked files of this checkout, in a repository of its own.
type copied struct {
	t   *testing.T
	dir string
}

func newCopied(t *testing.T) copied {
	t.Helper()
	list, err := exec.Command("git", "-C", "..", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("not in a git checkout")
	}
	c := copied{t, t.TempDir()}
	for _, name := range strings.Split(strings.TrimRight(string(list), "\x00"), "\x00") {
		info, err := os.Stat("../" + name)
		if err != nil {
			continue // removed, and not committed yet
		}
		path := filepath.Join(c.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(read(t, "../"+name)), info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	c.sh(`git init -q; git add .; git -c user.name=x -c user.email=x@example.org commit -qm copy`)
	return c
}

// sh runs a script in the copy and returns the output.
func (c copied) sh(script string) string {
	c.t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local")
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

func (c copied) has(name string, lines ...string) {
	c.t.Helper()
	contains(c.t, read(c.t, filepath.Join(c.dir, name)), lines...)
}

// One command gives the module another path. Nothing but that changes, and another one brings it
// back.
func TestHome(t *testing.T) {
	toolbox.Long(t)
	t.Parallel()
	c := newCopied(t)
	if said := c.sh("! scripts/home reprise 2>&1; ! scripts/home 2>&1"); strings.Count(said,
		"usage: scripts/home MODULE") != 2 {
		t.Errorf("says %s", said)
	}
	c.sh("scripts/home " + home + "; git -c user.name=x -c user.email=x@example.org commit -qam " +
		"home")
	c.has("go.mod", "module "+home+"\n")
	c.has("scripts/flags.sh", "-X "+home+"/config.Version=$1 -X "+home+"/config.Commit=$2")
	c.has("scripts/errcheck.txt", "(*"+home+"/ledger.Ledger).Close\n")
	c.has("install.sh", "'^module "+home+"$'", "\nrepository='' #", `"$settings"`)
	c.has("shim/front/exec.c", `"%s%s/reprise/config.toml"`)
	if said := c.sh("git status --porcelain; gofmt -l ."); said != "" {
		t.Errorf("left: %s", said)
	}
	for _, path := range strings.Fields(c.sh("go list -deps -test ./... | grep /")) {
		if strings.HasPrefix(path, "reprise/") {
			t.Errorf("%s is still imported", path)
		}
	}

	c.sh("scripts/home github.com/first/reprise; git -c user.name=x -c user.email=x@example.org " +
		"commit -qam home")
	c.has("install.sh", "\nrepository='github.com/first/reprise' #")
	c.sh("scripts/home github.com/two/again/v2; git -c user.name=x -c user.email=x@example.org " +
		"commit -qam home")
	c.has("install.sh", "\nrepository='github.com/two/again' #")
	if left := c.sh("git grep -n -e 'first/reprise' -e OWNER/NAME -- ':!scripts' ':!test' " +
		"':!install.sh' || true"); left != "" {
		t.Errorf("left: %s", left)
	}
	if said := c.sh("touch new; ! scripts/home " + home + " 2>&1"); !strings.HasPrefix(said,
		"error: the checkout has changes") {
		t.Errorf("says %s", said)
	}
}

// go install builds the programs from a module proxy, at a version that they know.
func TestGoInstall(t *testing.T) {
	if os.Getenv("REPRISE_E2E") != "1" {
		t.Skip("set REPRISE_E2E=1 to build the programs in another place")
	}
	t.Parallel()
	c := newCopied(t)
	c.sh("scripts/home " + home)
	proxy, bin := t.TempDir(), t.TempDir()
	versions := filepath.Join(proxy, home, "@v")
	if err := os.MkdirAll(versions, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": "v0.1.0\n",
		"v0.1.0.info": `{"Version":"v0.1.0"}`,
		"v0.1.0.mod":  read(t, filepath.Join(c.dir, "go.mod"))} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.pack(filepath.Join(versions, "v0.1.0.zip"))
	c.sh("export GOPROXY=file://" + proxy + ",file://" + goEnv(t, "GOMODCACHE") + "/cache/download GOMODCACHE=" + t.TempDir() + ` GOSUMDB=off GOFLAGS=-modcacherw
		cd /; GOBIN=` + bin + " go install " + home + "/cmd/...@v0.1.0")
	if said := c.sh(bin + "/shimctl version"); said != "reprise v0.1.0\n" {
		t.Errorf("shimctl says %q", said)
	}
	if said := c.sh(bin + "/reprise-store version"); said != "reprise-store v0.1.0\n" {
		t.Errorf("reprise-store says %q", said)
	}
	if err := toolbox.Make(c.dir+"/none", "sh"); err != nil {
		t.Fatal(err)
	}
	if said := c.sh("ln " + bin + "/shim " + bin + "/claude; HOME=$PWD PATH=$PWD/none " + bin +
		"/claude --version 2>&1 || true"); !strings.HasPrefix(said,
		"reprise: claude: no other executable") {
		t.Errorf("the shim says %q", said)
	}
}

// pack writes the copy as a module's zip file.
func (c copied) pack(path string) {
	c.t.Helper()
	f, err := os.Create(path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	archive := zip.NewWriter(f)
	for _, name := range strings.Fields(c.sh("git ls-files")) {
		w, err := archive.Create(home + "@v0.1.0/" + name)
		if err == nil {
			_, err = io.WriteString(w, read(c.t, filepath.Join(c.dir, name)))
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		c.t.Fatal(err)
	}
}
