package rule

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"reprise/ledger"
	"reprise/rewrite/prompt"
)

// The prompt in a tool's file counts only if it begins as the ledger's digests say.
func TestPromptOf(t *testing.T) {
	key, text := prompt.Key("a key for tests"), "You are the coder.\n\nBuild it."
	file := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"type":"user","message":{"content":%q}}`, text), 0o600); err != nil {
		t.Fatal(err)
	}
	f := prompt.New(text, key).Footprint()
	c := ledger.FreshCall{Tool: "claude", File: file, Footprint: f}
	if p := promptOf(c, key); p == nil || p.Text != text {
		t.Errorf("%+v", p)
	}
	for name, change := range map[string]func(*ledger.FreshCall){
		"another prompt":   func(c *ledger.FreshCall) { c.Footprint = prompt.New("Another.", key).Footprint() },
		"no file":          func(c *ledger.FreshCall) { c.File = "" },
		"a file that went": func(c *ledger.FreshCall) { c.File += ".gone" },
		"another tool":     func(c *ledger.FreshCall) { c.Tool = "vibe" },
	} {
		other := c
		change(&other)
		if p := promptOf(other, key); p != nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestCallerWords(t *testing.T) {
	for want, c := range map[string]ledger.FreshCall{
		"loop.sh":       {Caller: "loop.sh", Tool: "claude", Cwd: "/work/shop"},
		"codex in shop": {Tool: "codex", Cwd: "/work/shop"},
		"a?b":           {Caller: "a\nb"},
	} {
		if got := callerWords(c); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}
