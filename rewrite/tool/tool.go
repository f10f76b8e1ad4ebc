// Code generated from the directories here by go test ./rewrite/tool -run TestListsOfTools -update. DO NOT EDIT.

// Package tool registers all tools: an import of it is enough for rewrite.Names and rewrite.Lookup to know them.
//
// A package below is one tool: command line, output, refusals and session files. It never starts a process, reads the
// environment or knows another tool. Invariant: an unknown line is passed through as it came, and a call that it does
// not wholly understand is not managed.
package tool

import (
	_ "reprise/rewrite/tool/claude"
	_ "reprise/rewrite/tool/codex"
	_ "reprise/rewrite/tool/copilot"
	_ "reprise/rewrite/tool/droid"
	_ "reprise/rewrite/tool/gemini"
	_ "reprise/rewrite/tool/opencode"
	_ "reprise/rewrite/tool/qwen"
	_ "reprise/rewrite/tool/vibe"
)
