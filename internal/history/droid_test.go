package history

import (
	"os"
	"path/filepath"
	"testing"
)

const droidSession = `{"type":"session_start","id":"df4a330e-6d61-4fbf-9d0d-52f579a77f21","title":"hello","owner":"unknown","version":2,"cwd":"/home/me/droid/proj"}
{"type":"message","id":"context-061c61b0","timestamp":"2026-11-22T16:19:08.233Z","message":{"role":"user","content":[{"type":"text","text":"<system-reminder>"}]}}
{"type":"message","id":"061c61b0","timestamp":"2026-11-22T16:19:08.326Z","message":{"role":"user","content":[{"type":"text","text":"hello"}]}}
{"type":"message","id":"51e28bf1","timestamp":"2026-11-22T16:19:08.631Z","message":{"role":"assistant","content":[{"type":"tool_use"}],"modelId":"custom:stand-in"}}
{"type":"message","id":"51e28bf2","timestamp":"2026-11-22T16:19:08.731Z","message":{"role":"user","content":[{"type":"tool_result"}]}}
{"type":"message","id":"51e28bf3","timestamp":"2026-11-22T16:19:09.631Z","message":{"role":"assistant","content":[{"type":"text","text":"ok"}],"modelId":"custom:stand-in"}}
{"type":"agent_turn_outcome","turnId":"061c61b0","reason":"completed","resultKind":"text"}
`

func TestDroidSessions(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".factory", "sessions", "-home-me-droid-proj")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "df4a330e-6d61-4fbf-9d0d-52f579a77f21.jsonl"), []byte(droidSession), 0o600); err != nil {
		t.Fatal(err)
	}
	var c Cache
	got, err := Read(func(name string) string { return map[string]string{"HOME": home}[name] }, "droid", &c)
	want := Session{Tool: "droid", ID: "df4a330e-6d61-4fbf-9d0d-52f579a77f21", Cwd: "/home/me/droid/proj", Model: "stand-in", Turns: 1,
		Started: at("2026-11-22T16:19:08.326Z"), Updated: at("2026-11-22T16:19:09.631Z")}
	if err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("%+v, %v", got, err)
	}
}
