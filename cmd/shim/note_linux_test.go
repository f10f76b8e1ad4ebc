package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/test/toolbox"
)

// With daily_note a day's first resumed call that a person types ends with a line on stderr; no other call prints anything.
func TestDailyNote(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	const note = "reprise: resumed an earlier session; shimctl why says more (once a day)\r\n"
	for _, asked := range []bool{false, true} {
		dir := t.TempDir()
		fake, err := os.ReadFile("../../testdata/fake/claude")
		if err != nil {
			t.Fatal(err)
		}
		settings := "unrelated = \"resume\"\n"
		if asked {
			settings += "daily_note = true\n"
		}
		for name, text := range map[string]string{
			"real/claude": string(fake), "loop.sh": "claude -p two\ntrue\n", ".config/reprise/config.toml": settings,
		} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(executable(t), filepath.Join(dir, "bin/claude")); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bash, "--norc", "--noediting", "-i")
		cmd.Dir = dir
		cmd.Env = append(toolbox.Home(dir), "PATH="+filepath.Join(dir, "bin")+":"+filepath.Join(dir, "real")+":"+tools, "FAKE="+dir,
			"TMPDIR="+dir, "PS1=ready>", "REPRISE_TASK=job", hurry)
		s := showOn(t, cmd)
		s.until("ready>")
		for i, c := range []struct {
			typed string
			noted bool
		}{
			{"claude -p one", false}, // fresh
			{"sh ./loop.sh", false},
			{"claude -p three | cat", false},
			{"claude -p four 2>errors", false},
			{"claude -p five </dev/null", false},
			{"claude -p six --output-format json", false},
			{"claude -p seven", true},
			{"claude -p eight", false},
		} {
			s.shown.Reset()
			s.typing(c.typed + "\n")
			s.until("ready>")
			want := fmt.Sprintf("%s\r\nanswer %d\r\n", c.typed, i+1)
			if c.noted && asked {
				want += note
			}
			got := strings.TrimSuffix(s.shown.String(), "ready>")
			if json := strings.Contains(c.typed, "json"); json && strings.Contains(got, "reprise:") || !json && got != want {
				t.Errorf("asked for %v: shown %q, want %q", asked, got, want)
			}
		}
		if text, err := os.ReadFile(filepath.Join(dir, "errors")); err != nil || len(text) > 0 {
			t.Errorf("%q, %v", text, err)
		}
		if args, err := os.ReadFile(filepath.Join(dir, "7.args")); err != nil || !strings.Contains(string(args), "--resume") {
			t.Errorf("the call was not resumed: %q, %v", args, err)
		}
		s.typing("exit\n")
		s.end()
		_ = cmd.Wait()
	}
}
