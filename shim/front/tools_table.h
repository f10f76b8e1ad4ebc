// Code generated from the descriptors in rewrite/tool by go test ./rewrite/tool -update. DO NOT EDIT.

static const struct tool tools[] = {
	{
		.name = "claude",
		.commands = (const char *const[]){"agents", "api-key", "attach", "auth", "auto-mode", "config", "daemon", "doctor", "experimental-next", "gateway", "help", "import", "install", "kill", "logs", "mcp", "migrate-installer", "plugin", "plugins", "project", "purge", "rc", "remote-control", "respawn", "rm", "setup-token", "stop", "ultrareview", "update", "upgrade", NULL},
		.alone = (const char *const[]){"--help", "-h", "--version", "-v", NULL},
		.nested = (const char *const[]){"REPRISE_INSIDE", "CLAUDECODE", NULL},
	},
	{
		.name = "codex",
		.managed = (const char *const[]){"exec", "e", "app-server", "exec-server", NULL},
		.alone = (const char *const[]){"--help", "-h", "--version", "-V", NULL},
		.nested = (const char *const[]){"REPRISE_INSIDE", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_SANDBOX", NULL},
	},
	{
		.name = "copilot",
		.commands = (const char *const[]){"app", "login", "help", "init", "config", "update", "version", "workflow", "sessions", "memories", "plugin", "mcp", "skill", "instruction", "lsp", "sandbox", "completion", NULL},
		.alone = (const char *const[]){"--help", "-h", "--version", "-v", NULL},
		.nested = (const char *const[]){"REPRISE_INSIDE", "COPILOT_CLI", NULL},
	},
	{
		.name = "droid",
		.managed = (const char *const[]){"exec", "daemon", NULL},
		.nested = (const char *const[]){"REPRISE_INSIDE", "FACTORY_DISABLE_SETTINGS_PERSISTENCE", "BUN_PTY_LIB", NULL},
	},
	{
		.name = "gemini",
		.commands = (const char *const[]){"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma", NULL},
		.alone = (const char *const[]){"--help", "-h", "--version", "-v", "--list-sessions", NULL},
		.nested = (const char *const[]){"REPRISE_INSIDE", "GEMINI_CLI", NULL},
	},
	{
		.name = "opencode",
		.managed = (const char *const[]){"run", "serve", "web", "acp", NULL},
		.alone = (const char *const[]){"--help", "-h", "--version", "-v", NULL},
		.nested = (const char *const[]){"REPRISE_INSIDE", "OPENCODE", NULL},
	},
	{
		.name = "kilo",
		.managed = (const char *const[]){"run", "serve", "web", "acp", NULL},
		.alone = (const char *const[]){"--help", "-h", "--version", "-v", NULL},
		.nested = (const char *const[]){"REPRISE_INSIDE", "KILO_PID", NULL},
	},
	{
		.name = "qwen",
		.commands = (const char *const[]){"auth", "board", "channel", "extensions", "hooks", "hook", "mcp", "review", "sandbox", "sessions", "update", NULL},
		.alone = (const char *const[]){"--help", "-h", "--version", "-v", NULL},
		.nested = (const char *const[]){"REPRISE_INSIDE", "QWEN_CODE", NULL},
	},
	{
		.name = "vibe",
		.commands = (const char *const[]){"mcp", "config", "help", "update", "run-server", NULL},
		.alone = (const char *const[]){"--help", "-h", "--version", "-v", "--check-upgrade", "--setup", NULL},
		.nested = (const char *const[]){"REPRISE_INSIDE", "VIBE_APP_SERVER_BIN", NULL},
	},
};
