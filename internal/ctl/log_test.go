package ctl

import (
	"reflect"
	"strings"
	"testing"
)

// A line of log --json has every field that a call is exported with elsewhere: GenAI's attributes
// of a span, and the labels and sums that a time series of calls needs.
func TestLogHasEveryField(t *testing.T) {
	fields := jsonFields(reflect.TypeFor[callLine]())
	for _, name := range []string{
		"id", "started", "duration_ms", "tool", "format", "directory", "task", "role", "rule",
		"caller", "chain", "session", "resumed_from",
		"mode", "reason", "detail", "class", "fell_back", "changed", "evidence", "arm", "outcome",
		"exit", "signal",
		"requested_model", "model", "prompt_bytes", "sent_bytes", "input_tokens",
		"cache_read_tokens",
		"cache_write_tokens", "output_tokens",
		"cost_nano_usd", "cost_source",
	} {
		if !fields[name] {
			t.Errorf("log --json has no %s: %v", name, fields)
		}
	}
}

// jsonFields returns the names of a struct's fields in JSON.
func jsonFields(of reflect.Type) map[string]bool {
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names[name] = true
	}
	return names
}
