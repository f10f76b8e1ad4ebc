package base

import (
	"strings"
	"testing"
)

func TestBacklog(t *testing.T) {
	var b Backlog
	for range 3 {
		b.Add([]byte(strings.Repeat("x", maxBacklog/2) + "\n"))
	}
	if len(b) != maxBacklog/2+1 {
		t.Errorf("%d bytes are kept", len(b))
	}
}
