// Code generated from presets.toml by go test ./config -update. DO NOT EDIT.

package config

// builtIn returns the presets under a policy.
func builtIn(policy Policy) []Rule {
	return []Rule{
		{Policy: policy, Name: "steroids", Never: true, starts: []string{"# POST-CODER ORCHESTRATOR", "# POST-REVIEWER ORCHESTRATOR", "# COORDINATOR INTERVENTION"}},
		{Policy: policy, Name: "steroids", tools: []string{"claude"}, starts: []string{"# TASK: "}, prompt: []*pattern{&pattern{text: "^# TASK: (?P<task>[0-9a-f]{8}) - [^\\n]*\\n(?:# [^\\n]*\\n)?\\s*You are an? (?P<role>CODER|REVIEWER)\\b"}, &pattern{text: "^[^\\n]*\\n(?:# [^\\n]*\\bRejections: (?P<attempt>\\d+)/|)"}}, roleText: []*pattern{&pattern{text: "(?s)\\n## Reviewer-Specific Custom Instructions\\n(?:(.*)\\n## Review Target\\n|(.*))"}}},
		{Policy: policy, Name: "hive-mind", tools: []string{"claude"}, starts: []string{"Issue to solve: "}, prompt: []*pattern{&pattern{text: "^Issue to solve: (?P<task>\\S[^\\n]*)\\n"}, &pattern{text: "^[^\\n]*\\nYour prepared branch: (?P<task>\\S+)\\n"}}},
		{Policy: policy, Name: "zen", tools: []string{"claude"}, starts: []string{"You are operating through the Gemini CLI agent."}, prompt: []*pattern{&pattern{text: "^[^\\n]*\\n\\n=== USER REQUEST ===\\n=== CONVERSATION HISTORY \\(CONTINUATION\\) ===\\nThread: (?P<task>[0-9a-f-]{36})\\n"}}},
		{Policy: policy, Name: "multica", Strict: true, env: []variable{variable{name: "MULTICA_AGENT_ID", pattern: &pattern{text: "(?P<role>.+)"}}, variable{name: "MULTICA_TASK_ID", pattern: &pattern{text: "(?P<task>.+)"}}}},
		{Policy: policy, Name: "paperclip", Strict: true, env: []variable{variable{name: "PAPERCLIP_AGENT_ID", pattern: &pattern{text: "(?P<role>.+)"}}, variable{name: "PAPERCLIP_TASK_ID", pattern: &pattern{text: "(?P<task>.+)"}}}},
		{Policy: policy, Name: "vibe-kanban", Strict: true, env: []variable{variable{name: "VK_WORKSPACE_ID", pattern: &pattern{text: "(?P<task>.+)"}}}},
		{Policy: policy, Name: "ralph", Never: true, env: []variable{variable{name: "RALPH_WORKSPACE_ROOT", pattern: &pattern{text: "."}}}},
	}
}
