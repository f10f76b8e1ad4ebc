package standin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Client is how to make a tool talk to the stand-in only, without an account. In the values of
// Env and in Text, HOME is replaced by the home directory and URL by the stand-in's address.
type Client struct {
	Env    []string // NAME=VALUE
	Config string   // path of a configuration file relative to the home directory, "" for none
	Text   string   // content of that file
}

// Clients are the tools that the demo plays.
var Clients = map[string]Client{
	"claude": {Env: []string{
		"ANTHROPIC_BASE_URL=URL",
		"ANTHROPIC_API_KEY=stand-in",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_MAX_RETRIES=0",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
	}},
	"codex": {
		Env:    []string{"CODEX_HOME=HOME/.codex", "OPENAI_API_KEY=stand-in"},
		Config: ".codex/config.toml",
		// The model is in the catalogue of codex 0.169.0: for any other, codex prints a warning as
		// an item of the stream. With plugins enabled, codex clones a catalogue of them at each
		// start.
		Text: `model = "gpt-5.5"
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
`,
	},
	"gemini": {
		Env: []string{"GOOGLE_GEMINI_BASE_URL=URL", "GEMINI_API_KEY=stand-in",
			"GEMINI_CLI_TRUST_WORKSPACE=true"},
		Config: ".gemini/settings.json",
		// Without a model, gemini first asks another model which one to use.
		Text: `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "model": {"name": "gemini-2.5-pro"},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 1},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false}
}
`,
	},
	"vibe": {
		Env:    []string{"VIBE_HOME=HOME/.vibe", "MISTRAL_API_KEY=stand-in"},
		Config: ".vibe/config.toml",
		// The provider is vibe's default at another address. vibe 3.0.3 would retry for five
		// minutes.
		Text: `active_model = "stand-in"
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
`,
	},
}

// Setup prepares a new home directory that makes the real CLI use the stand-in at url, without an
// account, and connects to nothing else: no update check, no telemetry, no retries. It writes the
// necessary configuration below home, and returns the CLI's environment, complete except for PATH.
func (c Client) Setup(home, url string) ([]string, error) {
	places := strings.NewReplacer("HOME", home, "URL", url)
	if c.Config != "" {
		path := filepath.Join(home, c.Config)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(places.Replace(c.Text)), 0o600)); err != nil {
			return nil, fmt.Errorf("set up a home: %w", err)
		}
	}
	env := []string{
		"HOME=" + home,
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"XDG_STATE_HOME=" + filepath.Join(home, ".local", "state"),
		"XDG_DATA_HOME=" + filepath.Join(home, ".local", "share"),
		"XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
		"TERM=xterm-256color",
		"LANG=C.UTF-8",
	}
	for _, entry := range c.Env {
		name, value, _ := strings.Cut(entry, "=")
		env = append(env, name+"="+places.Replace(value))
	}
	return env, nil
}
