package toolbox

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"reprise/rewrite"
	_ "reprise/rewrite/tool" // registers the tools
)

func TestMain(m *testing.M) { os.Exit(Tests{m}.Run()) }

type noTests struct{}

func (noTests) Run() int { return 0 }

// Where only some of the machine's processors can be used, as in a container, the tests at once
// are not more for all the others.
func TestProcessors(t *testing.T) {
	parallel := flag.Lookup("test.parallel").Value
	defer flag.Set("test.parallel", parallel.String())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if (Tests{noTests{}}).Run(); parallel.String() != "2" {
		t.Errorf("%s tests at once on one processor", parallel)
	}
}

var _ = flag.Bool("toolbox.all", false, "as an option of a package's long tests")

func TestALongOne(t *testing.T) { Long(t) }

// A long test is skipped only where nobody has asked for it.
func TestLong(t *testing.T) {
	for _, tt := range []struct {
		asked, options, want string
	}{
		{"", "", "SKIP"},
		{"", "-test.count=1", "SKIP"},
		{"", "-toolbox.all", "PASS"},
		{"sample", "", "PASS"},
	} {
		cmd := exec.Command(os.Args[0], append([]string{"-test.run=^TestALongOne$", "-test.v"},
			strings.Fields(tt.options)...)...)
		cmd.Env = append(os.Environ(), "REPRISE_E2E="+tt.asked)
		if out, err := cmd.Output(); err != nil ||
			!strings.Contains(string(out), "--- "+tt.want+": TestALongOne") {
			t.Errorf("%+v: %v\n%s", tt, err, out)
		}
	}
}

// Programs that are first on the caller's PATH are not run, and the usual ones are.
func TestPathFromNothing(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	for _, name := range rewrite.Names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n>"+ran+"\n"),
			0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	tools := filepath.Join(dir, "tools")
	if err := Make(tools, "there-is-no-such-program"); err != nil {
		t.Fatal(err)
	}
	sh := exec.Command("sh", "-c", "for t in "+strings.Join(rewrite.Names,
		" ")+"; do $t; done 2>/dev/null; echo found | sed s/found/done/")
	sh.Env = []string{"PATH=" + tools}
	if out, err := sh.CombinedOutput(); err != nil || string(out) != "done\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a tool on the caller's PATH ran")
	}
}

// A job in the background of a shell that is not interactive has SIGINT and SIGQUIT ignored, under
// nohup SIGHUP too; programs that its tests start can be interrupted all the same.
func TestSignalsOfABackgroundJob(t *testing.T) {
	if os.Getenv("BACKGROUND") != "" {
		for _, sig := range []string{"INT", "QUIT", "HUP"} {
			err := exec.Command("sh", "-c", "kill -"+sig+" $$").Run()
			if err == nil || !strings.HasPrefix(err.Error(), "signal: ") {
				t.Errorf("%s: %v", sig, err)
			}
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c",
		`trap '' INT QUIT HUP; exec "$0" -test.run '^TestSignalsOfABackgroundJob$'`, self)
	cmd.Env = append(os.Environ(), "BACKGROUND=yes")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
