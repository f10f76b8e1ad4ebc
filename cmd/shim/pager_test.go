package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"reprise/test/sample"
	"reprise/test/toolbox"
)

// At a terminal a long list goes through the pager, unless it is switched off; the exit status is shimctl's.
func TestPager(t *testing.T) {
	path := sample.Ledger(t, 5, false)
	for _, tt := range []struct {
		name, args string
		env        []string
		paged      bool
	}{
		{"own", "log --columns call", []string{"PAGER=cat", "SHIMCTL_PAGER=sed s/^/paged:/"}, true},
		{"general", "log --columns call", []string{"PAGER=sed s/^/paged:/"}, true},
		{"none", "log --columns call", []string{"PAGER="}, false},
		{"cat", "log --columns call", []string{"PAGER=cat"}, false},
		{"off", "log --columns call --no-pager", []string{"PAGER=sed s/^/paged:/"}, false},
		{"another command", "config check", []string{"PAGER=sed s/^/paged:/"}, false},
		{"left early", "log --columns call", []string{"PAGER=head -n 1 | sed s/^/paged:/"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.Command(executable(t), strings.Fields(tt.args)...)
			cmd.Args[0], cmd.Dir = "shimctl", dir // see TestMain
			cmd.Env = append(append(toolbox.Home(dir), "PATH="+tools, hurry, "XDG_STATE_HOME="+filepath.Dir(filepath.Dir(path))), tt.env...)
			shown := showOn(t, cmd).end()
			if got := strings.Contains(shown, "paged:"); got != tt.paged || shown == "" {
				t.Errorf("paged %v: %q", got, shown)
			}
			if strings.Contains(shown, "error:") {
				t.Errorf("the screen shows %q", shown)
			}
		})
	}
}
