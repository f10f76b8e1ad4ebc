package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

// Of all recorded runs only these failed for a reason that says nothing against their session.
func TestWhatFailuresSay(t *testing.T) {
	want := func(name string) reason.Code {
		// only a fresh call has this format, and it says "Exec failed"
		if name == "droid/http401-json" {
			return ""
		}
		if name == "gemini/http401-json" { // its error is on stderr, which is not read
			return ""
		}
		for part, why := range map[string]reason.Code{
			"401": reason.LoginRefused, "http429": reason.RateLimited,
			"http500": reason.ServiceFailed,
		} {
			if strings.Contains(name, part) {
				return why
			}
		}
		return ""
	}
	check := func(name string, seen rewrite.StreamState) {
		t.Helper()
		if seen.Outside != want(name) && (seen.Failed || !seen.Final || seen.Outside != "") {
			t.Errorf("%s: %q, want %q", name, seen.Outside, want(name))
		}
	}
	for _, tool := range []string{"claude", "qwen", "droid", "gemini"} {
		paths, err := filepath.Glob("../../testdata/recordings/" + tool + "/*-*/stdout")
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", tool, err)
		}
		for _, path := range paths {
			name := filepath.Base(filepath.Dir(path))
			format, ok := map[string]rewrite.Format{"stream": rewrite.StreamJSON,
				"json": rewrite.JSON}[name[strings.LastIndex(name, "-")+1:]]
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				check(tool+"/"+name, playAll(streamOf(tool, format), string(text)))
			}
		}
	}
	for _, name := range []string{"chat-http401", "chat-fork-http401", "chat-fork-toobig",
		"chat-cut", "chat-fresh"} {
		run := readChat(t, the("qwen"), name)
		check("qwen/"+name, run.play(t, 0, len(run.lines)))
	}
}

func streamOf(tool string, format rewrite.Format) rewrite.Stream {
	return the(tool).Stream(rewrite.CommandLine{Format: format}, rewrite.Plan{}, "")
}

func playAll(s rewrite.Stream, output string) rewrite.StreamState {
	for line := range strings.Lines(output) {
		s.Line([]byte(line))
	}
	s.End()
	return *s.Seen()
}

// Failures that no recording has. A refused connection was measured with claude 2.1.197 and
// 2.1.329, qwen 0.24.4 and droid 0.225.2.
func TestWhatErrorsSay(t *testing.T) {
	claudeSays := func(status, text string) string {
		return `{"type":"result","subtype":"success","is_error":true,"api_error_status":` + status +
			`,"result":"` + text + `","session_id":"0b9728d0-d941-4437-b914-afd3d7a1da81"}` + "\n"
	}
	qwenSays := func(text string) string {
		return `{"type":"result","subtype":"error_during_execution","session_id":"0b9728d0-d941-4437-b914-afd3d7a1da81","is_error":true,"error":{"message":"[API Error: ` + text + `]"}}` + "\n"
	}
	droidSays := func(text string) string {
		return `{"type":"error","source":"agent_loop","message":"` + text +
			`","session_id":"0b9728d0-d941-4437-b914-afd3d7a1da81"}` + "\n" +
			`{"type":"error","source":"cli","message":"Exec failed","session_id":"0b9728d0-d941-4437-b914-afd3d7a1da81"}` + "\n"
	}
	codexSays := func(text string) string {
		return `{"type":"turn.failed","error":{"message":"` + text + `"}}` + "\n"
	}
	opencodeSays := func(status string) string {
		return `{"type":"error","sessionID":"ses_dfbf7eeddffepkJ54hJZmjbZ39","error":{"name":"APIError","data":{"message":"no","statusCode":` + status + `}}}` + "\n"
	}
	copilotSays := func(status string) string {
		return `{"type":"session.error","data":{"errorType":"x","message":"no","statusCode":` +
			status + `}}` + "\n"
	}
	for _, tt := range []struct {
		tool, output string
		want         reason.Code
	}{
		{"claude", claudeSays("null", "API Error: Unable to connect to API (ConnectionRefused)"),
			reason.Unreachable},
		{"claude", claudeSays("null", "API Error: Connection refused — a firewall or proxy may "+
			"be blocking it (ECONNREFUSED)"), reason.Unreachable},
		{"claude", claudeSays("529", "API Error: 529 overloaded"), reason.ServiceFailed},
		{"claude", claudeSays("null", "API Error: 401 {}"), reason.LoginRefused},
		{"claude", claudeSays("429", "You've hit your limit"), reason.RateLimited},
		{"claude", claudeSays("403", "Failed to authenticate. API Error: 403 forbidden"), ""},
		{"claude", claudeSays("413", "Request too large"), ""},
		{"claude", claudeSays("null", "API Error: terminated"), ""},
		{"claude", claudeSays(`"429"`, "of another shape"), ""},
		{"claude", claudeSays("null", "They said: API Error: 429 "), ""},
		{"qwen", qwenSays("Connection error. (cause: connect ECONNREFUSED 127.0.0.1:9)"),
			reason.Unreachable},
		{"qwen", qwenSays("429 slow down"), reason.RateLimited},
		{"qwen", qwenSays("503 overloaded"), reason.ServiceFailed},
		{"qwen", qwenSays("403 no"), ""},
		{"droid", droidSays("429 {}"), reason.RateLimited},
		{"droid", droidSays("529 {}"), reason.ServiceFailed},
		{"droid", droidSays("Connection error."), reason.Unreachable},
		{"droid", droidSays("403 {}"), ""},
		{"droid", droidSays("4290 things"), ""},
		{"codex", codexSays("unexpected status 401 Unauthorized: no, url: http://x"),
			reason.LoginRefused},
		{"codex", codexSays("exceeded retry limit, last status: 429 Too Many Requests"),
			reason.RateLimited},
		{"codex", codexSays("We\u2019re currently experiencing high demand, which may cause " +
			"temporary errors."), reason.ServiceFailed},
		{"codex", codexSays("unexpected status 403 Forbidden"), ""},
		{"opencode", opencodeSays("401"), reason.LoginRefused},
		{"opencode", opencodeSays("503"), reason.ServiceFailed},
		{"opencode", opencodeSays("403"), ""},
		{"copilot", copilotSays("429"), reason.RateLimited},
		{"copilot", copilotSays("404"), ""},
	} {
		if seen := playAll(streamOf(tt.tool, rewrite.StreamJSON), tt.output); seen.Outside !=
			tt.want || !seen.Failed {
			t.Errorf("%s: %q, want %q, failed %t: %s", tt.tool, seen.Outside, tt.want, seen.Failed,
				tt.output)
		}
	}
}

// A request that failed and was made again says nothing about the turn after it.
func TestFailureThatPassed(t *testing.T) {
	output := `{"type":"error","source":"agent_loop","message":"429 {}","session_id":"0b9728d0-d941-4437-b914-afd3d7a1da81"}` + "\n" +
		`{"type":"tool_call","parameters":{},"session_id":"0b9728d0-d941-4437-b914-afd3d7a1da81"}` +
		"\n" +
		`{"type":"error","source":"cli","message":"Exec failed","session_id":"0b9728d0-d941-4437-b914-afd3d7a1da81"}` + "\n"
	if seen := playAll(streamOf("droid", rewrite.StreamJSON), output); seen.Outside != "" ||
		!seen.Failed {
		t.Errorf("%+v", seen)
	}
}

// vibe says it in its export.
func TestWhatVibesExportSays(t *testing.T) {
	for message, want := range map[string]reason.Code{
		"Client error '429 Too Many Requests' for url 'http://x'":        reason.RateLimited,
		"Server error '500 Internal Server Error' for url 'x'":           reason.ServiceFailed,
		"API error occurred: Status 502. Body: {}":                       reason.ServiceFailed,
		"API error occurred: Status 503 Content-Type text/html. Body: x": reason.ServiceFailed,
		"API error occurred: Status 429 Content-Type text/html. Body: x": reason.RateLimited,
		"API error occurred: Status 404. Body: {}":                       "",
		"Server error '522 <none>' for url 'http://x'":                   reason.ServiceFailed,
		"Invalid API key (from env var KEY).":                            reason.LoginRefused,
		"Client error '404 Not Found' for url 'http://x'":                "",
		"They said: Status 500":                                          "",
	} {
		s := streamOf("vibe", rewrite.Text)
		s.File("d/export.json",
			[]byte(`{"outcome":"infrastructure_failure","session_id":"67c46b88-7b2a-7c66-2219-61f12294f1c7","error":{"message":"`+message+`","code":"backend_error"}}`))
		if seen := s.Seen(); seen.Outside != want || !seen.Failed {
			t.Errorf("%q: %q, want %q, failed %t", message, seen.Outside, want, seen.Failed)
		}
	}
}
