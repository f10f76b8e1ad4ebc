package standin

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// reals are how each CLI is asked afresh and then resumed, with an output that shows the session's id and one
// that is the plain answer.
var reals = map[string]struct {
	variable string // names the real binary
	ask      []string
	id       string // a pattern for the session's id in what ask prints
	resume   []string
	tool     []string // lets the shell tool run
}{
	"claude": {"REPRISE_REAL_CLAUDE",
		[]string{"-p", "PROMPT", "--output-format", "json"}, `"session_id":"([^"]+)"`,
		[]string{"-p", "PROMPT", "--resume", "ID"},
		[]string{"-p", "PROMPT"}},
	"codex": {"REPRISE_REAL_CODEX",
		[]string{"exec", "--skip-git-repo-check", "--json", "PROMPT"}, `"thread_id":"([^"]+)"`,
		[]string{"exec", "--skip-git-repo-check", "resume", "ID", "PROMPT"},
		[]string{"exec", "--skip-git-repo-check", "PROMPT"}},
	"gemini": {"REPRISE_REAL_GEMINI",
		[]string{"--prompt", "PROMPT", "--output-format", "json"}, `"session_id": "([^"]+)"`,
		[]string{"--prompt", "PROMPT", "--resume", "ID"},
		[]string{"--prompt", "PROMPT", "--yolo"}},
	"vibe": {"REPRISE_REAL_VIBE",
		[]string{"-p", "PROMPT", "--output", "streaming"}, `"sessionId": ?"([^"]+)"`,
		[]string{"-p", "PROMPT", "--resume", "ID"},
		[]string{"-p", "PROMPT", "--auto-approve"}},
}

// printed is what echo hi printed, in the ways that the CLIs tell the model: vibe's is JSON in a text.
var printed = regexp.MustCompile(`\bhi(\\n|\n|$)`)

// TestReal runs the real CLIs that the environment names: what one was told in one process, it must still send
// after a resume in the next.
func TestReal(t *testing.T) {
	for tool, c := range reals {
		t.Run(tool, func(t *testing.T) {
			run, s := realCLI(t, tool, c.variable)
			first := run(c.ask, "hi remember number 456", "")
			id := regexp.MustCompile(c.id).FindStringSubmatch(first)
			if id == nil || !strings.Contains(first, "Got it: 456.") {
				t.Fatalf("first answer %s", first)
			}
			if got := run(c.resume, "what number", id[1]); strings.TrimSpace(got) != "456" {
				t.Errorf("answer after the resume %q", got)
			}
			if got := run(c.tool, "RUNTOOL please", ""); !strings.HasSuffix(strings.TrimSpace(got), "ok") {
				t.Errorf("answer after a tool %q", got)
			}
			sent := s.Asked()
			if len(sent) != 4 {
				t.Fatalf("the model was asked %d times, want 4", len(sent))
			}
			for i, want := range []string{"hi remember number 456", "what number", "RUNTOOL please", "RUNTOOL please"} {
				if got := strings.TrimSpace(LastUser(sent[i])); got != want {
					t.Errorf("request %d asks %q, want %q", i, got, want)
				}
			}
			if got := AllText(sent[3]); !printed.MatchString(got) {
				t.Errorf("no tool result in %q", got)
			}
		})
	}
}

// realCLI returns a function that runs a real CLI against a stand-in, or skips the test where there is none.
func realCLI(t *testing.T, tool, variable string) (func(args []string, prompt, id string) string, *Server) {
	path := os.Getenv(variable)
	if path == "" {
		t.Skip(variable + " is not set")
	}
	s := start(t, Options{})
	env, err := Setup(tool, t.TempDir(), s.URL())
	if err != nil {
		t.Fatal(err)
	}
	cwd := t.TempDir()
	return func(args []string, prompt, id string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var filled []string
		for _, arg := range args {
			filled = append(filled, strings.NewReplacer("PROMPT", prompt, "ID", id).Replace(arg))
		}
		c := exec.CommandContext(ctx, path, filled...)
		c.Dir, c.Env = cwd, append(env, "PATH="+os.Getenv("PATH"))
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", tool, filled, err, out)
		}
		return string(out)
	}, s
}
