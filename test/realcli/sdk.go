package realcli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"reprise/test/toolbox"
)

// An SDK is a library that runs a CLI, at the version that the tests were written
// against, with what it needs beside it. The CLI that it bundles is left out.
type SDK struct {
	Name, Version string
	Packages      []string // as npm or pip takes them, the SDK's own first
	Python        bool
	CLI           Pin // of the same time
}

// The SDKs that there are end-to-end tests for, and those of a year before. The newest of the AI SDK's providers need Node 22.
var (
	AgentTS = SDK{"agent-ts", "0.3.330",
		[]string{"@anthropic-ai/claude-agent-sdk@0.3.330", "@anthropic-ai/sdk@>=0.93.0", "@modelcontextprotocol/sdk@^1.29.0", "zod@^4.1.8"}, false, Claude}
	AgentPython = SDK{"agent-py", "0.2.187", []string{"claude-agent-sdk==0.2.187"}, true, Claude}
	// Built from its source it has no CLI, and takes the one on PATH.
	AgentPythonBuilt = SDK{"agent-py-built", AgentPython.Version, []string{"--no-binary", "claude-agent-sdk", AgentPython.Packages[0]}, true, Claude}

	AISDK = SDK{"ai-sdk", "4.1.0",
		[]string{"ai-sdk-provider-claude-code@4.1.0", "ai@^7.0.173", "zod@^4.1.8", "node@22.23.3"}, false, Claude}
	AISDKCodex = SDK{"ai-sdk-codex", "2.2.1",
		[]string{"ai-sdk-provider-codex-cli@2.2.1", "ai@^7.0.173", "zod@^4.1.8", "node@22.23.3"}, false, Codex}
	AISDKNode20 = SDK{"ai-sdk", "3.6.0", []string{"ai-sdk-provider-claude-code@3.6.0", "ai@^6.0.326", "zod@^4.1.8"}, false, Claude}

	// The old Python SDK does not say that it needs an mcp before 2.
	OldAgentTS     = SDK{"agent-ts", "0.1.44", []string{"@anthropic-ai/claude-agent-sdk@0.1.44", "zod@^3.24.1"}, false, OldClaude}
	OldAgentPython = SDK{"agent-py", "0.1.7", []string{"claude-agent-sdk==0.1.7", "mcp<2"}, true, OldClaude}
	OldAISDK       = SDK{"ai-sdk", "2.1.0",
		[]string{"ai-sdk-provider-claude-code@2.1.0", "@anthropic-ai/claude-agent-sdk@0.1.44", "ai@^5.0.0", "zod@^3.24.1"}, false, OldClaude}

	CodexTS     = SDK{"codex-ts", "0.163.0", []string{"@openai/codex-sdk@0.163.0"}, false, Codex}
	CodexPython = SDK{"codex-py", "0.1.11", []string{"openai-codex-sdk==0.1.11"}, true, Codex}
	// It depends on a package that is a codex, so its other dependencies are listed.
	CodexAppServer = SDK{"codex-app-server", "0.163.0", []string{"--no-deps", "openai-codex==0.163.0", "packaging>=26.2", "pydantic==2.14.3",
		"pydantic-core==2.50.4", "annotated-types", "typing-extensions", "typing-inspection"}, true, Codex}

	GeminiACP = SDK{"acp", "2.4.0", []string{"@agentclientprotocol/sdk@2.4.0", "zod@^4.1.8"}, false, Gemini}
	VibeACP   = SDK{"acp", "2.4.0", GeminiACP.Packages, false, Vibe}
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
		bundled, err := filepath.Glob(filepath.Join(dir, "lib", "python3*", "site-packages", "*", "_bundled"))
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
