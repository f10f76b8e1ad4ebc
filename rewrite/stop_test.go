package rewrite

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A stopped call ends like a recorded one whose API refused, with the same kinds of events, and no key that those lack.
func TestStoppedLikeARefusal(t *testing.T) {
	tests := []struct {
		tool      Tool
		format    Format
		recording string
		exit      int
	}{
		{claude{}, Text, "claude/http429-text", 0}, {claude{}, JSON, "claude/http429-json", 0}, {claude{}, StreamJSON, "claude/http429-stream", 0},
		{codex{}, Text, "codex/http429-text", 0}, {codex{}, StreamJSON, "codex/http429-json", 0},
		{copilot{}, Text, "copilot/toobig-silent", 0}, {copilot{}, JSON, "copilot/toobig-json", 0},
		{gemini{}, Text, "gemini/http400-text", 0}, {gemini{}, JSON, "gemini/http400-json", 173}, {gemini{}, StreamJSON, "gemini/http400-stream", 173},
		{vibe{}, Text, "vibe/http429-text", 0}, {vibe{}, JSON, "vibe/http500-json", 0},
	}
	for _, test := range tests {
		t.Run(test.recording, func(t *testing.T) {
			got := test.tool.Stopped(Call{Format: test.format}, Stop{Message: "a <limit> \"is\" reached", ID: "11111111-2222-4333-8444-555555555555", Time: "2026-11-21T04:26:52.348Z"})
			dir := filepath.Join("../testdata/recordings", test.recording)
			var run struct{ Exit int }
			if text, err := os.ReadFile(filepath.Join(dir, "run.json")); err != nil || json.Unmarshal(text, &run) != nil {
				t.Fatal(err)
			}
			if test.exit != 0 {
				run.Exit = test.exit // the recorded status is another
			}
			if got.Exit != run.Exit {
				t.Errorf("exit code %d, want %d", got.Exit, run.Exit)
			}
			recorded, err := os.ReadFile(filepath.Join(dir, "stdout"))
			if err != nil {
				t.Fatal(err)
			}
			if (got.Stdout == "") != (len(recorded) == 0) {
				t.Errorf("stdout %q, recorded %q", got.Stdout, recorded)
			}
			if test.format != Text {
				checkEvents(t, got.Stdout, string(recorded))
			}
			if out := got.Stdout + got.Stderr; !strings.Contains(out, "a <limit> ") {
				t.Errorf("the message is missing: %q", out)
			}
		})
	}
}

func checkEvents(t *testing.T, got, recorded string) {
	t.Helper()
	kinds, keys := events(t, got)
	wantKinds, wantKeys := events(t, recorded)
	wantKinds = slices.DeleteFunc(wantKinds, func(kind string) bool { return kind == "item.completed" }) // codex warns of an unknown model
	if !slices.Equal(kinds, wantKinds) {
		t.Errorf("events %q, recorded %q", kinds, wantKinds)
	}
	for key := range keys {
		if !wantKeys[key] {
			t.Errorf("no recorded event has %s", key)
		}
	}
}

// events returns the types of the events in lines of JSON, and their keys, each after its type.
func events(t *testing.T, lines string) (kinds []string, keys map[string]bool) {
	t.Helper()
	keys = map[string]bool{}
	for line := range strings.Lines(lines) {
		var event map[string]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		kind := event["type"].(string)
		kinds = append(kinds, kind)
		for key := range event {
			keys[kind+"."+key] = true
		}
	}
	return kinds, keys
}

// All the verbose JSON of claude is one list.
func TestStoppedVerbose(t *testing.T) {
	var list []map[string]any
	f := claude{}.Stopped(Call{Format: JSONVerbose}, Stop{Message: "stopped"})
	if err := json.Unmarshal([]byte(f.Stdout), &list); err != nil || len(list) != 3 || list[2]["result"] != "stopped" {
		t.Errorf("%v: %s", err, f.Stdout)
	}
}
