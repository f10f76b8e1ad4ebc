package models

import "testing"

func TestRestated(t *testing.T) {
	for model, want := range map[string]bool{
		"claude-opus-5-5[1m]": true, "anthropic/claude-haiku-5-5": true,
		"claude-opus-4-8-20260401": true,
		"claude-sonnet-4-6":        false, "claude-opus-4-6": false, "glm-5.1": false, "": false,
	} {
		if got := Restated(model); got != want {
			t.Errorf("%q: %v", model, got)
		}
	}
}
