package standin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"reprise/rewrite"
	_ "reprise/rewrite/tool" // registers the tools
)

// Setup prepares a new home directory that makes the real CLI of that name use the stand-in at url,
// without an account, and connects to nothing else: no update check, no telemetry, no retries. It
// writes the necessary configuration below home, and returns the CLI's environment, complete except
// for PATH.
func Setup(tool, home, url string) ([]string, error) {
	t, ok := rewrite.Lookup(tool)
	if !ok {
		return nil, fmt.Errorf("set up %s: not a tool that is known", tool)
	}
	standIn := t.Descriptor().StandIn
	places := strings.NewReplacer("HOME", home, "URL", url)
	if standIn.Config != "" {
		path := filepath.Join(home, standIn.Config)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(places.Replace(standIn.Text)), 0o600)); err != nil {
			return nil, fmt.Errorf("set up %s: %w", tool, err)
		}
	}
	base := []string{
		"HOME=" + home,
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"XDG_STATE_HOME=" + filepath.Join(home, ".local", "state"),
		"XDG_DATA_HOME=" + filepath.Join(home, ".local", "share"),
		"XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
		"TERM=xterm-256color",
		"LANG=C.UTF-8",
	}
	for _, entry := range standIn.Env {
		name, value, _ := strings.Cut(entry, "=")
		base = append(base, name+"="+places.Replace(value))
	}
	return base, nil
}
