package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"reprise/rewrite"
)

// A Value is one key with its value in effect, as it would be written in the file.
type Value struct {
	Key   string
	Value string // TOML; "" if nothing is set
	About string // what the key is for, in few words
}

// Value returns the value of a key outside of rules. known is false if there is no such key.
func (c Config) Value(key string) (value string, known bool) {
	for _, v := range c.Values() {
		if v.Key == key {
			return v.Value, true
		}
	}
	return "", false
}

// Values returns all keys allowed outside of rules. None of them is a secret: of the store's URL they
// have what may be shown.
func (c Config) Values() []Value {
	history := ""
	if c.Prune.KeepHistory > 0 {
		history = quoted(written(c.Prune.KeepHistory))
	}
	superseded := quoted("off")
	if c.Prune.Superseded > 0 {
		superseded = quoted(written(c.Prune.Superseded))
	}
	command := ""
	if c.Budget.Command != "" {
		command = quoted(c.Budget.Command)
	}
	list := []Value{
		{"enabled", strconv.FormatBool(c.Enabled), "false: every call becomes the real binary"},
		{"ttl", quoted(written(c.TTL)), "a session idle for longer is not resumed"},
		{"max_age", quoted(written(c.MaxAge)), "a session that was started longer ago is not resumed"},
		{"unnamed", quoted(c.Unnamed), "what a call without a name needs to be resumed: evidence, extends or off"},
		{"identical", quoted(c.Identical), "how the same prompt again is treated: fresh or resume"},
		{"unrelated", quoted(c.Unrelated), "how another template for a named job is treated: fresh or resume"},
		{"delta", quoted(c.Delta), "auto: a resumed session is sent only what is new, if that pays; or off"},
		{"busy", quoted(c.Busy), "what happens if another process uses the session: fresh, fork or wait"},
		{"dearer", quoted(c.Dearer), "what happens to calls whose resumes cost more than fresh runs: fresh or resume"},
		{"cache_ttl", quoted(c.CacheTTL), "auto: the provider keeps a prompt for an hour if the pauses between calls make that cheaper; or off"},
		{"steady_prompt", strconv.FormatBool(c.Steady), "true: claude before 2.1.277 keeps what changes, as git's status, out of the system prompt"},
		{"rollout", number(c.Rollout), "the share of chains that are resumed; the others stay fresh, to compare with"},
		{"delta_rollout", number(c.Deltas), "the share of chains whose resumed sessions get deltas; the others get whole prompts, to compare with"},
		{"budget.calls_per_hour", strconv.Itoa(c.Budget.CallsPerHour), "a chain that makes more calls in an hour is warned about; 0: no limit"},
		{"budget.dollars_per_day", number(c.Budget.DollarsPerDay), "a chain that costs as much in 24 hours is warned about; 0: no limit"},
		{"budget.tokens_per_day", strconv.FormatInt(c.Budget.TokensPerDay, 10), "a chain that uses as many tokens in 24 hours, weighted by price, is warned about; 0: no limit"},
		{"budget.tokens_per_job", strconv.FormatInt(c.Budget.TokensPerJob, 10), "the same for all of its calls"},
		{"budget.command", command, "sh runs it once when a chain passes such a limit"},
		{"budget.stop", strconv.FormatBool(c.Budget.Stop), "true: further calls of such a chain fail instead"},
		{"presets", strconv.FormatBool(c.Presets), "whether the built-in rules are used"},
		{"presets_off", listed(c.PresetsOff), "built-in rules that are not used"},
		{"error_limit", strconv.Itoa(c.ErrorLimit), "a session from which so many runs failed is not resumed; 0: no limit"},
		{"context_limit", number(c.ContextLimit), "a session that has used more of its context than this share is not resumed"},
		{"gate_timeout", quoted(written(c.GateTimeout)), "how long a resumed run's output is held back until the tool has accepted the resume"},
		{"daily_note", strconv.FormatBool(c.DailyNote), "true: a day's first resumed call that you type at a terminal ends with a line on stderr"},
		{"prune.auto", strconv.FormatBool(c.Prune.Auto), "whether the shims start shimctl prune once a day"},
		{"prune.keep_within", quoted(written(c.Prune.KeepWithin)), "shimctl prune keeps sessions that were used within this time"},
		{"prune.keep_history", history, "how long the ledger keeps chains and calls; forever if unset"},
		{"prune.superseded", superseded, "how long sessions stay that were continued in a copy; off: as long as others"},
		{"log.level", quoted(c.Log.Level), "how much is logged: info, debug or off"},
		{"doctor.ignore", listed(c.Doctor.Ignore), "checks of shimctl doctor that are silenced"},
	}
	list = append(list, c.Store.values()...)
	for _, name := range rewrite.Names {
		t := c.Tools[name]
		path := ""
		if t.Path != "" {
			path = quoted(t.Path)
		}
		list = append(list,
			Value{"tool." + name + ".enabled", strconv.FormatBool(t.Enabled), "false: calls of this tool become the real binary"},
			Value{"tool." + name + ".path", path, "the real binary, instead of the next one on PATH"},
			Value{"tool." + name + ".unset_env", listed(t.UnsetEnv), "variables that a managed run of this tool does not get"})
	}
	return list
}

// quoted returns a TOML string.
func quoted[T ~string](text T) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range string(text) {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func listed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	var all []string
	for _, name := range names {
		all = append(all, quoted(name))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// written formats a duration without zero minutes and seconds.
func written(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
