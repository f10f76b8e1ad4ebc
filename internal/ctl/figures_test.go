package ctl

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/saving"
	"reprise/internal/ctl/view"
	"reprise/rewrite"
	"reprise/test/sample"
)

// All commands show the same figures, if the tool reports the cost of calls and if the price list
// has it.
func TestFiguresAgree(t *testing.T) {
	for _, control := range []bool{false, true} {
		path := sample.Ledger(t, 2000, control)
		addUnusual(t, path)
		run := func(args ...string) string {
			t.Helper()
			var out, errs bytes.Buffer
			a := &app.App{Stdin: os.Stdin, Stdout: view.Screen{Writer: &out},
				Stderr: view.Screen{Writer: &errs}, Now: sample.Now,
				Environ: []string{"HOME=/home/me",
					"XDG_STATE_HOME=" + filepath.Dir(filepath.Dir(path))}}
			if code := a.Run(newRoot(a), args); code != app.ExitOK {
				t.Fatalf("%q: exit %d: %s", args, code, &errs)
			}
			return out.String()
		}
		read := func(into any, args ...string) {
			t.Helper()
			if err := json.Unmarshal([]byte(run(append(args, "--json")...)), into); err != nil {
				t.Fatal(err)
			}
		}
		type figures struct {
			calls, resumed, cost, most, input int64
			source                            string
		}
		var status struct {
			Recent recentReport
		}
		read(&status, "status", "--since", "2026-01-01")
		recent := status.Recent
		want := figures{recent.Resumed + recent.Fresh, recent.Resumed, *recent.CostNanoUSD,
			*recent.CostMost, recent.Input, recent.CostSource}
		if want.calls != 2001 || want.source != "mixed" || recent.Saved.Cost == 0 {
			t.Fatalf("%+v", want)
		}
		for _, by := range []string{"tool", "model", "day", "week", "cwd", "task", "role", "rule",
			"reason"} {
			var stats statsReport
			read(&stats, "stats", "--by", by)
			all := stats.Total
			if got := (figures{all.Calls, all.Resumed, *all.CostNanoUSD, *all.CostMost, all.Input,
				all.CostSource}); got != want {
				t.Errorf("stats --by %s: %+v, status: %+v", by, got, want)
			}
			var parts figures
			for _, g := range stats.Groups {
				parts.calls, parts.resumed, parts.input = parts.calls+g.Calls,
					parts.resumed+g.Resumed, parts.input+g.Input
				if g.CostNanoUSD != nil { // the killed call's is not known
					parts.cost += *g.CostNanoUSD
				}
			}
			if parts.calls != want.calls || parts.resumed != want.resumed ||
				parts.cost != want.cost || parts.input != want.input {
				t.Errorf("stats --by %s adds up to %+v, status: %+v", by, parts, want)
			}
			if got, want := sayable(stats.Saved), sayable(recent.Saved); got != want {
				t.Errorf("stats --by %s: %s, status: %s", by, got, want)
			}
		}
		var got figures
		for line := range strings.Lines(run("log", "--limit", "0", "--json")) {
			var i struct {
				Mode rewrite.Mode
				Cost int64 `json:"cost_nano_usd"`
			}
			if err := json.Unmarshal([]byte(line), &i); err != nil {
				t.Fatal(err)
			}
			if i.Mode == rewrite.Observe {
				continue
			}
			got.calls, got.cost = got.calls+1, got.cost+i.Cost
			if i.Mode.Continues() {
				got.resumed++
			}
		}
		if got.calls != want.calls || got.resumed != want.resumed || got.cost != want.cost {
			t.Errorf("log: %+v, status: %+v", got, want)
		}
		var chains struct {
			Chains []struct{ Calls, Resumed int64 }
		}
		read(&chains, "show", "--limit", "0")
		got = figures{}
		for _, c := range chains.Chains {
			got.calls, got.resumed = got.calls+c.Calls, got.resumed+c.Resumed
		}
		if got.calls != want.calls || got.resumed != want.resumed {
			t.Errorf("show: %+v, status: %+v", got, want)
		}
		cost := view.PriceCell(view.Sum{Known: true, Nano: want.cost, Most: want.most}).Human
		page := run("report", "--output", "-")
		for _, figure := range []string{fmt.Sprintf("%s resumed, %s fresh",
			view.Thousands(want.resumed), view.Thousands(want.calls-want.resumed)), cost,
			view.AmountCell("nano_usd", recent.Saved.Cost).Human,
			view.Sentence(recent.Saved.Headline)} {
			if !strings.Contains(page, ">"+figure+"<") {
				t.Errorf("the report has no %s", figure)
			}
		}
		if summary := run("stats", "--summary"); !strings.Contains(summary,
			"**reprise**, all calls: "+inMarkdown(recent.Saved.Headline)) ||
			!strings.Contains(summary, "| codex | ") || strings.Contains(summary, " n/a |\n") {
			t.Errorf("the summary says %s", summary)
		}
	}
}

// addUnusual adds a call that was killed, which counts, and a call that was only observed, which
// does not.
func addUnusual(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`INSERT INTO calls (chain_id, tool, cwd, format, prompt_bytes, sent_bytes, started, mode, reason, outcome, signal)
		SELECT id, tool, cwd, 'text', 300, 200, updated, 'resume', 'extends', 'killed', 15 FROM chains WHERE id = 1 UNION ALL
		SELECT NULL, tool, cwd, 'text', 300, 300, updated, 'observe', 'caller_session', 'ok', NULL FROM chains WHERE id = 1`); err != nil {
		t.Fatal(err)
	}
}

func sayable(s saving.Summary) string {
	return s.Headline + "; " + view.AmountCell("nano_usd", s.Cost).Raw +
		view.AmountCell("tokens", s.Tokens).Raw
}
