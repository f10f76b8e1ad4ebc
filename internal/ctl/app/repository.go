package app

import (
	"runtime/debug"
	"strings"
)

// ModulePath returns the path of the module that this program was built from.
func ModulePath() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Path
	}
	return ""
}

// RepositoryOf returns the repository on GitHub of a module, "" for a module that lives elsewhere or nowhere yet.
func RepositoryOf(module string) string {
	parts := strings.Split(module, "/")
	if len(parts) < 3 || parts[0] != "github.com" {
		return ""
	}
	return strings.Join(parts[:3], "/")
}
