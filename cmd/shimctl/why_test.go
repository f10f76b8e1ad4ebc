package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/config"
	"reprise/internal/ui"
	"reprise/ledger"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

func testApp() *app {
	return &app{stdout: ui.Screen{Writer: io.Discard}, stderr: ui.Screen{Writer: io.Discard}, now: time.Now()}
}

// For each reason there is, why says what it means and what would change it, and gives a command that exists: of a
// call that has the reason, of one whose resume was given up for it, of passed calls, and without any.
func TestWhy(t *testing.T) {
	l, err := ledger.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, walked := testApp(), 0
	for _, text := range reason.Table {
		why := text.Code
		i := ledger.Invocation{ID: 7, Chain: 3, Tool: "codex", Cwd: "/work/shop", Mode: rewrite.Fresh, Reason: why, PromptBytes: 9, SentBytes: 9}
		refused := i
		refused.Reason, refused.FellBack = reason.Extends, why
		p := passedReport{Reason: why, Calls: 2, Tools: []string{"codex"}, Directories: []string{"/work/shop"}}
		general, err := a.findWhy(l, reporter{}, string(why))
		if err != nil {
			t.Fatal(err)
		}
		reports := map[string]*whyReport{"of none": general, "of passed calls": a.whyPassed(p)}
		for name, row := range map[string]ledger.Invocation{"of a call": i, "of a refused call": refused} {
			if reports[name], err = a.whyCall(l, reporter{}, row); err != nil {
				t.Fatal(err)
			}
		}
		for name, w := range reports {
			walked++
			for _, part := range []string{fmt.Sprintf(" Reason %s: %s. ", why, text.Meaning), " " + text.Advice + ".", text.Setting} {
				if !strings.Contains(w.Text, part) {
					t.Errorf("%s, %s: no %q in %q", why, name, part, w.Text)
				}
			}
			if text.Meaning == "" || text.Advice == "" || strings.ContainsAny(w.Command, "{}") {
				t.Errorf("%s, %s: %+v", why, name, w)
			}
			checkCommand(t, w.Command)
			if reports["of a call"].Call == nil || reports["of passed calls"].Passed == nil {
				t.Errorf("%s, %s: neither a call nor passed ones", why, name)
			}
		}
		if text.Setting == "" {
			continue
		}
		if _, err := config.Parse("c.toml", text.Setting+"\n", "/home"); err != nil {
			t.Errorf("%s: %v", why, err)
		}
	}
	if walked < 4*70 {
		t.Errorf("only %d answers", walked)
	}
}

// A session is dead for another reason, and that one can be changed.
func TestWhyOfADeadSession(t *testing.T) {
	l, err := ledger.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w, err := testApp().whyCall(l, reporter{}, ledger.Invocation{Tool: "claude", Mode: rewrite.Fresh, Reason: reason.SessionDead, Detail: reason.RefusedContext})
	if err != nil || w.Setting != adviceFor(reason.RefusedContext, "claude", 0).Setting || !strings.Contains(w.Text, "exceeded (refused_context_exceeded)") {
		t.Errorf("%+v, %v", w, err)
	}
}

// checkCommand checks that a command line is one of shimctl's, with flags and arguments that it takes, or a call of a
// tool, with variables that the shim reads.
func checkCommand(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	words = slices.DeleteFunc(words, func(word string) bool { return strings.HasPrefix(word, "<") })
	variables := []string{"REPRISE_TASK", "REPRISE_ROLE", "REPRISE_FRESH", "REPRISE_OFF"}
	for len(words) > 0 && strings.Contains(words[0], "=") {
		if name, _, _ := strings.Cut(words[0], "="); !slices.Contains(variables, name) {
			t.Errorf("%s: the shim reads no variable %s", line, name)
		}
		words = words[1:]
	}
	if len(words) == 0 {
		t.Fatalf("%q is no command", line)
	}
	if tool, ok := rewrite.Lookup(words[0]); ok {
		if headless := tool.Descriptor().Headless; len(words) < len(headless) || !slices.Equal(words[:len(headless)], headless) {
			t.Errorf("%s: not headless", line)
		}
		return
	}
	if words[0] != "shimctl" {
		t.Fatalf("%s: neither shimctl nor a tool", line)
	}
	c, rest, err := testApp().root().Find(words[1:])
	if err != nil || !c.HasParent() || c.HasSubCommands() {
		t.Fatalf("%s: no command of shimctl: %v", line, err)
	}
	if err := c.ParseFlags(rest); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		t.Errorf("%s: %v", line, err)
	}
	if c.Name() == "explain" {
		checkCommand(t, strings.Join(c.Flags().Args(), " "))
	}
}

// The setting that why gives would have had the call resumed.
func TestWhySettingsSuffice(t *testing.T) {
	const hour = 3_600_000
	f := whyFacts{before: &ledger.SessionRow{Created: 1, LastUsed: 10*hour + 1, Context: rewrite.Context{Used: 171_000, Limit: 200_000}}}
	for reason, want := range map[reason.Code]string{
		reason.Idle: `ttl = "6h"`, reason.TooOld: `max_age = "16h"`, reason.ContextFull: "context_limit = 0.86", reason.ErrorLimit: "error_limit = 6",
		reason.ModelChanged: "",
	} {
		got := testApp().settingFor(ledger.Invocation{Reason: reason, Started: 15*hour + 2}, f)
		if _, err := config.Parse("c.toml", got, ""); got != want || err != nil {
			t.Errorf("%s: %s, want %s, %v", reason, got, want, err)
		}
	}
	f.before.Context.Used = 200_001
	if got := testApp().settingFor(ledger.Invocation{Reason: reason.ContextFull}, f); got != "" {
		t.Errorf("beyond the context: %s", got)
	}
	f.before.Context, f.before.Answered = rewrite.Context{Used: 900_000}, "gemini-2.5-pro"
	if got := testApp().settingFor(ledger.Invocation{Reason: reason.ContextFull}, f); got != "context_limit = 0.86" {
		t.Errorf("of an assumed window: %s", got)
	}
}

// A window that is assumed is said to be so, and why.
func TestWindowWords(t *testing.T) {
	for _, c := range []struct {
		session ledger.SessionRow
		want    string
	}{
		{ledger.SessionRow{Context: rewrite.Context{Used: 90, Limit: 100}, Answered: "gemini-2.5-pro"}, "90 of 100 tokens of context;"},
		{ledger.SessionRow{Context: rewrite.Context{Used: 900_000}, Answered: "gemini-2.5-pro"},
			"900000 of 1048576 tokens of context (the window of gemini-2.5-pro; the tool reports none); above 838861 "},
		{ledger.SessionRow{Context: rewrite.Context{Used: 170_000}, Model: "qwen3-max"}, "170000 of 258048 tokens of context (the window of qwen3-max; "},
		{ledger.SessionRow{Context: rewrite.Context{Used: 170_000}, Model: "gemini-2.5-pro", Answered: "stub"},
			"170000 of 200000 tokens of context (assumed: the tool reports no window, and none is known of stub); above 160000 "},
		{ledger.SessionRow{Context: rewrite.Context{Used: 170_000}}, "none is known of the tool's own model)"},
	} {
		if got := nearlyFull(c.session.Context, sessionModel(c.session), 0.8); !strings.Contains(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	f := whyFacts{before: &ledger.SessionRow{Context: rewrite.Context{Used: 900_000}, Answered: "gemini-2.5-pro"}}
	said := strings.Join(testApp().sessionEvidence(ledger.Invocation{Reason: reason.ContextFull}, f), "")
	if !strings.Contains(said, "of context (the window of gemini-2.5-pro; the tool reports none); context_limit is 0.8 now.") {
		t.Error(said)
	}
}
