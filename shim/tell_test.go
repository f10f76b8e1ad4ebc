package shim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The user's command has an end, with everything that it has started.
func TestRunTold(t *testing.T) {
	dir := t.TempDir()
	late := filepath.Join(dir, "late")
	start := time.Now()
	err := runTold("(sleep 2; echo >"+late+") & sleep 60", os.Environ(), 300*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "longer than 300ms") || time.Since(start) > 30*time.Second {
		t.Errorf("%v after %s", err, time.Since(start))
	}
	time.Sleep(2500 * time.Millisecond)
	if _, err := os.Stat(late); err == nil {
		t.Error("a process of the command went on")
	}
	for command, want := range map[string]string{"exit 3": "exit status 3", "": "no command", "true": ""} {
		err := runTold(command, os.Environ(), time.Minute)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", command, err, want)
		}
	}
}
