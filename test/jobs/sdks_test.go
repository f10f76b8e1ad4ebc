package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"reprise/internal/tested"
	"reprise/test/realcli"
	"reprise/test/toolbox"
)

// An sdk is a library that runs a CLI, at the version that the tests were written
// against, with the packages that it needs. The CLI that it bundles is left out.
type sdk struct {
	name, version string
	packages      []string // as npm or pip takes them, the SDK's own first
	python        bool
	cli           realcli.Pin // of the same time
}

// pinnedSDK returns the pinned SDK of that name, with its needs.
func pinnedSDK(name string, cli realcli.Pin, with ...string) sdk {
	pin := tested.BuiltIn().Tool(name)
	return sdk{name, pin.Version(), append([]string{pin.Pin}, with...), pin.Python(), cli}
}

// The SDKs that there are end-to-end tests for, and the versions of a year before. The newest of
// the AI SDK's providers need Node 22.
var (
	agentTS = pinnedSDK("agent-ts", realcli.Claude, "@anthropic-ai/sdk@>=0.93.0",
		"@modelcontextprotocol/sdk@^1.29.0", "zod@^4.1.8")
	agentPython = pinnedSDK("agent-py", realcli.Claude)
	// Built from its source it has no CLI, and takes the one on PATH.
	agentPythonBuilt = sdk{"agent-py-built", agentPython.version,
		[]string{"--no-binary", "claude-agent-sdk", agentPython.packages[0]}, true, realcli.Claude}

	aiSDK      = pinnedSDK("ai-sdk", realcli.Claude, "ai@^7.0.173", "zod@^4.1.8", "node@22.23.3")
	aiSDKCodex = pinnedSDK("ai-sdk-codex", realcli.Codex, "ai@^7.0.173", "zod@^4.1.8",
		"node@22.23.3")
	aiSDKNode20 = sdk{"ai-sdk", "3.6.0", []string{"ai-sdk-provider-claude-code@3.6.0",
		"ai@^6.0.326", "zod@^4.1.8"}, false, realcli.Claude}

	// The old Python SDK does not say that it needs an mcp before 2.
	oldAgentTS = sdk{"agent-ts", "0.1.44", []string{"@anthropic-ai/claude-agent-sdk@0.1.44",
		"zod@^3.24.1"}, false, realcli.OldClaude}
	oldAgentPython = sdk{"agent-py", "0.1.7", []string{"claude-agent-sdk==0.1.7", "mcp<2"}, true,
		realcli.OldClaude}
	oldAISDK = sdk{"ai-sdk", "2.1.0",
		[]string{"ai-sdk-provider-claude-code@2.1.0", "@anthropic-ai/claude-agent-sdk@0.1.44",
			"ai@^5.0.0", "zod@^3.24.1"}, false, realcli.OldClaude}

	codexTS     = pinnedSDK("codex-ts", realcli.Codex)
	codexPython = pinnedSDK("codex-py", realcli.Codex)
	// It depends on a package that is a codex, so its other dependencies are listed.
	codexAppServer = pinnedSDK("codex-app-server", realcli.Codex, "--no-deps", "packaging>=26.2",
		"pydantic==2.14.3",
		"pydantic-core==2.50.4", "annotated-types", "typing-extensions", "typing-inspection")

	geminiACP = pinnedSDK("acp", realcli.Gemini, "zod@^4.1.8")
	vibeACP   = sdk{"acp", geminiACP.version, geminiACP.packages, false, realcli.Vibe}
)

// installSDK returns the directory of a project that has the SDK: for npm the one with
// node_modules, for Python the virtual environment. It installs the SDK first where the cache
// lacks it.
func installSDK(s sdk) (dir string, err error) {
	cache, err := toolbox.Cache("sdk")
	if err != nil {
		return "", err
	}
	dir = filepath.Join(cache, s.name+"-"+s.version)
	err = toolbox.Whole(dir, func(dir string) error {
		if !s.python { // without optional packages: the CLIs that SDKs bundle
			return realcli.NpmInstall(dir, append([]string{"--omit=optional"}, s.packages...)...)
		}
		if _, err := realcli.NewVenv(dir, s.packages...); err != nil {
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
		return "", fmt.Errorf("install %s %s: %w", s.name, s.version, err)
	}
	return dir, nil
}
