package standin

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// TestRealClaude runs the claude at REPRISE_REAL_CLAUDE: what it was told in one process, it must still send
// after a resume in the next.
func TestRealClaude(t *testing.T) {
	claude := realCLI(t, "claude", "REPRISE_REAL_CLAUDE")
	var first struct {
		ID     string `json:"session_id"`
		Result string
	}
	if err := json.Unmarshal(claude("-p", "hi remember number 456", "--output-format", "json"), &first); err != nil {
		t.Fatal(err)
	}
	if first.Result != "Got it: 456." {
		t.Errorf("first answer %q", first.Result)
	}
	if got := string(claude("-p", "what number", "--resume", first.ID)); got != "456\n" {
		t.Errorf("answer after the resume %q", got)
	}
}

// realCLI returns a function that runs a real CLI against a stand-in, or skips the test where there is none.
func realCLI(t *testing.T, tool, variable string) func(args ...string) []byte {
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
	return func(args ...string) []byte {
		t.Helper()
		c := exec.CommandContext(t.Context(), path, args...)
		c.Dir, c.Env, c.Stderr = cwd, append(env, "PATH="+os.Getenv("PATH")), os.Stderr
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", tool, args, err, out)
		}
		return out
	}
}
