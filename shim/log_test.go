package shim

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"reprise/config"
)

func TestLogFromSeveralGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "shim.log")
	l := newLog(path, config.Default().Log, "tool", time.Now)
	var writers sync.WaitGroup
	for range 20 {
		writers.Go(func() { l.fault("do", os.ErrInvalid) })
	}
	writers.Wait()
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), `"message":"do"`) != 20 || strings.Count(string(text), "\n") != 20 {
		t.Errorf("%v, log:\n%s", err, text)
	}
}
