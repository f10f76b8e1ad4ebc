package standin

import (
	"fmt"
	"path/filepath"
)

// Setup prepares a fresh home folder in which the real CLI of that name talks to the stand-in at url, without an
// account, and to nothing else: no update check, no telemetry, no retries. It writes the configuration that is
// needed below home, and returns the environment to run the CLI in, complete but for PATH.
func Setup(tool, home, url string) ([]string, error) {
	prepare := map[string]func(home, url string) ([]string, error){
		"claude": setupClaude,
	}[tool]
	if prepare == nil {
		return nil, fmt.Errorf("set up %s: not a tool that is known", tool)
	}
	own, err := prepare(home, url)
	if err != nil {
		return nil, fmt.Errorf("set up %s: %w", tool, err)
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
	return append(base, own...), nil
}

func setupClaude(_, url string) ([]string, error) {
	return []string{
		"ANTHROPIC_BASE_URL=" + url,
		"ANTHROPIC_API_KEY=sk-ant-stand-in",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_MAX_RETRIES=0",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
	}, nil
}
