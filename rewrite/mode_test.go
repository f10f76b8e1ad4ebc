package rewrite

import "testing"

// A reason for which a call is not managed is counted or not, whatever the call; what tells an
// exec of codex from its other subcommands is the word.
func TestMissed(t *testing.T) {
	env := map[string]string{}
	missed := func(tool string, r Reason, args ...string) bool {
		t, _ := Lookup(tool)
		return Missed(t, Invocation{Args: args, Env: func(name string) string { return env[name] }}, r)
	}
	for _, r := range []Reason{NotManaged, Interactive, Admin, Nested, SwitchedOff, Disabled, FirstCall, ""} {
		if missed("claude", r, "-p", "hi") {
			t.Errorf("%q is counted", r)
		}
	}
	if !missed("claude", OptedOut, "-p", "hi") || !missed("codex", UnknownOption, "--new", "exec", "hi") || !missed("codex", Fault, "e", "hi") {
		t.Error("a headless call is not counted")
	}
	if !missed("codex", AppServer, "app-server") || !missed("gemini", AppServer, "--acp") {
		t.Error("a server is not counted")
	}
	if codex, _ := Lookup("codex"); Missed(codex, Invocation{Args: []string{"app-server"}, StdinTTY: true, Env: func(string) string { return "" }}, AppServer) {
		t.Error("a server at a terminal is counted")
	}
	if missed("codex", UnknownOption, "--new") {
		t.Error("an interactive call is counted")
	}
	env["CLAUDECODE"] = "1"
	if missed("claude", OptedOut, "-p", "hi") {
		t.Error("a nested call is counted")
	}
}
