package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"reprise/internal/ctl/app"
	"reprise/internal/ctl/setup"
	"reprise/rewrite"
)

// A bundledCLI is where an SDK keeps a CLI of its own, and how it is told to use another one.
type bundledCLI struct{ tool, pattern, fix string }

// bundledCLIs are relative to a project.
var bundledCLIs = []bundledCLI{
	{"claude", "node_modules/@anthropic-ai/claude-agent-sdk-*/claude*", "pathToClaudeCodeExecutable: %q in the options of query()"},
	{"claude", "node_modules/@anthropic-ai/claude-agent-sdk/cli.js", "pathToClaudeCodeExecutable: %q in the options of query()"},
	{"codex", "node_modules/@openai/codex-sdk/package.json", "new Codex({ codexPathOverride: %q })"},
}

// bundledInPython are relative to a virtual environment.
var bundledInPython = []bundledCLI{
	{"claude", "lib/python3*/site-packages/claude_agent_sdk/_bundled/claude", "ClaudeAgentOptions(cli_path=%q)"},
	{"codex", "lib/python3*/site-packages/openai_codex_sdk/vendor/*/codex/codex", `Codex({"codex_path_override": %q})`},
}

// checkBundled reports the CLIs that SDKs in the working directory bundle: their calls bypass the
// shims.
func checkBundled(a *app.App) (checks []setup.Check) {
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	look := func(in string, b bundledCLI) {
		found, _ := filepath.Glob(filepath.Join(rewrite.Literal(in), b.pattern)) // the pattern is constant
		if len(found) == 0 {
			return
		}
		checks = append(checks, setup.Note(b.tool+" in an SDK",
			fmt.Sprintf("%s brings a %s of its own: calls through it bypass the shim", a.Tilde(found[0]), b.tool),
			fmt.Sprintf(b.fix, filepath.Join(setup.ShimDirectory(a), b.tool))))
	}
	for _, b := range bundledCLIs {
		look(dir, b)
	}
	places := []string{filepath.Join(dir, ".venv"), filepath.Join(dir, "venv")}
	if active := os.Getenv("VIRTUAL_ENV"); active != "" && !slices.Contains(places, active) {
		places = append(places, active)
	}
	for _, place := range places {
		for _, b := range bundledInPython {
			look(place, b)
		}
	}
	return checks
}
