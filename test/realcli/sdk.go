package realcli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"reprise/internal/tested"
	"reprise/test/toolbox"
)

// An SDK is a library that runs a CLI, at the version that the tests were written
// against, with the packages that it needs. The CLI that it bundles is left out.
type SDK struct {
	Name, Version string
	Packages      []string // as npm or pip takes them, the SDK's own first
	Python        bool
	CLI           Pin // of the same time
}

// sdk returns the pinned SDK of that name, with its needs.
func sdk(name string, cli Pin, with ...string) SDK {
	pin := tested.Own().SDK(name)
	return SDK{name, pin.Version(), append([]string{pin.Pin}, with...), pin.Python(), cli}
}

// The SDKs that there are end-to-end tests for, and the versions of a year before. The newest of
// the AI SDK's providers need Node 22.
var (
	AgentTS = sdk("agent-ts", Claude, "@anthropic-ai/sdk@>=0.93.0",
		"@modelcontextprotocol/sdk@^1.29.0", "zod@^4.1.8")
	AgentPython = sdk("agent-py", Claude)
	// Built from its source it has no CLI, and takes the one on PATH.
	AgentPythonBuilt = SDK{"agent-py-built", AgentPython.Version,
		[]string{"--no-binary", "claude-agent-sdk", AgentPython.Packages[0]}, true, Claude}

	AISDK       = sdk("ai-sdk", Claude, "ai@^7.0.173", "zod@^4.1.8", "node@22.23.3")
	AISDKCodex  = sdk("ai-sdk-codex", Codex, "ai@^7.0.173", "zod@^4.1.8", "node@22.23.3")
	AISDKNode20 = SDK{"ai-sdk", "3.6.0", []string{"ai-sdk-provider-claude-code@3.6.0",
		"ai@^6.0.326", "zod@^4.1.8"}, false, Claude}

	// The old Python SDK does not say that it needs an mcp before 2.
	OldAgentTS = SDK{"agent-ts", "0.1.44", []string{"@anthropic-ai/claude-agent-sdk@0.1.44",
		"zod@^3.24.1"}, false, OldClaude}
	OldAgentPython = SDK{"agent-py", "0.1.7", []string{"claude-agent-sdk==0.1.7", "mcp<2"}, true,
		OldClaude}
	OldAISDK = SDK{"ai-sdk", "2.1.0",
		[]string{"ai-sdk-provider-claude-code@2.1.0", "@anthropic-ai/claude-agent-sdk@0.1.44",
			"ai@^5.0.0", "zod@^3.24.1"}, false, OldClaude}

	CodexTS     = sdk("codex-ts", Codex)
	CodexPython = sdk("codex-py", Codex)
	// It depends on a package that is a codex, so its other dependencies are listed.
	CodexAppServer = sdk("codex-app-server", Codex, "--no-deps", "packaging>=26.2",
		"pydantic==2.14.3",
		"pydantic-core==2.50.4", "annotated-types", "typing-extensions", "typing-inspection")

	GeminiACP = sdk("acp", Gemini, "zod@^4.1.8")
	VibeACP   = SDK{"acp", GeminiACP.Version, GeminiACP.Packages, false, Vibe}
)

// InstallSDK returns the directory of a project that has the SDK: for npm the one with
// node_modules, for Python the virtual environment. It installs the SDK first where the cache
// lacks it.
func InstallSDK(s SDK) (dir string, err error) {
	cache, err := toolbox.Cache("sdk")
	if err != nil {
		return "", err
	}
	dir = filepath.Join(cache, s.Name+"-"+s.Version)
	err = toolbox.Whole(dir, func(dir string) error {
		if !s.Python { // without optional packages: the CLIs that SDKs bundle
			return npmInstall(dir, append([]string{"--omit=optional"}, s.Packages...)...)
		}
		if _, err := newVenv(dir, s.Packages...); err != nil {
			return err
		}
		bundled, err := filepath.Glob(filepath.Join(dir, "lib", "python3*", "site-packages", "*",
			"_bundled"))
		for _, directory := range bundled {
			err = errors.Join(err, os.RemoveAll(directory))
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("install %s %s: %w", s.Name, s.Version, err)
	}
	return dir, nil
}
