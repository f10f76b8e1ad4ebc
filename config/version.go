package config

// Version and Commit are set by the linker (see install.sh). They are the only variables of this
// package.
var (
	Version = "dev"
	Commit  = ""
)
