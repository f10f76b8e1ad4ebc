package prices

import (
	"strings"
	"testing"
	"time"

	"reprise/rewrite"
	"reprise/rewrite/models"
)

func day(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return d
}

func TestFind(t *testing.T) {
	table, err := Load("", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		model, day string
		cached     float64 // below 0 for no price
	}{
		{"claude-sonnet-5-5", "2026-10-06", 0.2},
		{"claude-sonnet-5-5", "2026-10-07", 0.1},
		{"claude-sonnet-5-5", "2026-09-27", -1}, // there was none yet
		{"claude-sonnet-5-5-20260928", "2026-11-01", 0.1},
		{"claude-opus-5-5[1m]", "2026-11-01", 0.2},
		{"anthropic/claude-opus-5-5", "2026-11-01", 0.2},
		{"gpt-5-codex-2025-09-15", "2026-11-01", 0.125},
		{"claude-opus-5-55", "2026-11-01", -1},
		{"gpt-5.1-codex", "2026-11-01", 0.125},
		{"gpt-5.6-sol", "2026-08-20", 0.5},
		{"gpt-5.6-sol", "2026-08-21", 0.4},
		{"claude-sonnet-4-5-20250929", "2026-11-01", 0.3},
		{"claude-opus-4-20250514", "2026-11-01", 1.5},
		{"mistral-large-4", "2026-10-28", 0.14},
		{"gpt-6", "2026-11-01", -1},
		{"", "2026-11-01", -1},
	} {
		p, ok := table.Find(c.model, day(c.day))
		if ok != (c.cached >= 0) || ok && *p.Cached != c.cached {
			t.Errorf("%s on %s: %v, %v", c.model, c.day, p, ok)
		}
	}
}

func TestCost(t *testing.T) {
	table, err := Load("", "")
	if err != nil {
		t.Fatal(err)
	}
	haiku, _ := table.Find("claude-haiku-5-5", day("2026-11-01"))
	u := rewrite.Usage{Input: 1000, CacheRead: 2_000_000, CacheWrite: 10, Output: 100}
	// 1000 at $0.10, 2 M at $0.01, 10 at $0.125, 100 at $0.50 a million.
	if nano, ok := haiku.Cost(u); !ok || nano != 100_000+20_000_000+1250+50_000 {
		t.Errorf("%d, %v", nano, ok)
	}
	if nano, ok := haiku.Long.Cost(u); !ok || nano != 5*(100_000+20_000_000+1250+50_000) {
		t.Errorf("long: %d, %v", nano, ok)
	}
	// A rate that is not known makes the price unknown, but only if it is needed.
	codex, _ := table.Find("gpt-5-codex", day("2026-11-01"))
	if _, ok := codex.Cost(rewrite.Usage{Input: 1, CacheWrite: 1}); ok {
		t.Error("a price without a rate")
	}
	if nano, ok := codex.Cost(rewrite.Usage{Input: 4, Output: 1}); !ok || nano != 15_000 {
		t.Errorf("%d, %v", nano, ok)
	}
}

func TestOverride(t *testing.T) {
	table, err := Load("mine.toml", "[[price]]\nmodel = \"claude-opus-5-5\"\ninput = "+
		"1\n[[price]]\nmodel = \"local\"\ninput = 0\noutput = 0\n")
	if err != nil {
		t.Fatal(err)
	}
	p, ok := table.Find("claude-opus-5-5", day("2020-01-01"))
	if !ok || *p.Input != 1 || p.Output != nil {
		t.Errorf("%v, %v", p, ok)
	}
	five := rewrite.Usage{Input: 5, Output: 5}
	if nano, ok := mustFind(t, table, "local").Cost(five); !ok || nano != 0 {
		t.Errorf("%d, %v", nano, ok)
	}
	mustFind(t, table, "claude-fable-5")
	if table.LongPrompt() != 100_000 {
		t.Errorf("%d", table.LongPrompt())
	}
	for text, problem := range map[string]string{
		"[[price]]\nmodel = \"x\"\nprice = 3":  "there is no key price.price",
		"[[price]]\ninput = 3":                 "has no model",
		"[[price]]\nmodel = \"x\"\ninput = -3": "-3 is no price",
		"[[price]":                             "mine.toml",
	} {
		if _, err := Load("mine.toml", text); err == nil ||
			!strings.Contains(err.Error(), problem) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// All that is wrong is said, with its line.
func TestAllProblems(t *testing.T) {
	_, err := Load("mine.toml", "# mine\n[[price]]\ninput = 1\n\n[[price]]\nmodel = "+
		"\"x\"\ninput = -3\noutput = 1e9\nprice = 1\n")
	want := "read prices: mine.toml: there is no key price.price\nread prices: mine.toml:2: a " +
		"price has no model\n" +
		"read prices: mine.toml:5: x: -3 is no price\nread prices: mine.toml:5: x: 1e+09 is no " +
		"price"
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func mustFind(t *testing.T, table *List, model string) Price {
	t.Helper()
	p, ok := table.Find(model, day("2026-11-01"))
	if !ok {
		t.Fatalf("%s has no price", model)
	}
	return p
}

// Each built-in price says where it stands, its model has a window, and rates for long prompts are
// not lower.
func TestBuiltIn(t *testing.T) {
	list, err := parse("prices.toml", embedded)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, p := range list {
		key := p.Model + p.Since.String()
		if !strings.HasPrefix(p.Source, "https://") || p.Input == nil || p.Output == nil ||
			models.Window(p.Model) == 0 || seen[key] {
			t.Errorf("%+v", p)
		}
		seen[key] = true
		for i, rate := range p.Long.all() {
			if rate != nil && *rate <= *p.all()[i] {
				t.Errorf("%s: %v for a long prompt, %v for a short one", p.Model, *rate,
					*p.all()[i])
			}
		}
	}
}
