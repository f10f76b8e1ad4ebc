// Package models knows models by their names. The shim links it, so it does no work before it is
// asked, and it never reads a file. Invariant: nothing is said of a name that it does not know.
package models

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// longContext is claude's mark of a model that is used with a long context window.
const longContext = "[1m]"

// Name returns a model's name without the additions of providers and tools: the provider, the date
// of the snapshot, claude's mark of a long context.
func Name(model string) string {
	name := strings.TrimSuffix(strings.ToLower(model), longContext)
	if provider, rest, ok := strings.Cut(name, "/"); ok && provider != "" &&
		strings.Trim(provider, "abcdefghijklmnopqrstuvwxyz") == "" {
		name = rest
	}
	return date().ReplaceAllString(name, "")
}

// date matches the date of a snapshot at the end of a name.
var date = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:[-@]\d{8}|-\d{4}-\d\d-\d\d)$`)
})

// Window returns a model's context window in tokens, 0 if it is not known.
func Window(model string) int64 {
	if strings.HasSuffix(strings.ToLower(model), longContext) {
		return 1_000_000
	}
	name := Name(model)
	for _, w := range windows {
		if slices.Contains(w.models, name) {
			return w.tokens
		}
	}
	return 0
}

// restated lists models for which claude changes the last message of a session of one request when
// it resumes: from a list of one text to a string. A strict cache then matches only system prompt
// and tools (anthropics/claude-code#93490). Measured with claude 2.1.329 and 2.1.330;
// claude-sonnet-4-6 and claude-opus-4-6 are not among them.
var restated = []string{
	"claude-fable-5", "claude-fable-5-1", "claude-haiku-5-5", "claude-opus-4-8", "claude-opus-5",
	"claude-opus-5-5", "claude-sonnet-5", "claude-sonnet-5-5",
}

// Restated reports whether claude resumes a session of one request with this model in another form
// than it was sent.
func Restated(model string) bool { return slices.Contains(restated, Name(model)) }

// windows are the context windows with the plain names of the models that have them.
//
// Looked up in November 2026, in genai-prices 0.2.3 and litellm 1.109.1 (PyPI), which are kept from
// the providers' lists, and where a comment says so. If they differ, the smaller one counts: a
// window that is assumed too large costs a resume that the tool refuses.
var windows = []struct {
	tokens int64
	models []string
}{
	// Anthropic: https://platform.claude.com/docs/en/build-with-claude/context-windows
	{1_000_000, []string{"claude-fable-5", "claude-fable-5-1", "claude-fable-5-2",
		"claude-haiku-5-5", "claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8",
		"claude-opus-5", "claude-opus-5-5", "claude-sonnet-4-6", "claude-sonnet-5",
		"claude-sonnet-5-5"}},
	{200_000, []string{"claude-haiku-4-5", "claude-opus-4", "claude-opus-4-1", "claude-opus-4-5",
		"claude-sonnet-4", "claude-sonnet-4-5"}},

	// OpenAI: the windows of codex's list of models, above which the newer ones cost twice as much.
	// Their API takes up to 1,050,000: https://developers.openai.com/api/docs/models
	{272_000, []string{"gpt-5", "gpt-5-codex", "gpt-5-mini", "gpt-5-nano", "gpt-5.1",
		"gpt-5.1-codex", "gpt-5.1-codex-max", "gpt-5.1-codex-mini", "gpt-5.2", "gpt-5.2-codex",
		"gpt-5.3-codex", "gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.5", "gpt-5.6-luna",
		"gpt-5.6-sol", "gpt-5.6-terra", "gpt-6-astra", "gpt-6-luna", "gpt-6-sol", "gpt-6.1-sol",
		"gpt-6.1-terra"}},
	{200_000, []string{"codex-mini-latest"}},

	// Google: https://ai.google.dev/gemini-api/docs/models
	{1_048_576, []string{"gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite",
		"gemini-3-flash-preview", "gemini-3-pro-preview", "gemini-3.1-flash-lite",
		"gemini-3.1-flash-lite-preview", "gemini-3.1-pro-preview",
		"gemini-3.1-pro-preview-customtools", "gemini-3.5-flash", "gemini-3.5-flash-lite",
		"gemini-3.6-flash", "gemini-3.7-flash", "gemini-3.8-flash", "gemini-4-argon"}},

	// Mistral: https://docs.mistral.ai/getting-started/models
	{1_048_576, []string{"mistral-large-4"}},
	{262_144, []string{"mistral-large-2512", "mistral-medium-3-5", "mistral-medium-3.5",
		"mistral-medium-2604", "mistral-medium-latest", "mistral-small-2603"}},
	{256_000, []string{"devstral-2512", "devstral-latest", "devstral-medium-latest",
		"devstral-small-latest"}},
	{128_000, []string{"codestral-2508", "devstral-medium-2507", "devstral-small-2507"}},

	// Qwen: https://github.com/QwenLM/qwen-code/blob/main/packages/core/src/core/tokenLimits.ts
	{997_952, []string{"coder-model", "qwen3-coder-flash", "qwen3-coder-plus"}},
	{991_808, []string{"qwen3.7-max", "qwen3.7-plus", "qwen3.8-flash", "qwen3.8-max"}},
	{256_000, []string{"qwen3-coder-next"}},
	{258_048, []string{"qwen3-max"}},

	// Others that gateways serve.
	{1_000_000, []string{"deepseek-flash", "deepseek-v4-flash", "deepseek-v4-pro", "glm-5.2",
		"glm-5.3"}},
	{1_048_576, []string{"kimi-k3", "kimi-k3.1-pro"}},
	{262_144, []string{"kimi-k2.5", "kimi-k2.6", "kimi-k2.7-code"}},
	{200_000, []string{"glm-4.6", "glm-4.7", "glm-5", "glm-5.1"}},
}
