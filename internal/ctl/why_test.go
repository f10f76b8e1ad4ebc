package ctl

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/internal/ctl/why"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

func silent() *app.App {
	return &app.App{Stdout: view.Screen{Writer: io.Discard},
		Stderr: view.Screen{Writer: io.Discard}, Now: time.Now()}
}

// For each reason there is, why gives the meaning and a way to change it, and a command
// that exists: of a call that has the reason, of a call with a resume that was given up for it, of
// passed calls, and without any.
func TestWhy(t *testing.T) {
	l, err := ledger.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, walked := silent(), 0
	for _, text := range slices.Concat(reason.Table, reason.Refusals) {
		code := text.Code
		i := ledger.Record{ID: 7, Chain: 3, Tool: "codex", Cwd: "/work/shop", Mode: rewrite.Fresh,
			Reason: code, PromptBytes: 9, SentBytes: 9}
		refused := i
		refused.Reason, refused.FellBack = reason.Extends, code
		p := why.PassthroughReport{Reason: code, Calls: 2, Tools: []string{"codex"},
			Directories: []string{"/work/shop"}}
		general, err := why.Find(a, l, view.Reporter{}, string(code))
		if err != nil {
			t.Fatal(err)
		}
		reports := map[string]*why.Report{"of none": general, "of passed calls": why.Passed(a, p)}
		for name, row := range map[string]ledger.Record{"of a call": i,
			"of a refused call": refused} {
			if reports[name], err = why.Call(a, l, view.Reporter{}, row); err != nil {
				t.Fatal(err)
			}
		}
		for name, w := range reports {
			walked++
			for _, part := range []string{fmt.Sprintf(" Reason %s: %s. ", code, text.Meaning),
				" " + strings.TrimSuffix(w.Advice, ".") + ".", w.Setting} {
				if !strings.Contains(w.Text+" ", part) && (part != " ." || w.Advice != "") {
					t.Errorf("%s, %s: no %q in %q", code, name, part, w.Text)
				}
			}
			if text.Meaning == "" || strings.ContainsAny(w.Command, "{}") {
				t.Errorf("%s, %s: %+v", code, name, w)
			}
			if w.Command != "" {
				checkCommand(t, w.Command)
			}
			if reports["of a call"].Call == nil || reports["of passed calls"].Passed == nil {
				t.Errorf("%s, %s: neither a call nor passed ones", code, name)
			}
		}
		if text.Setting == "" {
			continue
		}
		if _, err := config.Parse("c.toml", text.Setting+"\n", "/home"); err != nil {
			t.Errorf("%s: %v", code, err)
		}
	}
	if walked < 4*70 {
		t.Errorf("only %d answers", walked)
	}
}

// checkCommand checks that a command line is one of shimctl's, with flags and arguments that it
// takes, or sets variables that the shim reads.
func checkCommand(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	if line == reason.NameTask {
		return
	}
	if len(words) > 0 && words[0] == "unset" {
		for _, name := range words[1:] {
			if !slices.Contains([]string{"REPRISE_FRESH", "REPRISE_OFF"}, name) {
				t.Errorf("%s: no reason for %s", line, name)
			}
		}
		return
	}
	if len(words) == 0 || words[0] != "shimctl" {
		t.Fatalf("%q: no command of a shell or of shimctl", line)
	}
	c, rest, err := newRoot(silent()).Find(words[1:])
	if err != nil || !c.HasParent() || c.HasSubCommands() {
		t.Fatalf("%s: no command of shimctl: %v", line, err)
	}
	if err := c.ParseFlags(rest); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		t.Errorf("%s: %v", line, err)
	}
}
