package standin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Setup prepares a fresh home folder in which the real CLI of that name talks to the stand-in at url, without an
// account, and to nothing else: no update check, no telemetry, no retries. It writes the configuration that is
// needed below home, and returns the environment to run the CLI in, complete but for PATH.
func Setup(tool, home, url string) ([]string, error) {
	prepare := map[string]func(home, url string) ([]string, error){
		"claude": setupClaude,
		"codex":  setupCodex,
		"gemini": setupGemini,
		"vibe":   setupVibe,
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
		"ANTHROPIC_API_KEY=stand-in",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_MAX_RETRIES=0",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
	}, nil
}

// The model is one that codex 0.169.0 has in its catalogue: another one makes it print a warning as an item of
// its stream. With plugins it clones a catalogue of them at each start.
const codexConfig = `model = "gpt-5.5"
model_provider = "standin"
check_for_update_on_startup = false

[model_providers.standin]
name = "stand-in"
base_url = "URL/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[features]
plugins = false
`

func setupCodex(home, url string) ([]string, error) {
	folder := filepath.Join(home, ".codex")
	return []string{"CODEX_HOME=" + folder, "OPENAI_API_KEY=stand-in"},
		write(filepath.Join(folder, "config.toml"), codexConfig, url)
}

// Without a model gemini asks another one first which to use.
const geminiSettings = `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "model": {"name": "gemini-2.5-pro"},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 1},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false}
}
`

func setupGemini(home, url string) ([]string, error) {
	env := []string{
		"GOOGLE_GEMINI_BASE_URL=" + url,
		"GEMINI_API_KEY=stand-in",
		"GEMINI_CLI_TRUST_WORKSPACE=true",
	}
	return env, write(filepath.Join(home, ".gemini", "settings.json"), geminiSettings, url)
}

// The provider is the one that vibe has by default, moved. vibe 3.0.3 would go on trying for five minutes.
const vibeConfig = `active_model = "stand-in"
vibe_base_url = "URL"
console_base_url = "URL"
vibe_code_sessions_base_url = "URL"
api_retry_max_elapsed_time = 0.0
enable_telemetry = false
enable_update_checks = false
enable_auto_update = false
enable_connectors = false

[[providers]]
name = "mistral"
api_base = "URL/v1"
api_key_env_var = "MISTRAL_API_KEY"
backend = "mistral"

[[models]]
name = "stand-in"
provider = "mistral"
alias = "stand-in"
input_price = 1.5
output_price = 7.5
cached_input_price = 0.15
`

func setupVibe(home, url string) ([]string, error) {
	folder := filepath.Join(home, ".vibe")
	return []string{"VIBE_HOME=" + folder, "MISTRAL_API_KEY=stand-in"},
		write(filepath.Join(folder, "config.toml"), vibeConfig, url)
}

// write writes a configuration file in which URL stands for the stand-in's.
func write(path, text, url string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.ReplaceAll(text, "URL", url)), 0o600)
}
