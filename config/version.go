package config

import "runtime/debug"

// Version and Commit are set by the linker (see install.sh). They are the only variables of this
// package.
var (
	Version = "dev"
	Commit  = ""
)

// go install MODULE@VERSION has the linker set nothing. In a build of a checkout the module has no
// sum, and so no version.
func init() {
	if Version != "dev" {
		return
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Sum != "" {
		Version = info.Main.Version
	}
}
