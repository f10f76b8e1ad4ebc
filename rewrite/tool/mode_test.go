package tool

import (
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// A reason for not managing a call counts for every call, or for none; one word tells codex exec
// from codex's other subcommands.
func TestMissed(t *testing.T) {
	env := map[string]string{}
	missed := func(tool string, r reason.Code, args ...string) bool {
		t, _ := rewrite.Lookup(tool)
		return rewrite.IsHeadless(t, rewrite.Input{Args: args, Env: func(name string) string {
			return env[name]
		}}, r)
	}
	for _, r := range []reason.Code{reason.NotManaged, reason.Interactive, reason.NotManaged,
		reason.Nested, reason.SwitchedOff, reason.Disabled, reason.FirstCall, ""} {
		if missed("claude", r, "-p", "hi") {
			t.Errorf("%q is counted", r)
		}
	}
	if !missed("claude", reason.OptedOut, "-p", "hi") ||
		!missed("codex", reason.UnknownOption, "--new", "exec", "hi") ||
		!missed("codex", reason.Fault, "e", "hi") {
		t.Error("a headless call is not counted")
	}
	if !missed("codex", reason.AppServer, "app-server") ||
		!missed("gemini", reason.AppServer, "--acp") {
		t.Error("a server is not counted")
	}
	if codex, _ := rewrite.Lookup("codex"); rewrite.IsHeadless(codex,
		rewrite.Input{Args: []string{"app-server"}, StdinTTY: true, Env: func(string) string {
			return ""
		}}, reason.AppServer) {
		t.Error("a server at a terminal is counted")
	}
	if missed("codex", reason.UnknownOption, "--new") {
		t.Error("an interactive call is counted")
	}
	env["CLAUDECODE"] = "1"
	if missed("claude", reason.OptedOut, "-p", "hi") {
		t.Error("a nested call is counted")
	}
}
