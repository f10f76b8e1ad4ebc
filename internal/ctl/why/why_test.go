package why

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/config"
	"reprise/internal/ctl/app"
	"reprise/internal/ctl/view"
	"reprise/ledger"
	"reprise/ledger/history"
	"reprise/rewrite"
	"reprise/rewrite/reason"
)

func silent() *app.App {
	return &app.App{Stdout: view.Screen{Writer: io.Discard},
		Stderr: view.Screen{Writer: io.Discard}, Now: time.Now()}
}

// A session is dead for another reason, and that one can be changed.
func TestWhyOfADeadSession(t *testing.T) {
	l, err := ledger.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w, err := Call(silent(), l, view.Reporter{}, ledger.Record{Tool: "claude", Mode: rewrite.Fresh,
		Reason: reason.SessionDead, Detail: reason.RefusedContext})
	if err != nil || w.Setting != view.AdviceFor(reason.RefusedContext, 0, 0).Setting ||
		!strings.Contains(w.Text, "exceeded (refused_context_exceeded)") {
		t.Errorf("%+v, %v", w, err)
	}
}

// At a terminal a call is explained in three lines, and --all prints the evidence too.
func TestThreeLines(t *testing.T) {
	l, err := ledger.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	call := ledger.Record{ID: 2, Tool: "claude", Cwd: "/shop", Mode: rewrite.Fresh, Rule: "night"}
	for _, row := range []struct {
		reason  reason.Code
		changed []string
		mode    rewrite.Mode
		want    []string
	}{
		{reason.SettingsChanged, []string{"--model", "MAX_TOKENS"}, rewrite.Fresh, []string{
			"was fresh", "Changed: --model, MAX_TOKENS.", "Make all calls",
		}},
		{reason.Extends, nil, rewrite.Resume,
			[]string{"resumed session",
				"Reason extends: the prompt repeats the session's prompts"}},
		{reason.Idle, nil, rewrite.Fresh, []string{"was fresh", "Reason idle: ",
			": shimctl config set ttl "}},
	} {
		call.Reason, call.Changed, call.Mode = row.reason, row.changed, row.mode
		w, err := Call(silent(), l, view.Reporter{}, call)
		if err != nil {
			t.Fatal(err)
		}
		lines := w.lines()
		if len(lines) != len(row.want) || !strings.Contains(w.Text, "Rule night matched.") {
			t.Fatalf("%s: %q of %q", row.reason, lines, w.Text)
		}
		for n, want := range row.want {
			if !strings.Contains(lines[n], want) || strings.Contains(lines[n], "Rule night") {
				t.Errorf("%s: no %q in %q", row.reason, want, lines[n])
			}
		}
	}
}

// Each decision, reason and advice fits a line of 80 columns.
func TestLinesFit(t *testing.T) {
	l, err := ledger.OpenMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, row := range slices.Concat(reason.Table, reason.Refusals) {
		if row.Class == reason.ClassContinues {
			continue
		}
		w, err := Call(silent(), l, view.Reporter{}, ledger.Record{ID: 12, Chain: 12,
			Tool: "claude", Cwd: "/work/shop", Mode: rewrite.Fresh, Reason: row.Code})
		if err != nil {
			t.Fatal(err)
		}
		w.main = nil // it varies
		for _, line := range w.lines() {
			if len(line) > 80 && !strings.Contains(line, "The configuration has ") {
				t.Errorf("%s: %d columns: %s", row.Code, len(line), line)
			}
		}
	}
}

// The setting that why gives would have had the call resumed.
func TestWhySettingsSuffice(t *testing.T) {
	m := Case{HasSession: true, Idle: 5*time.Hour + 1, Age: 15*time.Hour + 1,
		Context: rewrite.Context{Used: 171_000, Limit: 200_000}}
	because := func(why reason.Code) Case {
		m.Reason = why
		return m
	}
	for why, want := range map[reason.Code]string{
		reason.Idle: `ttl = "6h"`, reason.TooOld: "", reason.ContextFull: "context_limit = 0.86",
		reason.ModelChanged: "",
	} {
		got, _, _ := limitSetting(config.Default(), because(why))
		if _, err := config.Parse("c.toml", got, ""); got != want || err != nil {
			t.Errorf("%s: %s, want %s, %v", why, got, want, err)
		}
	}
	m.Context.Used = 200_001
	if got, _, known := limitSetting(config.Default(),
		because(reason.ContextFull)); got != "" || !known {
		t.Errorf("beyond the context: %s", got)
	}
	m.Context, m.Model = rewrite.Context{Used: 900_000}, "gemini-2.5-pro"
	if got, _, _ := limitSetting(config.Default(),
		because(reason.ContextFull)); got != "context_limit = 0.86" {
		t.Errorf("of an assumed window: %s", got)
	}
}

// A window that is assumed is said to be so, and why.
func TestWindowWords(t *testing.T) {
	for _, c := range []struct {
		session history.SessionRow
		want    string
	}{
		{history.SessionRow{Context: rewrite.Context{Used: 90, Limit: 100},
			Answered: "gemini-2.5-pro"}, "90 of 100 tokens of context;"},
		{history.SessionRow{Context: rewrite.Context{Used: 900_000}, Answered: "gemini-2.5-pro"},
			"900000 of 1048576 tokens of context (the window of gemini-2.5-pro; the tool " +
				"reports none); above 838861 "},
		{history.SessionRow{Context: rewrite.Context{Used: 170_000}, Model: "qwen3-max"},
			"170000 of 258048 tokens of context (the window of qwen3-max; "},
		{history.SessionRow{Context: rewrite.Context{Used: 170_000}, Model: "gemini-2.5-pro",
			Answered: "stub"},
			"170000 of 200000 tokens of context (assumed: the tool reports no window, and none " +
				"is known of stub); above 160000 "},
		{history.SessionRow{Context: rewrite.Context{Used: 170_000}},
			"none is known of the tool's own model)"},
	} {
		if got := NearlyFull(c.session.Context, SessionModel(c.session),
			0.8); !strings.Contains(got, c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	f := whyFacts{before: &history.SessionRow{Context: rewrite.Context{Used: 900_000},
		Answered: "gemini-2.5-pro"}}
	var w Report
	i := ledger.Record{Reason: reason.ContextFull}
	w.evidence(silent(), i, f, f.made(i))
	if said := strings.Join(w.Evidence, ""); !strings.Contains(said,
		"of context (the window of gemini-2.5-pro; the tool reports "+
			"none); context_limit is 0.8 now.") {
		t.Error(said)
	}
}

// A setting that the configuration has by now is advised no more, nor a command that
// cannot change a rule.
func TestAdviceThatIsTaken(t *testing.T) {
	before := config.Default()
	if got := advise(before, Case{Reason: reason.Leased}); got.Command !=
		"shimctl config set busy wait" {
		t.Errorf("%+v", got)
	}
	taken := before
	taken.Busy = config.BusyWait
	if got := advise(taken, Case{Reason: reason.Leased, Made: true}); got.Command != "" ||
		got.Setting != "" || !strings.HasSuffix(got.Advice,
		`. The configuration has busy = "wait" now`) {
		t.Errorf("taken: %+v", got)
	}
	if got := advise(taken, Case{Reason: reason.Leased}); got.Command != "" ||
		strings.Contains(got.Advice, "configuration") {
		t.Errorf("taken, without a call: %+v", got)
	}
	ruled := before
	ruled.Rules = []config.Rule{{Name: "a", Policy: before.Policy}}
	ruled.Rules[0].TTL = 1
	if got := advise(ruled, Case{Reason: reason.Idle, Rule: "a",
		HasSession: true, Idle: 1}); got.Command != "" ||
		got.Setting != `ttl = "1h"` {
		t.Errorf("of a rule: %+v", got)
	}
	if got := advise(ruled, Case{Reason: reason.Leased, Rule: "a"}); got.Command !=
		"shimctl config set busy wait" {
		t.Errorf("of a key that no rule has: %+v", got)
	}
	if got := advise(before, Case{Reason: reason.Never, Rule: "ralph"}); got.Command !=
		"shimctl config set presets_off ralph" {
		t.Errorf("of a preset: %+v", got)
	}
	if got := advise(before, Case{Reason: reason.Identical,
		Continues: true}); got.Advice+got.Command+got.Setting != "" {
		t.Errorf("of a resumed call: %+v", got)
	}
	for rule, want := range map[string]bool{"": false, "a": true} {
		got := advise(before, Case{Reason: reason.NoEvidence, Rule: rule, Made: true})
		if strings.Contains(got.Advice, "strict") != want || got.Command == "" {
			t.Errorf("of rule %q: %+v", rule, got)
		}
	}
	for _, row := range reason.Table {
		if got := advise(before, Case{Reason: row.Code, Task: "t", Chain: 1}); strings.Contains(
			got.Command, "REPRISE_TASK") {
			t.Errorf("%s of a task that has a name: %s", row.Code, got.Command)
		}
	}
}
