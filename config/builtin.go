// Code generated from presets.toml by go test ./config -update. DO NOT EDIT.

package config

// builtIn returns the presets under a policy.
func builtIn(policy Policy) []Rule {
	unrelated := policy
	unrelated.Unrelated = true
	return []Rule{
		{Policy: policy, Name: "steroids", Never: true, starts: []string{"# POST-CODER ORCHESTRATOR", "# POST-REVIEWER ORCHESTRATOR", "# COORDINATOR INTERVENTION"}},
		{Policy: unrelated, Name: "steroids", tools: []string{"claude"}, starts: []string{"# TASK: "}, prompt: []*pattern{&pattern{text: "^# TASK: (?P<task>[0-9a-f]{8}) - [^\\n]*\\n(?:# [^\\n]*\\n)?\\s*You are an? (?P<role>CODER|REVIEWER)\\b"}, &pattern{text: "^[^\\n]*\\n(?:# [^\\n]*\\bRejections: (?P<attempt>\\d+)/|)"}}, roleText: []*pattern{&pattern{text: "(?s)\\n## Reviewer-Specific Custom Instructions\\n(?:(.*)\\n## Review Target\\n|(.*))"}, &pattern{text: "(?s)\\n\\*\\*Decision:\\*\\* Narrow scope [^\\n]*\\n(.*?)\\n\\*\\*Use this as advisory context"}}},
		{Policy: unrelated, Name: "hive-mind", tools: []string{"claude"}, starts: []string{"Issue to solve: "}, prompt: []*pattern{&pattern{text: "^Issue to solve: (?P<task>\\S[^\\n]*)\\n"}, &pattern{text: "^[^\\n]*\\nYour prepared branch: (?P<task>\\S+)\\n"}}},
		{Policy: unrelated, Name: "zen", tools: []string{"claude"}, starts: []string{"You are operating through the Gemini CLI agent."}, prompt: []*pattern{&pattern{text: "^[^\\n]*\\n\\n=== USER REQUEST ===\\n=== CONVERSATION HISTORY \\(CONTINUATION\\) ===\\nThread: (?P<task>[0-9a-f-]{36})\\n"}}},
		{Policy: unrelated, Name: "zen", tools: []string{"codex", "gemini"}, starts: []string{"You are an external CLI agent operating inside ", "You are an external CLI code reviewer operating inside ", "You are the planning agent operating through "}, prompt: []*pattern{&pattern{text: "^You are (?:an external CLI|the) (?P<role>[a-z ]+) operating (?:inside|through) the (?:Zen|PAL) MCP server[^=]*\\n\\nYou are operating through the Gemini CLI agent\\.[^\\n=]*\\n\\n=== USER REQUEST ===\\n=== CONVERSATION HISTORY \\(CONTINUATION\\) ===\\nThread: (?P<task>[0-9a-f-]{36})\\n"}}},
		{Policy: policy, Name: "etch-loop", Never: true, tools: []string{"claude"}, starts: []string{"# BREAK — breaker prompt", "# RUN — test writer and build validator"}},
		{Policy: unrelated, Name: "etch-loop", tools: []string{"claude"}, starts: []string{"# SCAN — scanner prompt"}, prompt: []*pattern{&pattern{text: "(?m)^## Unresolved areas from previous adversarial review$"}, &pattern{text: "(?s)^(?:.*?\\n## User focus\\n\\nConcentrate on: (?P<task>[^\\n]*)\\n|)"}}, task: "etch", role: "scanner"},
		{Policy: policy, Name: "etch-loop", tools: []string{"claude"}, starts: []string{"# SCAN — scanner prompt"}, prompt: []*pattern{&pattern{text: "(?s)^(?:.*?\\n## User focus\\n\\nConcentrate on: (?P<task>[^\\n]*)\\n|)"}}, task: "etch", role: "scanner", freshWhen: []*pattern{&pattern{text: "^"}}, reset: reset{role: "fixer"}},
		{Policy: unrelated, Name: "etch-loop", tools: []string{"claude"}, starts: []string{"# ETCH — fixer prompt"}, prompt: []*pattern{&pattern{text: "(?m)^## Scanner findings$"}, &pattern{text: "(?s)^(?:.*?\\n## User focus\\n\\nConcentrate specifically on: (?P<task>[^\\n]*)\\n|)"}}, task: "etch", role: "fixer"},
		{Policy: policy, Name: "actor-critic", Never: true, tools: []string{"claude"}, cwd: &pattern{text: "^/(?:.*/)?critics/[^/]*$"}, starts: []string{"<actor_task>\n", "<reconciliation>\n"}},
		{Policy: unrelated, Name: "actor-critic", tools: []string{"claude"}, cwd: &pattern{text: "^/(?:.*/)?actor$"}, cwdEnd: "/actor", argv: []*pattern{&pattern{text: "^-p --output-format stream-json --verbose --add-dir .*/critics/[^/]+/output$"}}, starts: []string{"Original task:\n"}, prompt: []*pattern{&pattern{text: "(?s)^.*?\\n\\nCritic feedback from round (?P<attempt>\\d+):\\n\\n## "}}, task: "actor", role: "actor", roleText: []*pattern{&pattern{text: "(?s)^Original task:\\n(.*?)\\n\\nCritic feedback from round \\d+:\\n\\n## "}}},
		{Policy: policy, Name: "actor-critic", tools: []string{"claude"}, cwd: &pattern{text: "^/(?:.*/)?actor$"}, cwdEnd: "/actor", argv: []*pattern{&pattern{text: "^-p --output-format stream-json --verbose --add-dir .*/critics/[^/]+/output$"}}, task: "actor", role: "actor", roleText: []*pattern{&pattern{text: "(?s)^(.*)$"}}, freshWhen: []*pattern{&pattern{text: "^"}}},
		{Policy: unrelated, Name: "auto-claude", tools: []string{"claude"}, starts: []string{"## SPEC LOCATION\n\nYour spec and progress files are located at:\n- Spec: `"}, prompt: []*pattern{&pattern{text: "^## SPEC LOCATION\\n\\n[^\\n]*\\n- Spec: `(?P<task>[^`\\n]+)/spec\\.md`\\n"}, &pattern{text: "(?m)^## YOUR ROLE - QA REVIEWER AGENT$"}, &pattern{text: "(?s)^(?:.*\\n\\n---\\n\\n\\*\\*QA Session\\*\\*: (?P<attempt>\\d+)\\n|)"}}, role: "qa"},
		{Policy: policy, Name: "multica", Strict: true, env: []variable{variable{name: "MULTICA_AGENT_ID", pattern: &pattern{text: "(?P<role>.+)"}}, variable{name: "MULTICA_TASK_ID", pattern: &pattern{text: "(?P<task>.+)"}}}},
		{Policy: policy, Name: "paperclip", Strict: true, env: []variable{variable{name: "PAPERCLIP_AGENT_ID", pattern: &pattern{text: "(?P<role>.+)"}}, variable{name: "PAPERCLIP_TASK_ID", pattern: &pattern{text: "(?P<task>.+)"}}}},
		{Policy: policy, Name: "vibe-kanban", Strict: true, env: []variable{variable{name: "VK_WORKSPACE_ID", pattern: &pattern{text: "(?P<task>.+)"}}}},
		{Policy: policy, Name: "ralph", Never: true, env: []variable{variable{name: "RALPH_WORKSPACE_ROOT", pattern: &pattern{text: "."}}}},
		{Policy: unrelated, Name: "agent-loop", tools: []string{"claude"}, starts: []string{"You are executing the agreed plan in ", "The reviewer did NOT approve checkpoint "}, prompt: []*pattern{&pattern{text: "checkpoint '(?P<task>[A-Za-z0-9_.-]+)'"}}, role: "developer", job: "run"},
	}
}
