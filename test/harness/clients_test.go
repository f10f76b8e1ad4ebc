package harness

import (
	"strings"
	"testing"

	"reprise/rewrite"
	_ "reprise/rewrite/tool" // registers the tools
)

func TestSetup(t *testing.T) {
	for _, tool := range rewrite.Names {
		env, err := Setup(tool, t.TempDir(), "http://127.0.0.1:1")
		if err != nil || !strings.HasPrefix(env[0], "HOME=") {
			t.Errorf("%s: %v %v", tool, env, err)
		}
	}
	if _, err := Setup("other", t.TempDir(), ""); err == nil {
		t.Error("an unknown tool was set up")
	}
}
