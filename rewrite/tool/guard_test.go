package tool

import (
	"slices"
	"testing"

	"reprise/rewrite"
	"reprise/rewrite/reason"
)

func TestEnvironment(t *testing.T) {
	for _, tt := range []struct {
		tool, name string
		want       reason.Code
	}{
		{"claude", "ANTHROPIC_API_KEY", reason.AuthChanged},
		{"claude", "ANTHROPIC_AUTH_TOKEN", reason.AuthChanged},
		{"claude", "CLAUDE_CODE_OAUTH_TOKEN", reason.AuthChanged},
		{"claude", "CLAUDE_CODE_USE_BEDROCK", reason.AuthChanged},
		{"claude", "ANTHROPIC_BASE_URL", reason.AuthChanged},
		{"claude", "ANTHROPIC_BEDROCK_BASE_URL", reason.AuthChanged},
		{"claude", "ANTHROPIC_VERTEX_PROJECT_ID", reason.AuthChanged},
		{"claude", "CLOUD_ML_REGION", reason.AuthChanged},
		{"claude", "AWS_PROFILE", reason.AuthChanged},
		{"claude", "AWS_REGION", reason.AuthChanged},
		{"claude", "AWS_ACCESS_KEY_ID", reason.AuthChanged},
		{"claude", "AWS_SESSION_TOKEN", ""}, // made anew every hour, with the key's id
		{"claude", "HTTPS_PROXY", reason.AuthChanged},
		{"claude", "no_proxy", reason.AuthChanged},
		{"claude", "OPENROUTER_API_KEY", reason.AuthChanged}, // an MCP server's, or a gateway's
		{"claude", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", reason.SettingsChanged},
		{"claude", "CLAUDE_CODE_DISABLE_CLAUDE_MDS", reason.SettingsChanged},
		{"claude", "CLAUDE_CODE_DISABLE_AUTO_MEMORY", reason.SettingsChanged},
		{"claude", "CLAUDE_CODE_EFFORT_LEVEL", reason.SettingsChanged},
		{"claude", "CLAUDE_CODE_SUBAGENT_MODEL", reason.SettingsChanged},
		{"claude", "ANTHROPIC_DEFAULT_OPUS_MODEL", reason.SettingsChanged},
		{"claude", "ANTHROPIC_CUSTOM_HEADERS", reason.SettingsChanged},
		{"claude", "MAX_THINKING_TOKENS", reason.SettingsChanged},
		{"claude", "DISABLE_INTERLEAVED_THINKING", reason.SettingsChanged},
		{"claude", "BASH_MAX_OUTPUT_LENGTH", reason.SettingsChanged},
		{"claude", "CLAUDE_CODE_ENTRYPOINT", ""},
		{"claude", "CLAUDE_CODE_SESSION_ID", ""},
		{"claude", "ANTHROPIC_MODEL", ""}, // the call's model
		{"claude", "REPRISE_TASK", ""},
		{"claude", "CODEX_X", ""},
		{"codex", "CODEX_API_KEY", reason.AuthChanged},
		{"codex", "OPENAI_API_KEY", reason.AuthChanged},
		{"codex", "OPENAI_BASE_URL", reason.AuthChanged},
		{"codex", "OPENAI_ORGANIZATION", reason.AuthChanged},
		{"codex", "AZURE_OPENAI_API_KEY", reason.AuthChanged},
		{"codex", "CODEX_SOMETHING", reason.SettingsChanged},
		{"codex", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE", ""},
		{"gemini", "GEMINI_API_KEY", reason.AuthChanged},
		{"gemini", "GOOGLE_CLOUD_PROJECT", reason.AuthChanged},
		{"gemini", "GOOGLE_GEMINI_BASE_URL", reason.AuthChanged},
		{"gemini", "GEMINI_SYSTEM_MD", reason.SettingsChanged},
		{"gemini", "GEMINI_MODEL", ""},
		{"vibe", "MISTRAL_API_KEY", reason.AuthChanged},
		{"vibe", "VIBE_MODELS", reason.SettingsChanged},
		{"vibe", "VIBE_HOME", ""}, // part of the chain's key
		{"vibe", "VIBE_ACTIVE_MODEL", ""},
	} {
		tool, _ := rewrite.Lookup(tt.tool)
		var want []rewrite.Setting
		if tt.want != "" {
			want = []rewrite.Setting{{Name: tt.name, Value: "v", Guard: tt.want}}
		}
		for _, named := range []bool{true, false} {
			if got := rewrite.Environment(tool, []string{"EMPTY_API_KEY=", tt.name + "=v",
				tt.name + "=w"}, named); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, want %v", tt.tool, tt.name, got, want)
			}
		}
	}
}

// The same account is the same on another machine and in another CI job.
func TestVariablesOfMachines(t *testing.T) {
	tool, _ := rewrite.Lookup("claude")
	value := func(name, value string) string {
		for _, s := range rewrite.Environment(tool, []string{name + "=" + value}, true) {
			return s.Value
		}
		return ""
	}
	for _, tt := range []struct {
		name, one, other string
		same             bool
	}{
		{"AWS_ACCESS_KEY_ID", "ASIAY34FZKBOKMUTVV7A", "ASIAY34FZKBOA2345677", true},
		{"AWS_ACCESS_KEY_ID", "ASIAY34FZKBOKMUTVV7A", "ASIAQNZGKIQY56JQ7WML", false},
		{"AWS_ACCESS_KEY_ID", "ASIAY34FZKBOKMUTVV7A", "AKIAY34FZKBOKMUTVV7A", false},
		{"AWS_ACCESS_KEY_ID", "AKIAY34FZKBOKMUTVV7A", "AKIAY34FZKBOA2345677", false},
		{"AWS_ACCESS_KEY_ID", "ASIA1", "ASIA2", false},
		{"GOOGLE_APPLICATION_CREDENTIALS", "/w/gha-creds-0123456789abcdef.json",
			"/w/gha-creds-f.json", true},
		{"GOOGLE_APPLICATION_CREDENTIALS", "/w/one.json", "/w/two.json", false},
		{"GOOGLE_APPLICATION_CREDENTIALS", "/v/gha-creds-0.json", "/w/gha-creds-0.json", false},
		{"HTTPS_PROXY", "http://job-1:token@proxy:3128", "http://job-2:other@proxy:3128", true},
		{"https_proxy", "job-1@proxy:3128", "proxy:3128", true},
		{"HTTPS_PROXY", "http://u:p@one:3128", "http://u:p@two:3128", false},
		{"NO_PROXY", "a@b", "c@b", false},
		{"OPENAI_API_KEY", "ASIAY34FZKBOKMUTVV7A", "ASIAY34FZKBOA2345677", false},
	} {
		if got := value(tt.name, tt.one) == value(tt.name, tt.other); got != tt.same {
			t.Errorf("%s: %s and %s are the same: %v, want %v", tt.name, tt.one, tt.other, got,
				tt.same)
		}
	}
	if got := value("AWS_ACCESS_KEY_ID", "ASIAY34FZKBOKMUTVV7A"); got != "account 609629065308" {
		t.Error(got)
	}
	for _, name := range []string{
		"HOSTNAME", "TMPDIR", "SSH_CONNECTION", "SSH_AUTH_SOCK", "RUNNER_NAME", "RUNNER_TEMP",
		"RUNNER_TRACKING_ID", "ACTIONS_RUNTIME_TOKEN",
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN", "GITHUB_TOKEN", "CI_JOB_TOKEN", "CI_RUNNER_ID",
		"KUBERNETES_SERVICE_HOST", "GITHUB_RUN_ID", "CI_JOB_ID",
		"REPRISE_STORE", "REPRISE_STORE_KEY", "REPRISE_PROJECT", "PGPASSWORD", "PGHOST",
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_ROLE_SESSION_NAME", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_BATCH_JOB_ID",
		"AZURE_HTTP_USER_AGENT", "CLAUDE_CODE_CONTAINER_ID", "BASH_ENV",
	} {
		if got := value(name, "v"); got != "" {
			t.Errorf("%s counts", name)
		}
	}
}

func TestVariablesOfJobs(t *testing.T) {
	tool, _ := rewrite.Lookup("claude")
	for name, counts := range map[string]bool{
		"GITHUB_RUN_ID": true, "GITHUB_JOB": true, "CI_JOB_ID": true, "CI_PIPELINE_ID": true,
		"BUILD_ID":         true,
		"BUILDKITE_JOB_ID": true, "CIRCLE_WORKFLOW_JOB_ID": true, "JOB_NAME": true,
		"TENANT": true, "TENANT_ID": true, "ACME_TENANT": true, "CUSTOMER_SLUG": true,
		"APP_USER_ID": true, "TICKET_ID": true,
		"X_WORKFLOW_UUID": true, "customer_id": true,
		"USER": false, "LOGNAME": false, "TERM_SESSION_ID": false, "CI_RUNNER": false,
		"REQUEST_ID": false, "USER_NAME": false,
		"SSH_CLIENT": false, "HOSTNAME": false, "ID": false, "JOURNAL_STREAM": false,
		"REPRISE_TASK_ID": false,
	} {
		environ := []string{name + "=1"}
		if got := len(rewrite.Environment(tool, environ, false)) == 1; got != counts {
			t.Errorf("%s counts for a call without a name: %v, want %v", name, got, counts)
		}
		if len(rewrite.Environment(tool, environ, true)) > 0 {
			t.Errorf("%s counts for a call with a name", name)
		}
	}
}
