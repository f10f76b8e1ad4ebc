package rewrite

// Home is the folder that the tool keeps its sessions below, "" for a tool that is not
// one of Names.
func Home(tool string, env func(string) string) string {
	switch tool {
	case "claude":
		return claudeHome(env)
	case "codex":
		return codexHome(env)
	case "gemini":
		return geminiHome(env)
	case "vibe":
		return vibeStore(env)
	}
	return ""
}
