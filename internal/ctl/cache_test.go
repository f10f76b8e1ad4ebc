package ctl

import (
	"strings"
	"testing"

	"reprise/ledger/history"
)

func TestCacheWarnings(t *testing.T) {
	row := func(tool string, idle history.Idle, judged, missed int64) history.CacheRow {
		return history.CacheRow{Tool: tool, Model: "m", Idle: idle, Calls: judged + 1,
			Judged: judged, Missed: missed}
	}
	old, restated := row("claude", history.Briefly, 5, 3), row("claude", history.Briefly, 4, 3)
	old.Version, restated.Version, restated.Model, restated.Single = "2.1.197", "2.1.330",
		"claude-opus-5-5", 2
	for want, r := range map[string]history.CacheRow{
		"claude 2.1.197, model m: 3 of 5 resumed calls found little in the provider's cache, " +
			"idle under 5 min: version 2.1.197 has git's status": old,
		"found little in the provider's cache, idle under 5 min: claude resumes a session of " +
			"one request in another form than it was sent": restated,
		"claude, model m: 3 of 5 resumed calls found little in the provider's cache, idle under " +
			"5 min: the beginning": row("claude", history.Briefly, 5, 3),
		"shorter pauses":                   row("codex", history.Within, 3, 3),
		"or the provider dropped it early": row("vibe", history.Briefly, 9, 8),
		`ttl = "1h"`:                       row("gemini", history.Longer, 3, 3),
	} {
		got := cacheWarnings([]history.CacheRow{r}, nil)
		if len(got) != 1 || got[0].Kind != "cache" || got[0].Tool != r.Tool ||
			!strings.Contains(got[0].Says, want) {
			t.Errorf("%+v: %+v, want %q", r, got, want)
		}
	}
	hour := []history.HourRow{{Tool: "claude", Chains: 2, Missed: 5000}}
	if got := cacheWarnings([]history.CacheRow{row("claude", history.Within, 3, 3)},
		hour); len(got) != 1 || got[0].Kind != "cache_ttl" ||
		!strings.Contains(got[0].Says,
			`prompts of 2 chains: cache_ttl = "auto" would have saved about 5.0 k weighted tokens`) {
		t.Errorf("an hour would help: %+v", got)
	}
	if got := cacheWarnings([]history.CacheRow{row("claude", history.Within, 2, 2),
		row("claude", history.Within, 6, 3)}, nil); got != nil {
		t.Errorf("too few: %+v", got)
	}
}
