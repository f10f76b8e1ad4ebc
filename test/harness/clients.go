package harness

import (
	"fmt"

	"reprise/internal/standin"
)

// clients are the tools that the demo does not play.
var clients = map[string]standin.Client{
	"copilot": {
		Env: []string{
			"COPILOT_PROVIDER_BASE_URL=URL/v1", "COPILOT_PROVIDER_API_KEY=stand-in",
			"COPILOT_MODEL=gpt-4.1",
			"COPILOT_PROVIDER_MAX_PROMPT_TOKENS=400000", "COPILOT_OFFLINE=true",
			"COPILOT_AUTO_UPDATE=false",
		},
	},
	"droid": {
		Env: []string{
			"FACTORY_API_KEY=stand-in", "FACTORY_API_BASE_URL=URL", "FACTORY_AIRGAP_ENABLED=true",
			"FACTORY_DROID_AUTO_UPDATE_ENABLED=false", "FACTORY_DISABLE_KEYRING=1",
			"OTEL_SDK_DISABLED=true",
		},
		Config: ".factory/settings.json",
		Text: `{
  "customModels": [{
    "model": "stand-in", "displayName": "stand-in", "id": "custom:stand-in",
    "provider": "anthropic", "baseUrl": "URL", "apiKey": "stand-in", "maxOutputTokens": 8192
  }],
  "sessionDefaultSettings": {"model": "custom:stand-in"},
  "cloudSessionSync": false
}
`,
	},
	"qwen": {
		Env: []string{
			"OPENAI_BASE_URL=URL/openai/v1", "OPENAI_API_KEY=stand-in", "OPENAI_MODEL=stand-in",
			"QWEN_CODE_SUPPRESS_YOLO_WARNING=1",
		},
		Config: ".qwen/settings.json",
		// Without the setting of memory, a second model is asked after most calls for
		// things to remember. After an answer of 429, qwen 0.24.4 would ask ten times more,
		// in 43 minutes.
		Text: `{
  "$version": 4,
  "model": {"generationConfig": {"maxRetries": 0}},
  "security": {"auth": {"selectedType": "openai"}},
  "general": {"enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false},
  "memory": {"enableManagedAutoMemory": false}
}
`,
	},
	"opencode": opencode("opencode", "OPENCODE_"),
	"kilo": opencode("kilo", "KILO_", "KILO_TELEMETRY_LEVEL=off",
		"KILO_DISABLE_SESSION_INGEST=1", "KILO_DISABLE_PRESENCE=1",
		"KILO_DISABLE_CODEBASE_INDEXING=1", "KILO_DISABLE_SHARE=1",
		"KILO_DISABLE_DEFAULT_PLUGINS=1", "KILO_NO_DAEMON=1"),
}

// opencode returns the client of opencode, or of a fork, with more variables.
func opencode(name, variable string, more ...string) standin.Client {
	return standin.Client{
		// The registry is where it looks for a package of the plugins, in the background.
		Env: append(more, variable+"DISABLE_MODELS_FETCH=1", variable+"DISABLE_AUTOUPDATE=1",
			"npm_config_registry=URL"),
		Config: ".config/" + name + "/" + name + ".json",
		Text: `{
  "autoupdate": false,
  "model": "standin/stand-in",
  "provider": {
    "standin": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Stand-in",
      "api": "URL/v1",
      "options": {"apiKey": "stand-in"},
      "models": {
        "stand-in": {
          "name": "stand-in",
          "limit": {"context": 200000, "output": 8000},
          "cost": {"input": 1.5, "output": 7.5, "cache_read": 0.15}
        }
      }
    }
  }
}
`,
	}
}

// caches are the variables for the directories where tools unpack themselves. Several homes can
// share one.
var caches = map[string]string{"copilot": "COPILOT_CACHE_HOME"}

// Setup prepares a home for a tool, as Client.Setup does.
func Setup(tool, home, url string) ([]string, error) {
	for _, known := range []map[string]standin.Client{clients, standin.Clients} {
		if c, ok := known[tool]; ok {
			return c.Setup(home, url)
		}
	}
	return nil, fmt.Errorf("set up %s: not a tool that is known", tool)
}
