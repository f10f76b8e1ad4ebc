package export

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"reprise/ledger/history"
)

// A family is one metric with all its samples.
type family struct {
	name, kind, help string
	labels           []string // of the samples, in order
	values           map[string]int64
}

func (f *family) add(value int64, labels ...string) {
	text := labelText(labels)
	if _, known := f.values[text]; !known {
		f.labels = append(f.labels, text)
	}
	f.values[text] += value
}

// labelText writes labels, given as alternating names and values.
func labelText(labels []string) string {
	var out []string
	for i := 0; i < len(labels); i += 2 {
		out = append(out, labels[i]+`="`+escapeLabel.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD"))+`"`)
	}
	if len(out) == 0 {
		return ""
	}
	return "{" + strings.Join(out, ",") + "}"
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// Figures are what is exported to Prometheus.
type Figures struct {
	Version  string
	Chains   int64
	Tallies  []history.Tally
	Sessions []history.Census
	Passed   []history.PassedRow
}

// Prometheus writes figures in the text exposition format 0.0.4, without
// timestamps. Labels take few values: tools, modes, reasons, outcomes, states.
func Prometheus(w io.Writer, f Figures) error {
	var text strings.Builder
	for _, m := range families(f) {
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s %s\n", m.name, m.help, m.name, m.kind)
		for _, labels := range m.labels {
			fmt.Fprintf(&text, "%s%s %s\n", m.name, labels, m.format(m.values[labels]))
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// format writes a value in the unit that the metric's name ends in. Sums are kept in
// whole milliseconds and nano-dollars.
func (f *family) format(value int64) string {
	switch {
	case strings.Contains(f.name, "_seconds"):
		return decimal(value, 3)
	case strings.Contains(f.name, "_dollars"):
		return decimal(value, 9)
	}
	return strconv.FormatInt(value, 10)
}

// decimal writes a value divided by ten to the power of places, without rounding.
func decimal(value int64, places int) string {
	text := fmt.Sprintf("%0*d", places+1, value)
	whole, part := text[:len(text)-places], strings.TrimRight(text[len(text)-places:], "0")
	if part == "" {
		return whole
	}
	return whole + "." + part
}

func families(f Figures) (all []*family) {
	metric := func(name, kind, help string) *family {
		m := &family{name: name, kind: kind, help: help, values: map[string]int64{}}
		all = append(all, m)
		return m
	}
	build := metric("reprise_build_info", "gauge", "Always 1; the version that wrote this.")
	chains := metric("reprise_chains", "gauge", "Chains in the ledger.")
	sessions := metric("reprise_sessions", "gauge", "Sessions in the ledger, by state.")
	running := metric("reprise_invocations_running", "gauge", "Calls whose end is not recorded.")
	calls := metric("reprise_invocations_total", "counter", "Calls that have ended.")
	fallbacks := metric("reprise_fallbacks_total", "counter", "Resumes and forks that were given up for a fresh run, by why.")
	seconds := metric("reprise_invocation_seconds_total", "counter", "Time that ended calls took.")
	prompt := metric("reprise_prompt_bytes_total", "counter", "Bytes of the prompts that callers sent.")
	sent := metric("reprise_sent_bytes_total", "counter", "Bytes of the prompts that models were sent.")
	metered := metric("reprise_metered_invocations_total", "counter", "Ended calls whose tokens are known.")
	tokens := metric("reprise_tokens_total", "counter", "Tokens of the metered calls, in disjoint kinds.")
	priced := metric("reprise_priced_invocations_total", "counter", "Ended calls whose cost the tool reported.")
	cost := metric("reprise_cost_dollars_total", "counter", "Cost of the priced calls, as reported by the tools.")
	passed := metric("reprise_passed_through_total", "counter", "Headless calls that were passed through, by why.")

	build.add(1, "version", f.Version)
	chains.add(f.Chains)
	for _, s := range f.Sessions {
		sessions.add(s.Sessions, "tool", s.Tool, "state", string(s.State))
	}
	for _, t := range f.Tallies {
		by := []string{"tool", t.Tool, "mode", string(t.Mode)}
		if t.Outcome == "" {
			running.add(t.Calls, by...)
			continue
		}
		calls.add(t.Calls, append(by[:len(by):len(by)], "reason", string(t.Reason), "outcome", t.Outcome)...)
		if t.FellBack != "" {
			fallbacks.add(t.Calls, "tool", t.Tool, "reason", string(t.FellBack))
		}
		seconds.add(t.Millis, by...)
		prompt.add(t.PromptBytes, by...)
		sent.add(t.SentBytes, by...)
		metered.add(t.Metered, by...)
		for _, k := range []struct {
			name   string
			tokens int64
		}{{"input", t.Input}, {"cache_read", t.CacheRead}, {"cache_write", t.CacheWrite}, {"output", t.Output}} {
			tokens.add(k.tokens, append(by[:len(by):len(by)], "kind", k.name)...)
		}
		priced.add(t.Priced, by...)
		cost.add(t.Cost, by...)
	}
	for _, p := range f.Passed {
		passed.add(p.Calls, "tool", p.Tool, "reason", string(p.Reason))
	}
	return all
}
