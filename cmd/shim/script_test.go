package main

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"reprise/fleet"
	"reprise/internal/ctl"
	"reprise/rewrite"
	"reprise/shim"
	"reprise/shim/binary"
	"reprise/test/toolbox"

	"github.com/rogpeppe/go-internal/testscript"
)

// hurry, in the environment, keeps programs that are built to detect races from sleeping
// a second at their end.
const hurry = "GORACE=atexit_sleep_ms=0"

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

// TestMain lets the test binary be started as shimctl and as each of the shims: it
// is found on PATH and tells them apart by argv[0], just as when it is installed.
func TestMain(m *testing.M) {
	account := os.Getenv("ACCOUNT_HOME") // none but the account of a test
	commands := map[string]func(){"shimctl": func() { os.Exit(ctl.Run(account, fleet.Open)) }}
	for _, name := range rewrite.Names {
		commands[name] = func() {
			env := shim.OSEnv()
			env.AccountHome, env.OpenRemote = account, fleet.Open
			// its files are named after an ID's first characters
			if fake := env.Get("FAKE"); fake != "" && name != "gemini" {
				env.NewID = func() string { return nextID(fake) }
			}
			os.Exit(shim.Main(env))
		}
	}
	commands[binary.Npx] = func() { os.Exit(shim.Main(shim.OSEnv())) }
	commands["reprise-store"] = storeHelper
	commands["fleet"] = callElsewhere
	commands["sdk"] = caller
	commands["fakesdk"] = converser
	commands["model"] = model
	commands["later"] = later
	commands["older"] = older
	testscript.Main(suite{m}, commands)
}

// nextID returns the ID that the fake tool would give its next session: a script then knows which
// session a run has. Another process that asks before the tool has started gets the ID after that.
func nextID(fake string) string {
	count, _ := os.ReadFile(filepath.Join(fake, "count"))
	n, _ := strconv.Atoi(strings.TrimSpace(string(count)))
	for n++; ; n++ {
		if err := os.MkdirAll(filepath.Join(fake, "ids"), 0o700); err != nil {
			log.Fatal(err)
		}
		if os.Mkdir(filepath.Join(fake, "ids", strconv.Itoa(n)), 0o700) == nil {
			return fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
		}
	}
}

// tools is a directory of the programs that tests need besides their own, moreShells one of shells
// that not every machine has, and of git.
var tools, moreShells string

// A suite runs the tests independently of who runs them.
type suite struct{ m *testing.M }

func (s suite) Run() int {
	var err error
	if tools, err = os.MkdirTemp("", "shimctl-tools-*"); err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(tools)
	if err := toolbox.Make(tools); err != nil {
		log.Fatal(err)
	}
	moreShells = filepath.Join(tools, "more")
	if err := os.Mkdir(moreShells, 0o755); err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"zsh", "fish", "git"} {
		if path, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(path, filepath.Join(moreShells, name)); err != nil {
				log.Fatal(err)
			}
		}
	}
	return toolbox.Tests{M: s.m}.Run()
}

// older marks all sessions in the ledger as an earlier version's, which compared otherwise.
func older() {
	db, err := sql.Open("sqlite3", filepath.Join(os.Getenv("HOME"),
		".local/state/reprise/ledger.db"))
	if err == nil {
		_, err = db.Exec("UPDATE sessions SET format = format - 1")
	}
	if err = errors.Join(err, db.Close()); err != nil {
		log.Fatal(err)
	}
}

// project returns the name of the directory in which claude keeps the sessions of a working
// directory.
func project(dir string) string {
	return regexp.MustCompile("[^A-Za-z0-9]").ReplaceAllString(dir, "-")
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "../../testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		UpdateScripts: *update,
		Setup:         setup,
	})
}

// setup makes each script a home and a fake claude behind the shims on PATH.
func setup(env *testscript.Env) error {
	home, real := filepath.Join(env.WorkDir, "home"), filepath.Join(env.WorkDir, "real")
	for _, dir := range []string{home, real, filepath.Join(env.WorkDir, "tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	fake, err := os.ReadFile("../../testdata/fake/claude")
	if err != nil {
		return err
	}
	// A process that is forked while the file is open for writing would make it
	// busy for a moment.
	syscall.ForkLock.RLock()
	err = os.WriteFile(filepath.Join(real, "claude"), fake, 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		return err
	}
	env.Vars = append(env.Vars, hurry)
	env.Setenv("HOME", home)
	env.Setenv("FAKE", filepath.Join(env.WorkDir, "fake"))
	env.Setenv("PROJECT", project(env.WorkDir))
	env.Setenv("TMPDIR", filepath.Join(env.WorkDir, "tmp"))
	shims, _, _ := strings.Cut(env.Getenv("PATH"), string(os.PathListSeparator))
	env.Setenv("SHIMS", shims)
	env.Setenv("TOOLS", tools)
	if env.Getenv("STORE") == "" {
		env.Setenv("STORE", "s3://files"+filepath.Join(env.WorkDir, "store"))
	}
	env.Setenv("MORE_SHELLS", moreShells)
	env.Setenv("PATH", strings.Join([]string{shims, real, tools}, string(os.PathListSeparator)))
	return nil
}
