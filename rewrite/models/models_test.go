package models

import "testing"

func TestName(t *testing.T) {
	for model, want := range map[string]string{
		"claude-opus-5-5[1m]":              "claude-opus-5-5",
		"claude-sonnet-4-5-20250929":       "claude-sonnet-4-5",
		"claude-sonnet-4-5@20250929":       "claude-sonnet-4-5",
		"claude-sonnet-4-5-20250929[1m]":   "claude-sonnet-4-5",
		"anthropic/Claude-Opus-5-5":        "claude-opus-5-5",
		"models/gemini-2.5-pro":            "gemini-2.5-pro",
		"gpt-5-codex-2025-09-15":           "gpt-5-codex",
		"openrouter/google/gemini-2.5-pro": "google/gemini-2.5-pro", // one prefix only
		"z-ai/glm-5.1":                     "z-ai/glm-5.1",
		"/gemini-2.5-pro":                  "/gemini-2.5-pro",
		"devstral-2512":                    "devstral-2512",
		"gpt-5-2025-0x-15":                 "gpt-5-2025-0x-15",
		"-20250929":                        "",
		"two\nlines":                       "two\nlines",
		"":                                 "",
	} {
		if got := Name(model); got != want {
			t.Errorf("%q: %q, want %q", model, got, want)
		}
	}
}

func TestWindow(t *testing.T) {
	for model, want := range map[string]int64{
		"gemini-2.5-pro":         1_048_576,
		"models/gemini-2.5-pro":  1_048_576,
		"gpt-5.6-sol":            272_000,
		"gpt-5-codex-2025-09-15": 272_000,
		"claude-sonnet-4-5":      200_000,
		"claude-sonnet-4-5[1m]":  1_000_000,
		"codestral-2508":         128_000,
		"qwen3-coder-plus":       997_952,
		"gpt-4.1":                0,
		"gemini":                 0,
		"":                       0,
	} {
		if got := Window(model); got != want {
			t.Errorf("%s: %d, want %d", model, got, want)
		}
	}
}

// A model has one window.
func TestWindowsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range windows {
		for _, model := range w.models {
			if seen[model] {
				t.Errorf("%s is there twice", model)
			}
			seen[model] = true
		}
	}
}

// Each call of a tool that reports no window asks for one.
func BenchmarkWindow(b *testing.B) {
	for b.Loop() {
		Window("models/gemini-2.5-pro")
	}
}
