package rewrite

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

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
		tool, _ := Lookup(tt.tool)
		var want []Setting
		if tt.want != "" {
			want = []Setting{{Name: tt.name, Value: "v", Guard: tt.want}}
		}
		for _, named := range []bool{true, false} {
			if got := Environment(tool, []string{"EMPTY_API_KEY=", tt.name + "=v", tt.name + "=w"}, named); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, want %v", tt.tool, tt.name, got, want)
			}
		}
	}
}

// The same account is the same on another machine and in another CI job.
func TestVariablesOfMachines(t *testing.T) {
	tool, _ := Lookup("claude")
	value := func(name, value string) string {
		for _, s := range Environment(tool, []string{name + "=" + value}, true) {
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
		{"GOOGLE_APPLICATION_CREDENTIALS", "/w/gha-creds-0123456789abcdef.json", "/w/gha-creds-f.json", true},
		{"GOOGLE_APPLICATION_CREDENTIALS", "/w/one.json", "/w/two.json", false},
		{"GOOGLE_APPLICATION_CREDENTIALS", "/v/gha-creds-0.json", "/w/gha-creds-0.json", false},
		{"HTTPS_PROXY", "http://job-1:token@proxy:3128", "http://job-2:other@proxy:3128", true},
		{"https_proxy", "job-1@proxy:3128", "proxy:3128", true},
		{"HTTPS_PROXY", "http://u:p@one:3128", "http://u:p@two:3128", false},
		{"NO_PROXY", "a@b", "c@b", false},
		{"OPENAI_API_KEY", "ASIAY34FZKBOKMUTVV7A", "ASIAY34FZKBOA2345677", false},
	} {
		if got := value(tt.name, tt.one) == value(tt.name, tt.other); got != tt.same {
			t.Errorf("%s: %s and %s are the same: %v, want %v", tt.name, tt.one, tt.other, got, tt.same)
		}
	}
	if got := value("AWS_ACCESS_KEY_ID", "ASIAY34FZKBOKMUTVV7A"); got != "account 609629065308" {
		t.Error(got)
	}
	for _, name := range []string{
		"HOSTNAME", "TMPDIR", "SSH_CONNECTION", "SSH_AUTH_SOCK", "RUNNER_NAME", "RUNNER_TEMP", "RUNNER_TRACKING_ID", "ACTIONS_RUNTIME_TOKEN",
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN", "GITHUB_TOKEN", "CI_JOB_TOKEN", "CI_RUNNER_ID", "KUBERNETES_SERVICE_HOST", "GITHUB_RUN_ID", "CI_JOB_ID",
		"REPRISE_STORE", "REPRISE_STORE_KEY", "REPRISE_PROJECT", "PGPASSWORD", "PGHOST", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_ROLE_SESSION_NAME", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_BATCH_JOB_ID", "AZURE_HTTP_USER_AGENT", "CLAUDE_CODE_CONTAINER_ID", "BASH_ENV",
	} {
		if got := value(name, "v"); got != "" {
			t.Errorf("%s counts", name)
		}
	}
}

func TestVariablesOfJobs(t *testing.T) {
	tool, _ := Lookup("claude")
	for name, counts := range map[string]bool{
		"GITHUB_RUN_ID": true, "GITHUB_JOB": true, "CI_JOB_ID": true, "CI_PIPELINE_ID": true, "BUILD_ID": true,
		"BUILDKITE_JOB_ID": true, "CIRCLE_WORKFLOW_JOB_ID": true, "JOB_NAME": true,
		"TENANT": true, "TENANT_ID": true, "ACME_TENANT": true, "CUSTOMER_SLUG": true, "APP_USER_ID": true, "TICKET_ID": true,
		"X_WORKFLOW_UUID": true, "customer_id": true,
		"USER": false, "LOGNAME": false, "TERM_SESSION_ID": false, "CI_RUNNER": false, "REQUEST_ID": false, "USER_NAME": false,
		"SSH_CLIENT": false, "HOSTNAME": false, "ID": false, "JOURNAL_STREAM": false, "REPRISE_TASK_ID": false,
	} {
		environ := []string{name + "=1"}
		if got := len(Environment(tool, environ, false)) == 1; got != counts {
			t.Errorf("%s counts for a call without a name: %v, want %v", name, got, counts)
		}
		if len(Environment(tool, environ, true)) > 0 {
			t.Errorf("%s counts for a call with a name", name)
		}
	}
}

func TestClaudeReadsItsState(t *testing.T) {
	const state = `{
  "numStartups": 7, "mcpServers": {"crm": {"command": "crm", "args": ["--tenant", "a"]}},
  "projects": {"/other": {"mcpServers": {"x": {}}}, "/p": {"lastCost": 1.5, "allowedTools": [], "mcpServers": {"y": {"url": "u\"}"}},
    "enabledMcpjsonServers": []}},
  "oauthAccount": {"emailAddress": "e", "accountUuid": "A", "organizationUuid": "O"}
}`
	settings := func(state, credentials string) []Setting {
		c := parse("-p hi", "HOME=/h")
		files := map[string]string{"/h/.claude.json": state, "/h/.claude/.credentials.json": credentials}
		return (claude{}).ResolveWithEnv(c, HostEnv{Settings: files, Dirs: []string{"/p", "/q"}}).Settings
	}
	want := []Setting{
		{Name: "~/.claude.json mcpServers", Value: `{"crm":{"command":"crm","args":["--tenant","a"]}}`},
		{Name: "~/.claude.json mcpServers", Value: `{"y":{"url":"u\"}"}}`},
		{Name: "~/.claude.json oauthAccount", Value: `"A""O"`, Guard: reason.AuthChanged},
	}
	if got := settings(state, ""); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// What claude writes there at each start, and a token that it refreshes, change nothing.
	rewritten := strings.ReplaceAll(strings.Replace(state, `"numStartups": 7`, `"numStartups":8,"projectsX":{}`, 1), "\n", "")
	if !slices.Equal(settings(rewritten, ""), want) {
		t.Errorf("%v after a start, want %v", settings(rewritten, ""), want)
	}
	login := func(token string) string { return `{"claudeAiOauth": {"accessToken": "` + token + `"}}` }
	if !slices.Equal(settings(state, login("1")), settings(state, login("2"))) {
		t.Error("a refreshed token counts although the account is known")
	}
	if slices.Equal(settings("", login("1")), settings("", login("2"))) {
		t.Error("another token does not count although nothing tells the account")
	}
	if slices.Equal(settings("", login("1")), settings("", "")) {
		t.Error("a login does not count")
	}
	for _, broken := range []string{"", "null", "[]", "{", `{"mcpServers"`, `{"mcpServers":`, `{"mcpServers":{`, `{"oauthAccount":"x"}`, `{"a":}}`} {
		_ = settings(broken, broken)
	}
}

func TestAccountsOfLogins(t *testing.T) {
	codexLogin := func(account, token string) Setting {
		return codexAccount(`{"auth_mode":"chatgpt","OPENAI_API_KEY":null,"tokens":{"access_token":"` + token + `","account_id":"` + account + `"},"last_refresh":"` + token + `"}`)
	}
	if codexLogin("a", "1") != codexLogin("a", "2") || codexLogin("a", "1") == codexLogin("b", "1") {
		t.Error("codex: not the account counts")
	}
	if codexAccount(`{"OPENAI_API_KEY":"a"}`) == codexAccount(`{"OPENAI_API_KEY":"b"}`) {
		t.Error("codex: another key does not count")
	}
	if codexAccount(`{"tokens":{"access_token":"a"}}`) == codexAccount(`{"tokens":{"access_token":"b"}}`) {
		t.Error("codex: another token does not count although nothing tells the account")
	}
	gemini := func(path, text string) Setting { return geminiAccount("/h/.gemini/"+path, text) }
	if gemini("google_accounts.json", `{"active":"a","old":[]}`) == gemini("google_accounts.json", `{"active":"b","old":["a"]}`) {
		t.Error("gemini: another account does not count")
	}
	if gemini("oauth_creds.json", `{"access_token":"1","refresh_token":"r"}`) != gemini("oauth_creds.json", `{"access_token":"2","refresh_token":"r"}`) {
		t.Error("gemini: a refreshed token counts")
	}
}

func TestImports(t *testing.T) {
	got := Imports("See @docs/rules.md, and @~/mine.md.\n- @AGENTS.md\nme@example.com @ `x`")
	if want := []string{"docs/rules.md", "~/mine.md", "AGENTS.md"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Imports(strings.Repeat("@a ", 1000)); len(got) != maxImports {
		t.Errorf("%d files", len(got))
	}
}

// A version that would resume in a smaller variant of its default model is asked for the default model.
func TestClaudeResumesWithItsModel(t *testing.T) {
	settings := func(text string) map[string]string { return map[string]string{"/h/.claude/settings.json": text} }
	for _, tt := range []struct {
		line, env, version string
		settings           map[string]string
		want               bool
	}{
		{"-p hi", "", "2.1.197", nil, true},
		{"-p hi --output-format stream-json", "", "2.1.197", nil, true},
		{"-p hi", "", "2.0.73", nil, true},
		{"-p hi", "", "2.0.72", nil, true},
		{"-p hi", "", "2.1.270", nil, true},
		{"-p hi", "", "2.1.271", nil, false},
		{"-p hi", "", "", nil, false},
		{"-p hi", "", "2.1.197", settings(`{"permissions":{}}`), true},
		{"-p hi", "", "2.1.197", settings(`{"model":"opus"}`), false},
		{`-p hi --settings {"model":"opus"}`, "", "2.1.197", nil, false},
		{"-p hi --agent a", "", "2.1.197", nil, false},
		{"-p hi --agents {}", "", "2.1.197", nil, false},
		{"-p hi --model opus", "", "2.1.197", nil, false},
		{"-p hi", "ANTHROPIC_MODEL=opus", "2.1.197", nil, false},
	} {
		env := []string{"HOME=/h"}
		if tt.env != "" {
			env = append(env, tt.env)
		}
		c := (claude{}).ResolveWithEnv(parse(tt.line, env...), HostEnv{Version: tt.version, Settings: tt.settings})
		for _, resumes := range []bool{true, false} {
			target := ToFresh("hi")
			if resumes {
				target = Target{id: someID, prompt: "hi", whole: true}
			}
			args := strings.Join((claude{}).Plan(c, target).Args, " ")
			if got := strings.Contains(args, " --model default "); got != (tt.want && resumes) {
				t.Errorf("%q, %s, %s, %v: %q", tt.line, tt.env, tt.version, tt.settings, args)
			}
		}
	}
}

// jsonMember finds what encoding/json does, and nothing breaks it.
func FuzzJSONMember(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"key":{"b":"}\""}}`, `{"key":"\\","key":[1,"]",{}]}`, ` { "k\u0065y" : null , "x" : -1.5e3 } `, `{"key"`, `{"key":`, `{"key":"`, `[]`, `{"key":}`, `{"a":"\`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := jsonMember(text, "key")
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &object) != nil || object == nil {
			return
		}
		if want := string(object["key"]); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}

// The members of a JSON object are settings of their own beside the text, which alone decides.
func TestJSONSettings(t *testing.T) {
	long := strings.Repeat("k", 101)
	many := "{"
	for i := range 65 {
		many += fmt.Sprintf(`"m%d":1,`, i)
	}
	many = strings.TrimSuffix(many, ",") + "}"
	for text, want := range map[string]string{
		`{"b": {"x": [1, 2]}, "a" : "y", "e": {}}`: `f a="y" f b={"x":[1,2]} f e=`,
		`{"a": 1, "` + long + `": 2}`:              "f a=1",
		"{}":                                       "",
		"[1]":                                      "",
		"null":                                     "",
		`{"a": 1`:                                  "",
		`{"a": 1} // as JSON5`:                     "",
		many:                                       "",
		`{"a": "` + strings.Repeat("x", 64<<10) + `"}`: "",
	} {
		list := jsonSettings("f", text)
		if list[0].Name != "f" || list[0].Value != text {
			t.Errorf("%.40s: the whole is %+v", text, list[0])
		}
		var got []string
		for _, s := range list[1:] {
			got = append(got, s.Name+"="+s.Value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%.40s: %q, want %q", text, got, want)
		}
	}
}
