package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"reprise/internal/demo"
	"reprise/internal/standin"
	"reprise/rewrite"
	"reprise/shim"
	"reprise/test/toolbox"
)

// asTool makes the test binary the demo's tool.
const asTool = "PROVE_TEST_TOOL"

// TestMain lets the test binary be the shims, by its name, and the tool behind them.
func TestMain(m *testing.M) {
	name := filepath.Base(os.Args[0])
	switch _, isTool := rewrite.Lookup(name); {
	case os.Getenv(asTool) != "":
		if err := demo.BundledTool(os.Args[1:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	case isTool:
		os.Exit(shim.Main(shim.OSEnv()))
	}
	os.Exit(toolbox.Tests{M: m}.Run())
}

// A user is one whose claude asks a stand-in of the model.
type user struct {
	model *standin.Server
	shims string
}

const priceList = "[[price]]\nmodel = \"stand-in\"\ninput = 3\ncached = 0.3\nwrite = 3.75\noutput = 15\n"

func newUser(t *testing.T, prices string) user {
	t.Helper()
	root := t.TempDir()
	u := user{shims: filepath.Join(root, "shims")}
	var err error
	if u.model, err = standin.Start(standin.Options{Reply: demo.Agent}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.model.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	real, own := filepath.Join(root, "real"), filepath.Join(root, "home", ".config", "reprise")
	for _, dir := range []string{u.shims, real, own} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asTool, self)
	for path, text := range map[string]string{filepath.Join(real, "claude"): script, filepath.Join(own, "prices.toml"): prices} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(self, filepath.Join(u.shims, "claude")); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"HOME": filepath.Join(root, "home"), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "ANTHROPIC_BASE_URL": u.model.URL(),
		"PATH": real + string(os.PathListSeparator) + os.Getenv("PATH"), "CLAUDECODE": "", "TMPDIR": root,
	} {
		t.Setenv(name, value)
	}
	return u
}

// prove runs the command as at a terminal that answers.
func (u user) prove(t *testing.T, rounds int, limit, answer string, terminal bool) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	o := options{tool: "claude", rounds: rounds, pause: time.Millisecond, shims: u.shims}
	err = run(t.Context(), o, limit, strings.NewReader(answer), terminal, &out, &errs)
	return out.String(), errs.String(), err
}

func TestProve(t *testing.T) {
	u := newUser(t, priceList)
	stdout, stderr, err := u.prove(t, 3, "", "$2\n", true)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if !strings.Contains(stderr, "makes 6 calls of claude on your own login") {
		t.Errorf("the question: %s", stderr)
	}
	for _, want := range []string{
		`(?m)^claude .*, model stand-in, 3 rounds, 1ms apart, the first not counted; reprise `,
		`(?m)^\| fresh each time \| 2 \| 0 \| \d+ \| \d+\.\d % \| \d+ \| \d+ \| \d+ \| \$0\.\d+ \| 0 \| 0 \| \S.* \|$`,
		`(?m)^\| with reprise \| 2 \| 2 \| `,
		`(?m)^\| change \| \| \| -\d+ % \| \| -\d+ % \|.* -\d+ % \| \| \| [+-]\d+ % \|$`,
		`(?m)^Resumed calls \(2\): expected 9\d\.\d % of the prompt from the cache, 9\d\.\d % came from it, 0 of 2 missed it\.$`,
	} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("no %s in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, os.TempDir()) {
		t.Errorf("the table has a path:\n%s", stdout)
	}
}

func TestProveNeedsALimit(t *testing.T) {
	u := newUser(t, priceList)
	for name, c := range map[string]struct {
		limit, answer string
		terminal      bool
		want          string
	}{
		"nobody to ask": {"", "5\n", false, "no spending limit"},
		"no answer":     {"", "\n", true, "no amount of dollars"},
		"no number":     {"much", "", true, "no amount of dollars"},
		"nothing":       {"0", "", true, "no amount of dollars"},
		"not a number":  {"NaN", "", true, "no amount of dollars"},
		"a slip":        {"100000", "", true, "no amount of dollars"},
	} {
		if stdout, _, err := u.prove(t, 3, c.limit, c.answer, c.terminal); err == nil || !strings.Contains(err.Error(), c.want) || stdout != "" {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if n := len(u.model.Asked()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

// The limit ends the jobs before a call that could exceed it. What was measured is printed.
func TestProveStopsAtTheLimit(t *testing.T) {
	u := newUser(t, priceList)
	stdout, _, err := u.prove(t, 3, "0.1", "", false)
	if err == nil || !strings.Contains(err.Error(), "could exceed the limit of $0.1000") {
		t.Fatalf("%v\n%s", err, stdout)
	}
	if !strings.Contains(stdout, "| fresh each time | ") || strings.Contains(stdout, "| change |") {
		t.Errorf("the table so far:\n%s", stdout)
	}
	spent := regexp.MustCompile(`\$(0\.\d+) were spent`).FindStringSubmatch(err.Error())
	if spent == nil || spent[1] > "0.1" {
		t.Errorf("spent: %v", err)
	}
}

func TestProveStopsIfTheCostIsNotKnown(t *testing.T) {
	u := newUser(t, "")
	if _, _, err := u.prove(t, 3, "1", "", false); err == nil || !strings.Contains(err.Error(), `the cost of a call of model "stand-in" is not known`) {
		t.Errorf("%v", err)
	}
	calls := 0
	for _, r := range u.model.Asked() {
		if standin.StartsTurn(r) {
			calls++
		}
	}
	if calls != 1 {
		t.Errorf("%d calls were made", calls)
	}
}

func TestProveRefuses(t *testing.T) {
	for want, o := range map[string]options{"not one of": {tool: "cursor", rounds: 3}, "odd": {tool: "claude", rounds: 4}} {
		if err := run(t.Context(), o, "1", nil, false, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	u := newUser(t, priceList)
	t.Setenv("CLAUDECODE", "1") // as inside of claude
	if _, _, err := u.prove(t, 3, "1", "", false); err == nil || !strings.Contains(err.Error(), "must not run inside of a tool") {
		t.Errorf("inside of a tool: %v", err)
	}
}
