package e2e

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

var threadID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$`)

// holdThread opens the world's one thread in another codex, which waits for its
// model, and gives the function that ends it.
func (w *world) holdThread() func() {
	w.t.Helper()
	id := threadID.FindString(w.transcripts()[0])[:36]
	before := len(w.model.Asked())
	cmd := exec.Command(filepath.Join(w.real, "codex"), "exec", "resume", id, "HANG")
	cmd.Dir, cmd.Env = w.project, w.env
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	for range 200 {
		if len(w.model.Asked()) > before {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
